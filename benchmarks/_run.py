"""Run groups of benchmarks and lay their rows out as one table."""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

import reident
from benchmarks import _rivals
from benchmarks._rows import ALLOWED, COLUMNS, Row, show_number
from reident.base import processors

FOLDER = Path(__file__).parent

#: Groups that take seconds together and need no more than a laptop: what the notebook runs by itself.
CHEAP = ("great_circle.small", "graph_linkage.random", "lipschitz.small", "linkage.small", "networks.clustering")

_LIBRARIES = ("numpy", "numba", "pandas", "scipy", "scikit-learn", "highspy", "networkx", "igraph", "pycanon")


def modules() -> list[str]:
    """Return the names of the modules that time something."""
    return sorted(path.stem for path in FOLDER.glob("[!_]*.py"))


def groups(names: Sequence[str] = ()) -> dict[str, Callable[[], list[Row]]]:
    """Return the groups that names select: "module", "module.group", or nothing for all.

    Raises
    ------
    ValueError
        If a name selects nothing; the message lists what there is.
    """
    chosen: dict[str, Callable[[], list[Row]]] = {}
    for name in names or modules():
        module, _, group = name.partition(".")
        if module not in modules():
            raise ValueError(f"no benchmark {name!r}; there are {', '.join(modules())}")
        there = importlib.import_module(f"benchmarks.{module}").GROUPS
        if group and group not in there:
            raise ValueError(f"no benchmark {name!r}; {module} has {', '.join(there)}")
        chosen.update({f"{module}.{one}": there[one] for one in ([group] if group else there)})
    return chosen


def run(names: Sequence[str] = (), *, repetitions: int = 1, progress: bool = True, apart: bool = False) -> pd.DataFrame:
    """Run groups of benchmarks and return their rows; each number is the median over the repetitions.

    A group that fails gives a row that says so, and the others go on. With `apart` each runs in a process of its own,
    so that the memory that it tells is its own.
    """
    found: list[dict[str, Any]] = []
    for name in groups(names):
        began = time.monotonic()
        for _ in range(repetitions):
            try:
                rows = _apart(name) if apart else _rows_of(name)
            except Exception as error:
                rows = [Row(name, None, stopped="failed", note=f"{type(error).__name__}: {error}"[:200])]
            found += [{"module": name.partition(".")[0], **asdict(row), "ratio": row.ratio} for row in rows]
        if progress:
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return _summary(pd.DataFrame(found))


def _rows_of(name: str) -> list[Row]:
    return groups([name])[name]()


def _apart(name: str) -> list[Row]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        return alone.submit(_rows_of, name).result()


def _summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Reduce repetitions to medians, and say which goals are met; unknown where a bound does not tell."""
    number = ["ours_s", "rival_s", "ratio", "goal"]
    rows = rows.astype(dict.fromkeys(number, float))
    grouped = rows.groupby(["module", "task", "rival"], sort=False)
    table = grouped[number].median().join(grouped[["stopped", "note"]].last()).reset_index()
    met = (table["ratio"] >= table["goal"]).astype("boolean")
    lost = table["stopped"].isin(["ours", "both"])
    unknown = table["goal"].isna() | (~lost & table["ratio"].isna()) | ((table["stopped"] == "rival") & ~met)
    table["met"] = met.mask(unknown, pd.NA)
    return table[COLUMNS]


def machine(table: str | Path | None = None) -> dict[str, Any]:
    """Return what a ratio depends on beside the code: processors, versions, date.

    `table` names a written table whose own facts, beside it, are read instead.
    """
    if table is not None:
        return dict(json.loads((Path(table).parent / "machine.json").read_text(encoding="utf-8")))
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processors": processors(0),
        "processor": _processor(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "reident": reident.__version__,
        "versions": _rivals.versions(_LIBRARIES)["versions"],
        "rivals": _rivals.ask("versions").get("versions", {}),
    }


def _processor() -> str:
    """Name the processor, as far as the machine tells."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8").splitlines() if told.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def write(rows: pd.DataFrame, folder: Path, facts: dict[str, Any] | None = None) -> Path:
    """Write ``benchmarks.csv`` and, with this machine's facts by default, ``machine.json``; returns the first."""
    folder.mkdir(parents=True, exist_ok=True)
    rows.to_csv(folder / "benchmarks.csv", index=False)
    (folder / "machine.json").write_text(json.dumps(facts or machine(), indent=2) + "\n", encoding="utf-8")
    return folder / "benchmarks.csv"


def read(path: str | Path) -> pd.DataFrame:
    """Read a table that `write` wrote."""
    text = dict.fromkeys(["rival", "stopped", "note"], "str")
    return pd.read_csv(path, dtype={"met": "boolean", **text}).fillna(dict.fromkeys(text, ""))[COLUMNS]


#: What was timed at the last release, kept with the documentation.
FROZEN = FOLDER.parent / "docs" / "benchmarks" / "benchmarks.csv"

#: Slower by more than this share is pointed out.
SLOWER = 0.2


def slower(rows: pd.DataFrame, before: pd.DataFrame, *, same_machine: bool) -> pd.DataFrame:
    """Return the tasks that became slower by more than `SLOWER`: task, rival, before, now, times (how much slower).

    Where a rival was timed in both, its time says how fast the machine is; seconds alone need `same_machine`.
    """
    both = before.merge(rows, on=["module", "task", "rival"], suffixes=("_then", "_now"))
    both = both[~both["stopped_then"].isin(["ours", "both", "failed"])]
    rivals = both["ratio_then"].notna() & both["ratio_now"].notna() & (both["rival"] != ALLOWED)
    alone = both["ours_s_now"] / both["ours_s_then"]
    both["times"] = (both["ratio_then"] / both["ratio_now"]).where(rivals, alone if same_machine else float("nan"))
    lost = both["stopped_now"].isin(["ours", "both", "failed"])
    both.loc[lost, "times"] = float("inf")
    found = both[both["times"] > 1 + SLOWER]
    return found[["module", "task", "rival", "ours_s_then", "ours_s_now", "times"]].reset_index(drop=True)


def same_machine(now: dict[str, Any], then: dict[str, Any]) -> bool:
    """Tell whether seconds of two runs can be compared."""
    return all(now.get(name) == then.get(name) for name in ("processor", "processors"))


def version_of(rival: str, facts: dict[str, Any]) -> str:
    """Return the version of the library that a rival's name begins with, "" if it is none."""
    known = {**facts.get("versions", {}), **facts.get("rivals", {})}
    first = rival.replace("'s", " ").replace(",", " ").split()
    return next((str(known[word]) for word in first[:2] if word in known), "")


def markdown(rows: pd.DataFrame, facts: dict[str, Any]) -> str:
    """Write the table as a page of the documentation: ours, the rival and its version, ratio, goal, met."""
    lines = [
        "# Benchmarks of the release",
        "",
        f"reident {facts['reident']} on {facts['processors']} processors ({facts['processor']}), Python "
        f"{facts['python']}, {facts['date'][:10]}. Made by `python -m benchmarks NAME --freeze`; `make bench` times",
        "everything and points out what became slower than here by more than a fifth. A ratio says how many times",
        "faster ours is, in one run with the rival.",
        "",
        "| task | ours | rival | version | its time | ratio | goal | met |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows.itertuples():
        cells = [
            f"{row.module}: {row.task}", _time(row.ours_s, row.stopped in ("ours", "both")), row.rival,
            version_of(row.rival, facts), _time(row.rival_s, row.stopped in ("rival", "both")),
            _number(row.ratio, "> " if row.stopped == "rival" else ""), _number(row.goal),
            {True: "yes", False: "no"}.get(row.met, "-"),
        ]  # fmt: skip
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def freeze(rows: pd.DataFrame, facts: dict[str, Any], folder: Path = FROZEN.parent) -> Path:
    """Keep a table, its machine and its page in a folder of the documentation; returns the page's path.

    What was kept there of the same release, machine and other tasks stays: a part can be timed anew.
    """
    kept = folder / FROZEN.name
    if kept.is_file() and same_machine(facts, then := machine(kept)) and facts["reident"] == then["reident"]:
        key = ["module", "task", "rival"]
        both = pd.concat([read(kept), rows]).drop_duplicates(key, keep="last")
        rows = both.sort_values("module", kind="stable", ignore_index=True)
    write(rows, folder, facts)
    page = folder.with_suffix(".md")
    page.write_text(markdown(rows, facts), encoding="utf-8")
    return page


def table(rows: pd.DataFrame, facts: dict[str, Any] | None = None) -> str:
    """Lay the rows out as text; `facts` tell the rivals' versions."""
    heads = ["task", "ours", "rival", "version", "its time", "ratio", "goal", "met", "note"]
    cells = [heads] + [
        [
            f"{row.module}: {row.task}",
            _time(row.ours_s, row.stopped in ("ours", "both")),
            row.rival,
            version_of(row.rival, facts or {}) or "-",
            _time(row.rival_s, row.stopped in ("rival", "both")),
            _number(row.ratio, "> " if row.stopped == "rival" else ""),
            _number(row.goal),
            {True: "yes", False: "NO"}.get(row.met, "-"),
            row.note,
        ]
        for row in rows.itertuples()
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _time(value: float, stopped: bool) -> str:
    if pd.isna(value):
        return "-"
    return ("> " if stopped else "") + (f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s")


def _number(value: float, before: str = "") -> str:
    return "-" if pd.isna(value) else before + show_number(value)
