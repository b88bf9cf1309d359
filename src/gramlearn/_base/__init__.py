"""Arrays, validation, linear algebra: what every room stands on, and nothing of the theory."""
