"""Side information: input checks, random draws, closure, and the terms of a problem it becomes."""

import pickle
from dataclasses import FrozenInstanceError
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlearn.problem.losses import Hard, Hinge, Linear, LogDetSlack, Square, SquaredHinge
from gramlearn.side_information import (
    Bounds,
    ContradictionError,
    Pairs,
    Triplets,
    percentile_bounds,
)
from gramlearn.side_information.indexing import Rectangles, Triangles, distinct_numbers

N = 8
INF, NAN = float("inf"), float("nan")
ALIKE, UNLIKE = [[0, 1], [2, 1], [5, 3]], [[0, 6], [7, 3]]

MAKERS = {
    "pairs": lambda index: Pairs(index(ALIKE), index(UNLIKE), n_points=N, upper=1.0, lower=2.0),
    "pairs, one number each": lambda index: Pairs(
        index(ALIKE),
        index(UNLIKE),
        n_points=N,
        upper=[1.0, 2.0, 3.0],
        lower=[4.0, 5.0],
        similar_weight=[0.1, 0.2, 0.3],
        dissimilar_weight=2.0,
    ),
    "triplets": lambda index: Triplets(
        index([[0, 1, 2], [3, 4, 5], [6, 1, 0]]), n_points=N, margin=[0.0, 1.0, 2.0], weight=3.0
    ),
    "quadruplets": lambda index: Triplets(index([[0, 1, 2, 0], [3, 4, 6, 5]]), n_points=N),
    "bounds": lambda index: Bounds(
        index([0, 2, 5, 6]),
        index([1, 3, 4, 0]),
        upper=[1.0, INF, 2.0, 3.0],
        lower=[0.0, 1.0, 1.0, 3.0],
        weight=[1.0, 2.0, 3.0, 4.0],
        n_points=N,
    ),
}


@pytest.fixture(params=list(MAKERS))
def maker(request):
    return MAKERS[request.param]


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(N, 3))


def distance(points, i, j):
    return ((points[i] - points[j]) ** 2).sum(axis=-1)


def values(term, matrix):
    """t_k = <A_k, X> for every constraint of a term."""
    return np.asarray(term.constraints.restricted_map(None, matrix.shape[0], matrix).apply(matrix))


def readings(terms, matrix, within=range(N)):
    """Every constraint whose points all lie within a set, as (kind, t, bound, weight), sorted."""
    rows = []
    for term in terms:
        kind = next(k for k in ("upper", "lower", "equal") if getattr(term.loss, k) is not None)
        t = values(term, matrix)
        bound, weight = (np.asarray(x) + 0 * t for x in (term.loss.bound, term.loss.weight))
        columns = [np.asarray(x) for x in term.constraints.columns.values()]
        inside = np.isin(columns, within).all(axis=0)
        rows += [
            (kind, *numbers) for numbers in np.stack([t, bound, weight], axis=1)[inside].tolist()
        ]
    return sorted(rows)


def assert_same(first, second):
    assert [row[0] for row in first] == [row[0] for row in second]
    np.testing.assert_allclose([r[1:] for r in first], [r[1:] for r in second], rtol=1e-12)


# --------------------------------------------------------------------------------------------------
# Terms


def test_pairs_bind_to_their_squared_distances(points):
    similar, dissimilar = MAKERS["pairs"](np.asarray).bind(Hinge(3.0, weight=2.0), points)
    for term, table in ((similar, ALIKE), (dissimilar, UNLIKE)):
        i, j = np.asarray(table).T
        np.testing.assert_allclose(values(term, np.eye(3)), distance(points, i, j), rtol=1e-14)
        assert (term.loss.C, term.loss.weight) == (3.0, 2.0)
    assert (similar.loss.upper, similar.loss.lower) == (1.0, None)
    assert (dissimilar.loss.upper, dissimilar.loss.lower) == (None, 2.0)


def test_triplets_bind_to_differences_of_squared_distances(points):
    (term,) = MAKERS["triplets"](np.asarray).bind(Hinge(), points)
    d = distance(points, [0, 3, 6], [1, 4, 1]) - distance(points, [0, 3, 6], [2, 5, 0])
    np.testing.assert_allclose(values(term, np.eye(3)), d, rtol=1e-13)
    np.testing.assert_array_equal(term.loss.upper, [0.0, -1.0, -2.0])
    (term,) = MAKERS["quadruplets"](np.asarray).bind(Hinge(), points)
    d = distance(points, [0, 3], [1, 4]) - distance(points, [2, 6], [0, 5])
    np.testing.assert_allclose(values(term, np.eye(3)), d, rtol=1e-13)
    assert term.loss.upper == -1.0


def test_bounds_bind_to_one_term_a_side(points):
    upper, lower, target = MAKERS["bounds"](np.asarray).bind(Hard(), points)
    np.testing.assert_array_equal(upper.loss.upper, [1.0, 2.0])
    np.testing.assert_array_equal(lower.loss.lower, [1.0, 1.0])
    np.testing.assert_array_equal(target.loss.equal, [3.0])
    np.testing.assert_array_equal(lower.loss.weight, [2.0, 3.0])
    np.testing.assert_allclose(
        values(upper, np.eye(3)), distance(points, [0, 5], [1, 4]), rtol=1e-14
    )


def test_a_target_is_two_halves_for_a_loss_without_targets():
    side = Bounds([0], [1], upper=2.0, lower=2.0, n_points=2)
    assert [term.loss.side for term in side.bind(SquaredHinge())] == [1, -1]
    assert [term.loss.side for term in side.bind(Square())] == [0]
    t = np.linspace(0.0, 4.0, 9)
    (whole,) = side.bind(Square(3.0))
    halves = side.bind(SquaredHinge(3.0))
    np.testing.assert_allclose(sum(h.loss.value(t) for h in halves), whole.loss.value(t))


def test_libraries_agree(library, maker, points):
    """The same terms from every library, and nothing the caller passed has changed."""
    tables = []

    def index(x):
        tables.append((library.index(x), x))
        return tables[-1][0]

    X, identity = library.array(points), library.array(np.eye(3))
    side = maker(index)
    expected = readings(maker(np.asarray).bind(Hinge(), points), np.eye(3))
    assert_same(readings(side.bind(Hinge(), X), identity), expected)
    for table, original in tables:
        np.testing.assert_array_equal(np.asarray(table), original)
    # Host indices go with points of any library.
    assert_same(readings(maker(np.asarray).bind(Hinge(), X), identity), expected)


def test_without_points_the_kernel_itself_is_measured(maker, points):
    side = maker(np.asarray)
    kernel = readings(side.bind(Hinge()), points @ points.T)
    assert_same(kernel, readings(side.bind(Hinge(), points), np.eye(3)))


def test_bounds_of_pairs_come_from_the_pairs_then_from_bind_then_from_the_points(points):
    def found(side, **options):
        return tuple(term.loss.bound for term in side.bind(LogDetSlack(), points, **options))

    bare = Pairs(ALIKE, UNLIKE, n_points=N)
    assert found(bare, random_state=0) == percentile_bounds(points)
    assert found(bare, bounds=(1.5, 2.5)) == (1.5, 2.5)
    assert found(bare, bounds=(0.0, None))[1] == percentile_bounds(points)[1]
    assert found(Pairs(ALIKE, UNLIKE, n_points=N, upper=1.0), bounds=(2.0, 3.0)) == (1.0, 3.0)
    assert found(Pairs(ALIKE, n_points=N), bounds=(2.0, None)) == (2.0,)
    assert found(Pairs(dissimilar=UNLIKE, n_points=N), bounds=(None, 2.0)) == (2.0,)


# --------------------------------------------------------------------------------------------------
# What all kinds have in common


def test_side_information_is_frozen_and_pickles(maker):
    side = maker(np.asarray)
    with pytest.raises(FrozenInstanceError):
        side.n_points = 3
    again = pickle.loads(pickle.dumps(side))
    assert (repr(again), again.size) == (repr(side), side.size)
    assert f"n_points={N}" in repr(side)


def test_statements_describe_themselves():
    sides = {name: make(np.asarray) for name, make in MAKERS.items()}
    assert sides["pairs"].describe(0) == "the similar pair (0, 1)"
    assert sides["pairs"].describe(4) == "the dissimilar pair (7, 3)"
    assert sides["triplets"].describe(1) == "the triplet (3, 4, 5)"
    assert sides["quadruplets"].describe(1) == "the comparison of the pairs (3, 4) and (6, 5)"
    assert sides["bounds"].describe(3) == "the pair (6, 0)"
    for side in sides.values():
        assert side.describe(side.size - 1)


def test_the_rows_involved_are_those_of_the_terms(library, maker):
    side = maker(library.index)
    expected = {
        int(row)
        for term in side.bind(Hard())
        for column in term.constraints.columns.values()
        for row in np.asarray(column)
    }
    assert library.numpy(side.involved()).tolist() == sorted(expected)


@given(seed=st.integers(0, 1000))
def test_keep_points_keeps_the_statements_about_them(library, seed):
    """side.keep_points(rows) says about points[rows] what side says about those points, and no more."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(N, 3))
    rows = rng.permutation(N)[: rng.integers(4, N + 1)]
    X, part, identity = (library.array(x) for x in (points, points[rows], np.eye(3)))
    for make in MAKERS.values():
        side = make(library.index)
        expected = readings(side.bind(Hinge(), X), identity, within=rows)
        kept = side.keep_points(library.index(rows))
        assert kept.n_points == len(rows)
        assert (kept.size == 0) == (not expected)
        if expected:
            assert_same(readings(kept.bind(Hinge(), part), identity), expected)


def test_side_information_is_a_column_of_points_to_scikit_learn():
    """It has their number as its shape, rows of it are those of the points, and there may be none."""
    for make in MAKERS.values():
        side = make(np.asarray)
        assert side.shape == (N,)
        rows = np.asarray([5, 3, 7, 1, 0, 2])
        for part in (
            side[rows],
            side[rows, ...],
            side[np.isin(np.arange(N), rows)][[4, 3, 5, 1, 0, 2]],
        ):
            np.testing.assert_array_equal(
                part.statement_points(), side.keep_points(rows).statement_points()
            )
        nothing = side[[0, 6]].keep_points([1])
        assert (nothing.size, nothing.n_points) == (0, 1)
        with pytest.raises(
            ValueError, match=r"is empty; pass .* with at least one statement, or, of cross"
        ):
            nothing.check_not_empty()
        with pytest.raises(TypeError, match="not iterable"):
            iter(side)
        assert not hasattr(side, "__len__")
        assert np.asarray(side).shape == ()


def test_keep_points_numbers_the_points_anew():
    pairs = MAKERS["pairs, one number each"](np.asarray)
    part = pairs.keep_points([5, 3, 7, 1])
    np.testing.assert_array_equal(part.similar, [[0, 1]])
    np.testing.assert_array_equal(part.dissimilar, [[2, 1]])
    assert (list(part.upper), list(part.lower), list(part.similar_weight)) == ([3.0], [5.0], [0.3])
    assert Pairs(ALIKE, n_points=N).keep_points([3, 5]).size == 1
    mask = np.isin(np.arange(N), [5, 3, 7, 1])
    np.testing.assert_array_equal(pairs.keep_points(mask).dissimilar, [[3, 1]])


# --------------------------------------------------------------------------------------------------
# Labels and percentiles


@pytest.mark.filterwarnings("ignore:`y` holds -1, 0 and 1")
@given(
    labels=st.lists(st.integers(-1, 3), min_size=2, max_size=25),
    n_pairs=st.integers(2, 60),
    seed=st.integers(0, 100),
)
def test_pairs_from_labels_follow_the_labels(labels, n_pairs, seed):
    y = np.asarray(labels)
    every = [p for p in combinations(range(y.size), 2) if -1 not in y[list(p)]]
    alike = {p for p in every if y[p[0]] == y[p[1]]}
    unlike = set(every) - alike
    if not alike or not unlike:
        with pytest.raises(ValueError, match=r"one class only|two members|every label"):
            Pairs.from_labels(y, n_pairs, random_state=seed)
        return
    pairs = Pairs.from_labels(y, n_pairs, random_state=seed)
    assert pairs.n_points == y.size
    for table, possible, size in (
        (pairs.similar, alike, n_pairs // 2),
        (pairs.dissimilar, unlike, n_pairs - n_pairs // 2),
    ):
        drawn = {tuple(sorted(map(int, p))) for p in table}
        assert drawn <= possible
        assert len(drawn) == table.shape[0] == min(size, len(possible))


def test_labels_of_every_kind(library):
    y = [0, 1, 1, 2, 0, 2, 1]
    expected = Pairs.from_labels(y, 12, random_state=1)
    names = np.asarray(["a", "b", "c"])[y]
    for labels in (library.index(y), names, names.astype(object), list(names), np.asarray(y) / 2):
        drawn = Pairs.from_labels(labels, 12, random_state=1)
        np.testing.assert_array_equal(drawn.similar, expected.similar)
        np.testing.assert_array_equal(drawn.dissimilar, expected.dissimilar)
    # -1 is a class unless it is an integer.
    assert Pairs.from_labels([-1.0, 1.0, -1.0], 4).n_points == 3
    assert Pairs.from_labels([True, False, True], 4).n_points == 3


def assert_drawn_as(y, plain):
    drawn, expected = (Pairs.from_labels(labels, 20, random_state=0) for labels in (y, plain))
    np.testing.assert_array_equal(drawn.similar, expected.similar)
    np.testing.assert_array_equal(drawn.dissimilar, expected.dissimilar)


def test_the_integer_minus_one_is_unlabeled_in_an_array_of_objects_too():
    plain = [0, 2, -1, 0, 2, 0]
    assert_drawn_as(np.asarray(plain, dtype=object), plain)
    assert_drawn_as(np.asarray(["a", "b", -1, "a", "b", "a"], dtype=object), plain)
    # -1.0 is a class among objects as it is among floats, and so is False.
    assert_drawn_as(np.asarray([-1.0, 0.0, None, -1.0, 0.0, -1.0], dtype=object), plain)
    assert_drawn_as(np.asarray([False, True, None, False, True, False], dtype=object), plain)


@pytest.mark.parametrize(
    ("dtype", "labels"),
    [
        ("string", ["a", "b", None, "a", "b", "a"]),
        ("boolean", [False, True, None, False, True, False]),
        ("Int64", [0, 1, None, 0, 1, -1]),
        ("Float64", [0.0, 1.0, None, 0.0, 1.0, 0.0]),
        ("category", ["a", "b", None, "a", "b", "a"]),
    ],
)
def test_missing_labels_of_pandas_are_unlabeled(dtype, labels):
    pandas = pytest.importorskip("pandas")
    plain = [0, 2, -1, 0, 2, -1 if labels[-1] == -1 else 0]
    assert_drawn_as(pandas.Series(labels, dtype=dtype), plain)


def test_every_pair_is_equally_likely():
    y = np.asarray([0] * 5 + [1] * 2 + [2])
    n_draws = 1000
    counts = np.zeros((2, 8, 8))
    for seed in range(n_draws):
        pairs = Pairs.from_labels(y, 10, random_state=seed)
        for side, table in enumerate((pairs.similar, pairs.dissimilar)):
            np.add.at(counts[side], tuple(np.sort(table, axis=1).T), 1)
    same = y[:, None] == y
    above = np.triu(np.ones((8, 8), dtype=bool), 1)
    for count, possible in zip(counts, (same & above, ~same & above), strict=True):
        p = 5 / possible.sum()
        deviation = (count[possible] - n_draws * p) / np.sqrt(n_draws * p * (1 - p))
        assert count[~possible].sum() == 0
        assert np.abs(deviation).max() < 4.5


def test_the_default_number_of_pairs_is_40_c_squared():
    y = np.random.default_rng(0).integers(0, 3, 200)
    pairs = Pairs.from_labels(y, random_state=0)
    assert pairs.similar.shape[0] == pairs.dissimilar.shape[0] == 180
    again = Pairs.from_labels(y, random_state=np.random.default_rng(0))
    np.testing.assert_array_equal(again.similar, pairs.similar)
    first, second = (Pairs.from_labels(y, random_state=np.random.RandomState(3)) for _ in range(2))
    np.testing.assert_array_equal(first.similar, second.similar)


def test_a_draw_takes_memory_for_the_drawn_pairs_only():
    """A million points have 5e11 pairs; listing them, or a mask of them, would not return."""
    y = np.arange(1_000_000) % 2
    assert Pairs.from_labels(y, 1000, random_state=0).size == 1000
    X = np.arange(1_000_000.0)[:, None]
    upper, lower = percentile_bounds(X, random_state=0)
    # |i - j| / n of two uniform points has the distribution function 1 - (1 - x)^2.
    for bound, p in ((upper, 0.05), (lower, 0.95)):
        assert bound**0.5 / 1e6 == pytest.approx(1 - (1 - p) ** 0.5, rel=0.03)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.integers(0, 100))
def test_numbers_and_pairs_are_one_to_one(sizes, seed):
    size = np.asarray(sizes)
    end = np.cumsum(size)
    group = np.repeat(np.arange(size.size), size)
    every = list(combinations(range(group.size), 2))
    within = Triangles(end - size, size)
    across = Rectangles(end - size, size, end, end[-1] - end)
    for blocks, wanted in ((within, True), (across, False)):
        listed = list(zip(*blocks.all_places(), strict=True))
        assert sorted(listed) == [(a, b) for a, b in every if (group[a] == group[b]) == wanted]
        assert blocks.total == len(listed)
    total = within.total + across.total
    some = distinct_numbers(np.random.default_rng(seed), total, total // 3)
    assert len(set(some)) == total // 3
    assert all(0 <= q < total for q in some)


def test_large_triangles_are_exact():
    n = 90_000_000  # the root of 8 q + 1 is no longer exact here
    b = np.asarray([n - 1, n - 1, n - 2, 70_000_001])
    a = np.asarray([0, n - 2, n - 3, 0])
    found = Triangles(np.asarray([0]), np.asarray([n])).places(b * (b - 1) // 2 + a)
    np.testing.assert_array_equal(found, [a, b])


def test_percentiles_are_those_of_all_squared_distances(library):
    X = np.random.default_rng(1).normal(size=(40, 3))
    i, j = np.triu_indices(40, 1)
    expected = np.percentile(distance(X, i, j), [10, 80])
    np.testing.assert_allclose(percentile_bounds(library.array(X), (10, 80)), expected, rtol=1e-12)
    single = percentile_bounds(library.array(X, "float32"), (10, 80))
    np.testing.assert_allclose(single, expected, rtol=1e-5)
    seeded = [percentile_bounds(library.array(X), n_pairs=50, random_state=4) for _ in range(2)]
    assert seeded[0] == seeded[1]
    np.testing.assert_allclose(seeded[0], percentile_bounds(X, n_pairs=50, random_state=4))
    assert percentile_bounds(library.index([[0], [3], [7]]), (0, 100)) == (9.0, 49.0)


def test_equal_points_do_not_make_a_bound_zero():
    X = np.asarray([[0.0]] * 30 + [[1.0], [3.0]])
    assert percentile_bounds(X, (0, 100)) == (1.0, 9.0)
    with pytest.raises(ValueError, match="that were looked at are equal, so no bounds"):
        percentile_bounds(np.ones((5, 2)))


# --------------------------------------------------------------------------------------------------
# Closure


@st.composite
def links(draw):
    n = draw(st.integers(2, 9))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    pairs = draw(st.lists(pair, min_size=1, max_size=12, unique_by=frozenset))
    cut = draw(st.integers(0, len(pairs)))
    return n, pairs[:cut], pairs[cut:]


def brute_force(n, similar, dissimilar):
    """Apply the two rules until nothing is added."""
    alike = {frozenset(p) for p in similar}
    unlike = {frozenset(p) for p in dissimilar}
    while True:
        new_alike = {a ^ b for a in alike for b in alike if len(a & b) == 1}
        new_unlike = {a ^ b for a in alike for b in unlike if len(a & b) == 1}
        if new_alike <= alike and new_unlike <= unlike:
            return alike, unlike
        alike |= new_alike
        unlike |= new_unlike


def as_sets(table):
    rows = [frozenset(map(int, p)) for p in table]
    assert len(rows) == len(set(rows))
    return set(rows)


def path_length(n, similar, a, b):
    """Fewest links between two points, by powers of the adjacency matrix."""
    A = np.eye(n, dtype=int)
    for i, j in similar:
        A[i, j] = A[j, i] = 1
    return next(k for k in range(n) if np.linalg.matrix_power(A, k)[a, b])


@given(links())
def test_closure_is_what_the_rules_give(case):
    n, similar, dissimilar = case
    pairs = Pairs(similar, dissimilar, n_points=n, upper=1.0, lower=2.0, similar_weight=3.0)
    alike, unlike = brute_force(n, similar, dissimilar)
    wrong = [p for p in dissimilar if frozenset(p) in alike]
    found = pairs.contradictions()
    assert [p for p, _ in found] == wrong
    for (a, b), chain in found:
        assert (chain[0], chain[-1]) == (a, b)
        assert all(frozenset(link) in {frozenset(p) for p in similar} for link in pairwise(chain))
        assert len(chain) - 1 == path_length(n, similar, a, b)
    if wrong:
        with pytest.raises(ContradictionError, match="contradicts the must-links") as caught:
            pairs.closure()
        assert caught.value.contradictions == found
        return
    closed = pairs.closure()
    assert (as_sets(closed.similar), as_sets(closed.dissimilar)) == (alike, unlike)
    assert (closed.upper, closed.lower, closed.similar_weight) == (1.0, 2.0, 3.0)
    again = closed.closure()
    np.testing.assert_array_equal(again.similar, closed.similar)
    np.testing.assert_array_equal(again.dissimilar, closed.dissimilar)


def test_closure_stays_in_its_library(library):
    pairs = Pairs(library.index([[0, 1], [1, 2]]), n_points=4)
    assert as_sets(library.numpy(pairs.closure().similar)) == {
        frozenset(p) for p in ((0, 1), (1, 2), (0, 2))
    }
    assert library.numpy(pairs.closure().dissimilar).shape == (0, 2)


def test_contradictions_are_named_with_their_chain():
    similar = [[4, 9], [12, 9], [12, 17], [9, 3], [3, 2], [2, 17]]
    pairs = Pairs(similar, [[4, 17], [0, 1]], n_points=20)
    assert pairs.contradictions() == [((4, 17), (4, 9, 12, 17))]
    sentence = r"dissimilar \(4, 17\) contradicts the must-links 4 - 9 - 12 - 17"
    with pytest.raises(ContradictionError, match=sentence) as caught:
        pairs.closure()
    assert pickle.loads(pickle.dumps(caught.value)).contradictions == pairs.contradictions()


def test_all_contradictions_are_listed_and_the_first_are_shown():
    chain = [[k, k + 1] for k in range(40)]
    pairs = Pairs(chain, [[0, k] for k in range(2, 41)], n_points=41)
    with pytest.raises(ContradictionError, match=r"39 contradictions: .* and 34 more") as caught:
        pairs.closure()
    assert [c for _, c in caught.value.contradictions] == [
        tuple(range(k + 1)) for k in range(2, 41)
    ]
    long = Pairs(chain, [[0, 40]], n_points=41)
    with pytest.raises(ContradictionError, match=r"0 - 1 - 2 - 3 - \.\.\. - 37 .* \(40 links\)"):
        long.closure()


# --------------------------------------------------------------------------------------------------
# Errors: what was given, what was expected, what to do

PAIRS = Pairs(ALIKE, UNLIKE, n_points=N)
PER_PAIR = MAKERS["pairs, one number each"](np.asarray)
Y = [0, 0, 1, 1]

REFUSED = [
    (
        lambda: Pairs([[0, 1204]], n_points=1000),
        "`similar` refers to row 1204, but n_points is 1000: rows are 0 to 999.",
    ),
    (lambda: Pairs(dissimilar=[[0, -1]], n_points=3), "`dissimilar` contains -1; row indices"),
    (lambda: Pairs([[0, 1], [2, 2]], n_points=3), r"`similar` contains \(2, 2\) \(row 1\); a pair"),
    (
        lambda: Pairs([[4, 17], [0, 1]], [[17, 4]], n_points=20),
        r"the pair \(4, 17\) is in both `similar` and `dissimilar`; remove .*`Pairs.from_judgments\(",
    ),
    (
        lambda: Pairs(n_points=3).bind(Hinge()),
        "side information is empty; pass Pairs with at least",
    ),
    (lambda: Pairs([], np.zeros((0, 2)), n_points=3).bind(Hinge()), "side information is empty"),
    (lambda: Pairs([[0, 1, 2]], n_points=3), r"`similar` must have the shape \(m, 2\).*\(1, 3\)"),
    (lambda: Pairs([0, 1], n_points=3), r"got shape \(2,\)\. For one row pass similar=\[\["),
    (lambda: Pairs([[0, 1], [2]], n_points=3), r"`similar` .*got rows of different lengths"),
    (
        lambda: Pairs([[0.0, 1.0]], n_points=3),
        "`similar` must hold whole numbers .* float64. .*astype",
    ),
    (lambda: Pairs([["a", "b"]], n_points=3), "`similar` must hold whole numbers"),
    (lambda: Pairs([[True, False]], n_points=3), "`similar` must hold whole numbers .* bool"),
    (lambda: Pairs([[0, 1]]), r"`Pairs\(...\)` needs n_points=, .*n_points=len\(X\)"),
    (lambda: Pairs([[0, 1]], n_points=0), "`n_points` must be a whole number of at least 1; got 0"),
    (lambda: Pairs([[0, 1]], n_points=2.5), "`n_points` must be a whole number"),
    (lambda: Pairs([[0, 1]], n_points=[3]), r"`n_points` must be a whole number .* got \[3\]"),
    (lambda: Pairs([[0, 1]], n_points=2, upper=NAN), "must be at least 0 and finite; got nan"),
    (lambda: Pairs([[0, 1]], n_points=2, upper=INF), "`upper` must be at least 0 and finite; got"),
    (lambda: Pairs([[0, 1]], n_points=2, upper=-1), "`upper` must be at least 0 .* got -1"),
    (
        lambda: Pairs(dissimilar=UNLIKE, n_points=N, lower=[1.0, -2.0]),
        r"`lower` is -2\.0 for the dissimilar pair \(7, 3\); it must be at least 0 and finite",
    ),
    (
        lambda: Pairs(ALIKE, n_points=N, upper=[1.0, NAN, 1.0]),
        r"`upper` is nan for the similar pair \(2, 1\)",
    ),
    (lambda: Pairs(ALIKE, n_points=N, upper=[1.0]), r"`upper` has shape \(1,\), but 3 numbers are"),
    (lambda: Pairs(ALIKE, n_points=N, upper="near"), "`upper` must be one number, or one for each"),
    (lambda: Pairs(ALIKE, UNLIKE, n_points=N, upper=3, lower=2), "got upper=3 and lower=2"),
    (lambda: Pairs(ALIKE, n_points=N, similar_weight=0), "`similar_weight` must be positive"),
    (
        lambda: Pairs(ALIKE, n_points=N, similar_weight=[1, 0, 1]),
        r"`similar_weight` is 0\.0 for the similar pair \(2, 1\); it must be positive",
    ),
    # bind
    (
        lambda: PAIRS.bind(Hinge()),
        r"no bound is known \(upper and lower\); pass `bounds=\(upper, l",
    ),
    (lambda: PAIRS.bind(Hinge(), bounds=(1.0, None)), r"no bound is known \(lower\)"),
    (
        lambda: PAIRS.bind(Hinge(), bounds=(2, 1)),
        r"upper=2 and lower=1 in `bounds=\(upper, lower\)`",
    ),
    (lambda: PAIRS.bind(Hinge(), bounds=1.0), r"`bounds` must be \(upper, lower\), two squared"),
    (lambda: PAIRS.bind(Hinge(), bounds=(NAN, 1)), "upper must be at least 0 and finite; got nan"),
    (
        lambda: Pairs(ALIKE, UNLIKE, n_points=N, upper=9.0).bind(Hinge(), np.eye(N)),
        "got upper=9 and lower=2; pass both, so that they fit each other",
    ),
    (
        lambda: PAIRS.bind(Hinge(), np.eye(5)),
        "side information was made for 8 points but received 5 rows. .* cross-validation, .*"
        r"from_labels\(y\[train\]\)`, or `side\.keep_points\(train\)`",
    ),
    (lambda: PAIRS.bind(Linear(), bounds=(1, 2)), "`loss` must be a loss that takes a bound"),
    (
        lambda: PAIRS.bind(Hinge, bounds=(1, 2)),
        "got the class Hinge.*neither its name nor its class",
    ),
    (lambda: PAIRS.bind(Linear(1.0), bounds=(1, 2)), "It takes none: make a Term"),
    (
        lambda: PAIRS.bind(Hinge(upper=1.0), bounds=(1, 2)),
        "`loss` already has a bound; pass `Hinge`",
    ),
    (lambda: PAIRS.bind(Hinge(), np.eye(N), random_state="x"), "`random_state` must be None, a wh"),
    # keep_points
    (lambda: PAIRS.keep_points([0, 1, 0]), "`rows` lists row 0 twice"),
    (lambda: PAIRS.keep_points([0, 8]), "`rows` refers to row 8, but n_points is 8"),
    (lambda: PAIRS.keep_points([]), "`rows` is empty"),
    (lambda: PAIRS.keep_points([[0, 1]]), "`rows` must be one-dimensional"),
    (lambda: PAIRS.keep_points([0.0, 1.0]), "`rows` must hold whole numbers"),
    (lambda: PAIRS.keep_points([True, False]), "`rows` is a mask of length 2, but n_points is 8"),
    # closure
    (
        lambda: PAIRS.closure(max_pairs=6),
        "the closure has 4 similar and 5 dissimilar .* max_pairs=6",
    ),
    (
        lambda: PER_PAIR.closure(),
        "`upper` has one number for each pair, and the pairs that `closure`",
    ),
    # triplets
    (lambda: Triplets([[0, 1, 9]], n_points=5), "`triplets` refers to row 9, but n_points is 5"),
    (
        lambda: Triplets([[0, 1, 1]], n_points=5),
        r"\(0, 1, 1\) \(row 0\); a triplet needs three diff",
    ),
    (lambda: Triplets([[0, 0, 1]], n_points=5), "a triplet needs three different points"),
    (lambda: Triplets([[0, 1, 2, 2]], n_points=5), "a pair needs two different points"),
    (lambda: Triplets([[0, 1, 1, 0]], n_points=5), "row 0.; it compares a pair with itself"),
    (lambda: Triplets([[0, 1]], n_points=5), r"the shape \(m, 3\) or \(m, 4\)"),
    (lambda: Triplets([], n_points=5).bind(Hinge()), "side information is empty; pass Triplets"),
    (lambda: Triplets([[0, 1, 2]]), r"`Triplets\(...\)` needs n_points="),
    (lambda: Triplets([[0, 1, 2]], n_points=3, margin=-1), "`margin` must be at least 0"),
    (lambda: Triplets([[0, 1, 2]], n_points=3, weight=[NAN]), r"nan for the triplet \(0, 1, 2\)"),
    # bounds
    (
        lambda: Bounds([0, 4], [1, 17], upper=[1, 2], lower=[0, 3], n_points=20),
        r"`lower` exceeds `upper` for the pair \(4, 17\): 3\.0 > 2\.0",
    ),
    (
        lambda: Bounds([4], [17], upper=[-1], n_points=20),
        r"`upper` is -1\.0 for the pair \(4, 17\)",
    ),
    (lambda: Bounds([4], [17], lower=INF, n_points=20), "`lower` must be at least 0 and finite"),
    (lambda: Bounds([4], [17], upper=NAN, n_points=20), "`upper` must be at least 0; got nan"),
    (lambda: Bounds([4], [17], n_points=20), "no pair has a bound; pass `upper`"),
    (lambda: Bounds([4], [17], upper=INF, lower=0, n_points=20), "no pair has a bound"),
    (lambda: Bounds([4], [4], upper=1, n_points=20), "a pair needs two different points"),
    (lambda: Bounds([4], [20], upper=1, n_points=20), "`j` refers to row 20, but n_points is 20"),
    (lambda: Bounds([-4], [2], upper=1, n_points=20), "`i` contains -4; row indices start at 0"),
    (lambda: Bounds([4, 5], [2], upper=1, n_points=20), "`i` has 2 entries and `j` has 1"),
    (
        lambda: Bounds([], [], upper=1, n_points=20).bind(Hinge()),
        "side information is empty; pass Bounds",
    ),
    (lambda: Bounds([1.5], [2], upper=1, n_points=20), "`i` must hold whole numbers"),
    (
        lambda: Bounds([1, 2], [2, 1], upper=1, n_points=20),
        r"`i, j` lists the pair \(1, 2\) twice, at positions 0 and 1; list it once, with",
    ),
    (lambda: Bounds([1], [2], upper=1), r"`Bounds\(...\)` needs n_points="),
    # labels
    (lambda: Pairs.from_labels([2, 2, 2]), "`y` has one class only, 2; at least two are needed"),
    (
        lambda: Pairs.from_labels([-1, 1, 1]),
        r"besides -1, NaN or None, which mean unlabeled .* pass y\.astype\(str\)",
    ),
    (lambda: Pairs.from_labels([-1, -1]), "every point of `y` is unlabeled"),
    (
        lambda: Pairs.from_labels([0.1, 0.2]),
        r"no class in `y` has two members .* cut it into classes",
    ),
    (lambda: Pairs.from_labels([0.0, NAN]), "`y` has one class only, 0.0 besides -1, NaN or None"),
    (lambda: Pairs.from_labels([NAN, NAN]), r"every point of `y` is unlabeled"),
    (lambda: Pairs.from_labels([["a"], ["b"]]), r"`y` must be one-dimensional.*\(2, 1\)"),
    (lambda: Pairs.from_labels([[0], [0, 1]]), "`y` must hold one label for each point"),
    (lambda: Pairs.from_labels([]), "`y` is empty"),
    (lambda: Pairs.from_labels(np.asarray(["a", 1, None], dtype=object)), "types int, str; pass"),
    (lambda: Pairs.from_labels(Y, 1), "`n_pairs` must be a whole number of at least 2"),
    (lambda: Pairs.from_labels(Y, random_state=-1), "`random_state` must be None"),
    # percentiles
    (lambda: percentile_bounds([[1.0]]), "`points` has one row; distances need at least two"),
    (lambda: percentile_bounds(np.eye(3), (95, 5)), r"0 <= first <= second <= 100; got \(95, 5\)"),
    (lambda: percentile_bounds(np.eye(3), 5), "`percentiles` must be two numbers"),
    (lambda: percentile_bounds([1.0, 2.0]), "`points` must be two-dimensional"),
    (
        lambda: Pairs(np.ones((5, 2, 4)), n_points=9),
        r"`similar` has shape \(5, 2, 4\), which are points; .* row numbers, of shape \(m, 2\): "
        r"with X = all_points.reshape\(-1, 4\), those of all_points\[k\] are \(2k, 2k \+ 1\)",
    ),
    (
        lambda: Triplets(np.ones((5, 3, 4)), n_points=9),
        r"which are points; .* those of all_points\[k\] are \(3k, 3k \+ 1, 3k \+ 2\)",
    ),
    (
        lambda: percentile_bounds([[1.0], [2.0]], percentiles=(0.05, 0.95)),
        r"`percentiles=\(0.05, 0.95\)` are both below 1 percent; .* such as \(5, 95\)",
    ),
    (lambda: percentile_bounds([[1.0], [NAN]]), "`points` contains NaN or infinity"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence) as caught:
        call()
    assert str(caught.value).endswith(".")


def test_the_same_pair_on_both_sides_is_a_contradiction(library):
    with pytest.raises(ContradictionError, match="and 1 more") as caught:
        Pairs(library.index([[4, 1], [2, 3], [0, 1]]), library.index([[3, 2], [1, 4]]), n_points=5)
    assert caught.value.contradictions == [((1, 4), (1, 4)), ((2, 3), (2, 3))]


def test_checks_work_in_every_library(library):
    with pytest.raises(ValueError, match="refers to row 9"):
        Pairs(library.index([[0, 9]]), n_points=5)
    with pytest.raises(ValueError, match=r"`upper` is -1.0 for the similar pair \(0, 1\)"):
        Pairs(library.index([[2, 1], [0, 1]]), n_points=5, upper=library.array([1.0, -1.0]))
    with pytest.raises(ValueError, match="compares a pair with itself"):
        Triplets(library.index([[0, 1, 1, 0]]), n_points=5)
    with pytest.raises(ValueError, match=r"`lower` exceeds `upper` for the pair \(0, 1\)"):
        Bounds(library.index([0]), library.index([1]), upper=1.0, lower=2.0, n_points=2)
    small = library.array([[0, 200], [1, 199]], "uint8")
    assert Pairs(small, n_points=300).size == 2
