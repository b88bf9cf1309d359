"""K09 Figures 3 and 4 (right): Nursery, a kernel of rank 8 over 12960 applications, with slack."""

from experiments.reproductions._with_slack import WithSlack

EXPERIMENT = WithSlack(
    "nursery",
    "both divergences improve the clusters with more constraints; the number of cycles grows with them.",
    {500: "both converge; the kernel itself would not fit into memory"},
    {"logdet": 1000.0, "von_neumann": 1000.0},
)
