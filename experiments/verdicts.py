"""Claims -> a table with their verdicts, and a reason for each that is not met."""

from collections.abc import Sequence
from dataclasses import replace

from experiments.experiment import Claim
from experiments.judging import listed
from experiments.tables import markdown_table

__all__ = ["VERDICTS", "judged", "verdict"]

VERDICTS = ("agrees", "differs", "not judged", "on a stand-in")
_SAID = {
    "differs": ("differs", "differ"),
    "not judged": ("is not judged", "are not judged"),
    "on a stand-in": ("is on a stand-in", "are on a stand-in"),
}


def verdict(claim: Claim) -> str:
    """One of VERDICTS, each claim in one of them."""
    if claim.agrees is None:
        return "not judged"
    if claim.stand_in:
        return "on a stand-in"
    return "agrees" if claim.agrees else "differs"


def judged(claims: Sequence[Claim]) -> list[str]:
    """A table of the claims, then what stood in for data, and a reason for each claim that is not met."""
    rows: list[dict[str, str]] = []
    notes: dict[tuple[str, str], list[str]] = {}
    for number, claim in enumerate(claims, 1):
        word = verdict(claim)
        if claim.stand_in:
            word = f"{_plain(claim)}, on a stand-in"
            notes.setdefault(("on a stand-in", claim.stand_in + "."), []).append(str(number))
        if not claim.agrees:
            why = claim.reason or "the reason is not known."
            notes.setdefault((_plain(claim), why), []).append(str(number))
        rows.append(
            {
                "": str(number),
                "claim": claim.words,
                "the paper": claim.paper,
                "here": claim.ours,
                "they agree where": claim.criterion,
                "verdict": word,
            }
        )
    lines = [markdown_table(rows), ""]
    for (word, why), numbers in notes.items():
        one, many = _SAID[word]
        who = f"Claim{'s' * (len(numbers) > 1)} {listed(numbers)}"
        lines += [f"{who} {many if len(numbers) > 1 else one}: {why}", ""]
    return lines


def _plain(claim: Claim) -> str:
    return verdict(replace(claim, stand_in=""))
