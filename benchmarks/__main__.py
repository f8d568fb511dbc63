"""Print one table of ratios: every task of every module here, ours against rivals, timed in the same run.

    python -m benchmarks [NAME ...] [--runs N] [--json FILE]

NAME selects modules by name. Each module's ``rows()`` is called N times and the median of each task is shown: a ratio
above 1 says how many times faster ours is.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def modules() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py") if "def rows(" in path.read_text() and path.stem[0] != "_")


def _median(values: list[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def collect(name: str, runs: int) -> list[dict[str, Any]]:
    """Run a module's tasks several times; every number is the median over the runs, as is the ratio."""
    rows = importlib.import_module(f"benchmarks.{name}").rows
    collected: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for _ in range(runs):
        for row in rows():
            collected.setdefault((row["task"], row.get("rival") or ""), []).append(row)
    return [
        {
            "module": name,
            "task": task,
            "rival": rival,
            **{key: _median([row.get(key) for row in timed]) for key in ("ours_s", "rival_s", "ratio")},
            "note": timed[-1].get("note") or "",
        }
        for (task, rival), timed in collected.items()
    ]


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def table(rows: list[dict[str, Any]]) -> str:
    """Lay the rows out as text."""
    heads = ["task", "ours", "rival", "its time", "ratio", "note"]
    cells = [heads] + [
        [
            f"{row['module']}: {row['task']}",
            _seconds(row["ours_s"]),
            row["rival"],
            _seconds(row["rival_s"]),
            "-" if row["ratio"] is None else f"{row['ratio']:.3g}",
            row["note"],
        ]
        for row in rows
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("name", nargs="*", help="modules to run; none: all")
    parser.add_argument("--runs", type=int, default=1, help="repeat everything and show medians (default 1)")
    parser.add_argument("--json", type=Path, help="write the rows there, too")
    asked = parser.parse_args(arguments)
    there = modules()
    unknown = sorted(set(asked.name) - set(there))
    if unknown or asked.runs < 1:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(there)}" if unknown else "--runs must be >= 1")
    rows: list[dict[str, Any]] = []
    for name in asked.name or there:
        started = time.monotonic()
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += collect(name, asked.runs)
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    print(table(rows))
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
