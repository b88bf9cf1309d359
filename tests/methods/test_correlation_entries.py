"""nearest_correlation with weights, unknown and fixed entries, bounds and a least eigenvalue.

CVXPY is the oracle over a catalogue of options; the certificate is checked by its own formula, and limit cases
have closed forms.
"""

import re

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from gramlearn import InfeasibleError, SolveInterrupted, Status, nearest_correlation
from gramlearn.methods.correlation import NearestCorrelation
from oracles import ask

N = 8


def symmetric(draw):
    upper = np.triu(draw, 1)
    return upper + upper.T


RNG = np.random.default_rng(0)
C = symmetric(RNG.uniform(-1, 1, (N, N))) + np.eye(N)
W = symmetric(RNG.uniform(0.1, 1, (N, N))) + np.eye(N)
KNOWN = symmetric(RNG.uniform(size=(N, N))) > 0.4
FEW = np.zeros((N, N), dtype=bool)
FEW[0, 1] = FEW[2, 3] = FEW[4, 7] = True
BLOCK = np.zeros((N, N), dtype=bool)
BLOCK[:3, :3] = True
INSIDE = np.where(BLOCK, np.corrcoef(RNG.standard_normal((N, 30))), C)
NAN = np.where(KNOWN | np.eye(N, dtype=bool), C, np.nan)

CATALOGUE = {
    "weights": (C, {"weights": W}),
    "weights a thousand apart": (C, {"weights": symmetric(10 ** RNG.uniform(-3, 0, (N, N)))}),
    "weights of rows": (C, {"weights": np.linspace(0.1, 2, N)}),
    "weights of zero": (C, {"weights": W * KNOWN}),
    "unknown": (NAN, {}),
    "unknown, weights": (NAN, {"weights": W}),
    "fixed": (C, {"fixed": FEW}),
    "fixed block": (INSIDE, {"fixed": BLOCK}),
    "fixed block, weights, unknown": (INSIDE, {"fixed": BLOCK, "weights": W * (KNOWN | BLOCK)}),
    "bounds": (C, {"bounds": (-0.2, 0.3)}),
    "one bound": (C, {"bounds": (0.0, None)}),
    "bounds of entries": (C, {"bounds": (-abs(C) / 3, abs(C) / 2)}),
    "eigenvalues": (C, {"min_eigenvalue": 0.2}),
    "eigenvalues, weights": (C, {"min_eigenvalue": 0.2, "weights": W * KNOWN}),
    "everything": (
        NAN,
        {
            "weights": W,
            "fixed": FEW & KNOWN,
            "bounds": (-0.9, 0.5 + 0.5 * (FEW | FEW.T)),
            "min_eigenvalue": 0.05,
        },
    ),
}
every_case = pytest.mark.parametrize("name", CATALOGUE)


def weights_of(matrix, options):
    given = np.asarray(options.get("weights", np.ones((N, N))))
    full = np.outer(given, given) if given.ndim == 1 else given
    return np.where(np.isnan(matrix), 0.0, full)


def ends_of(options):
    lower, upper = options.get("bounds", (None, None))
    lower, upper = (-1.0 if lower is None else lower), (1.0 if upper is None else upper)
    return np.broadcast_to(lower, (N, N)), np.broadcast_to(upper, (N, N))


def value_of(X, matrix, options):
    return np.sum(weights_of(matrix, options) * (X - np.nan_to_num(matrix)) ** 2) / 2


def broken_by(X, matrix, options):
    """By how much X breaks what was asked of it."""
    lower, upper = ends_of(options)
    off = ~np.eye(N, dtype=bool)
    fixed = options.get("fixed", np.zeros((N, N), dtype=bool)) & off
    apart = [np.abs(X - matrix)[fixed], (lower - X)[off], (X - upper)[off], np.abs(np.diag(X) - 1)]
    least = options.get("min_eigenvalue", 0.0) - np.linalg.eigvalsh(X)[0]
    return max(least, *(part.max(initial=0.0) for part in apart))


def oracle(matrix, options):
    """The least value, by CVXPY."""
    X = cp.Variable((N, N), symmetric=True)
    i, j = np.triu_indices(N, 1)
    weight, near = 2 * weights_of(matrix, options)[i, j], np.nan_to_num(matrix)[i, j]
    lower, upper = (end[i, j] for end in ends_of(options))
    entries = X[i, j]
    fixed = options.get("fixed", np.zeros((N, N), dtype=bool))[i, j]
    asked = [X - options.get("min_eigenvalue", 0.0) * np.eye(N) >> 0, cp.diag(X) == 1]
    asked += [entries >= lower, entries <= upper]
    if fixed.any():
        asked.append(entries[np.flatnonzero(fixed)] == near[fixed])
    value = cp.sum_squares(cp.multiply(np.sqrt(weight), entries - near)) / 2
    ask(cp.Problem(cp.Minimize(value), asked))
    return float(value.value)


# -- the optimum and its proof ---------------------------------------------------------------------


@every_case
def test_the_value_is_that_of_cvxpy(name):
    matrix, options = CATALOGUE[name]
    solution = nearest_correlation(matrix, **options, return_solution=True)
    assert isinstance(solution, NearestCorrelation)
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx(oracle(matrix, options), rel=1e-5, abs=1e-6)
    assert solution.primal == pytest.approx(
        value_of(solution.matrix, matrix, options), rel=1e-9, abs=1e-15
    )


@every_case
def test_what_was_asked_is_kept(name):
    """To tol what is fixed or bounded; to rounding the diagonal and the least eigenvalue."""
    matrix, options = CATALOGUE[name]
    solution = nearest_correlation(matrix, **options, return_solution=True)
    X = solution.matrix
    assert np.all(np.diag(X) == 1)
    assert np.all(X == X.T) or np.abs(X - X.T).max() < 1e-15
    assert np.linalg.eigvalsh(X)[0] >= options.get("min_eigenvalue", 0.0) - 1e-13
    assert broken_by(X, matrix, options) <= max(solution.violation, 1e-13) <= 1e-8
    np.testing.assert_allclose(solution.factor @ solution.factor.T, X, atol=1e-12)


@every_case
def test_the_multipliers_prove_the_bound(name):
    """The dual, by its formula: the least of the Lagrangian over a grid of each entry is not below it."""
    matrix, options = CATALOGUE[name]
    solution = nearest_correlation(matrix, **options, return_solution=True)
    S, m = solution.multipliers, options.get("min_eigenvalue", 0.0)
    assert np.linalg.eigvalsh(S)[0] >= -1e-12 * max(np.trace(S), 1e-300)
    lower, upper = (np.clip(end, m - 1, 1 - m) for end in ends_of(options))
    fixed = options.get("fixed", np.zeros((N, N), dtype=bool))
    fixed = fixed | fixed.T
    lower, upper = (np.where(fixed, matrix, end) for end in (lower, upper))
    grid = np.linspace(0, 1, 4001)[:, None, None] * (upper - lower) + lower
    terms = weights_of(matrix, options) * (grid - np.nan_to_num(matrix)) ** 2 / 2 - S * grid
    least = np.min(terms, axis=0)
    own = np.diag(weights_of(matrix, options)) * (1 - np.diag(matrix)) ** 2 / 2
    least[np.arange(N), np.arange(N)] = own - np.diag(S) * (1 - m)
    # The grid is 2 / 4000 apart at most, where a term has the curvature W_ij.
    slack = np.sum(weights_of(matrix, options)) * (2.5e-4) ** 2 / 2
    assert solution.dual <= np.sum(least) + 1e-9
    assert solution.dual >= np.sum(least) - slack - solution.gap - 1e-9
    assert solution.primal - solution.dual <= solution.gap * (1 + 1e-12)
    assert solution.relative_gap <= 1e-8


def test_the_example_of_nag():
    """The example in the manual of NAG's g02as: two fixed entries, no eigenvalue below 0.04."""
    below = [
        [-0.0991],
        [0.5665, -0.4273],
        [-0.5653, 0.8474, -0.1837],
        [-0.3441, 0.4975, -0.0585, -0.2713],
    ]
    printed = [
        [-0.0991],
        [0.5116, -0.3498],
        [-0.4019, 0.6170, -0.2656],
        [-0.2257, 0.3305, -0.1179, -0.2713],
    ]
    given, expected = np.eye(5), np.eye(5)
    for i, (row, answer) in enumerate(zip(below, printed, strict=True), start=1):
        given[i, :i] = given[:i, i] = row
        expected[i, :i] = expected[:i, i] = answer
    fixed = np.zeros((5, 5), dtype=bool)
    fixed[1, 0] = fixed[4, 3] = True
    X = nearest_correlation(given, fixed=fixed, min_eigenvalue=0.04)
    np.testing.assert_allclose(X, expected, atol=6e-5)
    assert np.linalg.norm(X - given) == pytest.approx(0.5310, abs=6e-5)


# -- limit cases -----------------------------------------------------------------------------------


def plain(matrix):
    return nearest_correlation(matrix, regularizer="frobenius", tol=1e-11)


@pytest.mark.parametrize(
    "options",
    [
        {"weights": np.full((N, N), 3.0)},
        {"weights": np.full(N, 0.1)},
        {"bounds": (-1, 1)},
        {"bounds": (-np.inf, np.inf)},
        {"bounds": (None, None)},
        {"fixed": np.zeros((N, N), dtype=bool)},
        {"fixed": np.eye(N, dtype=bool)},
        {"min_eigenvalue": 0},
    ],
    ids=str,
)
def test_options_that_say_nothing_change_nothing(options):
    X = nearest_correlation(C, **options, tol=1e-11)
    np.testing.assert_allclose(X, plain(C), atol=1e-5)


def test_weights_in_another_unit_multiply_value_and_bound():
    one = nearest_correlation(C, weights=W, return_solution=True)
    for unit in (1e-30, 1e3, 1e30):
        other = nearest_correlation(C, weights=unit * W, return_solution=True)
        np.testing.assert_allclose(other.matrix, one.matrix, atol=1e-6)
        assert other.primal == pytest.approx(unit * one.primal, rel=1e-7)
        assert other.dual == pytest.approx(unit * one.dual, rel=1e-7)


def test_a_renumbering_of_the_rows_renumbers_the_answer():
    order = np.random.default_rng(3).permutation(N)
    matrix, options = CATALOGUE["fixed block, weights, unknown"]
    some = np.ix_(order, order)
    moved = {name: value[some] for name, value in options.items()}
    one, other = nearest_correlation(matrix, **options), nearest_correlation(matrix[some], **moved)
    known = weights_of(matrix, options)[some] > 0
    np.testing.assert_allclose(other[known], one[some][known], atol=1e-5)


def test_every_entry_fixed_gives_the_matrix_itself():
    given = np.corrcoef(np.random.default_rng(1).standard_normal((N, 20)))
    X = nearest_correlation(given, fixed=np.ones((N, N), dtype=bool))
    np.testing.assert_allclose(X, given, atol=1e-8)


def test_a_least_eigenvalue_of_one_gives_the_identity():
    np.testing.assert_array_equal(nearest_correlation(C, min_eigenvalue=1), np.eye(N))


def test_unknown_entries_are_completed():
    """Entries within two of the diagonal, of a correlation matrix, have a completion: the value is 0."""
    given = np.corrcoef(np.random.default_rng(1).standard_normal((N, 20)))
    rows = np.arange(N)
    near = np.abs(rows[:, None] - rows) <= 2
    solution = nearest_correlation(np.where(near, given, np.nan), return_solution=True)
    assert solution.primal < 1e-12
    np.testing.assert_allclose(solution.matrix[near], given[near], atol=1e-6)
    assert np.linalg.eigvalsh(solution.matrix)[0] >= -1e-13


def test_nothing_known_at_all_is_no_error():
    solution = nearest_correlation(np.full((3, 3), np.nan), return_solution=True)
    assert (solution.status, solution.primal, solution.gap) == (Status.OPTIMAL, 0.0, 0.0)
    assert nearest_correlation(np.ones((1, 1)), weights=np.ones((1, 1))) == 1.0


def test_a_weight_that_grows_fixes_an_entry():
    heavy = np.ones((N, N))
    heavy[0, 1] = heavy[1, 0] = 1e6
    kept = nearest_correlation(C, fixed=FEW & (np.arange(N) == 1))
    np.testing.assert_allclose(nearest_correlation(C, weights=heavy), kept, atol=1e-4)


def test_an_entry_of_three_is_where_the_others_ask():
    """X_13 of X_12 = X_23 = 0.9 is at least 0.62, and 0.7 may stay."""
    given = np.array([[1, 0.9, 0.7], [0.9, 1, 0.9], [0.7, 0.9, 1]])
    np.testing.assert_allclose(nearest_correlation(given, bounds=(0.5, 0.95)), given, atol=1e-7)
    fixed = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    given[0, 2] = given[2, 0] = -0.5
    X = nearest_correlation(given, fixed=fixed)
    assert X[0, 2] == pytest.approx(0.81 - 0.19, abs=1e-6)


# -- the default regularizer -----------------------------------------------------------------------


def test_the_default_is_frobenius_where_logdet_has_no_answer():
    np.testing.assert_array_equal(
        nearest_correlation(C), nearest_correlation(C, regularizer="frobenius")
    )
    given = np.cov(np.random.default_rng(1).standard_normal((4, 20)))
    np.testing.assert_array_equal(
        nearest_correlation(given), nearest_correlation(given, regularizer="logdet")
    )
    same = nearest_correlation(given, weights=np.ones((4, 4)))
    np.testing.assert_allclose(same, plain(given), atol=1e-5)


# -- data frames and other libraries ---------------------------------------------------------------


def test_a_data_frame_comes_back_with_its_labels():
    pd = pytest.importorskip("pandas")
    names = list("abcdefgh")
    frame = pd.DataFrame(NAN, names, names)
    X = nearest_correlation(frame, weights=pd.DataFrame(W, names, names))
    assert list(X.index) == list(X.columns) == names
    np.testing.assert_array_equal(X.to_numpy(), nearest_correlation(NAN, weights=W))
    missing = frame.astype("Float64")
    np.testing.assert_array_equal(nearest_correlation(missing), nearest_correlation(NAN))
    definite = pd.DataFrame(np.eye(3) * 2, list("abc"), list("abc"))
    assert nearest_correlation(definite).equals(definite / 2)


def test_labels_in_another_order_are_refused():
    pd = pytest.importorskip("pandas")
    names = list("abcdefgh")
    frame = pd.DataFrame(C, names, names)
    with pytest.raises(ValueError, match=r"`matrix` is a data frame whose rows and columns"):
        nearest_correlation(frame[names[::-1]])
    with pytest.raises(ValueError, match=r"`weights` has other labels than `matrix`"):
        nearest_correlation(frame, weights=pd.DataFrame(W, names[::-1], names[::-1]))


def test_every_library(library):
    matrix, options = CATALOGUE["everything"]
    X = nearest_correlation(library.array(matrix), **options)
    np.testing.assert_allclose(library.numpy(X), nearest_correlation(matrix, **options), atol=1e-5)


# -- infeasible ------------------------------------------------------------------------------------


def contradiction(last):
    """Correlations of 0.9 twice leave no room for one below 0.62 between the ends."""
    given = np.eye(N)
    given[0, 1] = given[1, 2] = 0.9
    given[0, 2] = last
    return given + given.T - np.eye(N), np.triu(given != 0, 1)


@pytest.mark.parametrize("last", [-0.9, 0.3, 0.6])
def test_fixed_entries_that_no_correlation_matrix_has_are_named(last):
    given, fixed = contradiction(last)
    with pytest.raises(
        InfeasibleError, match="no correlation matrix keeps what is asked"
    ) as caught:
        nearest_correlation(given, fixed=fixed)
    named = re.findall(r"\((\d), (\d)\) is (\S+?)[;.] ", str(caught.value))
    expected = {("0", "1", "0.9"), ("1", "2", "0.9"), ("0", "2", f"{last:g}")}
    assert set(named) == expected
    proof = caught.value.solution
    assert proof.status is Status.INFEASIBLE
    assert len(proof.conflict) == 3
    S = proof.multipliers
    assert np.linalg.eigvalsh(S)[0] >= -1e-12 * np.trace(S)
    free = ~(fixed | fixed.T | np.eye(N, dtype=bool))
    assert np.sum(np.where(free, np.abs(S), S * given)) < 0


def test_bounds_that_contradict_each_other_are_named():
    upper = -1.5 / (N - 1)  # e'Xe would be negative
    with pytest.raises(InfeasibleError, match=r"entry \(\d, \d\) is at most -0.214286;"):
        nearest_correlation(C, bounds=(None, upper))


def test_a_least_eigenvalue_may_contradict_a_fixed_entry():
    given, fixed = contradiction(0.7)
    assert nearest_correlation(given, fixed=fixed)[0, 2] == pytest.approx(0.7, abs=1e-8)
    with pytest.raises(
        InfeasibleError, match=r"entry \(0, 1\) is fixed at 0.9.*min_eigenvalue=0.2"
    ):
        nearest_correlation(given, fixed=fixed, min_eigenvalue=0.2)
    with pytest.raises(InfeasibleError, match=r"lower `min_eigenvalue`"):
        nearest_correlation(given, fixed=fixed, min_eigenvalue=0.08)


# -- limits ----------------------------------------------------------------------------------------


def test_limits_give_the_best_answer_so_far_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=9 iterations"):
        solution = nearest_correlation(C, weights=W * KNOWN, max_iter=9, return_solution=True)
    assert solution.status is Status.ITERATION_LIMIT
    assert 1e-8 < solution.relative_gap < 1
    best = nearest_correlation(C, weights=W * KNOWN, return_solution=True)
    assert solution.dual <= best.primal
    seen = []
    with pytest.warns(ConvergenceWarning, match="stopped by the callback"):
        nearest_correlation(C, weights=W, callback=lambda record: seen.append(record) or True)
    assert len(seen) == 1


def test_ctrl_c_hands_over_the_best_answer():
    def press(record):
        if record.iteration == 9:
            raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted) as caught:
        nearest_correlation(C, weights=W * KNOWN, callback=press)
    answer = caught.value.solution
    assert (answer.status, answer.violation) == (Status.INTERRUPTED, 0.0)
    assert answer.relative_gap < 1
    assert np.all(np.diag(answer.matrix) == 1)


def test_what_leaves_no_positive_definite_matrix_is_answered_with_its_gap():
    """Angles of t, t and 2t are in a plane: where bounds ask for that, and not fixed entries, nobody tells."""
    t = 0.4
    lower, upper = -np.ones((N, N)), np.ones((N, N))
    lower[0, 1] = lower[1, 0] = lower[1, 2] = lower[2, 1] = np.cos(t)
    upper[0, 2] = upper[2, 0] = np.cos(2 * t)
    with pytest.warns(ConvergenceWarning, match="`bounds` leave no positive definite matrix"):
        solution = nearest_correlation(C, bounds=(lower, upper), return_solution=True)
    assert solution.status is Status.STALLED
    assert solution.face is None
    assert solution.relative_gap < 1e-2
    assert abs(solution.matrix[0, 2] - np.cos(2 * t)) < 1e-2


# -- bad input -------------------------------------------------------------------------------------

FIXED_ONE = np.eye(3)[[1, 0, 2]] > 0
REFUSED = [
    ({"weights": np.ones((2, 2))}, r"`weights` has shape \(2, 2\), but `matrix` has 3 rows"),
    ({"weights": 2.0}, r"`weights` has shape \(\), but `matrix` has 3 rows"),
    ({"weights": -np.ones(3)}, r"`weights` has an entry of -1; pass weights of at least 0"),
    ({"weights": np.triu(np.ones((3, 3)))}, r"`weights` is not symmetric"),
    ({"weights": np.full(3, np.nan)}, r"`weights` contains NaN or infinity"),
    ({"weights": "a"}, r"`weights` must hold numbers; got a str"),
    ({"fixed": [0, 1]}, r"`fixed` has shape \(2,\), but `matrix` has shape \(3, 3\)"),
    ({"fixed": np.full((3, 3), 0.5)}, r"`fixed` must hold True or False for each entry"),
    ({"bounds": 0.5}, r"`bounds` must be a pair \(lower, upper\).*; got 0.5"),
    ({"bounds": (0, 1, 2)}, r"`bounds` must be a pair"),
    ({"bounds": (0.5, 0.2)}, r"`bounds` asks for at least 0.5 and at most 0.2 at row 0, column 1"),
    ({"bounds": (0.0, np.nan)}, r"`bounds\[1\]` contains NaN; pass 1 where there is no bound"),
    ({"bounds": (np.zeros(3), 1)}, r"`bounds\[0\]` has shape \(3,\)"),
    ({"bounds": (np.triu(np.ones((3, 3))) - 1, 1)}, r"`bounds\[0\]` is not symmetric"),
    ({"bounds": (1.5, None)}, r"`bounds` asks for at least 1.5 and at most 1 at row 0"),
    ({"bounds": (1.5, 2)}, r"`bounds` asks for 1.5 to 2 at entry \(0, 1\), but a correlation lies"),
    ({"min_eigenvalue": 1.5}, r"`min_eigenvalue=1.5` must lie between 0 and 1"),
    ({"min_eigenvalue": "a"}, r"`min_eigenvalue` must be a finite number"),
    ({"fixed": FIXED_ONE, "bounds": (0.0, 0.1)}, r"entry \(0, 1\) is fixed at 0.5 and `bounds` asks"),
    ({"fixed": FIXED_ONE, "min_eigenvalue": 0.6}, r"is fixed at 0.5, but a correlation lies .*-0.4 and 0.4"),
    ({"weights": np.ones(3), "regularizer": "logdet"}, r'`weights` is for regularizer="frobenius"'),
    ({"bounds": (0, 1), "rank": 2}, r"`bounds` cannot be combined with `rank=2`"),
    ({"tol": 0, "weights": np.ones(3)}, r"tol must be positive"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_bad_arguments_raise_a_clear_error(options, sentence):
    given = np.full((3, 3), 0.5) + 0.5 * np.eye(3)
    with pytest.raises((ValueError, TypeError), match=sentence) as caught:
        nearest_correlation(given, **options)
    assert "\n" not in str(caught.value)


def test_nan_must_be_in_both_places_and_cannot_be_kept():
    given = np.eye(3)
    given[0, 2] = np.nan
    with pytest.raises(
        ValueError, match=r"NaN at row 0, column 2, but a number at row 2, column 0"
    ):
        nearest_correlation(given)
    given[2, 0] = np.nan
    with pytest.raises(ValueError, match=r"`fixed` asks to keep row 0, column 2.*which is NaN"):
        nearest_correlation(given, fixed=np.ones((3, 3), dtype=bool))
    with pytest.raises(ValueError, match=r'NaN in `matrix` is for regularizer="frobenius"'):
        nearest_correlation(given, regularizer="logdet")


def test_nothing_that_was_given_is_changed():
    matrix, options = CATALOGUE["everything"]
    copies = (
        matrix.copy(),
        {name: np.copy(value) for name, value in options.items() if name != "bounds"},
    )
    nearest_correlation(matrix, **options)
    np.testing.assert_array_equal(matrix, copies[0])
    for name, value in copies[1].items():
        np.testing.assert_array_equal(options[name], value)
