"""An experiment in which the tests choose what goes wrong; a module, so that other processes can load it."""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from experiments.experiment import Claim, Experiment, Part, Result

__all__ = ["KILLED", "SLOW", "OneTimed", "Toy"]

KILLED, SLOW = "killed", "slow"


class Toy(Experiment):
    """The mean of a few random numbers."""

    paper = "Nobody (2001), section 0"
    claim = "numbers have means."
    version = 1
    title = "Means of numbers"
    setup = "Numbers are drawn."

    def __init__(self, trouble: dict[str, Any] | None = None, order: int = 1) -> None:
        self.trouble = trouble or {}
        self.order = order
        self.computed: list[str] = []

    def parts(self, quick: bool) -> list[Part]:
        sizes = (1, 2) if quick else (1, 2, 3, 4)
        return [Part(f"n{n}", {"n": n, "shape": (n, 1)}) for n in sizes][:: self.order]

    def compute(self, part: Part) -> dict[str, Any]:
        began = time.time()
        self.computed.append(part.id)
        trouble = self.trouble.get(part.id)
        if isinstance(trouble, BaseException):
            raise trouble
        if trouble == KILLED:
            os.kill(os.getpid(), signal.SIGKILL)
        if trouble == SLOW:
            time.sleep(60)
        if isinstance(trouble, dict):
            return trouble
        numbers = part.generator().random(part.parameters["n"])
        answer = {"mean": float(numbers.mean()), "numbers": numbers.tolist()}
        if not trouble:
            return answer
        time.sleep(trouble)  # long enough for others to be at work meanwhile
        threads = os.environ["OMP_NUM_THREADS"]
        span = {"began": began, "ended": time.time()}
        return {**answer, **span, "process": os.getpid(), "threads": threads}

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        return [{"n": str(r.parameters["n"]), "mean": f"{r.value['mean']:.3f}"} for r in results]

    def figure(self, results: Sequence[Result]) -> Any:
        from matplotlib.figure import Figure

        figure = Figure()
        figure.subplots().plot([r.value["mean"] for r in results])
        return figure

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        means = [result.value["mean"] for result in results]
        return [
            Claim(
                words="means are below one",
                paper="0.5",
                ours=f"{max(means):.4f} at most",
                criterion="all are",
                agrees=max(means) < 1,
                reason=f"One is {max(means):.5f}.",
            )
        ]


class OneTimed(Toy):
    """Seconds of one part count."""

    timed = True

    def parts(self, quick: bool) -> list[Part]:
        return [replace(part, timed=part.id == "n2") for part in super().parts(quick)]
