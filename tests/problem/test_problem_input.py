"""What users pass to Problem and solve: bad input raises a clear error, unusual input gets the right answer."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from gramlearn.constraints import DenseMatrices, DiagonalEntries, SquaredDistances
from gramlearn.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square, SquaredHinge
from sklearn.exceptions import ConvergenceWarning

from conftest import Library
from gramlearn import (
    Factor,
    Frobenius,
    LogDet,
    Pairs,
    Problem,
    Schatten,
    SolveInterrupted,
    Status,
    Term,
    VonNeumann,
    solve,
)
from gramlearn.solvers import WorkingSet

X0 = np.diag([1.0, 2.0, 3.0])
POINTS = np.arange(12.0).reshape(4, 3) ** 2
PAIR = SquaredDistances([0], [1])


def problem(prior=X0, constraints=PAIR, loss=None, regularizer=None, **options):
    loss = Hard(upper=1.0) if loss is None else loss
    return Problem(regularizer or LogDet(), prior, [Term(constraints, loss)], **options)


BAD = [
    (
        lambda: problem(np.array([[1.0, 2.0], [0.0, 1.0]])),
        r"`prior` is not symmetric .* pass \(prior \+ prior\.T\) / 2 .*, or Factor\(prior\) if it is a factor",
    ),
    (
        lambda: problem(-np.eye(3)),
        r"`prior` is not positive semidefinite \(least eigenvalue -1\); clip",
    ),
    (lambda: problem(np.diag([1.0, -2.0])), r"least eigenvalue -2"),
    (lambda: problem(np.zeros((3, 3))), r"`prior` has rank zero, .* Use Frobenius"),
    (lambda: problem(Factor(np.zeros((3, 2)))), r"`prior` has rank zero"),
    (
        lambda: problem(np.array([[1.0, np.nan], [np.nan, 1.0]])),
        r"`prior` contains NaN or infinity",
    ),
    (lambda: problem(np.ones(3)), r"`prior` must be two-dimensional"),
    (lambda: problem(np.ones((0, 0))), r"`prior` has shape \(0, 0\)"),
    (lambda: problem(X0 * 1j), r"`prior` must hold real numbers; got dtype complex128"),
    (
        lambda: problem(constraints=SquaredDistances([0], [3])),
        r"`j` refers to row 3, but there are 3 rows",
    ),
    (
        lambda: SquaredDistances([0, 2], [1, 2]),
        r"pair 1 is \(2, 2\); a point has no distance from itself",
    ),
    (
        lambda: SquaredDistances([0], [4], points=POINTS),
        r"`j` refers to row 4, but there are 4 rows",
    ),
    (
        lambda: problem(np.eye(2), SquaredDistances([0], [1], points=POINTS)),
        r"`points` have 3 columns, but",
    ),
    (
        lambda: problem(loss=Hard()),
        r"`Hard` has no bounds; pass exactly one of upper=, lower= and equal=",
    ),
    (
        lambda: problem(loss=Hard(upper=2.0, lower=1.0)),
        r"`Hard` has 2 bounds; .* make one term for each end",
    ),
    (
        lambda: problem(loss=Hard(upper=np.ones(2))),
        r"`upper` has shape \(2,\), but there are 1 constraints",
    ),
    (lambda: problem(loss=Hard(upper=np.nan)), r"`upper` .*NaN"),
    (lambda: problem(loss=LogDetSlack(upper=-1.0)), r"bounds must be positive; the least is -1"),
    (lambda: problem(loss=KLSlack(lower=0.0)), r"bounds must be positive; the least is 0"),
    (
        lambda: problem(loss=Hinge(upper=1.0, weight=0.0)),
        r"`Hinge\(weight=\.\.\.\)` must be positive",
    ),
    (lambda: problem(loss=Hinge(upper=1.0, weight=np.ones(3))), r"`weight` has shape \(3,\)"),
    (
        lambda: LogDetSlack(0.0),
        r"`LogDetSlack\(C=0\.0\)`: C must be positive and finite; got 0\.0",
    ),
    (lambda: KLSlack(-1.0), r"`KLSlack\(C=-1\.0\)`"),
    (lambda: Hinge(-1.0), r"`Hinge\(C=-1\.0\)`: C must be positive and finite; got -1\.0"),
    (lambda: SquaredHinge(np.inf), r"`SquaredHinge\(C=inf\)`"),
    (lambda: Schatten(1.0), r"`Schatten\(p=1\.0\)`: p must be greater than 1"),
    (
        lambda: problem(dtype="float16"),
        r"`dtype='float16'` is not known; choose one of 'float64', 'float32'",
    ),
    (
        lambda: solve(problem(), solver="simplex"),
        r"`solver='simplex'` is not known; choose one of 'auto'",
    ),
    (lambda: solve(problem(), tol=0.0), r"`solve\(tol=0\.0\)`: tol must be positive"),
    (
        lambda: solve(problem(), max_iter=-1),
        r"`max_iter` must be a whole number of at least 0; got -1",
    ),
    (lambda: solve(problem(), time_limit=-1), r"`solve\(time_limit=-1\)`"),
    (
        lambda: solve(problem(), start=[np.zeros(2)]),
        r"`start\[0\]` has shape \(2,\), but term 0 has 1",
    ),
    (
        lambda: solve(problem(), start=[]),
        r"`start` has 0 vectors of duals, but the problem has 1 terms",
    ),
    (lambda: solve(problem(), start=[np.array([np.nan])]), r"`start\[0\]` contains NaN"),
    (
        lambda: solve(problem(), start=solve(problem(np.eye(5)))),
        r"`start` is a solution with an X of 5 x 5, but the X of this problem is \d x \d",
    ),
    (lambda: problem().at_price(0.0), r"`at_price\(price=0\.0\)`: price must be positive"),
]


@pytest.mark.parametrize(("call", "sentence"), BAD, ids=[sentence[:40] for _, sentence in BAD])
def test_bad_values_raise_a_clear_error(call, sentence):
    with pytest.raises(
        ValueError if "dtype complex" not in sentence else TypeError, match=sentence
    ):
        call()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: Problem("logdet", X0),
            r"`regularizer` must be an object such as LogDet\(\); got 'logdet'",
        ),
        (
            lambda: Problem(LogDet(), X0, [PAIR]),
            r"`terms\[0\]` must be a Term\(constraints, loss\)",
        ),
        (
            lambda: Problem(LogDet(), X0, [[Term(PAIR, Hard(upper=1.0))]]),
            r"got \[<Term: SquaredDistances with Hard, 1 in all>\]. Leave out the outer brackets",
        ),
        (
            lambda: Problem(LogDet(), [Term(PAIR, Hard(upper=1.0))]),
            r"`prior` must be a matrix; got terms, which come after it: Problem\(LogDet\(\), np.eye",
        ),
        (
            lambda: Problem(np.eye(9), LogDet()),
            r"such as LogDet\(\); got an array of shape \(9, 9\). Pass it first: Problem\(LogDet",
        ),
        (lambda: Term(Hard(upper=1.0), PAIR), r"`Term\(constraints, loss\)` takes constraints"),
        (lambda: solve(X0), r"`problem` must be a Problem; got ndarray"),
        (lambda: Hinge("a"), r"`Hinge\(C='a'\)`: C must be a positive number"),
    ],
)
def test_wrong_types_raise_a_clear_error(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call()


# -- odd input, right answer -----------------------------------------------------------------------


def test_integers_and_float32_are_computed_in_float64(library: Library) -> None:
    expected = solve(problem()).matrix
    for dtype in ("float32", "int64", "int8"):
        points = library.array(np.eye(3), dtype)
        term = Term(SquaredDistances([0], [1], points=points), Hard(upper=1.0))
        solution = solve(Problem(LogDet(), library.array(X0, dtype), [term]))
        assert solution.factor.dtype == library.xp.float64
        assert np.allclose(library.numpy(solution.matrix), expected, atol=1e-12)


def test_float32_is_used_where_asked_for(library: Library) -> None:
    solution = solve(problem(library.array(X0), dtype="float32"), tol=1e-3)
    assert solution.factor.dtype == library.xp.float32
    assert solution.status is Status.OPTIMAL
    assert np.allclose(library.numpy(solution.matrix), solve(problem()).matrix, atol=1e-2)


@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=str)
def test_double_precision_takes_over_where_single_fails(regularizer) -> None:
    """Targets of 1e5 at a price of 76 leave a share of 1e-11 for everything else."""
    rng = np.random.default_rng(0)
    P = 100 * rng.standard_normal((9, 4))
    i, j = np.triu_indices(9, 1)
    term = Term(SquaredDistances(i, j, points=P), Square(76.0, equal=rng.uniform(1e5, 2e5, 36)))
    asked = Problem(regularizer, np.eye(4), [term], dtype="float32")
    solution = solve(asked, tol=1e-4)
    assert solution.status is Status.OPTIMAL
    assert solution.factor.dtype == np.float64
    assert solution.primal == pytest.approx(solve(replace(asked, dtype="float64")).primal, rel=1e-4)
    with pytest.warns(ConvergenceWarning):
        assert solve(asked, "working_set", tol=1e-4).relative_gap > 0.5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_contradiction_below_single_precision_may_be_rounding() -> None:
    """Bounds apart by a thousandth contradict each other, and by a ten-millionth they may be one number."""
    P = np.random.default_rng(0).standard_normal((2, 3))

    def ended(apart: float) -> Status:
        d = SquaredDistances([0], [1], points=P)
        terms = [Term(d, Hard(upper=1.0)), Term(d, Hard(lower=1.0 + apart))]
        return solve(Problem(LogDet(), np.eye(3), terms, dtype="float32"), tol=1e-3).status

    assert ended(1e-2) is Status.INFEASIBLE
    assert ended(1e-7) is not Status.INFEASIBLE


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_memory_for_double_precision_the_single_answer_stays(monkeypatch) -> None:
    def narrow(problem, **changes):
        if changes.get("dtype") == "float64":
            raise MemoryError
        return replace(problem, **changes)

    targets = np.array([1e5, 2e5, 5e5])
    distances = SquaredDistances([0, 0, 1], [1, 2, 2], points=1e4 * np.eye(3))
    asked = Problem(
        Frobenius(), np.eye(3), [Term(distances, Square(76.0, equal=targets))], dtype="float32"
    )
    assert solve(asked).factor.dtype == np.float64
    monkeypatch.setattr(sys.modules["gramlearn.solvers.fallback"], "replace", narrow)
    solution = solve(asked)
    assert solution.factor.dtype == np.float32
    assert solution.status is not Status.OPTIMAL


@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=str)
def test_arrays_of_any_memory_layout_are_accepted_and_not_modified(regularizer) -> None:
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((12, 8))
    bound = np.array([0.5, 3.0, 0.7, 3.0])
    layouts = {
        "plain": lambda a: a.copy(),
        "read-only": lambda a: a.copy(),
        "fortran": np.asfortranarray,
        "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    }
    answers = []
    for name, lay in layouts.items():
        arrays = [lay(x) for x in (wide, np.eye(8), np.arange(4), np.arange(4, 8), bound)]
        copies = [x.copy() for x in arrays]
        if name == "read-only":
            for x in arrays:
                x.flags.writeable = False
        points, prior, i, j, upper = arrays
        term = Term(SquaredDistances(i, j, points=points), Hinge(2.0, upper=upper))
        answers.append(solve(Problem(regularizer, prior, [term])).matrix)
        assert all(np.array_equal(x, y) for x, y in zip(arrays, copies, strict=True))
    assert all(np.allclose(answer, answers[0], atol=1e-10) for answer in answers)


def test_one_point_one_dimension() -> None:
    solution = solve(
        Problem(LogDet(), np.array([[2.0]]), [Term(DiagonalEntries([0]), Hard(upper=1.0))])
    )
    assert solution.matrix == pytest.approx(1.0, rel=1e-6)


def test_a_wide_factor_is_a_factor() -> None:
    G = np.random.default_rng(0).standard_normal((3, 5))
    wide = solve(Problem(LogDet(), G, [Term(PAIR, Hard(upper=0.5))]), tol=1e-9)
    square = solve(Problem(LogDet(), G @ G.T, [Term(PAIR, Hard(upper=0.5))]), tol=1e-9)
    assert np.allclose(wide.matrix, square.matrix, atol=1e-7)


def test_a_tolerance_below_rounding_stalls_with_a_warning() -> None:
    rng = np.random.default_rng(0)
    term = Term(SquaredDistances(np.arange(5), np.arange(20, 25)), Hard(equal=0.3))
    stiff = Problem(LogDet(), rng.standard_normal((40, 6)), [term])
    with pytest.warns(ConvergenceWarning, match="no step that improves the dual"):
        solution = solve(stiff, tol=1e-300)
    assert solution.status is Status.STALLED
    assert solution.relative_gap < 1e-12


def test_ctrl_c_before_the_first_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(WorkingSet, "init", interrupt)
    with pytest.raises(SolveInterrupted) as caught:
        solve(problem())
    assert np.allclose(caught.value.solution.matrix, X0)
    assert caught.value.solution.gap == np.inf


def test_an_indefinite_target_under_frobenius_as_the_message_says() -> None:
    C = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match=r"DenseMatrices\(C\[None\]\), Linear\(-1\.0\)"):
        Problem(Frobenius(), C)
    solution = solve(
        Problem(Frobenius(), np.zeros((3, 3)), [Term(DenseMatrices(C[None]), Linear(-1.0))])
    )
    e, U = np.linalg.eigh(C)
    assert np.allclose(solution.matrix, (U * np.clip(e, 0, None)) @ U.T, atol=1e-12)


def test_importing_does_not_load_optional_packages() -> None:
    """Numba, plotting and array libraries are loaded when they are used, not before, unless by scikit-learn."""
    heavy = "numba", "matplotlib", "torch", "cupy", "highspy", "pandas", "cvxpy"
    code = (
        "import sys, sklearn.base; before = set(sys.modules); import gramlearn; "
        f"print([m for m in {heavy} if m in set(sys.modules) - before])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "[]"


def test_side_information_of_another_kernel_is_refused() -> None:
    pairs = Pairs(similar=[[0, 1]], dissimilar=[[0, 2]], n_points=3)
    terms = pairs.bind(Hinge(), bounds=(1.0, 4.0))
    with pytest.raises(ValueError, match="are about 3 points, but the prior has 5 rows"):
        Problem(LogDet(), np.eye(5), terms)


def test_a_start_is_a_solution_or_its_duals():
    for start in ("abc", solve(problem()).certificate, 1.0):
        name = type(start).__name__
        with pytest.raises(
            TypeError, match=f"`start` must be a Solution, or its duals.*; got {name}"
        ):
            solve(problem(), start=start)
