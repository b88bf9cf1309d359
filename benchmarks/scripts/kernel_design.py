"""Kernel design by cuts, and by the full linear program (7) of F07 given to HiGHS, in one run.

    OMP_NUM_THREADS=1 GRAMLEARN_DATA=folder python -m benchmarks.scripts.kernel_design

Pima diabetes, standardized; S are 100 to 650 of its points at random, with 1500 triplets among them; weak
Gaussian kernels exp(-mu (x_f - y_f)^2) with mu = 1, 10 and 100 of each of the 8 features; gamma1 = 1 and
gamma2 = 100 / |S|^2, for the least dominant trace grows as |S|^2. The full program is solved by the dual and
the primal simplex method and by interior points at the smallest size, and by the quickest of them at the
others, as far as it finishes in --limit seconds. Seconds are of the processor, of one thread: of the solver
alone for the full program, and for the cuts of all there is, kernels included, the least of three. Each solve
has its own process.

The last parts are 20,000 triplets with 100 weak kernels, of the 569 points of breast cancer, and 45 kernels
with 2,000 points of spambase: seconds, and the peak of memory of the whole process.
"""

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from benchmarks.scripts.kernel_design_full import SOLVERS, FullAnswer, full_program

__all__ = ["Setting", "by_cuts", "by_full", "draw", "main", "written_out"]


@final
@dataclass(frozen=True)
class Setting:
    """What is solved: points, comparisons, kernels and prices."""

    data: str
    n_points: int
    n_triplets: int
    n_features: int
    widths: tuple[float, ...]
    seed: int = 0
    gamma1: float = 1.0
    dominance: float = 100.0

    @property
    def gamma2(self) -> float:
        return self.dominance / self.n_points**2


class Cuts(NamedTuple):
    """What gramlearn did."""

    seconds: float
    value: float
    relative_gap: float
    rounds: int
    cuts: int
    peak: float  # MiB of the whole process


PIMA = Setting("pima_diabetes", 200, 1500, 8, (1.0, 10.0, 100.0))
MANY = Setting("breast_cancer_wdbc", 569, 20_000, 25, (0.3, 1.0, 10.0, 100.0))
LARGE = Setting("spambase", 2000, 1500, 15, (1.0, 10.0, 100.0))
QUICK = Setting("breast_cancer_wdbc", 20, 60, 3, (1.0, 10.0), dominance=1.0)
SIZES = (100, 200, 400, 650)


def draw(setting: Setting) -> tuple[np.ndarray, Any]:
    """The points of S, standardized over all points, and Triplets of them."""
    from gramlearn import Triplets, datasets

    found = datasets.load(setting.data)
    X = found.X[:, : setting.n_features]
    rows = np.random.default_rng(setting.seed).permutation(len(X))[: setting.n_points]
    side = Triplets.from_labels(found.y[rows], setting.n_triplets, random_state=setting.seed)
    return ((X - X.mean(axis=0)) / X.std(axis=0))[rows], side


def written_out(setting: Setting) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(differences, matrices, groups) for `full_program`, in plain NumPy."""
    X, side = draw(setting)
    i, j, k = side.triplets.T
    squared = [(X[:, None, f] - X[None, :, f]) ** 2 for f in range(setting.n_features)]
    matrices = np.stack([np.exp(-mu * square) for square in squared for mu in setting.widths])
    groups = np.repeat(np.arange(setting.n_features), len(setting.widths))
    return (matrices[:, i, j] - matrices[:, i, k]).T, matrices, groups


def by_full(setting: Setting, solver: str, limit: float) -> FullAnswer:
    """The full program."""
    prices = setting.gamma1, setting.gamma2
    return full_program(*written_out(setting), *prices, solver=solver, limit=limit)


def by_cuts(setting: Setting, repeats: int) -> Cuts:
    """The same by cuts."""
    from gramlearn.kernels import GaussianKernel, OneFeature
    from gramlearn.methods.kernel_design.problem import DesignProblem

    kernels = [
        OneFeature(GaussianKernel(mu), f)
        for f in range(setting.n_features)
        for mu in setting.widths
    ]
    groups = np.repeat(np.arange(setting.n_features), len(setting.widths))
    X, side = draw(setting)
    seconds = np.inf
    for _ in range(repeats):
        began = time.process_time()
        problem = DesignProblem(kernels, X, side, np.arange(len(X)), groups=groups)
        answer = problem.solve(setting.gamma1, setting.gamma2)
        seconds = min(seconds, time.process_time() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cuts(seconds, answer.value, answer.relative_gap, answer.iterations, answer.cuts, peak)


def alone(function: Callable[..., Any], *given: Any) -> Any:
    """What a function gives, called in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *given).result()


def race(
    setting: Setting, sizes: Sequence[int], limit: float, call: Callable[..., Any] = alone
) -> None:
    """Print a line for each size and solver."""
    print(
        "| points of S | cuts, s | rounds | relative gap | full program by | s | times | value "
        "| values differ by |\n" + "|---" * 9 + "|"
    )
    quickest = None
    for n in sizes:
        here = replace(setting, n_points=n)
        ours = call(by_cuts, here, 3)
        times = {}
        start = f"| {n} | {ours.seconds:.3g} | {ours.rounds} | {ours.relative_gap:.0e} "
        for solver in SOLVERS if quickest is None else [quickest]:
            full = call(by_full, here, solver, limit)
            times[solver] = full.seconds if full.value is not None else np.inf
            print(f"{start}| {solver} {_beside(ours, full, limit)}", flush=True)
        quickest = quickest or min(times, key=times.__getitem__)


def _beside(ours: Cuts, full: FullAnswer, limit: float) -> str:
    times = full.seconds / ours.seconds
    if full.value is None:
        timed_out = full.status == "Time limit reached"
        words = f"not finished in {limit:g} s" if timed_out else full.status
        return f"| {words} ({full.seconds:.3g} of the processor) | > {times:.0f} | {ours.value:.6f} | |"
    off = abs(ours.value - full.value) / abs(full.value)
    return f"| {full.seconds:.3g} | {times:.0f} | {full.value:.6f} | {off:.1e} |"


def memory(setting: Setting, call: Callable[..., Any] = alone) -> None:
    """Print what many triplets and kernels, or many points, take."""
    found = call(by_cuts, setting, 1)
    print(
        f"\n{setting.n_triplets} triplets, {setting.n_features * len(setting.widths)} weak kernels, "
        f"{setting.n_points} points: {found.seconds:.3g} s, relative gap {found.relative_gap:.0e}, "
        f"{found.rounds} rounds, a peak of {found.peak / 1024:.2f} GiB",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of points")
    parser.add_argument(
        "--limit", type=float, default=600.0, help="seconds by the clock for the full program"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, in one process")
    given = parser.parse_args(arguments)
    if given.quick:
        race(QUICK, (15, 20), given.limit, _here)
        memory(QUICK, _here)
        return 0
    race(replace(PIMA, seed=given.seed), given.sizes, given.limit)
    memory(replace(MANY, seed=given.seed))
    memory(replace(LARGE, seed=given.seed))
    return 0


def _here(function: Callable[..., Any], *given: Any) -> Any:
    return function(*given)


if __name__ == "__main__":
    raise SystemExit(main())
