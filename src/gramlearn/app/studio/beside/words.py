"""What was learned, in sentences: how well it foretells random answers, and whether more of them would help."""

from gramlearn.app.studio.beside.metric import Metric
from gramlearn.app.studio.beside.scores import LEAST_JUDGING, Gain, Judged, has_stopped
from gramlearn.app.studio.beside.told import Told


def verdict_of(told: Told, metric: Metric, judged: Judged) -> str:
    """In one to three sentences."""
    if not metric.n_from:
        return _nothing(told)
    m = judged.n_judging
    if m < LEAST_JUDGING:
        return (
            f"Learned from {_answers(metric.n_from)}. How good it is, random questions tell: {m} so far, and "
            f"{LEAST_JUDGING} are needed."
        )
    score = judged.score(metric)
    words = (
        f"Of {m:,} random questions the learned distance foretells {_percent(score.learned)} (standard error "
        f"{_percent(score.error)}), the plain one {_percent(score.plain)}."
    )
    share, error = judged.advantage(metric)
    if abs(share) <= error:
        words += " So far that is no difference that counts."
    elif share < 0:
        words += " So far the plain one is better."
    if told.kind == "pair":
        words += f" {_percent(1 - judged.share_alike)} of these pairs are unlike."
    return words


def advice_of(gain: Gain | None) -> str | None:
    """Whether more answers have stopped helping; None where they have not, or where it is not known."""
    if gain is None or not has_stopped(gain):
        return None
    return (
        f"More answers have stopped helping: {gain.many:,} foretell {_signed(gain.share)} of the random "
        f"questions more than {gain.few:,} did (standard error {_percent(gain.error, 1)}). You can stop here."
    )


def _nothing(told: Told) -> str:
    taught = told.taught
    if not len(taught):
        return "Nothing is learned yet: there are no sure answers to learn from."
    if len(set(taught.said.tolist())) > 1:
        why = "judges disagree about all pairs of one of these kinds"
    else:
        why = f"all {len(taught):,} so far are {'alike' if taught.said[0] else 'unlike'}"
    return f"Nothing is learned yet: pairs that are alike and pairs that are not are needed, and {why}."


def _answers(n: int) -> str:
    return f"{n:,} answer{'' if n == 1 else 's'}"


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _signed(share: float) -> str:
    return (
        _percent(share, 1)
        if share >= 0.0005
        else "0 %"
        if share > -0.0005
        else f"−{_percent(-share, 1)}"
    )
