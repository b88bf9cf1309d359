"""verdict, certificate, then scikit-learn's own diagram: a fitted estimator in a notebook."""

from html import escape
from typing import Any

from gramlearn._base.mixture import words_of_mixture

_BOX = (
    "margin:0 0 0.6em;padding:0.5em 0.9em;border-left:4px solid #0072b2;"
    "background:rgba(128,128,128,0.1);max-width:60em"
)


class ShowsVerdict:
    """An estimator whose HTML says whether what was learned helps, and how near it is to the optimum.

    It stands before BaseEstimator, whose diagram follows.
    """

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return f"{self._found_in_html()}{diagram}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = f"{self._found_in_html()}{bundle['text/html']}"
        return bundle

    def _found_in_html(self) -> str:
        """The verdict and the certificate, as far as there are any."""
        lines = []
        verdict = getattr(self, "verdict_", None)
        if verdict is not None:
            lines.append(f"<strong>{escape(str(verdict))}</strong>")
        solution = getattr(self, "solution_", None)
        if solution is not None:
            lines.append(
                escape(
                    f"Certificate: {solution.status.name}, primal {solution.primal:.6g}, dual "
                    f"{solution.dual:.6g}, relative gap {solution.relative_gap:.1e}; "
                    f"{solution.iterations} iterations, {solution.seconds:.2g} s"
                )
            )
            mixture = words_of_mixture(self)
            if mixture is not None:
                lines.append(escape(mixture))
        return f'<div style="{_BOX}">{"<br>".join(lines)}</div>' if lines else ""
