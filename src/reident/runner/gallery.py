"""One page of all committed figures, and the table of claims in README."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd

from reident.base import DataError
from reident.runner._index import read_claims, read_findings
from reident.runner._parameters import notebook_title
from reident.runner.experiments import citation_of, experiments

__all__ = ["PAGE", "claims_table", "collect", "gallery", "write_gallery"]

#: The page's name in the folder of figures; a forge shows it with the folder.
PAGE = "README.md"

#: Between these lines a README beside the folder of figures holds the table of claims.
MARKS = ("<!-- claims -->\n", "<!-- end of claims -->\n")

#: The columns of that table.
VERDICTS = ("agrees", "differs", "document in error", "open", "undecidable", "not comparable")


def gallery(folder: str | Path) -> str:
    """Return the page of the figures in `folder`, which has one folder an experiment, as Markdown.

    Raises
    ------
    DataError
        If a figure there belongs to no experiment.
    """
    folder = Path(folder)
    parts = ["# Every figure", "Each figure with its finding. `reident figures NAME` draws those of an experiment."]
    shown: set[Path] = set()
    for name, notebook in experiments().items():
        findings = read_findings(folder / name)
        shown.update(folder / name / f"{figure}.png" for figure, _ in findings)
        if findings:
            parts += [
                f"## {notebook_title(notebook)}",
                f"{citation_of(name)} Notebook [{notebook.stem}](../notebooks/{notebook.name}), claims in "
                f"[claims.csv]({name}/claims.csv).",
                *(f"### {figure}\n\n{text}\n\n![{text}]({name}/{figure}.png)" for figure, text in findings),
            ]
    unknown = sorted(set(folder.glob("*/*.png")) - shown)
    if unknown:
        raise DataError(f"`folder` must hold figures of experiments only, got {unknown[0]}: no notebook draws it")
    return "\n\n".join(parts) + "\n"


def collect(results: str | Path, folder: str | Path) -> list[str]:
    """Copy the figures and claims of every experiment in `results` to `folder`; return the names.

    `results` is the output folder of `reident reproduce`. An experiment that is not there keeps its committed figures.
    """
    collected = []
    for name in experiments():
        source, target = Path(results) / name, Path(folder) / name
        if (source / "figures" / "captions.csv").is_file():
            target.mkdir(parents=True, exist_ok=True)
            for file in [*(source / "figures").iterdir(), source / "claims.csv"]:
                shutil.copyfile(file, target / file.name)
            collected.append(name)
    return collected


def claims_table(folder: str | Path) -> str:
    """Count the claims in `folder` by experiment, data (rows) and verdict (columns), as Markdown."""
    read = {name: read_claims(Path(folder) / name) for name in experiments()}
    frames = [claims.assign(experiment=name) for name, claims in read.items() if claims is not None]
    if not frames:
        return ""
    lines = ["| experiment | data | " + " | ".join(VERDICTS) + " |", "|---|---|" + "---:|" * len(VERDICTS)]
    for (name, data), rows in pd.concat(frames).groupby(["experiment", "data"], sort=False):
        counted = [str((rows["verdict"] == verdict).sum() or "") for verdict in VERDICTS]
        lines.append(f"| `{name}` | {data} | " + " | ".join(counted) + " |")
    return "\n".join(lines) + "\n"


def write_gallery(folder: str | Path) -> Path:
    """Write the page into the folder of figures, and the table of claims into a README beside it that has its marks."""
    page = Path(folder) / PAGE
    page.write_text(gallery(folder), encoding="utf-8")
    readme = Path(folder).resolve().parent / PAGE
    if readme.is_file() and MARKS[0] in (text := readme.read_text(encoding="utf-8")):
        before, _, rest = text.partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        readme.write_text(f"{before}{MARKS[0]}{claims_table(folder)}{MARKS[1]}{after}", encoding="utf-8")
    return page
