"""Constraints are linear maps: apply, adjoint, restrict and take fit together, in every form."""

import dataclasses

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

import gramlearn._base.arrays
import gramlearn.problem.linear_maps.points
from catalogue import N_POINTS, all_constraints, name_of
from gramlearn.problem.constraints import (
    DenseMatrices,
    DiagonalEntries,
    DistanceComparisons,
    Similarities,
    SimilarityComparisons,
    SparseMatrices,
    SquaredDistances,
    Trace,
)
from gramlearn.problem.linear_maps import CoordinateMap, DirectionMap, MatrixMap, PointMap, joined

n = N_POINTS
CONSTRAINTS = all_constraints(n)
ON_POINTS = [c for c in CONSTRAINTS if "points" in {f.name for f in dataclasses.fields(c)}]
# Sums of at most 25 products of numbers of size 1 to 10, some of which cancel.
CLOSE = {"rtol": 1e-13, "atol": 1e-13}

every_constraint = pytest.mark.parametrize("c", CONSTRAINTS, ids=name_of)
every_form = pytest.mark.parametrize("form", ["own", "on a basis", "taken", "written out"])


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def symmetric(r, seed=0):
    S = random(r, r, seed=seed)
    return S + S.T


def linear_map(c, form, library):
    """Give the map as it is, on a basis (the identity), as a working set keeps it, or as matrices."""
    if form == "own":
        return c.restricted_map(None, n, library.array(0.0))
    on_basis = c.restricted_map(library.array(np.eye(n)), n, library.array(0.0))
    if form == "taken":
        return on_basis.materialize_rows(library.index(range(on_basis.size)))
    return MatrixMap(on_basis.matrices()) if form == "written out" else on_basis


def matrices(mapping, library, r=n):
    """B_k, read off from what the map says about each entry of S."""
    B = np.zeros((mapping.size, r, r))
    for a in range(r):
        for b in range(a + 1):
            E = np.zeros((r, r))
            E[a, b] += 0.5
            E[b, a] += 0.5
            B[:, a, b] = B[:, b, a] = library.numpy(mapping.apply(library.array(E)))
    return B


@pytest.mark.parametrize("c", ON_POINTS, ids=name_of)
def test_row_numbers_of_32_bits_are_used_as_they_are(c, library):
    """The same map in half the memory: no copy is made, and entries of a matrix are found beyond 2^31."""
    columns = {name: library.array(x, "int32") for name, x in c.columns.items()}
    narrow = type(c)(**columns, points=library.array(random(n, 3)))
    wide = type(c)(**c.columns, points=library.array(random(n, 3)))
    assert all(narrow.columns[name] is x for name, x in columns.items())
    like = library.array(np.zeros(3))
    found, expected = (x.restricted_map(None, 3, like) for x in (narrow, wide))
    for a, b in zip(found.indices, columns.values(), strict=True):
        assert np.shares_memory(library.numpy(a), library.numpy(b))
    S, v = library.array(symmetric(3)), library.array(random(c.size))
    np.testing.assert_array_equal(library.numpy(found.apply(S)), library.numpy(expected.apply(S)))
    np.testing.assert_array_equal(
        library.numpy(found.adjoint(v)), library.numpy(expected.adjoint(v))
    )
    own, like = type(c)(**columns), library.array(np.zeros(n))
    S, mapping = library.array(symmetric(n)), own.restricted_map(None, n, like)
    np.testing.assert_array_equal(
        library.numpy(mapping.apply(S)), library.numpy(c.restricted_map(None, n, like).apply(S))
    )


def test_entries_beyond_32_bits_are_found(library):
    i, j = (library.array([k], "int32") for k in (60_000, 59_999))
    assert int(gramlearn._base.arrays.flat_index(i, j, 60_001)[0]) == 60_000 * 60_001 + 59_999


# -- the contract of a linear map ------------------------------------------------------------------


@every_constraint
@every_form
def test_the_adjoint(c, form, library):
    mapping = linear_map(c, form, library)
    v, S = random(mapping.size), symmetric(n)
    adjoint = library.numpy(mapping.adjoint(library.array(v)))
    np.testing.assert_allclose(adjoint, np.tensordot(v, matrices(mapping, library), 1), **CLOSE)
    np.testing.assert_allclose(adjoint, adjoint.T, **CLOSE)
    # <A* v, S> = <v, A S>
    applied = library.numpy(mapping.apply(library.array(S)))
    np.testing.assert_allclose(np.sum(adjoint * S), v @ applied, **CLOSE)


@every_constraint
@every_form
def test_matrices_written_out(c, form, library):
    mapping = linear_map(c, form, library)
    np.testing.assert_allclose(
        library.numpy(mapping.matrices()), matrices(mapping, library), **CLOSE
    )


@every_constraint
@every_form
def test_all_forms_are_the_same_map(c, form, library):
    mapping, own = linear_map(c, form, library), linear_map(c, "own", library)
    assert mapping.size == own.size == c.size
    np.testing.assert_allclose(matrices(mapping, library), matrices(own, library), **CLOSE)


@every_constraint
@every_form
@pytest.mark.parametrize("stride", [2, 3, 100])
def test_every_few_rows(c, form, stride, library):
    mapping = linear_map(c, form, library)
    some = mapping.every(stride, library.array(0.0))
    assert some.size == len(range(0, mapping.size, stride))
    np.testing.assert_array_equal(
        matrices(some, library), matrices(mapping, library)[::stride], strict=True
    )


@every_constraint
@every_form
def test_restriction(c, form, library):
    mapping, Q, R = linear_map(c, form, library), random(n, 3), random(3, 2)
    restricted = mapping.restrict(library.array(Q))
    B = matrices(mapping, library)
    np.testing.assert_allclose(matrices(restricted, library, 3), Q.T @ B @ Q, **CLOSE)
    twice, once = restricted.restrict(library.array(R)), mapping.restrict(library.array(Q @ R))
    np.testing.assert_allclose(matrices(twice, library, 2), matrices(once, library, 2), **CLOSE)


@every_constraint
@every_form
def test_traces(c, form, library):
    mapping, F = linear_map(c, form, library), random(n, n)
    x = np.abs(random(n, seed=1))
    expected = library.numpy(mapping.apply(library.array(F * x @ F.T)))
    restricted = mapping.restrict(library.array(F))
    np.testing.assert_allclose(
        library.numpy(restricted.traces(library.array(x))), expected, **CLOSE
    )
    one = library.numpy(restricted.traces(library.array([2.0])))
    np.testing.assert_allclose(
        one, 2 * library.numpy(mapping.apply(library.array(F @ F.T))), **CLOSE
    )


@every_constraint
@every_form
def test_nothing_cancels_in_an_absolute_sum(c, form, library):
    mapping = linear_map(c, form, library)
    v = np.abs(random(mapping.size))
    pieces = [library.numpy(mapping.absolute_sum(library.array(e))) for e in np.diag(v)]
    for weight, B, P in zip(v, matrices(mapping, library), pieces, strict=True):
        eigenvalues = np.linalg.eigvalsh(B)
        size = np.abs(eigenvalues).max()
        assert np.linalg.eigvalsh(P).min() >= -1e-12 * weight * size
        beside = np.hstack([P, B])
        assert np.linalg.matrix_rank(P) == np.linalg.matrix_rank(beside)
        if np.sum(np.abs(eigenvalues) > 1e-12 * size) == 1 and eigenvalues.max() == size:
            np.testing.assert_allclose(P, weight * B, **CLOSE)
    whole = library.numpy(mapping.absolute_sum(library.array(v)))
    np.testing.assert_allclose(whole, np.sum(pieces, axis=0), **CLOSE)


@every_constraint
@every_form
def test_squares(c, form, library):
    mapping = linear_map(c, form, library)
    v = random(mapping.size)
    expected = np.tensordot(v, matrices(mapping, library) ** 2, 1)
    np.testing.assert_allclose(library.numpy(mapping.squares(library.array(v))), expected, **CLOSE)


@every_constraint
@every_form
def test_estimates_are_within_their_errors(c, form, library):
    """Far from the origin, where single precision rounds points to more than their distances, too."""
    mapping, F = linear_map(c, form, library), random(n, n)
    far = [mapping]
    if isinstance(mapping, PointMap):
        far.append(dataclasses.replace(mapping, points=mapping.points + 1e5))
    for m in far:
        low, high = m.estimates(library.array(F), {}).bounds(0.0)
        exact = library.numpy(m.restrict(library.array(F)).traces(library.array([1.0])))
        rounding = 1e-13 * (1 + np.abs(exact))
        assert np.all(library.numpy(low) <= exact + rounding)
        assert np.all(library.numpy(high) >= exact - rounding)


def test_estimates_decide_most_pairs():
    P = random(200, 5)
    i, j = np.arange(100), np.arange(100, 200)
    pairs = SquaredDistances(np.tile(i, 3), np.tile(j, 3), points=P).restricted_map(None, 5, P)
    low, high = pairs.estimates(np.eye(5), {}).bounds(0.0)
    assert low.dtype == np.float32
    assert np.all((high - low) / np.maximum(high, 0.1) <= 1e-4)
    assert np.all(low < high)


@pytest.mark.parametrize("offset", [0.0, 1e7, np.full(300, 1e7)])
@pytest.mark.parametrize("ratios", [(1.0, 1.0), (0.5, 3.0), (2.0, 50.0)])
def test_bounds_hold_beside_a_large_offset_and_scaled(offset, ratios):
    """Whatever <B, X> is between low and high times the estimated value, t is within the bounds."""
    P = random(200, 5) + 30.0
    i, j = np.tile(np.arange(100), 3), np.tile(np.arange(100, 200), 3)
    pairs = SquaredDistances(i, j, points=P).restricted_map(None, 5, P)
    exact = np.sum((P[i] - P[j]) ** 2, axis=1)
    low, high = pairs.estimates(np.eye(5), {}).bounds(offset, *ratios)
    assert np.all(low <= offset + ratios[0] * exact)
    assert np.all(high >= offset + ratios[1] * exact)
    assert np.all(high - low <= (ratios[1] - ratios[0]) * exact + ratios[1] * 1e-2)


@every_constraint
@every_form
def test_the_gram_is_that_of_the_matrices(c, form, library):
    mapping = linear_map(c, form, library)
    other = mapping.materialize_rows(library.index([0, mapping.size - 1]))
    first, second = (library.numpy(m.matrices()) for m in (mapping, other))
    expected = np.einsum("kij,lij->kl", first, second)
    np.testing.assert_allclose(library.numpy(mapping.gram(other)), expected, atol=1e-10)
    np.testing.assert_allclose(library.numpy(other.gram(mapping)), expected.T, atol=1e-10)


@every_constraint
@every_form
def test_index_and_materialize_rows(c, form, library):
    mapping = linear_map(c, form, library)
    rows = np.asarray([0, mapping.size - 1, mapping.size // 2])
    for chosen in (
        mapping.materialize_rows(library.index(rows)),
        mapping.index_rows(library.index(rows)),
    ):
        assert chosen.size == 3
        np.testing.assert_array_equal(matrices(chosen, library), matrices(mapping, library)[rows])
    assert type(mapping.index_rows(library.index(rows))) is type(mapping)
    assert mapping.materialize_rows(library.index([])).size == 0


@every_constraint
@every_form
def test_joined_maps_are_the_same_constraints(c, form, library):
    mapping = linear_map(c, form, library)
    rows = np.arange(mapping.size)
    # Directions of other weights between two halves of the map must stay where they are.
    other = linear_map(SquaredDistances([0, 1], [2, 3]), "taken", library)
    halves = [mapping.materialize_rows(library.index(half)) for half in np.array_split(rows, 2)]
    for maps in ([*halves], [*halves, other], [halves[0], other, halves[1]]):
        expected = np.concatenate([matrices(m, library) for m in maps])
        for single, accuracy in ((None, 1e-13), (1.0, 1e-5), (4.0, 1e-5)):
            fewer = joined(maps, single)
            assert len(fewer) <= len(maps)
            found = np.concatenate([library.numpy(m.matrices()) for m in fewer])
            np.testing.assert_allclose(
                found * (single or 1), expected, rtol=accuracy, atol=accuracy
            )
    stacked = joined([other, other])
    assert len(stacked) == 1
    assert stacked[0].size == 4


@every_constraint
@every_form
def test_the_diagonal_of_the_hessian(c, form, library):
    mapping = linear_map(c, form, library)
    B = matrices(mapping, library)
    for Phi in (np.abs(symmetric(n)), np.asarray([[0.7]])):
        np.testing.assert_allclose(
            library.numpy(mapping.diagonal(library.array(Phi))),
            np.sum(B * (Phi * B), axis=(1, 2)),
            **CLOSE,
        )


@every_constraint
@every_form
def test_entries_and_sizes(c, form, library):
    mapping = linear_map(c, form, library)
    B = matrices(mapping, library)
    i, j = np.asarray([2, 1, 0, 2]), np.asarray([0, 1, 0, 2])
    entries = library.numpy(mapping.entries(library.index(i), library.index(j)))
    np.testing.assert_allclose(entries, B[:, i, j], **CLOSE)
    sizes = library.numpy(mapping.sizes())
    assert np.all(np.abs(B) <= 4 * np.outer(sizes, sizes))  # four directions at most
    assert mapping.magnitude() == pytest.approx(sizes.max() ** 2)


@every_constraint
@every_form
def test_nonnegative_maps_are_positive_semidefinite(c, form, library):
    mapping = linear_map(c, form, library)
    if mapping.is_nonnegative:
        assert np.linalg.eigvalsh(matrices(mapping, library)).min() >= -1e-13


@every_constraint
def test_small_chunks_and_large_working_sets_change_nothing(c, library, monkeypatch):
    whole = linear_map(c, "on a basis", library)
    S, Phi, v = symmetric(n), np.abs(symmetric(n)), random(whole.size)

    def results(mapping):
        arguments = {"apply": S, "adjoint": v, "diagonal": Phi, "traces": np.ones(n)}
        return [getattr(mapping, f)(library.array(x)) for f, x in arguments.items()]

    expected = results(whole)
    monkeypatch.setattr(gramlearn._base.arrays, "_CHUNK_BYTES_HOST", 1)  # one constraint a chunk
    monkeypatch.setattr(gramlearn._base.arrays, "_CHUNK_BYTES_DEVICE", 1)
    monkeypatch.setattr(gramlearn.problem.linear_maps.points, "_DIRECTIONS_BYTES", 0)
    taken = whole.materialize_rows(library.index(range(whole.size)))
    assert not isinstance(taken, DirectionMap)
    for mapping in (whole, taken):
        for found, before in zip(results(mapping), expected, strict=True):
            np.testing.assert_allclose(library.numpy(found), library.numpy(before), **CLOSE)


@pytest.mark.parametrize("c", ON_POINTS, ids=name_of)
def test_no_constraints_at_all(c, library):
    names = [name for name in "ijkl" if getattr(c, name, None) is not None]
    none = dataclasses.replace(c, **{name: [] for name in names})
    mapping = linear_map(none, "own", library)
    assert none.size == mapping.size == 0
    assert mapping.apply(library.array(np.eye(n))).shape == (0,)
    assert not np.any(library.numpy(mapping.adjoint(library.array([]))))


# -- what they mean --------------------------------------------------------------------------------


def distance(K, i, j):
    return K[i, i] + K[j, j] - 2 * K[i, j]


FORMULAS = {
    SquaredDistances: lambda K, c: distance(K, c.i, c.j),
    Similarities: lambda K, c: K[c.i, c.j],
    DiagonalEntries: lambda K, c: K[c.i, c.i],
    DistanceComparisons: lambda K, c: (
        distance(K, c.i, c.j) - (distance(K, c.i, c.k) if c.l is None else distance(K, c.k, c.l))
    ),
    SimilarityComparisons: lambda K, c: K[c.i, c.j] - (K[c.i, c.k] if c.l is None else K[c.k, c.l]),
    Trace: lambda K, c: [np.trace(K)],
    DenseMatrices: lambda K, c: [np.sum(A * K) for A in c.matrices],
    SparseMatrices: lambda K, c: [np.sum(A.toarray() * K) for A in c.matrices],
}


@pytest.mark.parametrize("c", [c for c in CONSTRAINTS if type(c) in FORMULAS], ids=name_of)
@every_form
def test_formulas(c, form, library):
    K = symmetric(n)
    found = library.numpy(linear_map(c, form, library).apply(library.array(K)))
    np.testing.assert_allclose(found, FORMULAS[type(c)](K, c), **CLOSE)


@pytest.mark.parametrize("c", ON_POINTS, ids=name_of)
def test_points_turn_a_matrix_into_a_kernel(c, library):
    P, X, W = random(n, 3), symmetric(3), random(3, 2)
    like = library.array(0.0)
    with_points = dataclasses.replace(c, points=P)
    on_kernel = c.restricted_map(None, n, like)
    assert isinstance(on_kernel, CoordinateMap)
    for mapping, S, K in (
        (with_points.restricted_map(None, 3, like), X, P @ X @ P.T),
        (with_points.restricted_map(library.array(W), 3, like), np.eye(2), P @ W @ W.T @ P.T),
    ):
        np.testing.assert_allclose(
            library.numpy(mapping.apply(library.array(S))),
            library.numpy(on_kernel.apply(library.array(K))),
            **CLOSE,
        )


@pytest.mark.parametrize("c", ON_POINTS, ids=name_of)
def test_rows_of_the_identity_are_never_written_out(c, library):
    """All parts of the contract agree with a map over the points I, and a restriction keeps no product."""
    own, written = linear_map(c, "own", library), linear_map(c, "on a basis", library)
    v, Phi, Q = random(own.size), np.abs(symmetric(n)), random(n, 3)
    row, column = library.index([0, 1, 2, 3]), library.index([0, 0, 4, 1])
    for found, expected in (
        (own.spread(library.array(v)), written.spread(library.array(v))),
        (own.diagonal(library.array(Phi)), written.diagonal(library.array(Phi))),
        (own.entries(row, column), written.entries(row, column)),
        (
            own.materialize_rows(library.index([0])).traces(library.array([2.0])),
            2 * written.traces(library.array([1.0]))[:1],
        ),
    ):
        np.testing.assert_allclose(library.numpy(found), library.numpy(expected), **CLOSE)
    restricted = own.restrict(library.array(Q))
    assert isinstance(restricted, PointMap)
    assert isinstance(
        own.materialize_rows(library.index(range(own.size))).restrict(library.array(Q)),
        DirectionMap,
    )
    np.testing.assert_allclose(
        matrices(restricted, library, 3), Q.T @ matrices(written, library) @ Q, **CLOSE
    )


@pytest.mark.parametrize("kind", [Similarities, DiagonalEntries], ids=name_of)
def test_many_products_of_few_points_are_entries_of_one_matrix(kind, library):
    """<B_k, S> = p_i' S p_j is read from P S P': the same numbers as with every direction written out."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 4, size=200) for _ in range(2 if kind is Similarities else 1)]
    P = library.array(random(4, 3))
    c = kind(*columns, points=P)
    own = c.restricted_map(None, 3, P)
    rows = library.index(range(200))
    taken = own.materialize_rows(rows)
    assert isinstance(own, PointMap)
    assert isinstance(taken, PointMap)  # no direction is stored
    plain = own.stacked(slice(0, 200))
    S, v, Phi = symmetric(3), random(200, seed=1), np.abs(symmetric(3, seed=2))
    for mapping in (own, taken):
        for name, argument in (("apply", S), ("adjoint", v), ("diagonal", Phi)):
            got, expected = (getattr(m, name)(library.array(argument)) for m in (mapping, plain))
            np.testing.assert_allclose(
                library.numpy(got), library.numpy(expected), rtol=1e-12, atol=1e-12
            )
    np.testing.assert_allclose(
        library.numpy(taken.gram(plain)), library.numpy(plain.gram(taken)).T, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        library.numpy(taken.gram(taken)), library.numpy(plain.gram(plain)), rtol=1e-12, atol=1e-12
    )


def test_squared_distances_of_few_points_keep_their_directions():
    """Entries of P S P' would cancel: far from the origin, a small distance would have no digit left."""
    P = np.array([[1e8, 0.0], [1e8, 1e-3], [1e8, 0.0]])
    pairs = SquaredDistances([0] * 100, [1] * 100, points=P).restricted_map(None, 2, P)
    np.testing.assert_allclose(pairs.apply(np.eye(2)), 1e-6, rtol=1e-9)


def test_sums_at_equal_rows(library):
    """Entries that name one row add up, and the array given stays as it was."""
    x = library.array([1.0, 2.0, 3.0])
    total = gramlearn._base.arrays.added_at(
        x, library.index([2, 0, 2]), library.array([1.0, 10.0, 4.0])
    )
    np.testing.assert_array_equal(library.numpy(total), [11.0, 2.0, 8.0])
    np.testing.assert_array_equal(library.numpy(x), [1.0, 2.0, 3.0])


@every_constraint
def test_a_basis_restricts_the_map(c, library):
    like, W = library.array(0.0), random(n, 3)
    np.testing.assert_allclose(
        matrices(c.restricted_map(library.array(W), n, like), library, 3),
        matrices(c.restricted_map(None, n, like).restrict(library.array(W)), library, 3),
        **CLOSE,
    )


def test_sparse_and_dense_matrices_are_the_same_constraints(library):
    A = np.round(symmetric(n), 1) * (np.abs(symmetric(n)) > 1)
    B = np.diag([0.0, 2.0, 0.0, 0.0, -1.0])
    dense = DenseMatrices(np.stack([A, B]))
    for sparse in (
        SparseMatrices([coo_array(A), coo_array(B)]),
        SparseMatrices([csr_array(A), csr_array(B)]),
    ):
        np.testing.assert_allclose(
            matrices(linear_map(sparse, "own", library), library),
            matrices(linear_map(dense, "own", library), library),
            **CLOSE,
        )


@every_constraint
def test_one_offset_or_one_each(c):
    assert c.offset == 0.0
    assert dataclasses.replace(c, offset=2).offset == 2.0
    each = dataclasses.replace(c, offset=list(range(c.size))).offset
    np.testing.assert_array_equal(each, np.arange(c.size, dtype=float))
