"""Write executed notebooks as Markdown into docs/lectures, with the committed figures; `make lectures` runs it.

A lecture begins with a mark of the cells that ran: where the notebook has changed since, a test says that it is stale.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reident.studies.catalogue import STUDIES

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "lectures"

#: Lines of an output that are shown.
_LINES = 24


def write(results: Path, folder: Path = FOLDER) -> list[Path]:
    """Write a lecture for every study with an executed notebook in `results`; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for study in STUDIES.values():
        run = results / study.name / "notebook.ipynb"
        if run.is_file():
            written.append(folder / f"{study.notebook}.md")
            record = json.loads((results / study.name / "record.json").read_text(encoding="utf-8"))
            cells = json.loads(run.read_text(encoding="utf-8"))["cells"]
            parts = [
                f"<!-- cells {mark(run)} -->",
                f"*Executed at profile `{record['parameters'].get('profile', '')}`; figures are the committed ones, "
                "[with their captions](../../figures/README.md).*",
                *lecture(cells, study.stem),
            ]
            written[-1].write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return written


def mark(notebook: Path) -> str:
    """Return a mark of a notebook's cells, executed or not."""
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if not injected(cell)]
    return hashlib.sha256(json.dumps(["".join(cell["source"]) for cell in cells]).encode()).hexdigest()[:16]


def injected(cell: dict[str, Any]) -> bool:
    """Tell the cell with the parameters of one run, which no notebook of the house has."""
    return "injected-parameters" in cell.get("metadata", {}).get("tags", [])


def drawn(source: str, stem: str) -> list[str]:
    """Return the names of the committed figures that a cell shows: one by one, or all with a part in their names."""
    there = sorted((path.stem for path in (ROOT / "figures" / stem).glob("*.png")), key=_in_order)
    named = re.findall(r'figures\["([\w.-]+)"\]', source)
    parts = re.findall(r'if "([\w.-]+)" in name\b', source)
    return [name for name in there if name in named or any(part in name for part in parts)]


def _in_order(name: str) -> list[tuple[int, str]]:
    return [(int(part or 0), other) for part, other in re.findall(r"(\d*)(\D*)", name)]


def lecture(cells: list[dict[str, Any]], stem: str) -> Iterator[str]:
    """Yield text, code and what it gave; a figure of the study is the committed one."""
    for cell in cells:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            yield source
        elif not injected(cell):
            named = drawn(source, stem)
            yield from (f'<a id="{name}"></a>' for name in named)
            yield f"```python\n{source}\n```"
            yield from (f"![{name.replace('-', ' ')}](../../figures/{stem}/{name}.png)" for name in named)
            for output in cell["outputs"]:
                told = "".join(output.get("data", {}).get("text/plain", ""))
                if told and not told.startswith("<Figure"):
                    lines = told.split("\n")
                    more = [f"... ({len(lines) - _LINES} more lines)"] if len(lines) > _LINES else []
                    yield "\n".join(["```text", *lines[:_LINES], *more, "```"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    for path in write(parser.parse_args().results):
        print(path.relative_to(ROOT))
