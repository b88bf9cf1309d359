"""Random unusual calls of every estimator: data of unusual shapes and types, arguments at their extremes.

A call is a program of a few lines. What is asked of it, where the fit ends without an error:

    what was learned is finite, and so is `transform` of new points, with a row for each of them
    nothing that was given has changed
    a second fit gives the same to the bit, and so does a copy through pickle
    the certificate is what the judge of problems finds
"""

import inspect
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

import gramlearn
from stress.code import comment_out
from stress.fits import FITS
from stress.judge import Claim, judge
from stress.odd_data import CHOICES, EXTREMES, LABELS, POINTS, SIDES, WRONG, WRONG_POINTS
from stress.outcome import Finding, Outcome, drop_repeated
from stress.question import Question
from stress.trial import compile_first
from stress.watch import LIMIT, OutOfTime, describe_exception, is_sentence, watch_call

__all__ = ["ESTIMATORS", "Call", "attempt", "draw", "shrink"]

ESTIMATORS = sorted(
    name
    for name in gramlearn.__all__
    if inspect.isclass(found := getattr(gramlearn, name)) and issubclass(found, BaseEstimator)
)
_HEAD = """\
import numpy as np
import pandas as pd
import scipy.sparse as sp
from gramlearn import *
from gramlearn.kernels import *
from gramlearn.losses import *

rng = np.random.default_rng({seed})
X = rng.normal(size=({n}, {d}))
y = np.arange({n}) % {classes}
X[:, 0] += y
"""
_WRONG = "wrong X"
_FILE = "<call>"  # where warnings shall point: the user's own line


@final
@dataclass(frozen=True)
class Call:
    """A program: lines that make the data, and the estimator with its arguments."""

    estimator: str
    head: str
    oddities: tuple[tuple[str, str], ...]  # (what, the line)
    side: tuple[str, str] | None
    arguments: tuple[tuple[str, str], ...]

    @property
    def labels(self) -> list[str]:
        """The parts of this call, by which results are counted."""
        return [self.estimator, *(what for what, _ in self.oddities),
                *([f"side: {self.side[0]}"] if self.side else []),
                *(f"{name}={value}" for name, value in self.arguments)]  # fmt: skip

    @property
    def setup(self) -> str:
        """The lines that make the data: nothing of the library."""
        rows = "n = X.shape[0] if hasattr(X, 'shape') else len(X)\n" if self.side else ""
        return self.head + "".join(f"{line}  # {what}\n" for what, line in self.oddities) + rows

    @property
    def construction(self) -> str:
        """The lines that make the side information and the estimator."""
        arguments = ", ".join(f"{name}={value}" for name, value in self.arguments)
        side = f"{self.side[1]}\n" if self.side else ""
        return f"{side}estimator = {self.estimator}({arguments})\n"

    @property
    def fit(self) -> str:
        """The line that fits."""
        return f"estimator.fit(X, y{', side=side' if self.side else ''})\n"

    def program(self, comment: str = "") -> str:
        """The whole program."""
        said = comment_out(comment)
        return f"{said}{self.setup}\n{self.construction}{self.fit}"


def draw(seed: int, index: int) -> Call:
    """Draw call number `index`."""
    rng = np.random.default_rng([77, seed, index])
    name = ESTIMATORS[int(rng.integers(len(ESTIMATORS)))]
    cls = getattr(gramlearn, name)
    n, d, classes = int(rng.integers(8, 25)), int(rng.integers(2, 6)), int(rng.integers(2, 4))
    head = _HEAD.format(seed=int(rng.integers(1000)), n=n, d=d, classes=classes)
    oddities = []
    for name_of, table, chance in (
        ("X", POINTS, 0.6), ("X", POINTS, 0.1), (_WRONG, WRONG_POINTS, 0.1), ("y", LABELS, 0.25)
    ):  # fmt: skip
        if rng.random() < chance:
            what = list(table)[int(rng.integers(len(table)))]
            oddities.append((f"{name_of}: {what}", table[what]))
    side = None
    if "side" in inspect.signature(cls.fit).parameters and rng.random() < 0.35:
        what = list(SIDES)[int(rng.integers(len(SIDES)))]
        side = (what, SIDES[what])
    return Call(name, head, tuple(oddities), side, _arguments(cls, rng))


def _arguments(cls: type, rng: np.random.Generator) -> tuple[tuple[str, str], ...]:
    """Arguments of which one or two are at an extreme; what is random is fixed."""
    parameters = inspect.signature(cls).parameters
    arguments = {"random_state": "0"} if "random_state" in parameters else {}
    names = list(parameters)
    for _ in range(int(rng.integers(0, 3))):
        name = names[int(rng.integers(len(names)))]
        default = parameters[name].default
        kind = "None" if default is None else type(default).__name__
        values = (*CHOICES.get(name, ()), *EXTREMES.get(kind, EXTREMES["None"]))
        if not values or rng.random() < 0.15:
            values = WRONG
        arguments[name] = values[int(rng.integers(len(values)))]
    return tuple(arguments.items())


def attempt(call: Call, limit: float = LIMIT) -> Outcome:
    """Run the program, and look at what it made."""
    names = _prepare_data(call)
    if names is None:
        return Outcome("refused", words="the data cannot be made")
    before = _freeze(names)
    _compile_first(call.estimator)
    if ("solver", "'projections'") in call.arguments:
        compile_first("LogDet", "projections")
        compile_first("VonNeumann", "projections")
    code = compile(call.construction + call.fit, _FILE, "exec")
    seen = watch_call(lambda: exec(code, names), limit)
    findings = seen.leaks((ConvergenceWarning, UserWarning))
    findings += [
        Finding(
            "warning",
            f"warning elsewhere {call.estimator}",
            f"points at {Path(w.filename).name}: {w.message}",
        )
        for w in seen.warnings
        if issubclass(w.category, UserWarning) and w.filename != _FILE
    ]
    if _freeze(names) != before:
        findings.append(
            Finding("changed input", f"changed input {call.estimator}", "X or y has changed")
        )
    error = seen.error
    if isinstance(error, OutOfTime):
        return Outcome("unfinished", "", "", seen.seconds, "", drop_repeated(findings))
    if error is not None:
        said = is_sentence(error)
        if not said:
            findings.append(describe_exception(error))
        ending = "refused" if said else "broken"
        return Outcome(ending, "", "", seen.seconds, str(error), drop_repeated(findings))
    later = watch_call(lambda: _find_faults(call, names, before), 4 * limit)
    if later.error is None:
        findings += later.result
        findings += later.leaks((ConvergenceWarning, UserWarning))
    elif not isinstance(later.error, OutOfTime):
        found = describe_exception(later.error)
        findings.append(found._replace(key=f"after fit {found.key}"))
    status = getattr(getattr(names["estimator"], "solution_", None), "status", None)
    wrong = [what for what, _ in call.oddities if what.startswith(_WRONG)]
    if wrong:
        key = f"accepted {wrong[0]} {call.estimator}"
        findings.append(Finding("accepted", key, f"{wrong[0]}: taken without a word"))
    name = status.name if status else "fitted"
    return Outcome("answered", name, "", seen.seconds, "", drop_repeated(findings))


def shrink(call: Call, shows: Callable[[Call], bool], seconds: float) -> Call:
    """Leave out oddities, arguments and the side information, one after another, while the finding stays."""
    del seconds  # a call has a few parts only
    progress = True
    while progress:
        progress = False
        candidates = [
            replace(call, oddities=call.oddities[:k] + call.oddities[k + 1 :])
            for k in range(len(call.oddities))
        ]
        candidates += [
            replace(call, arguments=call.arguments[:k] + call.arguments[k + 1 :])
            for k in range(len(call.arguments))
        ]
        candidates += [replace(call, side=None)] if call.side else []
        for candidate in candidates:
            if shows(candidate):
                call, progress = candidate, True
                break
    return call


@cache
def _compile_first(estimator: str) -> None:
    """Fit once as usual, so that no unusual call is charged for code compiled at first use."""
    fit = FITS[estimator]
    watch_call(lambda: fit.run(fit.make(), fit.data(1.0)), 600.0)


def _prepare_data(call: Call) -> dict[str, Any] | None:
    """The variables of the data; None where two oddities do not go together."""
    names: dict[str, Any] = {}
    try:
        with np.errstate(all="ignore"):
            exec(compile(call.setup, "<data>", "exec"), names)
    except Exception:  # of NumPy, SciPy, pandas: no line of the library is among them
        return None
    return names


def _freeze(names: dict[str, Any]) -> tuple[bytes, ...]:
    """X and y as bytes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, which prints half precision with an overflow
        return tuple(_bytes(names.get(name)) for name in "Xy")


def _bytes(value: Any) -> bytes:
    if sp.issparse(value):
        return _bytes(value.toarray())
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.tobytes() + repr((value.shape, value.flags.writeable)).encode()
    return repr(value).encode()


def _find_faults(call: Call, names: dict[str, Any], before: tuple[bytes, ...]) -> list[Finding]:
    """What is wrong with a fitted estimator."""
    estimator = names["estimator"]
    found: list[Finding] = []

    def complain(kind: str, words: str) -> None:
        found.append(
            Finding(kind, f"{kind} {call.estimator}: {words}", f"{call.estimator}: {words}")
        )

    learned = _collect_learned(estimator)
    for name, value in learned.items():
        if value.dtype.kind in "fc" and np.any(np.isnan(value)):
            complain("nan", f"{name} contains NaN")
    outputs = _collect_outputs(estimator, names["X"], complain)
    again = clone(estimator)
    fresh = dict(names, estimator=again)
    exec(compile(call.fit, _FILE, "exec"), fresh)
    is_random = getattr(estimator, "random_state", 0) is None
    if not is_random and not _are_equal(learned, _collect_learned(again)):
        complain("not repeatable", "a second fit learned something else")
    copy = pickle.loads(pickle.dumps(estimator))
    if not _are_equal(outputs, _collect_outputs(copy, names["X"], lambda *_: None)):
        complain("pickle", "a copy through pickle answers otherwise")
    if _freeze(names) != before:
        complain("changed input", "X or y has changed after the fit")
    solution = getattr(estimator, "solution_", None)
    if isinstance(solution, gramlearn.Solution):
        question = Question.of(solution.problem, float(getattr(estimator, "tol", 1e-6) or 1e-6))
        if question.dimension <= 60 and question.size <= 2000:
            found += judge(question, Claim.of(solution))
    return found


def _collect_learned(estimator: Any) -> dict[str, np.ndarray]:
    """Every array or number whose name ends in an underscore."""
    learned = {}
    for name, value in vars(estimator).items():
        if name.endswith("_") and isinstance(value, np.ndarray | float | int):
            learned[name] = np.asarray(value)
    return learned


def _collect_outputs(
    estimator: Any, X: Any, complain: Callable[[str, str], None]
) -> dict[str, np.ndarray]:
    """Its answers for new points: a few training points, moved a little."""
    outputs = {}
    points = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
    if not np.all(np.isfinite(points)):
        return {}
    new = points[: min(3, len(points))] * (1 + 1e-3)
    kernel = str(getattr(estimator, "kernel", "")) == "precomputed"
    for method in ("transform", "predict"):
        if not hasattr(estimator, method) or kernel:
            continue
        if method == "predict" and hasattr(estimator, "transform"):
            continue  # of pairs of points, not of points
        seen = watch_call(lambda method=method: getattr(estimator, method)(new))
        if seen.error is not None:
            if not is_sentence(seen.error):
                complain("exception", f"{method} of new points raises {seen.error!r:.150}")
            continue
        for leak in seen.leaks((ConvergenceWarning, UserWarning)):
            complain("warning", f"{method} of new points: {leak.words}")
        value = seen.result
        value = np.asarray(value.toarray() if sp.issparse(value) else value)
        outputs[method] = value
        if len(value) != len(new):
            complain("shape", f"{method} of {len(new)} points has {len(value)} rows")
        if value.dtype.kind == "f" and not np.all(np.isfinite(value)):
            complain("nan", f"{method} of new points is not finite")
    return outputs


def _are_equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(
        _bytes(value) == _bytes(other[name]) for name, value in one.items()
    )
