"""What came of an experiment, wherever it was kept: the records of its parts, finished or failed."""

from dataclasses import dataclass
from typing import Any, final

from experiments.experiment import Experiment, Result, results_of

__all__ = ["Outcome"]


@final
@dataclass(frozen=True)
class Outcome:
    """The records there are, in the order of the parts, and of how many parts."""

    name: str
    experiment: Experiment
    quick: bool
    seed: int
    n_parts: int
    records: list[dict[str, Any]]

    @property
    def done(self) -> list[dict[str, Any]]:
        """The records of the finished parts."""
        return [record for record in self.records if record["status"] == "done"]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The records of the parts that raised."""
        return [record for record in self.records if record["status"] == "failed"]

    @property
    def is_complete(self) -> bool:
        """Whether every part is finished."""
        return len(self.done) == self.n_parts

    def results(self) -> list[Result]:
        """What the finished parts gave."""
        records = [(record["parameters"], record["result"]) for record in self.done]
        return [result for record in records for result in results_of(*record)]

    @property
    def seconds(self) -> float:
        """What all parts took together."""
        return sum(record["seconds"] for record in self.records)

    @property
    def memory_bytes(self) -> int | None:
        """The most memory that a process held during a part; None where it was not always measured."""
        measured = [record.get("memory_bytes") for record in self.done]
        return max(measured) if measured and all(measured) else None
