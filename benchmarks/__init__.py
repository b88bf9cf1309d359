"""Benchmarks: a judge, data and contestants. The README beside this file says how to run them."""
