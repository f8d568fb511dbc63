"""Write the page of all committed figures, the headline results in README, and the results of replication notes."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import DataError
from reident.experiments.claims import claims
from reident.runner._index import read_claims, read_findings
from reident.runner._parameters import notebook_title
from reident.runner.experiments import citation_of, experiments

#: The page's name in the folder of figures; a forge shows it with the folder.
PAGE = "README.md"

#: The page's first line: only a folder with such a page, or an empty one, is written to.
TITLE = "# Every figure"

#: Between these lines a README beside the folder of figures holds the documents with their headline results.
MARKS = ("<!-- claims -->\n", "<!-- end of claims -->\n")

#: The columns of that table.
VERDICTS = ("agrees", "differs", "document in error", "open", "undecidable", "not comparable")


def gallery(folder: str | Path) -> str:
    """Return the page of the figures in `folder`, which has one folder an experiment, as Markdown."""
    folder = Path(folder)
    parts = [
        TITLE,
        "Each figure with its finding. `reident figures NAME` draws those of an experiment.",
        f"## Claims by verdict\n\n{claims_table(folder)}",
        "How a claim is decided, and which rules were changed after a run: [verdicts](../docs/verdicts.md).",
    ]
    listed: set[Path] = set()
    for name, notebook in experiments().items():
        findings = read_findings(folder / name)
        listed.update(folder / name / f"{figure}.png" for figure, _ in findings)
        if findings:
            parts += [
                f"## {notebook_title(notebook)}",
                f"{citation_of(name)} Notebook [{notebook.stem}](../notebooks/{notebook.name}), claims in "
                f"[claims.csv]({name}/claims.csv).",
                *(f"### {figure}\n\n{text}\n\n![{text}]({name}/{figure}.png)" for figure, text in findings),
            ]
    unknown = sorted(set(folder.glob("*/*.png")) - listed)
    if unknown:
        raise DataError(f"`folder` must hold figures of experiments only, got {unknown[0]}: no notebook draws it")
    return "\n\n".join(parts) + "\n"


def collect(results: str | Path, folder: str | Path) -> list[str]:
    """Copy the figures and claims of every experiment in `results`, where `reproduce` left them, to `folder`.

    Returns the names. An experiment that is not in `results` keeps its committed figures.
    """
    _check_made_here(Path(folder))
    Path(folder).mkdir(parents=True, exist_ok=True)
    if not (Path(folder) / PAGE).exists():
        (Path(folder) / PAGE).write_text(TITLE + "\n", encoding="utf-8")
    collected = []
    for name in experiments():
        source, target = Path(results) / name, Path(folder) / name
        if (source / "figures" / "captions.csv").is_file():
            target.mkdir(parents=True, exist_ok=True)
            for file in [*(source / "figures").iterdir(), source / "claims.csv"]:
                shutil.copyfile(file, target / file.name)
            collected.append(name)
    return collected


def _check_made_here(folder: Path) -> None:
    """Refuse a folder in which files of a user would be replaced."""
    page = folder / PAGE
    made_here = page.is_file() and page.read_text(encoding="utf-8", errors="replace").startswith(TITLE + "\n")
    if folder.exists() and not made_here and (not folder.is_dir() or page.exists() or any(folder.glob("[!.]*"))):
        raise DataError(
            f"`folder` must be a folder that `reident gallery` wrote, or an empty one, got {str(folder)!r}: its files "
            "would be replaced; take another folder"
        )


def claims_table(folder: str | Path) -> str:
    """Count the claims in `folder` by experiment and data (rows) and verdict (columns), as Markdown."""
    read = {name: read_claims(Path(folder) / name) for name in experiments()}
    frames = [rows.assign(experiment=name) for name, rows in read.items() if rows is not None]
    if not frames:
        return ""
    lines = ["| experiment | data | " + " | ".join(VERDICTS) + " |", "|---|---|" + "---:|" * len(VERDICTS)]
    for (name, data), rows in pd.concat(frames).groupby(["experiment", "data"], sort=False):
        counted = [str((rows["verdict"] == verdict).sum() or "") for verdict in VERDICTS]
        lines.append(f"| {name} | {data} | " + " | ".join(counted) + " |")
    return "\n".join(lines) + "\n"


def headlines(folder: str | Path) -> str:
    """Return each document with its notebooks, headline results and number of claims by verdict, as a Markdown list.

    A claim with a `headline` gives one sentence, whose numbers and verdict are those of its row in ``claims.csv``.
    """
    by_document: dict[str, list[str]] = {}
    for name in experiments():
        by_document.setdefault(name.partition("_")[0], []).append(name)
    lines = []
    for names in by_document.values():
        links = ", ".join(
            f"[{path.stem.partition('-')[0]}](notebooks/{path.name})"
            for path in (experiments()[name] for name in names)
        )
        sentences, verdicts = [], Counter[str]()
        for name in names:
            rows = read_claims(Path(folder) / name)
            if rows is None:
                continue
            rows = rows.set_index("item")
            verdicts.update(rows["verdict"])
            for claim in claims(name):
                if claim.headline and claim.item in rows.index:
                    row = {key: _number(value) for key, value in rows.loc[claim.item].items()}
                    sentences.append(f"  - {claim.headline.format(**row)} *{row['verdict']}*")
        counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS if verdicts[verdict])
        authors_and_year = citation_of(names[0]).partition("). ")[0] + ")"
        lines += [f"- {authors_and_year}, {links}. Claims: {counts or 'not run'}.", *sentences]
    return "\n".join(lines) + "\n"


def _number(value: object) -> object:
    try:
        return float(str(value))
    except ValueError:
        return value


def note_results(folder: str | Path, document: str, figure: str = "") -> str:
    """Return the results of a document's replication note: a figure, a table of claims, those not agreed upon."""
    parts = []
    if figure:
        name, _, stem = figure.partition("/")
        title = dict(read_findings(Path(folder) / name))[stem]
        parts.append(f"![{title}](../figures/{figure}.png)\n\n*{title}.*\n")
    tables = [read_claims(Path(folder) / name) for name in experiments() if name.partition("_")[0] == document]
    rows = pd.concat([table for table in tables if table is not None])
    counts = rows["verdict"].value_counts()
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    lines = ["| claim | place | published | reproduced | verdict |", "|---|---|---|---|---|"]
    is_exact = (rows["kind"] == "exact") & (rows["verdict"] == "agrees")
    for row in rows[~is_exact].itertuples():
        values = f"{_short(row.published)} | {_short(row.reproduced)}"
        lines.append(f"| {row.item} | {row.place} | {values} | {row.verdict} |")
    parts.append(f"**Results.** Of {len(rows)} claims: {listed}.\n\n" + "\n".join(lines) + "\n")
    if is_exact.any():
        parts.append(f"Numbers and worked examples that agree: {'; '.join(rows['item'][is_exact])}.\n")
    others = rows[~rows["verdict"].isin(["agrees", "not comparable"])]
    reasons = [f"- {row.item} (*{row.verdict}*): {_reason(row)}" for row in others.itertuples()]
    parts.append("**What does not agree, and why.**\n\n" + "\n".join(reasons) + "\n")
    return "\n".join(parts)


def _reason(row: Any) -> str:
    """Return why a claim does not agree: numbers of its row, and its note."""
    parts = [f"margin {_short(row.margin)}, root mean square deviation {_short(row.rms)}"] if row.rms else []
    if row.rms == "" and row.low:
        parts.append(f"between {_short(row.low)} and {_short(row.high)}")
    if row.verdict == "undecidable":
        parts.append(f"the document would have needed {_short(row.datasets_needed)} data sets")
    return "; ".join([*parts, *filter(None, [row.note])]) or "see the notebook"


def _short(text: str) -> str:
    number = _number(text)
    return f"{round(number, 12) + 0:.3g}" if isinstance(number, float) else text


def _fill(file: Path, content: str) -> None:
    """Replace the text between the marks of a file, if it has them."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if MARKS[0] in text:
        before, _, rest = text.partition(MARKS[0])
        file.write_text(f"{before}{MARKS[0]}{content}{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")


def write_gallery(folder: str | Path) -> Path:
    """Write the page into the folder of figures; fill README and the notes in ``paper`` beside it; return the page."""
    _check_made_here(Path(folder))
    page, root = Path(folder) / PAGE, Path(folder).resolve().parent
    page.write_text(gallery(folder), encoding="utf-8")
    _fill(root / PAGE, headlines(folder))
    for note in sorted((root / "paper").glob("replication-*.md")):
        figure = re.search(r"<!-- figure: (\S+) -->", note.read_text(encoding="utf-8"))
        _fill(note, note_results(folder, note.stem.partition("-")[2], figure[1] if figure else ""))
    return page
