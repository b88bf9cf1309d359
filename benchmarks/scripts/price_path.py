"""Twenty prices from 1e-3 to 1e2: what the path costs against the hardest of them alone.

    GRAMLEARN_DATA=folder python -m benchmarks.scripts.price_path --pairs 100000

Pairs of MNIST as in the instances of real data, every solve to a relative gap of 1e-6. Seconds are processor
time, which other processes disturb least.
"""

import argparse
import time
import warnings
from dataclasses import replace

import numpy as np

from benchmarks.contestants._ours import make_problem
from benchmarks.data import make
from benchmarks.sizes import SIZES

__all__ = ["main"]

_PROBLEMS = (
    ("LogDet", "LogDetSlack"),
    ("LogDet", "SquaredHinge"),
    ("VonNeumann", "KLSlack"),
    ("Frobenius", "SquaredHinge"),
    ("LogDet", "Hinge"),
)
_PRICES = np.geomspace(1e-3, 1e2, 20)


def main() -> None:
    """Print a row for each problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20_000, help="default: 20000")
    options = parser.parse_args()
    print(
        "| problem | path, s | steps | hardest alone, s | steps | ratio | largest relative gap |\n"
        "|---|---|---|---|---|---|---|"
    )
    for regularizer, loss in _PROBLEMS:
        print(_row(regularizer, loss, options.pairs), flush=True)


def _row(regularizer: str, loss: str, pairs: int) -> str:
    from gramlearn import solve, solve_path

    spec = next(spec for spec in SIZES["table"].specs if spec.data == "mnist")
    spec = replace(spec, c=pairs, regularizer=regularizer, loss=loss, price=1.0)
    problem = make_problem(make(spec))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gap says it
        began = time.process_time()
        path = list(solve_path(problem, list(_PRICES)))
        seconds = time.process_time() - began
        hardest, steps = 0.0, 0
        for price in _PRICES[-4:]:  # the largest prices are the hardest
            began = time.process_time()
            alone = solve(problem.at_price(float(price)))
            if (taken := time.process_time() - began) > hardest:
                hardest, steps = taken, alone.iterations
    gap = max(solution.relative_gap for solution in path)
    taken_steps = sum(solution.iterations for solution in path)
    return (
        f"| {regularizer} + {loss} | {seconds:.1f} | {taken_steps} | {hardest:.1f} | {steps} | "
        f"{seconds / hardest:.1f} | {gap:.0e} |"
    )


if __name__ == "__main__":
    main()
