"""Timings against rivals, run by ``python -m benchmarks`` or `run`; a ratio is only meaningful within one run.

A module here has a mapping `GROUPS`: names to functions that time something and return a list of `Row`.
"""

from benchmarks._figure import plot_ratios
from benchmarks._rows import ALLOWED, COLUMNS, Row
from benchmarks._run import CHEAP, groups, machine, read, run, table, write

__all__ = ["ALLOWED", "CHEAP", "COLUMNS", "Row", "groups", "machine", "plot_ratios", "read", "run", "table", "write"]
