"""K09 Figures 3 and 4 (left): Spambase, a kernel of rank 57 over 4601 messages, with slack."""

from experiments.reproductions._with_slack import WithSlack

EXPERIMENT = WithSlack(
    "spambase",
    "LogDet improves the clusters with very little supervision, but takes many more cycles than von Neumann.",
    {500: "von Neumann 29 cycles, LogDet many more"},
    {"logdet": 1000.0, "von_neumann": 1000.0},
)
