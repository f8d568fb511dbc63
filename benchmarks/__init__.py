"""Timings against rivals, run by `python -m benchmarks`; a ratio is only meaningful within one run."""
