"""The convex problem: a divergence from a prior and losses of linear functions of X; dual and certificate."""
