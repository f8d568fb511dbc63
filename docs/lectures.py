"""Write executed notebooks as Markdown into docs/lectures, with the committed figures; `make lectures` runs it.

A lecture begins with a mark of the cells that ran: where the notebook has changed since, a test says that it is stale.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reident.studies.catalogue import STUDIES

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "lectures"

#: Lines of an output that are shown.
_LINES = 24

#: What an output has that needs a kernel.
_WIDGET = "application/vnd.jupyter.widget-view+json"


def write(results: Path, folder: Path = FOLDER) -> list[Path]:
    """Write a lecture for every executed notebook in `results`; return the paths.

    A study shows its committed figures; what another notebook draws is kept beside its lecture.
    """
    folder.mkdir(parents=True, exist_ok=True)
    of_studies = {study.notebook: study for study in STUDIES.values()}
    written = []
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        study = of_studies.get(path.stem)
        run = results / (study.name if study else path.stem)
        if (run / "notebook.ipynb").is_file():
            written.append(folder / f"{path.stem}.md")
            cells = json.loads((run / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
            parts = [f"<!-- cells {mark(run / 'notebook.ipynb')} -->", _how(run, committed=study is not None)]
            shutil.rmtree(folder / path.stem, ignore_errors=True)
            parts += lecture(cells, study.stem if study else "", folder / path.stem)
            written[-1].write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return written


def _how(run: Path, *, committed: bool) -> str:
    """Say how a notebook was executed, and where its figures are from."""
    profile = json.loads((run / "record.json").read_text(encoding="utf-8"))["parameters"].get("profile")
    said = f"Executed at profile `{profile}`" if profile else "Executed as it is"
    figures = "; figures are the committed ones, [with their captions](../../figures/README.md)" if committed else ""
    return f"*{said}{figures}.*"


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


def lecture(cells: list[dict[str, Any]], stem: str, pictures: Path) -> Iterator[str]:
    """Yield text, code and what it gave.

    A figure of the study `stem` is the committed one; without a study, pictures are written into a folder.
    """
    drawn_so_far = 0
    for cell in cells:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            yield re.sub(r"(\]\([\w-]+)\.ipynb", r"\1.md", source)
        elif not injected(cell):
            named = drawn(source, stem) if stem else []
            yield from (f'<a id="{name}"></a>' for name in named)
            yield f"```python\n{source}\n```"
            yield from (f"![{name.replace('-', ' ')}](../../figures/{stem}/{name}.png)" for name in named)
            for data in (output.get("data", {}) for output in cell["outputs"]):
                if "image/png" in data and not stem:
                    drawn_so_far += 1
                    pictures.mkdir(exist_ok=True)
                    (pictures / f"{drawn_so_far}.png").write_bytes(base64.b64decode(data["image/png"]))
                    yield f"![picture {drawn_so_far}]({pictures.name}/{drawn_so_far}.png)"
                told = "".join(data.get("text/plain", ""))
                if told and not told.startswith("<") and _WIDGET not in data:
                    lines = told.split("\n")
                    more = [f"... ({len(lines) - _LINES} more lines)"] if len(lines) > _LINES else []
                    yield "\n".join(["```text", *lines[:_LINES], *more, "```"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    for path in write(parser.parse_args().results):
        print(path.relative_to(ROOT))
