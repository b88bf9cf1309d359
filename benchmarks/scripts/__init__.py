"""Separate comparisons, each a command: `python -m benchmarks.scripts.NAME`."""
