"""What a certificate does not say: that the metric is its answer mixed with a share of the prior."""

from typing import Any

_QUARTER = 0.25


def words_of_mixture(learner: Any) -> str | None:
    """The sentence to stand beside the certificate; None where the answer is the metric itself."""
    share = getattr(learner, "prior_share_", 0.0)
    if not share:
        return None
    part = "a quarter" if share == _QUARTER else f"{100 * share:.3g} %"
    return (
        f"The metric is this answer mixed with {part} of the prior, so that groups which no statement is about "
        "can still be told apart."
    )
