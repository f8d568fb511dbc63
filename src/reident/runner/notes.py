"""Replication notes, one a document: what was claimed, what was found, by which rule, from the committed ledgers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from reident.data.papers import PAPERS
from reident.runner._ledger import committed_ledgers, differences, matrix
from reident.studies.catalogue import STUDIES
from reident.studies.comparison import VERDICTS

__all__ = ["note", "write_notes"]


def write_notes(figures: str | Path, folder: str | Path) -> list[Path]:
    """Write ``re-<stem>.md`` into `folder` for each document with a ledger in `figures`; return the paths."""
    folder, ledgers = Path(folder), committed_ledgers(figures)
    stems = [stem for stem in PAPERS if any(STUDIES[name].stem == stem for name in ledgers)]
    paths = [folder / f"re-{stem}.md" for stem in stems]
    for stem, path in zip(stems, paths, strict=True):
        path.write_text(note(stem, figures), encoding="utf-8")
    return paths


def note(stem: str, figures: str | Path) -> str:
    """Return the note of a document: abstract, methods, results, differences, errata, as Markdown."""
    mine = {name: ledger for name, ledger in committed_ledgers(figures).items() if STUDIES[name].stem == stem}
    counted = matrix(mine).sum()
    told = ", ".join(f"{counted[verdict]} {verdict}" for verdict in VERDICTS if counted[verdict])
    citation = PAPERS[stem].citation
    parts = [
        f"# [Re] {citation}",
        "Keywords: replication, disclosure risk, Python",
        f"**Abstract.** Every claim of the document was written down with a rule by which it is judged, before the "
        f"runs. Of {counted.sum()} claims: {told}. A claim that would have been called right with the next number of "
        "its table, or the other direction, counts as “cannot tell”; nothing is judged on drawn data.",
        "## Methods",
        *_methods(mine, Path(figures)),
        "## Results",
        _table(["data", *VERDICTS], [[got, *(n or "" for n in row)] for (_, got), row in matrix(mine).iterrows()]),
        *_judged(mine),
        "## Discussion",
        *([f"- {sentence}" for _, sentence in differences(mine)] or ["No difference needs a sentence of its own."]),
        "## Errata of the document",
        f"The rows `{stem}` of [errata.csv](../data/errata.csv): what is printed, and what is used here instead.",
        "## Reference",
        citation,
    ]
    return "\n\n".join(parts) + "\n"


def _methods(ledgers: dict[str, pd.DataFrame], figures: Path) -> Iterator[str]:
    for name in ledgers:
        study = STUDIES[name]
        run = json.loads((figures / study.stem / f"{name}.json").read_text(encoding="utf-8"))
        yield (
            f"Study `{name}` ({study.title}): profile `{run['profile']}`, seed {run['seed']}; notebook "
            f"[{study.notebook[:2]}](../notebooks/{study.notebook}.ipynb), figures in "
            f"[figures/{study.stem}](../figures/{study.stem}), every claim in "
            f"[{name}.csv](../figures/{study.stem}/{name}.csv). To run it again: `reident reproduce {name} --profile "
            f"{run['profile']}`."
        )


def _judged(ledgers: dict[str, pd.DataFrame]) -> Iterator[str]:
    """Yield the claims that were found otherwise, and those that agree and could have failed."""
    columns = ["item", "place", "published", "reproduced", "rule", "note"]
    for title, verdicts in (("What differs", ("differs", "proven wrong")), ("What agrees", ("agrees",))):
        frame = pd.concat(ledgers.values())
        rows = frame[frame["verdict"].isin(verdicts)]
        yield f"### {title}: {len(rows)}"
        if len(rows):
            shown = rows[columns].head(40).to_numpy().tolist()
            yield _table(["claim", "place", "published", "here", "rule", "note"], shown)
        if len(rows) > 40:
            yield f"And {len(rows) - 40} more in the files named above."


def _table(heads: list[str], rows: list[list[Any]]) -> str:
    lines = [[str(value).replace("|", "\\|").replace("\n", " ") for value in row] for row in (heads, *rows)]
    lines.insert(1, ["---"] * len(heads))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
