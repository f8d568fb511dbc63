"""The page of all committed figures, and headlines and counts of claims in README."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from reident.base import DataError
from reident.experiments.claims import claims
from reident.runner._index import read_claims, read_findings
from reident.runner._parameters import notebook_title
from reident.runner.experiments import citation_of, experiments

__all__ = ["PAGE", "claims_table", "collect", "gallery", "headlines", "write_gallery"]

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
    parts = [
        "# Every figure",
        "Each figure with its finding. `reident figures NAME` draws those of an experiment.",
        f"## Claims by verdict\n\n{claims_table(folder)}",
    ]
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


def claims_table(folder: str | Path, *, by: Sequence[str] = ("experiment", "data")) -> str:
    """Count the claims in `folder` by verdict (columns) and by experiment and data, or by document (rows), in Markdown."""
    read = {name: read_claims(Path(folder) / name) for name in experiments()}
    frames = [
        rows.assign(experiment=name, document=name.partition("_")[0]) for name, rows in read.items() if rows is not None
    ]
    if not frames:
        return ""
    lines = [f"| {' | '.join([*by, *VERDICTS])} |", "|---" * len(by) + "|---:" * len(VERDICTS) + "|"]
    for names, rows in pd.concat(frames).groupby([*by], sort=False):
        counted = [str((rows["verdict"] == verdict).sum() or "") for verdict in VERDICTS]
        lines.append(f"| {' | '.join([*names, *counted])} |")
    return "\n".join(lines) + "\n"


def headlines(folder: str | Path) -> str:
    """Return the headline results of each experiment in `folder` with their verdicts, as a Markdown list.

    A claim with a `headline` gives one sentence, whose numbers are those of its row in ``claims.csv``.
    """
    lines = []
    for name in experiments():
        rows = read_claims(Path(folder) / name)
        if rows is None:
            continue
        rows = rows.set_index("item")
        sentences = []
        for claim in claims(name):
            if claim.headline and claim.item in rows.index:
                row = {key: _number(value) for key, value in rows.loc[claim.item].items()}
                sentences.append(f"  - {claim.headline.format(**row)} *{row['verdict']}*")
        lines += [f"- `{name}`", *sentences] if sentences else []
    return "\n".join(lines) + "\n"


def _number(value: object) -> object:
    try:
        return float(str(value))
    except ValueError:
        return value


def write_gallery(folder: str | Path) -> Path:
    """Write the page into the folder of figures, and headlines and counts of claims into a marked README beside it."""
    page = Path(folder) / PAGE
    page.write_text(gallery(folder), encoding="utf-8")
    readme = Path(folder).resolve().parent / PAGE
    if readme.is_file() and MARKS[0] in (text := readme.read_text(encoding="utf-8")):
        before, _, rest = text.partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        results = f"{headlines(folder)}\n{claims_table(folder, by=['document'])}"
        readme.write_text(f"{before}{MARKS[0]}{results}{MARKS[1]}{after}", encoding="utf-8")
    return page
