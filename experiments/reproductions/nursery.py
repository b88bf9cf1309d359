"""K09 Figures 3 and 4 (right): Nursery, a kernel of rank 8 over 12960 applications, with slack."""

from experiments.experiment import Claim
from experiments.judging import listed
from experiments.reproductions._with_slack import GAMMA, NAMES, Found, Variant, WithSlack

_FIGURE = "a figure without numbers"


def _claims(found: Found) -> list[Claim]:
    counts = [count for count in found.draws if count]
    first, most = min(counts), max(counts)
    scores = {name: (found.nmi(name, 0), found.nmi(name, most)) for name in NAMES}
    cycles = {name: (found.cycles(name, first), found.cycles(name, most)) for name in NAMES}
    apart = [
        count
        for count in counts
        if not found.nmi("logdet", count).comparable(found.nmi("von_neumann", count))
    ]
    return [
        Claim(
            words="both divergences improve the clusters",
            paper=_FIGURE,
            ours=listed(
                f"NMI from {before.center:.3f} to {after.center:.3f} with {most} constraints ({NAMES[name]})"
                for name, (before, after) in scores.items()
            ),
            criterion="both gain more than one standard deviation",
            agrees=all(b.center - a.center > b.deviation for a, b in scores.values()),
        ),
        Claim(
            words="both divergences perform similarly",
            paper=_FIGURE,
            ours=f"their means differ by more at {listed(map(str, apart))} constraints",
            criterion="within one standard deviation at every number of constraints",
            agrees=not apart,
            reason="LogDet gains with fewer constraints than von Neumann does. The paper gives no gamma.",
        ),
        Claim(
            words="the number of cycles grows with the constraints",
            paper=_FIGURE,
            ours=listed(f"{a:.0f} to {b:.0f} for {NAMES[name]}" for name, (a, b) in cycles.items()),
            criterion=f"{most} constraints take more than {first}, with both",
            agrees=all(more > fewer for fewer, more in cycles.values()),
        ),
    ]


def _remarks(found: Found) -> list[str]:
    best = {name: max(found.draws, key=lambda c: found.nmi(name, c).center) for name in NAMES}
    words = listed(f"{count} constraints for {NAMES[name]}" for name, count in best.items())
    return [f"The mean NMI is largest at {words}, of {max(found.draws)}."]


EXPERIMENT = WithSlack(
    "nursery",
    title="Nursery, with slack",
    claim="both divergences improve the clusters with more constraints; the number of cycles grows with them.",
    setup=f"gamma = {GAMMA:g}; the paper does not give its gamma. The linear kernel of the ordinal codes.",
    paper_at={500: "both converge; the kernel itself would not fit into memory"},
    claims=_claims,
    remarks=_remarks,
    variants={"spambase": Variant("spambase", (50, 100, 200), 2)},
)
