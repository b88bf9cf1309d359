"""Which input constraints accept, and the errors for what they refuse."""

import dataclasses

import numpy as np
import pytest
from scipy.sparse import coo_array

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

n = N_POINTS
POINTS = np.arange(12.0).reshape(4, 3)
like = np.zeros(1)

# -- refusals --------------------------------------------------------------------------------------

REFUSALS = [
    # rows
    (
        lambda: SquaredDistances([0, 7], [1, 2], points=POINTS),
        "`i` refers to row 7, but there are 4 rows, 0 to 3.",
    ),
    (
        lambda: Similarities([0], [5]).restricted_map(None, 5, like),
        "`j` refers to row 5, but there are 5 rows, 0 to 4.",
    ),
    (lambda: DiagonalEntries([0, -1]), "`i` contains -1; row indices start at 0."),
    (lambda: SquaredDistances([[0, 1]], [1, 2]), "`i` must be one-dimensional; got shape (1, 2)."),
    (
        lambda: SquaredDistances([0, 1], [2]),
        "the index arrays must have one length; `i` has 2, `j` has 1",
    ),
    (lambda: DistanceComparisons([0], [1], [2, 3]), "`i` has 1, `j` has 1, `k` has 2 entries."),
    (lambda: SimilarityComparisons([0], [1], [2], []), "`k` has 1, `l` has 0 entries."),
    # points
    (
        lambda: SquaredDistances([0], [1], points=[1.0, 2.0]),
        "`points` must be two-dimensional; got shape (2,)",
    ),
    (
        lambda: SquaredDistances([0], [1], points=np.zeros((0, 2))),
        "`points` has shape (0, 2); at least one row and one",
    ),
    (
        lambda: SquaredDistances([0], [1], points=POINTS).restricted_map(None, 4, like),
        "`points` have 3 columns, but the prior is a matrix of size 4",
    ),
    (
        lambda: Similarities([0], [1], points=[[1.0, 2.0], [np.nan, 0.0]]),
        "`points` contains NaN or infinity (first at row 1); remove or impute",
    ),
    (
        lambda: Similarities([0], [1], points=[[1.0], [-np.inf]]),
        "`points` contains NaN or infinity (first at row 1)",
    ),
    # offsets
    (
        lambda: DiagonalEntries([0, 1], offset=[1.0, 2.0, 3.0]),
        "`offset` has shape (3,), but there are 2 constraints; pass one number",
    ),
    (
        lambda: DiagonalEntries([0, 1], offset=[1.0, np.nan]),
        "`offset` contains NaN or infinity (first at 1)",
    ),
    (lambda: Trace(offset=[1.0, 2.0]), "`offset` has shape (2,), but there are 1 constraints"),
    # matrices
    (
        lambda: DenseMatrices(np.eye(3)),
        "`matrices` must be an array c x n x n; got 2 dimension(s). For one matrix pass matrices[None].",
    ),
    (
        lambda: DenseMatrices([np.eye(2), [[0, 1], [0, 0]]]),
        "`matrices[1]` is not symmetric (largest difference from its transpose 1)",
    ),
    (lambda: DenseMatrices([[[np.nan]]]), "`matrices` contains NaN or infinity"),
    (
        lambda: DenseMatrices(np.zeros((2, 3, 4))),
        "`matrices[0]` must be a square matrix; got shape (3, 4).",
    ),
    (
        lambda: DenseMatrices([np.eye(3)]).restricted_map(None, 4, like),
        "`matrices` are of size 3, but the prior is a matrix of size 4",
    ),
    (
        lambda: SparseMatrices([coo_array(np.eye(3))]).restricted_map(None, 4, like),
        "`matrices` are of size 3, but the prior is a matrix of size 4",
    ),
    (
        lambda: SparseMatrices([coo_array([[0.0, 1.0], [0.0, 0.0]])]),
        "`matrices[0]` is not symmetric; pass (A + A.T) / 2.",
    ),
    (
        lambda: SparseMatrices([coo_array(np.eye(2)), coo_array(np.eye(3))]),
        "square and of one size; got the shapes [(2, 2), (3, 3)].",
    ),
]


@pytest.mark.parametrize(("make", "sentence"), REFUSALS, ids=[s[:40] for _, s in REFUSALS])
def test_errors_say_what_was_given(make, sentence):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the sentence is compared below
        make()
    assert sentence in str(raised.value)


@pytest.mark.parametrize("bad", [[0.0, 1.0], [0.5, 1.5], [True, False]], ids=str)
def test_indices_are_whole_numbers(bad, library):
    kind = "bool" if bad[0] is True else "float64"
    with pytest.raises(TypeError, match=rf"`i` must hold whole numbers .*; got dtype .*{kind}"):
        DiagonalEntries(library.array(bad, kind))


def test_points_are_real_numbers():
    with pytest.raises(TypeError, match=r"`points` must hold real numbers; got dtype complex128\."):
        DiagonalEntries([0], points=1j * POINTS)


@pytest.mark.parametrize(
    "make",
    [
        lambda library: DiagonalEntries([0], points=library.array(POINTS)),
        lambda library: DiagonalEntries(library.index([0])),
        lambda library: DenseMatrices(library.array(np.eye(3)[None])),
    ],
    ids=["points", "indices", "matrices"],
)
def test_all_arrays_come_from_one_library(make, library):
    c = make(library)
    c.restricted_map(None, 3, library.array(0.0))
    if library.name == "numpy":
        return  # host data goes anywhere
    with pytest.raises(
        TypeError, match=r"must come from one library\. Convert them before the call"
    ):
        c.restricted_map(None, 3, like)


def test_sparse_matrices_refuse_nan():
    with pytest.raises(ValueError, match="contains NaN or infinity"):
        SparseMatrices([coo_array([[np.nan, 0.0], [0.0, 1.0]])])


def test_no_sparse_matrices_at_all():
    assert SparseMatrices([]).restricted_map(None, 3, like).size == 0


# -- what they take --------------------------------------------------------------------------------


def test_integers_of_any_type_are_indices(library):
    expected = None
    for i, j in (
        ([0, 1, 2], [1, 2, 3]),
        ((0, 1, 2), range(1, 4)),
        (np.asarray([0, 1, 2], dtype=np.int32), np.asarray([1, 2, 3], dtype=np.uint8)),
        (library.index([0, 1, 2]), library.array([1, 2, 3], "int32")),
    ):
        c = SquaredDistances(i, j, points=POINTS)
        found = library.numpy(
            c.restricted_map(None, 3, library.array(0.0)).apply(library.array(np.eye(3)))
        )
        expected = found if expected is None else expected
        np.testing.assert_array_equal(found, expected)


def test_points_of_any_real_type(library):
    for points in (POINTS, POINTS.astype(np.float32), POINTS.astype(np.int64), POINTS.tolist()):
        mapping = DiagonalEntries([0, 3], points=points).restricted_map(None, 3, library.array(0.0))
        assert mapping.points.dtype == library.xp.float64
        np.testing.assert_array_equal(library.numpy(mapping.points), POINTS)


@pytest.mark.parametrize("layout", ["read-only", "transposed", "strided", "reversed"])
def test_arrays_of_any_memory_layout_are_accepted_and_not_modified(layout, library):
    storage = {
        "read-only": POINTS.copy(),
        "transposed": np.ascontiguousarray(POINTS.T).T,
        "strided": np.repeat(np.repeat(POINTS, 2, axis=0), 2, axis=1)[::2, ::2],
        "reversed": POINTS[::-1].copy()[::-1],
    }
    points = storage[layout]
    index = {
        "reversed": np.asarray([3, 2, 1, 0])[::-1],
        "strided": np.asarray([0, 9, 1, 9, 2, 9, 3, 9])[::2],
    }.get(layout, np.arange(4))
    points.flags.writeable = index.flags.writeable = layout != "read-only"
    c = SquaredDistances(index, [1, 2, 3, 0], points=points)
    mapping = c.restricted_map(None, 3, library.array(0.0))
    found = library.numpy(mapping.apply(library.array(np.eye(3))))
    np.testing.assert_allclose(found, [27.0, 27.0, 27.0, 243.0], rtol=1e-15)
    mapping.adjoint(library.array(np.ones(4)))
    mapping.traces(library.array(np.ones(3)))
    np.testing.assert_array_equal(points, POINTS)
    np.testing.assert_array_equal(index, np.arange(4))


@pytest.mark.parametrize("c", all_constraints(), ids=name_of)
def test_constraints_are_frozen(c):
    with pytest.raises(dataclasses.FrozenInstanceError):
        c.offset = 1.0


# -- words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("c", "words"),
    [
        (SquaredDistances([4, 1], [17, 2]), "squared distance of points 4 and 17"),
        (Similarities([4], [17]), "similarity of points 4 and 17"),
        (DiagonalEntries([4]), "squared norm of point 4"),
        (
            DistanceComparisons([1], [2], [3]),
            "squared distance of points 1 and 2 less that of 1 and 3",
        ),
        (SimilarityComparisons([1], [2], [3]), "similarity of points 1 and 2 less that of 1 and 3"),
        (Trace(), "trace"),
        (DenseMatrices([np.eye(2)]), "matrix 0"),
        (SparseMatrices([coo_array(np.eye(2))]), "matrix 0"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_constraints_describe_themselves(c, words):
    assert c.describe(0) == words


@pytest.mark.parametrize("cls", [DistanceComparisons, SimilarityComparisons])
def test_a_comparison_of_two_pairs_names_four_points(cls):
    assert (
        cls([11], [22], [33], [44])
        .describe(0)
        .endswith("of points 11 and 22 less that of 33 and 44")
    )
