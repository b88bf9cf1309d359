"""Chunk by chunk, statements in files are those that the same table makes in memory."""

import pickle
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gramlearn.problem.constraints import DistanceComparisons, SquaredDistances
from gramlearn.problem.linear_maps import PointMap
from gramlearn.problem.losses import Hinge, SquaredHinge
from gramlearn.side_information import Pairs, StoredPairs, StoredTriplets, Triplets
from gramlearn.side_information.layout import Chunk, Layout
from gramlearn.side_information.stored import StoredStatements
from gramlearn.sources import npy_columns, parquet_columns
from gramlearn.sources.columns import ArrayColumns
from gramlearn.sources.errors import FileError

N_POINTS = 60
SIZE = 800
CHUNK = 64
BOUNDS = (0.5, 4.0)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of 64 rows, so that a small table has several."""
    for owner in (npy_columns.NpyColumns, parquet_columns.ParquetColumns.open.__func__):
        defaults = owner.__init__ if isinstance(owner, type) else owner
        monkeypatch.setattr(defaults, "__defaults__", (CHUNK,))


def distinct_pairs(rng: np.random.Generator) -> np.ndarray:
    """Each pair once, for in memory repeated ones are merged."""
    i, j = np.triu_indices(N_POINTS, 1)
    chosen = rng.permutation(len(i))[:SIZE]
    swap = rng.random(SIZE) < 0.5
    return np.where(
        swap[:, None], np.stack([j, i], axis=1)[chosen], np.stack([i, j], axis=1)[chosen]
    )


def pair_table(**types: Any) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    i, j = distinct_pairs(rng).T.astype(types.get("rows", np.int64))
    alike = rng.random(SIZE) < 0.4
    upper, lower = rng.uniform(0.1, 1.0, SIZE), rng.uniform(1.0, 3.0, SIZE)
    return {
        "i": i,
        "j": j,
        "alike": alike,
        # Where a bound does not count, a table has nothing.
        "upper": np.where(alike, upper, np.nan),
        "lower": np.where(alike, np.nan, lower),
        "weight": rng.uniform(0.5, 2.0, SIZE),
    }


def in_memory(table: dict[str, np.ndarray], **numbers: Any) -> Pairs:
    """What a user would make of the table."""
    alike = table["alike"] > 0
    pairs = np.stack([table["i"], table["j"]], axis=1).astype(np.int64)
    given: dict[str, Any] = {}
    for name, side in (("upper", alike), ("lower", ~alike)):
        number = numbers.get(name)
        given[name] = table[number][side] if isinstance(number, str) else number
    for name, side in (("similar_weight", alike), ("dissimilar_weight", ~alike)):
        number = numbers.get("weight")
        given[name] = table[number][side] if isinstance(number, str) else number
    return Pairs(pairs[alike], pairs[~alike], n_points=N_POINTS, **given)


def store(path: Path, table: dict[str, Any], rows_a_group: int = 50) -> Path:
    pq.write_table(pa.table(table), path, row_group_size=rows_a_group)
    return path


def pairs_in_parquet(folder: Path, rows: Any = np.int64, marks: Any = bool, **numbers: Any) -> Any:
    table = pair_table(rows=rows)
    if marks is not bool:
        table["alike"] = np.where(table["alike"], 1, -1).astype(marks)
    path = store(folder / "pairs.parquet", table)
    return Pairs.from_parquet(path, n_points=N_POINTS, **numbers), in_memory(table, **numbers)


def pairs_of_one_kind(folder: Path, alike: bool) -> Any:
    table = pair_table()
    del table["alike"]
    path = store(folder / "pairs.parquet", table)
    stored = Pairs.from_parquet(path, n_points=N_POINTS, alike=alike)
    return stored, in_memory(table | {"alike": np.full(SIZE, alike)})


def pairs_in_arrays(folder: Path, sides: tuple[str, ...], **numbers: Any) -> Any:
    table = pair_table(rows=np.uint32)
    given: dict[str, Any] = {}
    for side, mask in (("similar", table["alike"]), ("dissimilar", ~table["alike"])):
        if side not in sides:
            continue
        given[side] = np.stack([table["i"], table["j"]], axis=1)[mask]
        bound = {"similar": "upper", "dissimilar": "lower"}[side]
        for name, column in ((bound, bound), (f"{side}_weight", "weight")):
            if name in numbers:
                is_each = numbers[name] == "each"
                given[name] = table[column][mask] if is_each else numbers[name]
    files = dict(given)
    for name, array in given.items():
        if isinstance(array, np.ndarray):
            files[name] = folder / f"{name}.npy"
            np.save(files[name], array)
    return Pairs.from_npy(**files, n_points=N_POINTS), Pairs(**given, n_points=N_POINTS)


def pairs_in_chunks(folder: Path, **numbers: Any) -> Any:
    del folder
    pairs = in_memory(pair_table(), **numbers)
    return StoredPairs.of(pairs, CHUNK), pairs


def triplet_table(width: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    rows = np.unique([rng.permutation(N_POINTS)[:width] for _ in range(SIZE)], axis=0)
    table = dict(zip("ijkl", rng.permutation(rows).T, strict=False))
    size = len(rows)
    return table | {"margin": rng.uniform(0, 2, size), "weight": rng.uniform(0.5, 2, size)}


def make_triplets(table: dict[str, np.ndarray], width: int, **numbers: Any) -> Triplets:
    rows = np.stack([table[name] for name in "ijkl"[:width]], axis=1)
    given = {name: table[x] if isinstance(x, str) else x for name, x in numbers.items()}
    return Triplets(rows, n_points=N_POINTS, **given)


def triplets_in_parquet(folder: Path, width: int, **numbers: Any) -> Any:
    table = triplet_table(width)
    path = store(folder / "triplets.parquet", table)
    names = {"l": "l"} if width == 4 else {}
    stored = Triplets.from_parquet(path, n_points=N_POINTS, **names, **numbers)
    return stored, make_triplets(table, width, **numbers)


def triplets_in_arrays(folder: Path, width: int, **numbers: Any) -> Any:
    table = triplet_table(width)
    triplets = make_triplets(table, width, **numbers)
    np.save(folder / "triplets.npy", triplets.triplets)
    files = dict(numbers)
    for name, x in numbers.items():
        if isinstance(x, str):
            files[name] = folder / f"{name}.npy"
            np.save(files[name], table[x])
    return Triplets.from_npy(folder / "triplets.npy", n_points=N_POINTS, **files), triplets


def triplets_in_chunks(folder: Path, width: int, **numbers: Any) -> Any:
    del folder
    triplets = make_triplets(triplet_table(width), width, **numbers)
    return StoredTriplets.of(triplets, CHUNK), triplets


BOTH = ("similar", "dissimilar")
EACH = {"upper": "upper", "lower": "lower", "weight": "weight"}
KINDS: dict[str, Callable[[Path], tuple[StoredStatements, Any]]] = {
    "pairs": pairs_in_parquet,
    "pairs of 32 bits": lambda f: pairs_in_parquet(f, np.int32),
    "pairs of 32 bits without a sign": lambda f: pairs_in_parquet(f, np.uint32),
    "pairs marked by 1 and -1": lambda f: pairs_in_parquet(f, marks=np.int8),
    "pairs with bounds": lambda f: pairs_in_parquet(f, upper=0.3, lower=2),
    "pairs with one bound": lambda f: pairs_in_parquet(f, upper="upper"),
    "pairs with bounds each": lambda f: pairs_in_parquet(f, **EACH),
    "pairs with one weight": lambda f: pairs_in_parquet(f, weight=2.5),
    "similar pairs": lambda f: pairs_of_one_kind(f, True),
    "dissimilar pairs": lambda f: pairs_of_one_kind(f, False),
    "arrays of pairs": lambda f: pairs_in_arrays(f, BOTH),
    "arrays of similar pairs": lambda f: pairs_in_arrays(f, BOTH[:1], upper="each"),
    "arrays of dissimilar pairs": lambda f: pairs_in_arrays(f, BOTH[1:], lower=2.0),
    "arrays of pairs with weights": lambda f: pairs_in_arrays(
        f, BOTH, similar_weight=2.0, dissimilar_weight="each", upper="each"
    ),
    "arrays of pairs with two weights": lambda f: pairs_in_arrays(f, BOTH, similar_weight=2.0),
    "pairs in memory": pairs_in_chunks,
    "pairs in memory with bounds": lambda f: pairs_in_chunks(f, upper=0.3, lower="lower"),
    "pairs in memory with bounds each": lambda f: pairs_in_chunks(f, **EACH),
    "triplets": lambda f: triplets_in_parquet(f, 3),
    "triplets with margins": lambda f: triplets_in_parquet(f, 3, margin="margin", weight="weight"),
    "comparisons of four": lambda f: triplets_in_parquet(f, 4, margin=0.5),
    "arrays of triplets": lambda f: triplets_in_arrays(f, 3, margin="margin", weight=2.0),
    "arrays of comparisons of four": lambda f: triplets_in_arrays(f, 4, weight="weight"),
    "triplets in memory": lambda f: triplets_in_chunks(f, 3),
    "comparisons in memory": lambda f: triplets_in_chunks(f, 4, margin="margin", weight="weight"),
}


@pytest.fixture(params=KINDS)
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[StoredStatements, Any]:
    """(statements in chunks, the same in memory)."""
    stored, memory = KINDS[request.param](tmp_path)
    assert stored.n_chunks > 3
    return stored, memory


def per_row(x: Any, size: int) -> np.ndarray:
    return np.broadcast_to(x, size)


def test_the_terms_of_all_chunks_are_those_in_memory(both: tuple[StoredStatements, Any]) -> None:
    stored, memory = both
    loss = SquaredHinge(C=3.0, weight=0.7)
    chunks = [stored.indexed_terms(k, loss, BOUNDS) for k in range(stored.n_chunks)]
    terms = memory.bind(loss, bounds=BOUNDS)
    assert {len(chunk) for chunk in chunks} == {len(terms)}
    for parts, term in zip(zip(*chunks, strict=True), terms, strict=True):
        constraints: Any = term.constraints
        assert isinstance(constraints, SquaredDistances | DistanceComparisons)
        columns = [
            np.concatenate(column) for column in zip(*(p.columns for p in parts), strict=True)
        ]
        assert len(columns) == len(constraints.columns)
        for found, known in zip(columns, constraints.columns.values(), strict=True):
            np.testing.assert_array_equal(found, known)
        for part in parts:
            assert part.directions == constraints.directions
            assert type(part.loss) is type(term.loss)
            assert part.loss.side == term.loss.side
            assert part.rows.stop - part.rows.start == part.size
        size = constraints.size
        for name in ("bound", "weight"):
            found = np.concatenate([per_row(getattr(p.loss, name), p.size) for p in parts])
            np.testing.assert_array_equal(found, per_row(getattr(term.loss, name), size))


def test_a_sum_over_chunks_is_the_sum_over_all(both: tuple[StoredStatements, Any]) -> None:
    stored, memory = both
    rng = np.random.default_rng(3)
    points, S = rng.normal(size=(N_POINTS, 4)), np.diag(rng.uniform(0.5, 2, 4))
    value = 0.0
    for k in range(stored.n_chunks):
        for term in stored.indexed_terms(k, Hinge(C=2.0), BOUNDS):
            t = PointMap(term.columns, term.directions, points).apply(S)
            value += float(np.sum(term.loss.prepare(term.size, points).value(t)))
    expected = 0.0
    for whole in memory.bind(Hinge(C=2.0), points, BOUNDS):
        t = whole.constraints.restricted_map(None, 4, points).apply(S)
        expected += float(np.sum(whole.loss.prepare(whole.constraints.size, points).value(t)))
    assert value == pytest.approx(expected, rel=1e-12)
    assert expected > 0


def test_the_places_of_terms_follow_one_another(both: tuple[StoredStatements, Any]) -> None:
    stored, _ = both
    stop = 0
    for k in range(stored.n_chunks):
        assert stored.rows(k).start == stop
        for term in stored.indexed_terms(k, Hinge(), BOUNDS):
            assert term.rows.start == stop
            stop = term.rows.stop
        assert stored.rows(k).stop == stop
    assert stop == stored.size


def assert_same(found: Any, known: Any) -> None:
    assert type(found) is type(known)
    for name in known.__dataclass_fields__:
        if name != "_" and "weight" not in name:
            np.testing.assert_equal(getattr(found, name), getattr(known, name))
    # None is written out where another list has weights.
    np.testing.assert_array_equal(found.weights(), known.weights())


def test_read_gives_what_is_made_in_memory(both: tuple[StoredStatements, Any]) -> None:
    stored, memory = both
    assert (stored.size, stored.shape) == (memory.size, memory.shape)
    assert_same(stored.read(), memory)


def test_a_copy_in_another_process_is_small_and_the_same(
    both: tuple[StoredStatements, Any],
) -> None:
    stored, memory = both
    written = pickle.dumps(stored)
    assert_same(pickle.loads(written).read(), memory)
    if stored.columns.source != "memory":
        assert len(written) < 8000


def test_a_sample_has_rows_of_the_table_each_once(both: tuple[StoredStatements, Any]) -> None:
    stored, memory = both

    def rows(side: Any) -> set[tuple[Any, ...]]:
        weights = side.weights().tolist()
        table = side.statement_points().tolist()
        return {(*row, w) for row, w in zip(table, weights, strict=True)}

    sample = stored.sample(100, random_state=5)
    assert sample.size == 100
    assert rows(sample) <= rows(memory)
    assert_same(stored.sample(100, random_state=5), sample)
    assert rows(stored.sample(100, random_state=6)) != rows(sample)
    assert_same(stored.sample(stored.size), memory)


def test_a_sample_is_the_same_however_a_file_is_cut(tmp_path: Path) -> None:
    samples = []
    for rows_a_group in (17, 90, SIZE):
        path = store(tmp_path / f"{rows_a_group}.parquet", pair_table(), rows_a_group)
        stored = Pairs.from_parquet(path, n_points=N_POINTS, **EACH)
        samples.append(stored.sample(50, random_state=0))
    assert_same(samples[0], samples[1])
    assert_same(samples[0], samples[2])


def test_a_sample_takes_memory_for_what_is_drawn(tmp_path: Path) -> None:
    size = 2_000_000
    table = np.tile(np.array([[0, 1]], np.int32), (size, 1))
    np.save(tmp_path / "near.npy", table)
    stored = Pairs.from_npy(tmp_path / "near.npy", n_points=2)
    stored = replace(stored, columns=stored.columns.in_chunks_of(size // 2))
    tracemalloc.start()
    try:
        stored.sample(100, random_state=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < size  # bytes


def test_every_row_is_drawn_equally_often(tmp_path: Path) -> None:
    stored, _ = pairs_in_chunks(tmp_path)
    rng, counts = np.random.default_rng(0), np.zeros((N_POINTS, N_POINTS))
    for _ in range(200):
        table = stored.sample(80, random_state=rng).statement_points()
        counts[table[:, 0], table[:, 1]] += 1
    drawn = counts[counts > 0]
    # Each of 800 is drawn 20 times, give or take 4.2; five standard deviations are nearly sure for all.
    assert drawn.size == SIZE
    assert 20 - 5 * 4.2 < drawn.min() < drawn.max() < 20 + 5.5 * 4.2


def test_statements_have_names(both: tuple[StoredStatements, Any]) -> None:
    stored, _ = both
    k = stored.size - 3
    chunk = stored.columns.chunk_of(k)
    for term in stored.indexed_terms(chunk, Hinge(), BOUNDS):
        if term.rows.start <= k < term.rows.stop:
            points = tuple(int(column[k - term.rows.start]) for column in term.columns)
            assert str(points) in stored.describe(k)
    assert f"{stored.size:,}" in repr(stored)
    assert str(N_POINTS) in repr(stored)


def test_memory_is_told_before_it_is_taken(both: tuple[StoredStatements, Any]) -> None:
    stored, _ = both
    for k in range(stored.n_chunks):
        arrays = {}
        for term in stored.indexed_terms(k, Hinge(), BOUNDS):
            for x in (*term.columns, term.loss.bound, term.loss.weight):
                if isinstance(x, np.ndarray):
                    arrays[id(x)] = x
        taken = sum(x.nbytes for x in arrays.values())
        # A table has a bound for pairs of either kind, of which one counts.
        assert taken <= stored.bytes_of(k) <= 2 * taken
        assert stored.bytes_to_read(k) > stored.bytes_of(k)


def test_row_numbers_are_of_32_bits_where_these_suffice(tmp_path: Path) -> None:
    path = store(tmp_path / "pairs.parquet", pair_table())
    for n_points, dtype in ((N_POINTS, np.int32), (2**31, np.int32), (2**31 + 1, np.int64)):
        stored = Pairs.from_parquet(path, n_points=n_points)
        term, _ = stored.indexed_terms(0, Hinge(), BOUNDS)
        assert {column.dtype for column in term.columns} == {np.dtype(dtype)}


def test_repeated_pairs_count_as_often_as_they_are_listed(tmp_path: Path) -> None:
    table = {"i": [0, 1, 0], "j": [1, 0, 2], "alike": [True, True, False]}
    stored = Pairs.from_parquet(store(tmp_path / "p.parquet", table), n_points=3)
    near, far = stored.indexed_terms(0, Hinge(), BOUNDS)
    assert (near.size, far.size) == (2, 1)
    np.testing.assert_array_equal(stored.read().similar_weight, [2.0])


BAD_TABLES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "too large": (
        {"j": [1, 2, 60]},
        ("`j` refers to row 60", "row group 1, row 0", "n_points is 60"),
    ),
    "negative": ({"i": [0, -4, 2]}, ("`i` refers to row -4", "row group 0, row 1")),
    "beyond 32 bits": (
        {"i": [2**32, 1, 2]},
        ("`i` refers to row 4294967296", "row group 0, row 0"),
    ),
    "itself": ({"i": [5, 6, 9]}, ("(9, 9)", "row group 1, row 0", "two different points")),
    "no mark": ({"alike": [1, 0, 2]}, ("`alike` is 2", "row group 1, row 0", "1 for yes")),
    "no bound": (
        {"upper": [1.0, None, None]},
        ("`upper` is nan", "similar pair (2, 9)", "group 1"),
    ),
    "negative weight": (
        {"weight": [1.0, -2.0, 1.0]},
        ("`weight` is -2.0", "pair (1, 8)", "group 0"),
    ),
    "no index": ({"i": [0, None, 2]}, ("row group 0, row 1", "nothing stands", "'i'")),
    "unknown": ({"alike": [True, None, True]}, ("row group 0, row 1", "nothing stands", "'alike'")),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_rows_are_named_with_file_and_row_group(name: str, tmp_path: Path) -> None:
    change, words = BAD_TABLES[name]
    good = {"i": [0, 1, 2], "j": [7, 8, 9], "alike": [True, False, True], "weight": [1.0, 1.0, 1.0]}
    table = good | {"upper": [1.0, None, 1.0]} | change
    path = store(tmp_path / "bad.parquet", table, rows_a_group=2)
    stored = Pairs.from_parquet(path, n_points=N_POINTS, upper="upper", lower=2.0, weight="weight")
    for use in (stored.read, lambda: stored.indexed_terms(0, Hinge()), lambda: stored.sample(3)):
        with pytest.raises(ValueError, match=r"bad\.parquet, row group") as raised:
            use()
        assert all(word in str(raised.value) for word in words), raised.value
        assert "\n" not in str(raised.value)


def test_a_column_is_called_what_the_user_calls_it(tmp_path: Path) -> None:
    table = {"left": [0, 1], "right": [7, 60], "same": [True, False]}
    path = store(tmp_path / "p.parquet", table)
    names = {"i": "left", "j": "right", "alike": "same"}
    with pytest.raises(ValueError, match=r"^`right` refers to row 60 of X \(.*, row 1 of it\)"):
        Pairs.from_parquet(path, n_points=N_POINTS, **names).read()
    store(path, table | {"right": [7, 8], "same": [1, 3]})
    with pytest.raises(ValueError, match=r"^`same` is 3 "):
        Pairs.from_parquet(path, n_points=N_POINTS, **names).read()
    np.save(tmp_path / "near.npy", [[0, 1], [2, 3]])
    np.save(tmp_path / "far.npy", [[4, 5], [6, -7]])
    pairs = Pairs.from_npy(tmp_path / "near.npy", tmp_path / "far.npy", n_points=N_POINTS)
    with pytest.raises(
        ValueError, match=r"^column 1 of .*far\.npy refers to row -7 of X .*row 1\)"
    ):
        pairs.read()


def test_comparisons_of_a_pair_with_itself_are_named(tmp_path: Path) -> None:
    for row, why in (
        ({"i": [1], "j": [2], "k": [2]}, "three different points"),
        ({"i": [1], "j": [2], "k": [2], "l": [1]}, "compares a pair with itself"),
        ({"i": [1], "j": [2], "k": [3], "l": [3]}, "two different points"),
    ):
        path = store(tmp_path / "bad.parquet", row)
        names = {"l": "l"} if "l" in row else {}
        stored = Triplets.from_parquet(path, n_points=5, **names)
        with pytest.raises(ValueError, match=f"row group 0, row 0 of it.*{why}"):
            stored.read()


def test_what_is_asked_for_wrongly_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = store(tmp_path / "pairs.parquet", pair_table())
    few = {"n_points": N_POINTS}
    table = tmp_path / "table.npy"
    np.save(table, [[0, 1]])
    for error, word, make in (
        (FileError, "no column 'left'", lambda: Pairs.from_parquet(path, i="left", **few)),
        (FileError, "no column 'k'", lambda: Triplets.from_parquet(path, **few)),
        (FileError, "`alike` must be a col", lambda: Pairs.from_parquet(path, alike="weight", **few)),
        (TypeError, "`alike` must be the name", lambda: Pairs.from_parquet(path, alike=1.5, **few)),
        (TypeError, "`i` must be the name", lambda: Pairs.from_parquet(path, i=0, **few)),
        (ValueError, "`upper` must be at least 0", lambda: Pairs.from_parquet(path, upper=-1, **few)),
        (ValueError, "`weight` must be positive", lambda: Pairs.from_parquet(path, weight=0, **few)),
        (TypeError, "or one number for all", lambda: Pairs.from_parquet(path, weight=[1.0], **few)),
        (TypeError, "`upper` must be the path", lambda: Pairs.from_npy(table, upper=[1.0], **few)),
        (ValueError, "upper must not exceed", lambda: Pairs.from_parquet(path, upper=3, lower=2, **few)),
        (ValueError, "n_points", lambda: Pairs.from_parquet(path, n_points=0)),
        (TypeError, "needs n_points", lambda: Pairs.from_parquet(path, n_points=None)),
        (TypeError, "pass `similar`", lambda: Pairs.from_npy(**few)),
        (FileError, "does not exist", lambda: Pairs.from_npy(tmp_path / "none.npy", **few)),
    ):  # fmt: skip
        with pytest.raises(error, match=word):
            make()
    stored = Pairs.from_parquet(path, **few)
    with pytest.raises(ValueError, match=r"no bound is known \(lower\)"):
        stored.indexed_terms(0, Hinge(), (1.0, None))
    with pytest.raises(ValueError, match="n_points=60 but received 59"):
        stored.check_fits(59)
    with pytest.raises(TypeError, match=r"read\(\)"):
        stored[[1, 2]]


def test_a_mask_that_holds_everywhere_copies_nothing() -> None:
    chunk = Chunk((np.arange(4), np.arange(4)), {})
    assert chunk.take(np.ones(4, dtype=bool)) is chunk


def test_without_pyarrow_a_sentence_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store(tmp_path / "pairs.parquet", pair_table())
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'gramlearn\[files\]'"):
        Pairs.from_parquet(path, n_points=N_POINTS)


def test_a_sample_leaves_out_pairs_that_are_stated_both_ways() -> None:
    arrays = {"i": [0, 1, 2, 3, 4], "j": [1, 0, 3, 2, 5], "alike": [True, False, True, True, False]}
    columns = ArrayColumns({name: np.array(x) for name, x in arrays.items()}, 2)
    names = {"upper": None, "lower": None, "weight": None}
    side = StoredPairs(columns, Layout({"i": "i", "j": "j"}, {"alike": "alike"}, names), 6)
    found = side.sample(10)
    assert found.similar.tolist() == [[2, 3]]
    assert found.dissimilar.tolist() == [[4, 5]]
    with pytest.raises(ValueError, match="in both"):
        side.read()


def test_where_all_pairs_are_stated_both_ways_it_says_so() -> None:
    arrays = {"i": [0, 1], "j": [1, 0], "alike": [True, False]}
    columns = ArrayColumns({name: np.array(x) for name, x in arrays.items()}, 2)
    names = {"upper": None, "lower": None, "weight": None}
    side = StoredPairs(columns, Layout({"i": "i", "j": "j"}, {"alike": "alike"}, names), 6)
    with pytest.raises(ValueError, match="each of the 2 pairs drawn is stated to be similar and"):
        side.sample(10)


@pytest.mark.parametrize(
    "weight", [None, 2.0, np.array([1.0, 2.0, 3.0])], ids=["none", "one", "each"]
)
@pytest.mark.parametrize("n_unlike", [0, 2])
def test_drawn_pairs_stand_behind_as_dissimilar_ones(weight: Any, n_unlike: int) -> None:
    table, unlike = np.array([[0, 1], [1, 2], [2, 3]]), np.array([[0, 5], [1, 5]])[:n_unlike]
    given = StoredPairs.of(Pairs(table, unlike, n_points=10**6, similar_weight=weight), 2)
    both = given.beside_drawn(7, 4.0, 0)
    assert (both.size, both.n_given, both.digest == given.digest) == (
        n_unlike + 10,
        n_unlike + 3,
        False,
    )
    pairs, before = both.read(), given.read()
    np.testing.assert_array_equal(pairs.similar, before.similar)
    np.testing.assert_array_equal(pairs.dissimilar[:n_unlike], before.dissimilar)
    assert len(pairs.dissimilar) == n_unlike + 7
    own = before.pair_weights()
    each = 4.0 if np.ndim(weight) or (weight is not None and n_unlike) else own[0]
    np.testing.assert_allclose(pairs.pair_weights(), [*own, *[each] * 7])
    again = both.in_chunks_of(3).read()
    np.testing.assert_array_equal(again.dissimilar, pairs.dissimilar)
