"""primal - dual <= gap: certificates in a model file, without their problems, and what was learned from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gramlearn.estimators._parts.arrays import Array, Labels
from gramlearn.estimators._parts.base import FilePart, Incoming, Outgoing
from gramlearn.estimators._parts.nested import IfThere, Maybe, Struct
from gramlearn.estimators._parts.words import Choice, Number, Text, Whole
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.solution import CertifiedAnswer, Record
from gramlearn.problem.status import Status

_MOST_RECORDS = 1000  # of a history


@final
@dataclass(frozen=True, eq=False, repr=False)
class StoredAnswer(CertifiedAnswer):
    """The certificate of an answer whose problem and prices were left behind, as in a model file.

    Attributes
    ----------
    primal, dual, gap, relative_gap, violation, status, history, iterations, seconds :
        As of a `Solution`. Of a long history, 1000 records are kept.
    """

    @property
    def problem(self) -> Any:
        raise AttributeError(
            "the problem is not in a model file, and neither are its points; fit again to have it."
        )

    def __repr__(self) -> str:
        return (
            f"StoredAnswer({self.status.name}: primal {self.primal:.8g}, dual {self.dual:.8g}, relative gap "
            f"{self.relative_gap:.1e}, violation {self.violation:.1e}, {self.iterations} iterations, "
            f"{self.seconds:.3g} s)"
        )


class AnswerPart(FilePart):
    """A certificate, and how it came about: an array with a row for each record of the history."""

    is_plain = False
    _status = Choice({status.name: status for status in Status})
    _certificate = Struct(
        Certificate,
        {name: Number(may_be_infinite=True) for name in Certificate._fields},
    )
    _seconds = Number(0.0)
    _history = Array("records?", "numbers of a record", may_be_infinite=True)
    _columns = ("iteration", "seconds", *Certificate._fields, "is_estimate")

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        history = _thinned(value.history)
        rows = [
            [r.iteration, r.seconds, *r.certificate, bool(r.details.get("is_estimate"))]
            for r in history
        ]
        table = np.array(rows, dtype=np.float64).reshape(len(rows), len(self._columns))
        return {
            "status": self._status.write(value.status, f"{name}.status", to),
            "words": value.status.value,
            **self.words(value),
            "certificate": self._certificate.write(value.certificate, f"{name}.certificate", to),
            "seconds": float(value.seconds),
            "history": {
                "columns": list(self._columns),
                "rows": self._history.write(table, f"{name}.history", to),
            },
        }

    @staticmethod
    def words(value: CertifiedAnswer) -> dict[str, Any]:
        """What follows from the rest, for readers that do not work it out."""
        gap = Number(may_be_infinite=True).write(value.relative_gap, "", Outgoing())
        return {"relative_gap": gap, "iterations": int(value.iterations)}

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        summary = self.summary(given, name, of)
        history = given["history"]
        if not isinstance(history, Mapping) or set(history) != {"columns", "rows"}:
            of.fail(f"{name}.history", "should have columns and rows, and no more")
        table = self._history.read(history["rows"], f"{name}.history", of)
        if history["columns"] != list(self._columns) or table.shape[1] != len(self._columns):
            of.fail(f"{name}.history", "has other columns than it should")
        if len(table) > _MOST_RECORDS or not np.isfinite(table[:, :2]).all():
            of.fail(f"{name}.history", "has too many records, or times that are none")
        if (table[:, 0] < 0).any() or (table[:, 0] > 2**53).any():
            of.fail(f"{name}.history", "has iterations that are no numbers of iterations")
        records = [
            Record(
                int(row[0]),
                row[1],
                Certificate(*row[2:-1]),
                {"is_estimate": True} if row[-1] else {},
            )
            for row in table.tolist()
        ]
        if (records[-1].iteration if records else 0) != summary["iterations"]:
            of.fail(f"{name}.iterations", "is not that of the last record")
        return StoredAnswer(
            certificate=summary["certificate"],
            status=summary["status"],
            history=records,
            seconds=summary["seconds"],
        )

    def summary(self, given: Any, name: str, of: Incoming) -> dict[str, Any]:
        """What the header alone tells."""
        wanted = {"status", "words", "relative_gap", "iterations"}
        wanted |= {"certificate", "seconds", "history"}
        if not isinstance(given, Mapping) or set(given) != wanted:
            of.fail(name, "is no certificate")
        parts: dict[str, FilePart] = {
            "status": self._status,
            "words": Text(),
            "relative_gap": Number(may_be_infinite=True),
            "iterations": Whole(),
            "certificate": self._certificate,
            "seconds": self._seconds,
        }
        return {key: part.read(given[key], f"{name}.{key}", of) for key, part in parts.items()}


ANSWER = AnswerPart()


LEARNED_FROM = Struct(
    dict,
    {
        "kind": Text(),
        "count": Whole(),
        "n_points": Maybe(Whole()),
        "digest": Text(),
        "words": Text(),
    },
    take=dict.__getitem__,
)
INPUT: dict[str, FilePart] = {
    "n_features_in_": Whole(1, "d"),
    "feature_names_in_": IfThere(Labels("d")),
    "learned_from_": LEARNED_FROM,
}
OUTCOME: dict[str, FilePart] = {"solution_": ANSWER, "n_iter_": Whole()}


def _thinned(history: list[Record]) -> list[Record]:
    """The first, the last, and of those between as many as a file keeps, at even distances."""
    if len(history) <= _MOST_RECORDS:
        return history
    return [history[k] for k in np.linspace(0, len(history) - 1, _MOST_RECORDS).astype(int)]
