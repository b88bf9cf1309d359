"""Comparisons that stand on their own: each is a command, `python -m benchmarks.scripts.NAME`."""
