"""The ledgers of all studies at a glance: document by verdict by data, and the differences worth a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from reident.data._paths import data_folder
from reident.runner._index import read_comparison
from reident.runner.experiments import experiments
from reident.studies.catalogue import STUDIES
from reident.studies.comparison import DATA, VERDICTS

__all__ = ["committed_ledgers", "differences", "experiments_table", "markdown", "matrix"]

#: Verdicts of `reident.compare`.
CLAIM_VERDICTS = ("agrees", "differs", "document in error", "open", "undecidable", "not comparable")


def matrix(ledgers: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Count claims by document and data (rows) and by verdict (columns); studies of one document count together."""
    parts = [
        frame[["got", "verdict"]].assign(document=STUDIES[name].stem).replace({"got": {"": "not read"}})
        for name, frame in ledgers.items()
    ]
    counted = pd.concat(parts).groupby(["document", "got", "verdict"], sort=False).size().unstack(fill_value=0)  # noqa: PD010
    documents = list(dict.fromkeys(study.stem for study in STUDIES.values()))
    rows = [
        (document, got) for document in documents for got in (*DATA, "not read") if (document, got) in counted.index
    ]
    return counted.reindex(index=pd.MultiIndex.from_tuples(rows), columns=list(VERDICTS), fill_value=0)


def differences(ledgers: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, str]]:
    """Yield document and sentence of the differences worth telling, where these ledgers bear them out."""
    told = pd.read_csv(data_folder() / "published" / "differences.csv")
    for study, item, sentence in told.itertuples(index=False):
        if study not in ledgers:
            continue
        rows = ledgers[study][ledgers[study]["item"] == item]
        if len(rows) and rows.iloc[0]["verdict"] in ("differs", "proven wrong"):
            shown = {name: _short(rows.iloc[0][name]) for name in ("published", "reproduced")}
            yield STUDIES[study].stem, sentence.format(**shown)


def _short(value: str) -> str:
    """Write a number as a sentence does, with two figures; leave a word as it is."""
    try:
        return f"{float(value):.2g}"
    except ValueError:
        return value


def markdown(ledgers: Mapping[str, pd.DataFrame]) -> str:
    """Return the matrix and the differences as the README shows them."""
    lines = ["| document | data | " + " | ".join(VERDICTS) + " |", "|---|---|" + "---:|" * len(VERDICTS)]
    for (document, got), row in matrix(ledgers).iterrows():
        lines.append(f"| `{document}` | {got} | " + " | ".join(str(count or "") for count in row) + " |")
    lines += ["", *(f"- `{document}`: {sentence}" for document, sentence in differences(ledgers))]
    return "\n".join(lines) + "\n"


def experiments_table(folder: str | Path) -> str:
    """Count the claims of the experiments in `folder` by document, data (rows) and verdict (columns), as Markdown."""
    files = {name: Path(folder) / name / "claims.csv" for name in experiments()}
    frames = [read_comparison(file).assign(document=name) for name, file in files.items() if file.is_file()]  # type: ignore[union-attr]
    if not frames:
        return ""
    lines = ["| document | data | " + " | ".join(CLAIM_VERDICTS) + " |", "|---|---|" + "---:|" * len(CLAIM_VERDICTS)]
    for (document, data), rows in pd.concat(frames).groupby(["document", "data"], sort=False):
        counted = [str((rows["verdict"] == verdict).sum() or "") for verdict in CLAIM_VERDICTS]
        lines.append(f"| `{document}` | {data} | " + " | ".join(counted) + " |")
    return "\n".join(lines) + "\n"


def committed_ledgers(folder: str | Path) -> dict[str, pd.DataFrame]:
    """Return the ledgers that the figures in `folder` were drawn with, by study."""
    found = {study.name: read_comparison(Path(folder) / study.stem / f"{study.name}.csv") for study in STUDIES.values()}
    return {name: ledger for name, ledger in found.items() if ledger is not None}
