"""10,000 damaged and lying model files: each is refused in one sentence, or loads, and nothing in it runs."""

import copy
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gramlearn.estimators.saving import describe_file, load
from gramlearn.sources.errors import FileError
from saved_models import fitted

MODELS = (
    "metric that chose",
    "metric of rank 3",
    "weights, 2 columns",
    "metric of objects",
    "kernel of rank 6",
    "kernel of rank 6 alone",
    "kernel along a manifold",
    "stream of distances",
    "embedding of a kernel",
    "nonparametric",
    "design of features",
    "design of a family",
)
N_FILES = 10_000
PROGRAMS = (
    "exec",
    "compile",
    "import",
    "open_code",
    "os.system",
    "subprocess.Popen",
    "pickle.find_class",
)
HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    7,
    10**12,
    10**30,
    -0.5,
    1e308,
    "1e999",
    "",
    "x",
    "inf",
    "nan",
    "\ud800",
    "os.system('true')",
    "__import__('os')",
    "MetricLearner",
    "../../etc/passwd",
    "x" * 5000,
    [],
    [[]],
    [10**12],
    [1, 2, 3],
    {},
    {"array": "no"},
    {"array": []},
    {"kind": "full"},
    {"part": "Hinge", "fields": {"C": -1.0}},
    {"part": "ManifoldKernel", "fields": {}},
    {"tuple": 3},
    {"number": "nan"},
)
DEEP = "[" * 600 + "]" * 600


class Watch:
    """Whether something that a file could have asked for was run."""

    def __init__(self) -> None:
        self.is_on = False
        self.seen: list[str] = []
        sys.addaudithook(self.note)

    def note(self, event: str, arguments: object) -> None:
        if self.is_on and event in PROGRAMS:
            self.seen.append(f"{event} {arguments}"[:200])


def opened(content: bytes) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """(header without the model, model, numbers)."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    return header, json.loads(header["__metadata__"]["gramlearn"]), content[start:]


def closed(header: dict[str, Any], model: Any, data: bytes) -> bytes:
    """The file of these, with lengths that fit."""
    header["__metadata__"] = {"gramlearn": as_text(model)}
    text = as_text(header).encode("utf-8", "surrogatepass")
    return len(text).to_bytes(8, "little") + text + data


def as_text(value: Any) -> str:
    return json.dumps(value).replace('"1e999"', "1e999").replace('"DEEP"', DEEP)


def nodes(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """(holder, key) of everything inside."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in inside:
        found.append((value, key))
        if isinstance(inner, dict | list):
            nodes(inner, found)
    return found


def change(tree: Any, rng: random.Random) -> None:
    """Put something hostile at a place, take it away, name it twice, or swap it with another."""
    places = nodes(tree, [])
    # As often on the way down as among the many numbers of a list.
    holder, key = rng.choice(
        rng.choice([places, [place for place in places if isinstance(place[1], str)]])
    )
    action = rng.randrange(8)
    if action == 0:
        del holder[key]
    elif action == 1 and isinstance(holder, dict):
        holder[str(key) + "_"] = holder.pop(key)
    elif action == 2:
        other, place = rng.choice(places)
        holder[key] = copy.deepcopy(other[place])
    elif action == 3:
        holder[key] = "DEEP"
    else:
        holder[key] = copy.deepcopy(rng.choice(HOSTILE))


def of_bits(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 20])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def of_length(content: bytes, rng: random.Random) -> bytes:
    action = rng.randrange(4)
    at = rng.randrange(len(content))
    if action == 0:
        return content[:at]
    if action == 1:
        return content + content[:at]
    if action == 2:
        length = rng.choice([0, 1, 2, at, 2**31, 2**63, 2**64 - 1])
        return length.to_bytes(8, "little") + content[8:]
    return content[:at] + content[at + rng.randrange(1, 9) :]


def of_model(content: bytes, rng: random.Random) -> bytes:
    header, model, data = opened(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        change(model, rng)
    return closed(header, model, data)


def of_header(content: bytes, rng: random.Random) -> bytes:
    header, model, data = opened(content)
    del header["__metadata__"]
    change(header, rng)
    return closed(header, model, data)


def of_numbers(content: bytes, rng: random.Random) -> bytes:
    """A NaN, an infinity, a huge or a negative number in place of one."""
    header, model, data = opened(content)
    changed = bytearray(data)
    at = 8 * rng.randrange(len(data) // 8)
    number = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, -1.0, 0.0, 5e-324])
    whole = rng.choice([np.float64(number).tobytes(), np.int64(rng.choice([-1, 10**12])).tobytes()])
    changed[at : at + 8] = whole
    return closed(header, model, bytes(changed))


def of_twins(content: bytes, rng: random.Random) -> bytes:
    """A name that comes twice, in the header or in the model."""
    header, model, data = opened(content)
    name = rng.choice(list(model))
    twin = f"{json.dumps(name)}: {json.dumps(rng.choice([1, {}, 'x']))}, "
    header["__metadata__"] = {"gramlearn": "{" + twin + json.dumps(model)[1:]}
    text = json.dumps(header)
    if rng.random() < 0.5:
        name = rng.choice([name for name in header if name != "__metadata__"])
        text = "{" + f"{json.dumps(name)}: {json.dumps(header[name])}, " + text[1:]
    return len(text).to_bytes(8, "little") + text.encode() + data


MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    of_bits,
    of_length,
    of_model,
    of_model,
    of_model,
    of_header,
    of_numbers,
    of_twins,
)


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for name in MODELS:
        path = folder / "model.gram"
        fitted(name).save(path)
        found[name] = path.read_bytes()
        load(path)
        describe_file(path)
    return found


def test_10000_mutated_files_are_refused_in_a_sentence_or_load(contents, tmp_path):
    rng, watch, path = random.Random(0), Watch(), tmp_path / "model.gram"
    refused = {mutation.__name__: 0 for mutation in MUTATIONS}
    messages = []
    for k in range(N_FILES):
        mutation = MUTATIONS[k % len(MUTATIONS)]
        content = mutation(contents[rng.choice(MODELS)], rng)
        path.write_bytes(content)
        # Every third file is only described.
        read = describe_file if k % 3 == 2 else load
        watch.is_on = True
        try:
            read(path)
        except FileError as error:
            refused[mutation.__name__] += 1
            messages.append(str(error))
        finally:
            watch.is_on = False
    assert not watch.seen
    assert min(refused.values()) > 200, refused  # each mutation reaches what it is about
    assert not [message for message in messages if not is_a_sentence(message, path)]
    assert N_FILES - len(messages) > 200  # such as one other digit of a number


def is_a_sentence(message: str, path: Path) -> bool:
    rest = message.removeprefix(str(path))
    return len(rest) < 700 and rest.isprintable() and rest.endswith(".") and rest != message


@pytest.mark.parametrize("name", MODELS)
def test_a_file_of_a_newer_version_says_to_upgrade(contents, tmp_path, name):
    header, model, data = opened(contents[name])
    path = tmp_path / "model.gram"
    path.write_bytes(closed(header, {**model, "format": 2, "new": {}}, data))
    for read in (load, describe_file):
        with pytest.raises(
            FileError,
            match=r"was written by a newer gramlearn \(format 2, this one reads 1\); upgrade",
        ):
            read(path)


@pytest.mark.parametrize("name", MODELS)
def test_what_a_file_must_have_is_asked_for(contents, tmp_path, name):
    header, model, data = opened(contents[name])
    path = tmp_path / "model.gram"
    for group in (None, "fitted"):
        for key in model if group is None else model[group]:
            changed = copy.deepcopy(model)
            del (changed if group is None else changed[group])[key]
            path.write_bytes(closed(header, changed, data))
            if group == "fitted" and key in MAY_BE_ABSENT and not uses_arrays(changed, header):
                load(path)
                continue
            with pytest.raises(FileError) as refused:
                load(path)
            assert is_a_sentence(str(refused.value), path)


MAY_BE_ABSENT = {"threshold", "C", "strength", "prior", "prior_share", "statements", "verdict"}
MAY_BE_ABSENT |= {"cv_results", "classes", "feature_weights", "basis", "inner", "labels"}


def uses_arrays(model: dict[str, Any], header: dict[str, Any]) -> bool:
    """Whether the header has arrays that the model does not name any more."""
    text = json.dumps(model)
    return any(json.dumps(name) not in text for name in header if name != "__metadata__")
