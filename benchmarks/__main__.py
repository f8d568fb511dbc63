"""Print one table of ratios: every task of every module here, ours against rivals, timed in the same run.

    python -m benchmarks [NAME ...] [--repetitions N] [--out DIR]

NAME is a module or module.group; none: all. A ratio above 1 says how many times faster ours is, "> " that somebody was
stopped before the end. The table is also written to DIR, with the facts of the machine.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import benchmarks
from benchmarks._run import FROZEN, freeze, same_machine, slower


def main(arguments: list[str] | None = None) -> int:
    """Run, print and write; 1 if a group failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("name", nargs="*", help="modules, or groups as module.group; none: all")
    parser.add_argument("--repetitions", type=int, default=1, help="repeat everything and show medians (default 1)")
    parser.add_argument(
        "--out", type=Path, default=Path("results/benchmarks"), help="folder of table and machine facts"
    )
    parser.add_argument("--against", type=Path, default=FROZEN, help="an earlier table (default: the release's)")
    parser.add_argument("--freeze", action="store_true", help="keep the table in docs as that of a release")
    asked = parser.parse_args(arguments)
    try:
        benchmarks.groups(asked.name)
    except ValueError as error:
        parser.error(str(error))
    if asked.repetitions < 1:
        parser.error("--repetitions must be at least 1")
    rows = benchmarks.run(asked.name, repetitions=asked.repetitions, apart=True)
    facts = benchmarks.machine()
    path = benchmarks.write(rows, asked.out, facts)
    print(benchmarks.table(rows, facts))
    print(f"\n{facts['processors']} processors ({facts['processor']}), Python {facts['python']}; written to {path}")
    if asked.against.is_file():
        before, then = benchmarks.read(asked.against), benchmarks.machine(asked.against)
        for row in slower(rows, before, same_machine=same_machine(facts, then)).itertuples():
            print(f"slower than in {asked.against}: {row.module}: {row.task}, {row.times:.2g} times")
    if asked.freeze:
        print(f"frozen in {freeze(rows, facts)}")
    return int((rows["stopped"] == "failed").any())


if __name__ == "__main__":
    sys.exit(main())
