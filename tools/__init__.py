"""What benchmarks, experiments and stress share: environments, processes, measurements and files."""
