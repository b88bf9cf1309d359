"""An experiment of many short parts, for tests that kill a run."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from experiments.experiment import Claim, Experiment, Part, Result

__all__ = ["SmallExperiment"]


class SmallExperiment(Experiment):
    """Eigenvalues of random matrices, and a table of all of them so that files are not small."""

    paper = "no paper"
    claim = "a run that is killed goes on."
    version = 1
    title = "To be killed in"
    setup = "Matrices are drawn."

    def parts(self, quick: bool) -> list[Part]:
        return [Part(f"n{n}", {"n": n}) for n in range(20, 32 if quick else 64)]

    def compute(self, part: Part) -> dict[str, Any]:
        M = part.generator().standard_normal((part.parameters["n"],) * 2)
        found = np.linalg.eigvalsh(M + M.T).tolist()
        time.sleep(0.02)
        return {"eigenvalues": found, "matrix": M.tolist()}

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        return [
            {"n": str(r.parameters["n"]), "largest": f"{r.value['eigenvalues'][-1]:.3f}"}
            for r in results
        ]

    def figure(self, results: Sequence[Result]) -> Any:
        from matplotlib.figure import Figure

        figure = Figure()
        figure.add_subplot().plot([r.value["eigenvalues"][-1] for r in results])
        return figure

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        return []
