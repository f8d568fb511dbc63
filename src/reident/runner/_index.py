"""The index page of an output folder: every run, its figures, and published against reproduced numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from reident.pages import write_page
from reident.runner._attempts import RECORD, read_record
from reident.runner._execute import NOTEBOOK, PAGE
from reident.runner.experiments import citation_of, experiments

__all__ = ["count_verdicts", "read_claims", "read_findings", "read_records", "write_index"]


def read_records(out: str | Path) -> list[dict[str, Any]]:
    """Return the records of the runs published in a folder: experiments in their order, then the others by name."""
    read = (read_record(file) for file in Path(out).glob(f"*/{RECORD}"))
    records = [record for record in read if record is not None]  # a damaged one stands for nothing
    order = {name: position for position, name in enumerate(experiments())}
    return sorted(records, key=lambda record: (order.get(record["name"], len(order)), record["name"]))


def write_index(out: str | Path, *, title: str = "Reproduction", site: bool = False) -> Path:
    """Write ``index.html`` over all runs published in `out`; it works from the file system, offline.

    As a page of a `site` it leads to the others. Returns the page's path.
    """
    out = Path(out)
    records = read_records(out)
    return write_page(
        out / "index.html",
        "index",
        title=title,
        site=site,
        runs=[_shown(out, record) for record in records],
        made=max((record["started"] for record in records), default=""),
        version=records[-1]["reident"] if records else "",
    )


def read_claims(folder: Path) -> pd.DataFrame | None:
    """Return the claims of a run, None if it compared none."""
    file = folder / "claims.csv"
    return pd.read_csv(file, dtype=str, keep_default_na=False) if file.is_file() else None


def count_verdicts(claims: pd.DataFrame | None) -> dict[str, int]:
    """Count the verdicts of a table of claims."""
    return {} if claims is None else claims["verdict"].value_counts(sort=False).to_dict()


def failure(record: dict[str, Any]) -> str | None:
    """Say why a run failed; None if it did not."""
    error = record["error"]
    return None if error is None else f"{error['type']}: {error['message']}"


def _shown(out: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the page about one run."""
    name = record["name"]
    claims = read_claims(out / name)
    files = ((PAGE, "the notebook as a page"), (NOTEBOOK, "its notebook"), (RECORD, "record of the run"))
    return {
        "name": name,
        "title": record["title"],
        "citation": citation_of(name),
        "parameters": ", ".join(f"{key} = {value!r}" for key, value in record["parameters"].items()),
        "seconds": record["seconds"],
        "error": failure(record),
        "files": [(f"{name}/{file}", label) for file, label in files if (out / name / file).is_file()],
        "figures": list(_figures(out, name)),
        "verdicts": count_verdicts(claims),
        "claims": [] if claims is None else claims.to_dict("records"),
    }


def read_findings(folder: Path) -> list[tuple[str, str]]:
    """Return the names of the figures in a folder and their titles, in the order of the notebook."""
    file = folder / "captions.csv"
    captions = pd.read_csv(file, dtype=str, keep_default_na=False) if file.is_file() else pd.DataFrame()
    return list(zip(captions["figure"], captions["title"], strict=True)) if len(captions) else []


def _figures(out: Path, name: str) -> Any:
    folder = out / name / "figures"
    images = {file.stem: file for kind in ("svg", "png") for file in folder.glob(f"*.{kind}")}
    titles = dict(read_findings(folder))
    for stem, file in sorted(images.items(), key=lambda item: _natural(item[0])):
        drawn = folder / f"{stem}.svg"
        source, link = (path.relative_to(out).as_posix() for path in (file, drawn if drawn.is_file() else file))
        shown = stem.replace("-", " ")
        yield {"name": shown, "title": titles.get(stem, shown), "source": source, "link": link}


def _natural(text: str) -> list[Any]:
    return [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in text.replace("_", "-").split("-")]
