"""The index page of an output folder: every run, its figures, and published against reproduced numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from reident.pages import write_page
from reident.runner._attempts import RECORD, read_record
from reident.runner._execute import NOTEBOOK, PAGE
from reident.runner.experiments import citation_of, experiments
from reident.studies.catalogue import STUDIES

__all__ = ["read_records", "write_index"]


#: What is said of several claims with a verdict.
SAID = {"agrees": "agree", "differs": "differ"}


def read_records(out: str | Path) -> list[dict[str, Any]]:
    """Return the records of the runs published in a folder: studies in their order, then the others by name."""
    read = (read_record(file) for file in Path(out).glob(f"*/{RECORD}"))
    records = [record for record in read if record is not None]  # a damaged one stands for nothing
    order = {name: position for position, name in enumerate([*experiments(), *STUDIES])}
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


def read_comparison(file: Path) -> pd.DataFrame | None:
    """Return a study's comparison with print, None if the run made none."""
    return pd.read_csv(file, dtype=str, keep_default_na=False) if file.is_file() else None


def counts(comparison: pd.DataFrame | None) -> dict[str, int]:
    """Count the verdicts of a comparison."""
    return {} if comparison is None else comparison["verdict"].value_counts(sort=False).to_dict()


def failure(record: dict[str, Any]) -> str | None:
    """Say why a run failed; None if it did not."""
    error = record["error"]
    return None if error is None else f"{error['type']}: {error['message']}"


def _shown(out: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Return what the page shows of a run."""
    name, study = record["name"], STUDIES.get(record["name"])
    comparison = read_comparison(out / name / "comparison.csv")
    compared = read_comparison(out / name / "claims.csv")
    files = ((PAGE, "the study as a page"), (NOTEBOOK, "its notebook"), (RECORD, "record of the run"))
    return {
        "name": name,
        "title": study.title if study else record["title"],
        "citation": study.document.citation if study else citation_of(name),
        "profile": str(record["parameters"].get("profile", "")),
        "parameters": ", ".join(f"{key} = {value!r}" for key, value in record["parameters"].items()),
        "seconds": record["seconds"],
        "error": failure(record),
        "files": [(f"{name}/{file}", said) for file, said in files if (out / name / file).is_file()],
        "figures": list(_figures(out, name)),
        "verdicts": counts(compared if comparison is None else comparison),
        "compared": [] if compared is None else compared.to_dict("records"),
        "claims": [] if comparison is None else comparison.to_dict("records"),
    }


def _figures(out: Path, name: str) -> Any:
    folder = out / name / "figures"
    images = {file.stem: file for kind in ("svg", "png") for file in folder.glob(f"*.{kind}")}
    captions = read_comparison(folder / "captions.csv")
    titles = {} if captions is None else dict(zip(captions["figure"], captions["title"], strict=True))
    for stem, file in sorted(images.items(), key=lambda item: _natural(item[0])):
        drawn = folder / f"{stem}.svg"
        source, link = (path.relative_to(out).as_posix() for path in (file, drawn if drawn.is_file() else file))
        shown = stem.replace("-", " ")
        yield {"name": shown, "title": titles.get(stem, shown), "source": source, "link": link}


def _natural(text: str) -> list[Any]:
    return [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in text.replace("_", "-").split("-")]
