"""Adding side information: weights of equal statements add up, and a statement listed twice counts twice."""

import numpy as np
import pytest
from gramlearn.losses import Hinge, SquaredHinge
from hypothesis import given
from hypothesis import strategies as st

from catalogue import BOUNDED_LOSS_TYPES, name_of
from gramlearn import (
    POLA,
    Bounds,
    ContradictionError,
    LogDet,
    NonparametricKernel,
    Pairs,
    Problem,
    Term,
    Triplets,
    solve,
)
from gramlearn.estimators._pair_methods import best_threshold
from gramlearn.evaluation import comparisons_kept

N = 7
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(N, 3))
LOSSES = [kind() for kind in BOUNDED_LOSS_TYPES if kind.__name__ not in ("Hard", "Square")]

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=name_of)


def statements(side):
    """{statement: its weight}, whatever the order of statements and of points in a pair."""
    found = {}
    if isinstance(side, Triplets):
        margins = np.broadcast_to(np.asarray(side.margin), side.size)
        tables = [("nearer", side.triplets, margins)]
    else:
        tables = [
            (
                name,
                table,
                np.full(len(table), None) if b is None else np.broadcast_to(b, len(table)),
            )
            for name, table, b in (
                ("similar", side.similar, side.upper),
                ("dissimilar", side.dissimilar, side.lower),
            )
        ]
    weights = iter(side.pair_weights())
    for name, table, numbers in tables:
        for row, number in zip(np.asarray(table).tolist(), numbers, strict=True):
            pairs = [row] if len(row) == 2 else [row[:2], row[2:] if len(row) == 4 else row[::2]]
            key = (name, *(frozenset(pair) for pair in pairs), number)
            assert key not in found
            found[key] = next(weights)
    return found


NO_BOUNDS = st.none()


@st.composite
def some_pairs(draw, bounds=NO_BOUNDS):
    """Pairs over N points that never contradict each other: similar ones have an even sum."""
    pair = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1])
    rows = draw(st.lists(pair, max_size=8))
    tables = [[p for p in rows if sum(p) % 2 == odd] for odd in (0, 1)]
    numbers = {}
    for table, bound, weight in zip(
        tables, ("upper", "lower"), ("similar_weight", "dissimilar_weight"), strict=True
    ):
        one_each = st.lists(
            st.sampled_from([0.5, 1.0, 3.0]), min_size=len(table), max_size=len(table)
        )
        numbers[weight] = draw(st.none() | st.just(2.0) | one_each)
        numbers[bound] = draw(bounds)
    return {"similar": tables[0], "dissimilar": tables[1], "n_points": N, **numbers}


@st.composite
def some_triplets(draw):
    row = st.lists(st.integers(0, N - 1), min_size=3, max_size=3, unique=True)
    rows = draw(st.lists(row, max_size=8))
    if draw(st.booleans()):
        rows = [[i, j, k, i] for i, j, k in rows]
    weights = st.lists(st.sampled_from([0.5, 1.0]), min_size=len(rows), max_size=len(rows))
    margin = draw(st.sampled_from([0.0, 1.0]))
    weight = draw(st.none() | st.just(2.0) | weights)
    return Triplets(rows, n_points=N, margin=margin, weight=weight)


any_pairs = some_pairs().map(lambda given: Pairs(**given))
bounded_pairs = some_pairs(st.sampled_from([1.0, 2.0])).map(
    lambda given: Pairs(**{**given, "lower": 2 + given["lower"]})
)
same_kind = (
    st.tuples(any_pairs, any_pairs, any_pairs)
    | st.tuples(bounded_pairs, bounded_pairs, bounded_pairs)
    | st.tuples(some_triplets(), some_triplets(), some_triplets())
)


# -- sums ----------------------------------------------------------------------------------------


@given(same_kind)
def test_sums_are_commutative_and_associative(sides):
    a, b, c = sides
    assert statements(a + b) == statements(b + a)
    assert statements((a + b) + c) == statements(a + (b + c))


@given(same_kind)
def test_a_sum_has_the_statements_of_both_and_the_sums_of_their_weights(sides):
    a, b, _ = sides
    first, second = statements(a), statements(b)
    expected = {key: first.get(key, 0) + second.get(key, 0) for key in {**first, **second}}
    assert statements(a + b) == expected


@given(same_kind)
def test_adding_empty_side_information_changes_nothing(sides):
    side, _, _ = sides
    empty = Triplets([], n_points=N) if isinstance(side, Triplets) else Pairs(n_points=N)
    assert statements(side + empty) == statements(empty + side) == statements(side)


@given(some_pairs(), some_pairs())
def test_a_sum_is_the_constructor_on_lists_one_after_the_other(first, second):
    plain = [
        {k: given[k] for k in ("similar", "dissimilar", "n_points")} for given in (first, second)
    ]
    joined = {k: plain[0][k] + plain[1][k] for k in ("similar", "dissimilar")}
    total = Pairs(**plain[0]) + Pairs(**plain[1])
    assert statements(total) == statements(Pairs(**joined, n_points=N))


def test_a_sum_does_not_modify_its_parts():
    a = Pairs([[0, 1]], n_points=N)
    b = Pairs([[1, 0], [2, 3]], n_points=N, similar_weight=[0.5, 3.0])
    total = a + b
    assert (total.similar.tolist(), total.similar_weight.tolist()) == ([[0, 1], [2, 3]], [1.5, 3.0])
    assert (a.size, a.similar_weight, b.size) == (1, None, 2)
    apart = Pairs([[0, 1]], n_points=N, upper=2.0) + Pairs([[2, 3]], n_points=N, upper=2.0)
    assert (apart.upper, apart.similar_weight) == (2.0, None)


def test_sums_in_every_library(library):
    first = Pairs(library.index([[0, 1], [2, 3]]), n_points=N, upper=1.0)
    second = Pairs(
        library.index([[1, 0]]), library.index([[4, 5], [5, 4]]), n_points=N, upper=1.0, lower=2.0
    )
    total = first + second
    assert library.numpy(total.similar).tolist() == [[0, 1], [2, 3]]
    assert library.numpy(total.similar_weight).tolist() == [2.0, 1.0]
    assert library.numpy(total.dissimilar_weight).tolist() == [2.0]
    three = Triplets(library.index([[0, 1, 2], [3, 4, 5]]), n_points=N)
    four = Triplets(library.index([[1, 0, 2, 0], [0, 1, 4, 5]]), n_points=N, margin=1.0)
    both = three + four
    assert library.numpy(both.triplets).tolist() == [[0, 1, 0, 2], [3, 4, 3, 5], [0, 1, 4, 5]]
    assert library.numpy(both.weight).tolist() == [2.0, 1.0, 1.0]


def test_comparisons_of_many_points_are_not_confused():
    """Whose pairs of pairs have numbers of more than 63 bits."""
    n = 3_000_000_000
    side = Triplets([[n - 1, 0, 5], [n - 1, 5, 0], [n - 1, 0, 5], [0, n - 1, 5]], n_points=n)
    assert side.triplets.tolist() == [[n - 1, 0, 5], [n - 1, 5, 0], [0, n - 1, 5]]
    assert side.weight.tolist() == [2.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("add", "sentence"),
    [
        (
            lambda: Pairs([[0, 1]], n_points=N) + Pairs(dissimilar=[[1, 0]], n_points=N),
            r"the pair \(0, 1\) is in both .*`Pairs.from_judgments\(i, j, alike, n_points, conflicts",
        ),
        (
            lambda: Pairs([[0, 1]], n_points=N) + Pairs([[0, 1]], n_points=9),
            "one is about 7 points and the other about 9",
        ),
        (
            lambda: Pairs([[0, 1]], n_points=N, upper=1.0) + Pairs([[2, 3]], n_points=N),
            "one of the two has `upper` and the other has none",
        ),
        (
            lambda: Triplets([[0, 1, 2]], n_points=N) + Triplets([], n_points=9),
            "one is about 7 points and the other about 9",
        ),
    ],
)
def test_side_information_that_cannot_be_added_raises_a_clear_error(add, sentence):
    with pytest.raises(ValueError, match=sentence):
        add()


def test_only_the_same_kind_can_be_added():
    with pytest.raises(TypeError, match=r"unsupported operand type"):
        Pairs([[0, 1]], n_points=N) + Triplets([[0, 1, 2]], n_points=N)
    with pytest.raises(TypeError, match=r"unsupported operand type"):
        Triplets([[0, 1, 2]], n_points=N) + 1


# -- repeats -------------------------------------------------------------------------------------


def test_a_pair_with_two_bounds_is_two_statements():
    side = Pairs([[0, 1], [1, 0], [0, 1]], n_points=N, upper=[1.0, 2.0, 1.0])
    assert side.similar.tolist() == [[0, 1], [1, 0]]
    assert (side.upper.tolist(), side.similar_weight.tolist()) == ([1.0, 2.0], [2.0, 1.0])
    with pytest.raises(ContradictionError) as caught:
        Pairs([[0, 1], [1, 0]], [[0, 1]], n_points=N, upper=[1.0, 2.0])
    assert caught.value.contradictions == [((0, 1), (0, 1))]


def optimum(terms):
    return solve(Problem(LogDet(), np.eye(3), terms), tol=1e-10)


def one_by_one(side, loss, points, **options):
    """The terms of each row alone, so that no two can merge."""
    return [term for part in side for term in part.bind(loss, points, **options)]


@every_loss
def test_a_pair_written_twice_is_one_of_weight_two(loss):
    """phi(X) + l(t) + l(t) + ... has the optimum of phi(X) + 2 l(t) + ...: X and the value."""
    similar, dissimilar = [(0, 1), (2, 3), (1, 0)], [(4, 5), (5, 4), (0, 6), (4, 5)]
    rows = [Pairs([p], n_points=N) for p in similar]
    rows += [Pairs(dissimilar=[p], n_points=N) for p in dissimilar]
    separate = optimum(one_by_one(rows, loss, POINTS, bounds=(0.5, 4.0)))
    merged = Pairs(similar, dissimilar, n_points=N)
    assert merged.similar_weight.tolist() == [2.0, 1.0]
    assert merged.dissimilar_weight.tolist() == [3.0, 1.0]
    weighted = Pairs(
        [(0, 1), (2, 3)],
        [(4, 5), (0, 6)],
        n_points=N,
        similar_weight=[2.0, 1.0],
        dissimilar_weight=[3.0, 1.0],
    )
    for side in (merged, weighted):
        found = optimum(side.bind(loss, POINTS, bounds=(0.5, 4.0)))
        assert found.primal == pytest.approx(separate.primal, rel=1e-8)
        np.testing.assert_allclose(found.matrix, separate.matrix, atol=1e-4)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=name_of)
def test_a_comparison_written_twice_is_one_of_weight_two(loss):
    rows = [(0, 1, 2), (3, 4, 5), (0, 1, 2), (0, 2, 1)]
    separate = optimum(one_by_one([Triplets([row], n_points=N) for row in rows], loss, POINTS))
    merged = Triplets(rows, n_points=N)
    assert merged.weight.tolist() == [2.0, 1.0, 1.0]
    found = optimum(merged.bind(loss, POINTS))
    assert found.primal == pytest.approx(separate.primal, rel=1e-8)
    np.testing.assert_allclose(found.matrix, separate.matrix, atol=1e-4)


@pytest.mark.parametrize("n_points", [9, 10**6])
@pytest.mark.parametrize("with_numbers", [False, True])
def test_repeated_statements_are_merged_as_by_a_dictionary(library, n_points, with_numbers):
    """Keys of triplets take 64 bits for few points and twice that for many."""
    rng = np.random.default_rng(n_points)
    points = np.sort(rng.choice(n_points, 9, replace=False))
    weight = rng.integers(1, 9, 400).astype(float)
    bound = rng.integers(1, 3, 400).astype(float) if with_numbers else np.ones(400)
    rows = np.array([rng.permutation(9)[:3] for _ in range(400)])
    pairs, triplets = (library.index(points[some]) for some in (rows[:, :2], rows))
    numbers = library.array(bound) if with_numbers else 1.0
    weights = library.array(weight)
    near = Pairs(pairs, n_points=n_points, upper=numbers, similar_weight=weights)
    compared = Triplets(triplets, n_points=n_points, margin=numbers, weight=weights)
    for found, of_key in (
        ((near.similar, near.upper, near.similar_weight), lambda row: frozenset(row[:2])),
        ((compared.triplets, compared.margin, compared.weight), tuple),
    ):
        expected: dict = {}
        for row, b, w in zip(points[rows].tolist(), bound, weight, strict=True):
            expected[of_key(row), b] = expected.get((of_key(row), b), 0.0) + w
        table, own, total = (x if isinstance(x, float) else library.numpy(x) for x in found)
        own = np.broadcast_to(own, len(table))
        keys = [(of_key(row), b) for row, b in zip(table.tolist(), own, strict=True)]
        assert list(zip(keys, total, strict=True)) == list(expected.items())


def test_weights_count_in_thresholds_scores_and_kernels_of_pairs():
    """What is not made of terms by `bind` counts a pair of weight w as w pairs, too."""
    d, alike = np.array([1.0, 2.0, 3.0]), np.array([True, False, True])
    assert best_threshold(d, alike) == 1.5
    assert best_threshold(d, alike, np.array([1.0, 1.0, 5.0])) == 3.0
    assert best_threshold(np.repeat(d, [1, 1, 5]), np.repeat(alike, [1, 1, 5])) == 3.0

    X = RNG.normal(size=(30, 2))
    y = np.arange(30) % 2
    once = Pairs.from_labels(y, 20, random_state=0)
    again = once + once
    assert again.size == once.size
    for half, double in ((POLA(C=2.0), POLA(C=1.0)),):
        prices = half.fit(X, side=once).solution_.primal, double.fit(X, side=again).solution_.primal
        assert prices[0] == pytest.approx(prices[1], rel=1e-4)
    for loss in ("linear", "hinge", "squared_hinge", "square"):
        first, second = (
            NonparametricKernel(loss=loss, C=C, join="either").fit(X, side=side)
            for C, side in ((2.0, once), (1.0, again))
        )
        K, same = (e.factor_ @ e.factor_.T for e in (first, second))
        np.testing.assert_allclose(K, same, atol=1e-3 * np.abs(K).max())

    class Plain:
        def pair_score(self, pairs):
            return -np.sum((pairs[0] - pairs[1]) ** 2, axis=1)

    rows = [(0, 1, 2), (0, 2, 1), (0, 1, 2)]
    share = comparisons_kept(Plain(), X, Triplets(rows, n_points=30))
    near, far = (np.sum((X[0] - X[k]) ** 2) for k in (1, 2))
    assert share == pytest.approx(2 / 3 if near < far else 1 / 3)


def test_the_weights_of_near_and_far_pairs():
    side = Bounds([0, 1, 2], [3, 4, 5], upper=[1.0, 2.0, 3.0], lower=[0, 1.0, 0], n_points=N)
    assert side.pair_weights().tolist() == [1.0, 1.0]
    i, _, _ = side.near_and_far()
    assert i.tolist() == [0, 2]


def test_empty_side_information_is_refused():
    for learner in (POLA(), NonparametricKernel()):
        with pytest.raises(ValueError, match="side information is empty; pass Pairs"):
            learner.fit(POINTS, side=Pairs(n_points=N))
    terms = Pairs([[0, 1]], n_points=N).bind(Hinge(), POINTS, (1.0, 2.0))
    assert [type(term) for term in terms] == [Term]


def test_pairs_implied_by_repeated_ones_have_the_least_weight() -> None:
    pairs = Pairs([(0, 1), (1, 0), (1, 2)], [(0, 3), (0, 3)], n_points=4).closure()
    similar = {
        tuple(p): w for p, w in zip(pairs.similar.tolist(), pairs.similar_weight, strict=True)
    }
    assert similar == {(0, 1): 2.0, (1, 2): 1.0, (0, 2): 1.0}
    assert np.asarray(pairs.dissimilar_weight).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("mask", [[0, 1], [True], np.array([0, 1, 2]), np.ones((3, 1), dtype=bool)])
def test_a_mask_is_booleans_one_for_each_statement(mask):
    side = Triplets([[0, 1, 2], [1, 2, 0], [2, 0, 1]], n_points=3)
    with pytest.raises(ValueError, match="`mask` must be 3 booleans, one for each statement"):
        side.drop(mask)
    assert side.drop([True, False, True]).size == 1
