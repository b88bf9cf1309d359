"""Which metric helps: candidates are learned from a part of what is known, and judged by the rest."""
