"""Write the page of all committed figures, the headline results in README, and the results of replication notes.

``python figures/fill.py --results results`` takes the figures and claims of a run first.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

import reident as rd
from reident.runner import notebook_title, read_claims, read_findings
from reident.runner.experiments import citation_of, experiments

FOLDER = Path(__file__).resolve().parent

#: Between these lines README and the notes hold what this script writes.
MARKS = ("<!-- claims -->\n", "<!-- end of claims -->\n")

#: In the order of the tables.
VERDICTS = ("agrees", "differs", "document in error", "open", "undecidable", "not comparable")


def figures_page(folder: Path) -> str:
    """Return the page of the figures in `folder`, which has one folder an experiment, as Markdown."""
    parts = [
        "# Every figure",
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
        raise rd.DataError(f"`folder` must hold figures of experiments only, got {unknown[0]}: no notebook draws it")
    return "\n\n".join(parts) + "\n"


def collect(results: Path, folder: Path) -> list[str]:
    """Copy the figures and claims of every experiment in `results`, where `reproduce` left them, to `folder`.

    Returns the names. An experiment that is not in `results` keeps its committed figures.
    """
    collected = [name for name in experiments() if (results / name / "figures" / "captions.csv").is_file()]
    for name in collected:
        shutil.copytree(results / name / "figures", folder / name, dirs_exist_ok=True)
        shutil.copy(results / name / "claims.csv", folder / name)
    return collected


def claims_table(folder: Path) -> str:
    """Count the claims in `folder` by experiment and data (rows) and verdict (columns), as Markdown."""
    read = {name: read_claims(folder / name) for name in experiments()}
    frames = [rows.assign(experiment=name) for name, rows in read.items() if rows is not None]
    if not frames:
        return ""
    lines = ["| experiment | data | " + " | ".join(VERDICTS) + " |", "|---|---|" + "---:|" * len(VERDICTS)]
    for (name, data), rows in pd.concat(frames).groupby(["experiment", "data"], sort=False):
        counted = [str((rows["verdict"] == verdict).sum() or "") for verdict in VERDICTS]
        lines.append(f"| {name} | {data} | " + " | ".join(counted) + " |")
    return "\n".join(lines) + "\n"


def headlines(folder: Path) -> str:
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
            rows = read_claims(folder / name)
            if rows is None:
                continue
            rows = rows.set_index("item")
            verdicts.update(rows["verdict"])
            for claim in rd.claims(name):
                if claim.headline and claim.item in rows.index:
                    row = {key: as_number(value) for key, value in rows.loc[claim.item].items()}
                    sentences.append(f"  - {claim.headline.format(**row)} *{row['verdict']}*")
        counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS if verdicts[verdict])
        authors_and_year = citation_of(names[0]).partition("). ")[0] + ")"
        lines += [f"- {authors_and_year}, {links}. Claims: {counts or 'not run'}.", *sentences]
    return "\n".join(lines) + "\n"


def as_number(value: object) -> object:
    """Return a value as a number if it is one, else as it is."""
    try:
        return float(str(value))
    except ValueError:
        return value


def note_results(folder: Path, document: str, figure: str = "") -> str:
    """Return the results of a document's replication note: a figure, a table of claims, those not agreed upon."""
    parts = []
    if figure:
        name, _, stem = figure.partition("/")
        title = dict(read_findings(folder / name))[stem]
        parts.append(f"![{title}](../figures/{figure}.png)\n\n*{title}.*\n")
    tables = [read_claims(folder / name) for name in experiments() if name.partition("_")[0] == document]
    rows = pd.concat([table for table in tables if table is not None])
    counts = rows["verdict"].value_counts()
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    lines = ["| claim | place | published | reproduced | verdict |", "|---|---|---|---|---|"]
    is_exact = (rows["kind"] == "exact") & (rows["verdict"] == "agrees")
    for row in rows[~is_exact].itertuples():
        values = f"{short(row.published)} | {short(row.reproduced)}"
        lines.append(f"| {row.item} | {row.place} | {values} | {row.verdict} |")
    parts.append(f"**Results.** Of {len(rows)} claims: {listed}.\n\n" + "\n".join(lines) + "\n")
    if is_exact.any():
        parts.append(f"Numbers and worked examples that agree: {'; '.join(rows['item'][is_exact])}.\n")
    others = rows[~rows["verdict"].isin(["agrees", "not comparable"])]
    reasons = [f"- {row.item} (*{row.verdict}*): {reason(row)}" for row in others.itertuples()]
    parts.append("**What does not agree, and why.**\n\n" + "\n".join(reasons) + "\n")
    return "\n".join(parts)


def reason(row: Any) -> str:
    """Return why a claim does not agree: numbers of its row, and its note."""
    parts = [f"margin {short(row.margin)}, root mean square deviation {short(row.rms)}"] if row.rms else []
    if row.rms == "" and row.low:
        parts.append(f"between {short(row.low)} and {short(row.high)}")
    if row.verdict == "undecidable":
        parts.append(f"the document would have needed {short(row.datasets_needed)} data sets")
    return "; ".join([*parts, *filter(None, [row.note])]) or "see the notebook"


def short(text: str) -> str:
    """Return a number with three figures, other text as it is."""
    number = as_number(text)
    return f"{round(number, 12) + 0:.3g}" if isinstance(number, float) else text


def fill(file: Path, content: str) -> None:
    """Replace the text between the marks of a file, if it has them."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if MARKS[0] in text:
        before, _, rest = text.partition(MARKS[0])
        file.write_text(f"{before}{MARKS[0]}{content}{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")


def write(folder: Path) -> None:
    """Write the page into the folder of figures; fill README and the notes in ``paper`` beside it."""
    (folder / "README.md").write_text(figures_page(folder), encoding="utf-8")
    fill(folder.parent / "README.md", headlines(folder))
    for note in sorted((folder.parent / "paper").glob("replication-*.md")):
        figure = re.search(r"<!-- figure: (\S+) -->", note.read_text(encoding="utf-8"))
        fill(note, note_results(folder, note.stem.partition("-")[2], figure[1] if figure else ""))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, help="take figures and claims from this folder first")
    results = parser.parse_args().results
    if results is not None:
        print(f"collected: {', '.join(collect(results, FOLDER)) or 'nothing'}")
    write(FOLDER)
