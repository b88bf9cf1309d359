"""The one convex problem: a divergence to a prior and losses of linear functions of X; its dual, its judge."""
