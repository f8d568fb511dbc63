"""What the house looks like in numbers: `python -m benchmarks._house` prints one table.

Imports are read from the sources; what runs by name is asked of the registry; notebooks' parameters are read from
their cells; moves between rooms are seen while a call runs.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

import reident
from reident.data._paths import notebooks_folder
from reident.methods import entries
from reident.runner import notebook_defaults

PACKAGE = Path(reident.__file__).parent
KINDS = {"places", "cliques", "tables", "networks", "queries"}
#: Where the form of a release or of a method may be compared: the files that define the forms.
FORMS = {"methods/forms.py", "methods/release.py"}


def imports() -> Iterator[tuple[Path, str]]:
    """Yield each import of the package inside the package: the file, and the module below reident."""
    for path in PACKAGE.rglob("*.py"):
        if path == PACKAGE / "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "reident":
                yield path.relative_to(PACKAGE), node.module.removeprefix("reident").removeprefix(".")  # type: ignore[union-attr]


def inside(path: Path, module: str) -> bool:
    """Tell whether an import stays inside the folder of its file."""
    target = PACKAGE.joinpath(*module.split("."))
    return (target if target.is_dir() else target.parent) == (PACKAGE / path).parent


def comparisons() -> int:
    """Count comparisons of the form or the name of a method outside the files that define forms."""
    pattern = re.compile(r"(\bform|entry\.name|method)\s*(==|!=|\bin\b|\bnot in\b)\s*[\"'(\[{]")
    found = 0
    for folder in ("workbench", "methods"):
        for path in (PACKAGE / folder).rglob("*.py"):
            if path.relative_to(PACKAGE).as_posix() not in FORMS:
                found += sum(bool(pattern.search(line)) for line in path.read_text(encoding="utf-8").splitlines())
    return found


def parameters() -> int:
    """Count the study notebooks whose parameters are more than profile, jobs, seed and out."""
    plain = {"profile", "jobs", "seed", "out"}
    studies = sorted(notebooks_folder().glob("0[1-6]-*.ipynb"))
    return sum(bool(set(notebook_defaults(path)) - plain) for path in studies)


def moves(call: Callable[[], Any]) -> int:
    """Count how often a call goes from one room to another and back, kernels and what all rooms stand on left out."""
    rooms: list[str] = []

    def see(frame: FrameType | None, what: str, _: Any) -> None:
        if what in ("call", "return"):
            frame = frame.f_back if what == "return" and frame else frame
            while frame is not None and not Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
                frame = frame.f_back
            room = Path(frame.f_code.co_filename).relative_to(PACKAGE).parts[0] if frame else "base"
            if room not in ("base", "kernels", *rooms[-1:]):
                rooms.append(room)

    call()  # the first call also imports and compiles
    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(rooms) - 1


def walks() -> tuple[int, int, int]:
    """Return the moves of a table's `k`, a graph and a release, each from the public call to the kernels and back."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(20, 60, 60), "sex": rng.choice(["f", "m"], 60)})
    graph = nx.gnp_random_graph(40, 0.2, seed=1)
    files = reident.MetricMicrodata(table[:20], reident.great_circle_km(rng.uniform(50, 51, 20), rng.uniform(8, 9, 20)))
    return (
        moves(lambda: reident.k_anonymise(table, ["age", "sex"], k=5, method="mondrian")),
        moves(lambda: reident.degree_anonymise(graph, k=3, rng=0)),
        moves(lambda: reident.common_subgraph_attack(files, files, quasi=["sex"], window_km=(-0.5, 0.5))),
    )


def figures() -> pd.DataFrame:
    """Return the figures with what is wanted of each."""
    found = list(imports())
    within = sum(inside(*each) for each in found)
    across = sum(path.parts[0] in KINDS and module.split(".")[0] in KINDS - {path.parts[0]} for path, module in found)
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py"))
    attacks, utilities = (len(entries(role)) for role in ("attack", "metric"))
    rows = [
        ("imports inside one folder", f"{within} of {len(found)} ({within / len(found):.0%})", ">= 40 %"),
        ("imports from one kind to another", across, "<= 8"),
        ("moves between rooms: of k, a graph, a release", ", ".join(map(str, walks())), "0, <= 3, <= 8"),
        ("comparisons of form or method names outside their files", comparisons(), "0"),
        ("attacks runnable by name", attacks, ">= 24"),
        ("utilities runnable by name", utilities, ">= 20"),
        ("study notebooks with the document's parameters", parameters(), "6"),
        ("lines of src", lines, "fewer than 36,868 at the start"),
    ]
    return pd.DataFrame(rows, columns=["figure", "now", "wanted"])


if __name__ == "__main__":
    print(figures().to_string(index=False))
