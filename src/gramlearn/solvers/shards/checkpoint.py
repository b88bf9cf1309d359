"""A folder that holds how far a solve has come: X = F F', and the stage it is in.

It is written after each step, to a new file that then takes the place of the old one, so that it is whole at
any moment. All else that a solve knows follows from X.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple, final

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import describe_value
from gramlearn._base.warnings import warn
from gramlearn.solvers.primal_newton.state import PrimalState

_VERSION = "2"
_NAME = "checkpoint.safetensors"
PROBLEM = "numbers that follow from them"  # from what is given, with what else it is a word about
STATE = "state of `random_state`"  # of what is drawn from, not of a number


class Reached(NamedTuple):
    """X = F F' and its stage: every `stride`-th constraint, a barrier of strength nu, ramps of some width."""

    factor: np.ndarray
    stride: int
    nu: float
    width: float
    held: float
    stages: int

    @classmethod
    def of(cls, state: PrimalState) -> "Reached":
        """What a state of Newton on X has come to."""
        stage, point = state.stage, state.point
        factor = to_numpy(point.primal.at.factor)
        return cls(factor, stage.stride, stage.nu, stage.width, point.held, state.stages)


@final
class Checkpoint:
    """The folder of one solve; `seed` is for what it draws at random, the same whenever it goes on."""

    def __init__(self, folder: str | Path) -> None:
        if not isinstance(folder, str | Path):
            raise TypeError(
                f"`checkpoint` must be the path of a folder; got {describe_value(folder)}."
            )
        self._folder = Path(folder)
        self._path = self._folder / _NAME
        self._is_lost = False  # what could not be written
        try:
            _check_is_writable(self._folder)
            self._words, self._arrays = self._read()
            if not self._words:
                seed = int(np.random.default_rng().integers(2**31))
                self._words = {"gramlearn": f"checkpoint {_VERSION}", "seed": str(seed)}
        except OSError as error:
            raise ValueError(
                f"`checkpoint={str(folder)!r}` cannot be made a folder with a file ({error.strerror}); pass a "
                "folder that can be written to."
            ) from error

    @property
    def seed(self) -> int:
        """A number that was drawn when the folder was new."""
        return int(self._words["seed"])

    def advice(self) -> str:
        """What to do when a fit was cut short; nothing where it had reached nothing."""
        if not self._arrays:
            return ""
        return f"call fit again with the same arguments to go on from `checkpoint={str(self._folder)!r}`"

    def check(self, about: Mapping[str, str], given: Mapping[str, str] | None = None) -> None:
        """Refuse a solve with another word about something than it had; what was `given` may tell why."""
        known = json.loads(self._words.get("about", "{}"))
        then = json.loads(self._words.get("given", "{}"))
        changed = [name for name in about if known.get(name, about[name]) != about[name]]
        if not changed:
            return
        others = [name for name in given or {} if then.get(name) != (given or {})[name]]
        told = [*(name for name in changed if name != PROBLEM), *others] or changed
        how = "or the same arguments as then"
        if STATE in told:
            how = "and `random_state` as a number, since each draw moves the state of a generator"
        raise ValueError(
            f"`checkpoint={str(self._folder)!r}` holds what another fit has reached, which had other "
            f"{', '.join(told)}; pass an empty folder, {how}."
        )

    def resume(
        self, about: Mapping[str, str], given: Mapping[str, str] | None = None
    ) -> Reached | None:
        """How far this solve has come; None where it is new here, an error where it is another."""
        self.check(about, given)
        self._words["about"] = json.dumps(dict(about))
        self._words["given"] = json.dumps(dict(given or {}))
        if "factor" not in self._arrays:
            return None
        stage = json.loads(self._words["stage"])
        return Reached(self._arrays["factor"], **stage)

    def keep(self, state: PrimalState) -> None:
        """Write down how far a solve has come."""
        factor, *stage = Reached.of(state)
        if np.isfinite(factor).all():
            words = json.dumps(dict(zip(Reached._fields[1:], stage, strict=True)))
            try:
                self._write(
                    self._words | {"stage": words}, {"factor": np.ascontiguousarray(factor)}
                )
            except OSError as error:
                self._warn_of(error)

    def _warn_of(self, error: OSError) -> None:
        """Say once that a disk is full, which is no reason to lose what was learned."""
        if not self._is_lost:
            then = "go on from what was written last" if self._arrays else "begin anew"
            warn(
                f"`checkpoint={str(self._folder)!r}` could not be written ({error.strerror}); the fit goes on, "
                f"and the same call would {then}."
            )
        self._is_lost = True

    def _read(self) -> tuple[dict[str, str], dict[str, np.ndarray]]:
        from safetensors import SafetensorError, safe_open

        if not self._path.exists():
            return {}, {}
        try:
            with safe_open(self._path, framework="numpy") as file:
                words: dict[str, Any] = dict(file.metadata() or {})
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise ValueError(f"{self._path} is not readable ({error}); {_NEW}.") from error
        if (
            words.get("gramlearn") != f"checkpoint {_VERSION}"
            or not words.get("seed", "").isdigit()
        ):
            raise ValueError(f"{self._path} is not a checkpoint of this version; {_NEW}.")
        return words, arrays

    def _write(self, words: dict[str, str], arrays: dict[str, np.ndarray]) -> None:
        """Write this down, and know it once it is written."""
        from safetensors.numpy import save

        self._folder.mkdir(parents=True, exist_ok=True)
        written = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            with written.open("wb") as file:
                _write_through(file, save(arrays, words))
            written.replace(self._path)
        finally:
            written.unlink(missing_ok=True)  # half a file on a full disk
        self._words, self._arrays = words, arrays


def _write_through(file: IO[bytes], content: bytes) -> None:
    """Write a file, and wait until it is on the disk."""
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


def _check_is_writable(folder: Path) -> None:
    """Raise OSError where no file can be made there, or where the missing folder would be made.

    No folder is made to find out: fits that begin at the same time may be about to make the same one.
    """
    nearest = next(path for path in (folder, *folder.parents) if _is_there(path))
    with TemporaryFile(dir=nearest) as file:
        _write_through(file, bytes(1))


def _is_there(path: Path) -> bool:
    """Whether there is anything of this name, such as a link to nothing; an error where that cannot be told."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


_NEW = "pass `checkpoint=` another folder, or delete the file to begin anew"
