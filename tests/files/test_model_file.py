"""The container of models: what is written comes back, and what a file says of itself is not believed."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from gramlearn._base.printable import printable
from gramlearn.files.model_file import (
    DTYPES,
    NAME,
    damaged,
    read_header,
    read_model_file,
    write_model_file,
)
from gramlearn.sources.errors import FileError

ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "b": np.array([1, -(2**62), 2**62]),
    "c": np.array([[0.1]], dtype=np.float32),
    "d": np.array([True, False, True]),
    "e": np.arange(250, 256, dtype=np.uint8),
    "f": np.zeros((0, 4)),
    "g": np.asfortranarray(np.arange(6, dtype=np.int32).reshape(3, 2)),
    "ä'\"": np.array([np.inf, -0.0, 5e-324]),
}
MODEL = {"format": 1, "text": "</script> ü \U0001f600 \n", "nothing": None, "list": [1, 2.5, []]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.gram"


def raw(path: Path, header: object, data: bytes = b"", length: int | None = None) -> Path:
    """A file with this header, as text or as JSON."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(text) if length is None else length
    path.write_bytes(size.to_bytes(8, "little") + text + data)
    return path


def with_model(**entries: object) -> dict[str, object]:
    return {"__metadata__": {NAME: "{}"}, **entries}


def entry(begin: int, end: int, *shape: int, dtype: str = "F64") -> dict[str, object]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def test_what_is_written_comes_back_to_the_bit(path):
    write_model_file(path, MODEL, ARRAYS)
    model, arrays = read_model_file(path)
    assert model == MODEL
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.writeable
        assert arrays[name].flags.owndata


def test_numbers_of_the_other_order_of_bytes_are_written_as_they_are_meant(path):
    write_model_file(path, {}, {"a": np.arange(3, dtype=">f8")})
    np.testing.assert_array_equal(read_model_file(path)[1]["a"], [0.0, 1.0, 2.0])


def test_the_package_safetensors_reads_our_files_and_we_read_its(path):
    from safetensors.numpy import load_file, save_file

    write_model_file(path, MODEL, ARRAYS)
    theirs = load_file(path)
    assert set(theirs) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(theirs[name], array)
    save_file(
        {name: np.ascontiguousarray(array) for name, array in ARRAYS.items()},
        path,
        {NAME: json.dumps(MODEL)},
    )
    model, arrays = read_model_file(path)
    assert model == MODEL
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)


def test_the_header_alone_tells_the_shapes(path):
    write_model_file(path, MODEL, ARRAYS)
    header = read_header(path)
    assert header.model == MODEL | {"text": "</script> ü \U0001f600 \\n"}
    assert {name: e.shape for name, e in header.entries.items()} == {
        name: array.shape for name, array in ARRAYS.items()
    }
    assert header.size == path.stat().st_size
    assert header.start % 8 == 0


def test_an_interrupted_write_leaves_the_old_file(path):
    path.write_text("old")
    with pytest.raises(TypeError):
        write_model_file(path, {"no": object()}, ARRAYS)
    assert path.read_text() == "old"


LIES = {
    "an empty file": (b"", "it has 0 bytes"),
    "four bytes": (b"\x01\x00\x00\x00", "it has 4 bytes"),
    "a pickle": (
        b"\x80\x05\x95\x0a\x00\x00\x00\x00\x00\x00\x00\x8c\x01a\x94.",
        "its first eight say",
    ),
    "a long header": ((2**63).to_bytes(8, "little") + b"{}", "its first eight say"),
}


@pytest.mark.parametrize(("content", "words"), LIES.values(), ids=LIES)
def test_a_file_that_is_none_is_refused(path, content, words):
    path.write_bytes(content)
    with pytest.raises(FileError, match=words):
        read_model_file(path)


HEADERS = {
    "no JSON": (b"{,}", b"", "is not JSON"),
    "no object": ([1], b"", "is no JSON object"),
    "no UTF-8": (b'{"\xff": 1}', b"", "is not JSON"),
    "deep": (b"[" * 100_000, b"", "nested too deeply"),
    "deep objects": (b'{"a":' * 50_000, b"", "nested too deeply"),
    "many values": (b"[" + b"[]," * 200_000 + b"[]]", b"", "more than 300000 values"),
    "a long number": (b'{"a": ' + b"9" * 10_000 + b"}", b"", "is not JSON"),
    "NaN": (b'{"a": NaN}', b"", "NaN is no number"),
    "twins": (b'{"a": 1, "a": 2}', b"", "comes twice"),
    "no metadata": ({}, b"", "has no text 'gramlearn'"),
    "other metadata": ({"__metadata__": {"format": "pt"}}, b"", "has no text 'gramlearn'"),
    "a model that is no text": ({"__metadata__": {NAME: {}}}, b"", "has no text 'gramlearn'"),
    "a model that is no JSON": ({"__metadata__": {NAME: "{"}}, b"", "its model is not JSON"),
    "a model with twins": ({"__metadata__": {NAME: '{"a":1,"a":2}'}}, b"", "comes twice"),
    "half a character": ({"__metadata__": {NAME: "\ud800"}}, b"", "its model is not JSON"),
    "an array of nothing": (with_model(a=3), b"", "has no dtype, shape and data_offsets"),
    "no dtype": (with_model(a={"shape": [], "data_offsets": [0, 8]}), b"8" * 8, "has no dtype"),
    "an unknown dtype": (with_model(a=entry(0, 8, 1, dtype="O")), b"8" * 8, "has the dtype 'O'"),
    "a dtype that is a list": (
        with_model(a={**entry(0, 8, 1), "dtype": []}),
        b"8" * 8,
        "has the dtype",
    ),
    "too many entries": (with_model(a=entry(0, 8, 10**12)), b"8" * 8, "8000000000000 bytes"),
    "too many bytes": (with_model(a=entry(0, 8 * 10**12, 10**12)), b"8" * 8, "the file holds 8"),
    "a negative size": (with_model(a=entry(0, 8, -1)), b"8" * 8, "has the shape"),
    "sizes that overflow": (
        with_model(a=entry(0, 0, 2**32, 2**32, 2**32)),
        b"",
        "has the shape|bytes",
    ),
    "sizes that overflow beside one of zero": (
        with_model(a=entry(0, 0, 0, 2**48, 2**48)),
        b"",
        "has the shape",
    ),
    "a size that is true": (with_model(a=entry(0, 8, True)), b"8" * 8, "has the shape"),
    "a size that is a float": (with_model(a=entry(0, 8, 1.0)), b"8" * 8, "has the shape"),
    "many dimensions": (with_model(a=entry(0, 8, *[1] * 40)), b"8" * 8, "has the shape"),
    "offsets the other way": (with_model(a=entry(8, 0, 1)), b"8" * 8, "data_offsets are of -8"),
    "three offsets": (
        with_model(a={**entry(0, 8, 1), "data_offsets": [0, 8, 9]}),
        b"8" * 8,
        "has the data_offsets",
    ),
    "an overlap": (with_model(a=entry(0, 8, 1), b=entry(0, 8, 1)), b"8" * 8, "begins at 0"),
    "a hole": (with_model(a=entry(0, 8, 1), b=entry(16, 24, 1)), b"8" * 24, "begins at 16"),
    "a tail": (with_model(a=entry(0, 8, 1)), b"8" * 9, "the file holds 9 of them"),
    "neither true nor false": (
        with_model(a=entry(0, 2, 2, dtype="BOOL")),
        b"\x01\x02",
        "holds neither true nor false",
    ),
}


@pytest.mark.parametrize(("header", "data", "words"), HEADERS.values(), ids=HEADERS)
def test_a_lying_file_is_refused_in_a_sentence_and_costs_little(path, header, data, words):
    raw(path, header, data)
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=words) as refused:
            read_model_file(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * path.stat().st_size + 200_000
    message = str(refused.value)
    assert str(path) in message
    assert message.endswith("copy the file anew.")
    assert "\n" not in message


def test_reading_takes_little_more_than_the_file_has(path):
    write_model_file(path, {}, {"a": np.ones((1000, 1000)), "b": np.ones(10**5, dtype=bool)})
    tracemalloc.start()
    try:
        read_model_file(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.1 * path.stat().st_size + 200_000


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(FileError, match="is a folder; pass a model file"):
        read_model_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_model_file(tmp_path / "none.gram")


def test_a_header_that_nobody_could_read_is_not_written(path):
    with pytest.raises(ValueError, match="the model cannot be saved: its header has more than"):
        write_model_file(path, {"names": [0] * 400_000}, {})
    assert not path.exists()


def test_a_header_is_fit_for_a_terminal(path):
    bad = "\x1b[2J\n\u202e"
    raw(path, {"__metadata__": {NAME: json.dumps({bad: [bad, {"a": bad}]})}, bad: entry(0, 0, 0)})
    header = read_header(path)
    good = r"\x1b[2J\n\u202e"
    assert printable("\U0001f469\u200d\U0001f680 ü \xa0") == "\U0001f469\u200d\U0001f680 ü \xa0"
    assert header.model == {good: [good, {"a": good}]}
    assert list(header.entries) == [good]
    model, arrays = read_model_file(path)  # as it was given
    assert model == {bad: [bad, {"a": bad}]}
    assert list(arrays) == [bad]
    assert str(damaged(path, bad)).isprintable()


@pytest.mark.parametrize("code", DTYPES)
def test_every_type_comes_back(path, code):
    array = np.array([[0, 1, 1]]).astype(DTYPES[code])
    write_model_file(path, {}, {"a": array})
    np.testing.assert_array_equal(read_model_file(path)[1]["a"], array)
