"""Pages over the runs of an output folder: the index, and a static site of the reproduced documents.

No trial is computed again. A page needs no network; the site can be copied to any web server.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import DataError, publish_folder
from reident.data.datasets import PAPERS, errata
from reident.pages import write_page
from reident.runner._execute import LOG, NOTEBOOK, PAGE, RECORD
from reident.runner.experiments import PRINT, citation_of, draw_again, experiments


def read_records(out: str | Path) -> list[dict[str, Any]]:
    """Return the records of the runs published in a folder: experiments in their order, then the others by name."""
    records = []
    for file in Path(out).glob(f"*/{RECORD}"):
        try:
            record = json.loads(file.read_bytes())
        except (OSError, ValueError):
            continue  # damaged
        records += [record] if isinstance(record, dict) else []
    order = {name: position for position, name in enumerate(experiments())}
    return sorted(records, key=lambda record: (order.get(record["name"], len(order)), record["name"]))


def write_index(out: str | Path, *, site: bool = False) -> Path:
    """Write ``index.html`` over all runs published in `out`, for the file system, offline; return its path.

    As a page of a `site` it links to the others.
    """
    out = Path(out)
    records = read_records(out)
    return write_page(
        out / "index.html",
        "index",
        title="Reproduction",
        site=site,
        runs=[_section(out, record) for record in records],
        made=max((record["started"] for record in records), default=""),
        version=records[-1]["reident"] if records else "",
    )


def read_claims(folder: Path) -> pd.DataFrame | None:
    """Return the claims of a run, None if it compared none."""
    file = folder / "claims.csv"
    return pd.read_csv(file, dtype=str, keep_default_na=False) if file.is_file() else None


def read_findings(folder: Path) -> list[tuple[str, str]]:
    """Return the names of the figures in a folder and their titles, in the order of the notebook."""
    file = folder / "captions.csv"
    if not file.is_file():
        return []
    captions = pd.read_csv(file, dtype=str, keep_default_na=False)
    return list(zip(captions["figure"], captions["title"], strict=True))


def _section(out: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a run with the other values of its section."""
    name = record["name"]
    claims = read_claims(out / name)
    files = ((PAGE, "the notebook as a page"), (NOTEBOOK, "its notebook"), (RECORD, "record of the run"))
    return {
        **record,
        "citation": citation_of(name),
        "files": [(f"{name}/{file}", label) for file, label in files if (out / name / file).is_file()],
        "figures": list(_figures(out, name)),
        "verdicts": {} if claims is None else claims["verdict"].value_counts(sort=False).to_dict(),
        "claims": [] if claims is None else claims.to_dict("records"),
    }


def _figures(out: Path, name: str) -> Iterator[dict[str, str]]:
    """Yield name, title, picture and link of each figure, in the order of the notebook where it gives titles."""
    folder = out / name / "figures"
    titles = dict(read_findings(folder))
    stems = {file.stem for kind in ("svg", "png") for file in folder.glob(f"*.{kind}")}
    for stem in sorted(stems, key=lambda stem: ([*titles].index(stem) if stem in titles else len(titles), stem)):
        files = [f"{name}/figures/{stem}.{kind}" for kind in ("png", "svg") if (folder / f"{stem}.{kind}").is_file()]
        label = stem.replace("-", " ")
        yield {"name": label, "title": titles.get(stem, label), "source": files[0], "link": files[-1]}


def write_report(out: str | Path, site: str | Path, *, draw: bool = True) -> Path:
    """Write the site of all experiments that have been reproduced in `out` into `site`; return its ``index.html``.

    An earlier site is replaced, a folder with other files refused. With `draw` every figure is drawn again from the
    stored trials as PDF, into ``figures-for-print``.
    """
    out, site = Path(out), Path(site)
    names = [record["name"] for record in read_records(out) if record["name"] in experiments()]
    if not names:
        raise DataError(f"no experiment has been reproduced in {str(out)!r}: run `reident reproduce --out {out}` first")

    def fill(temporary: Path) -> None:
        for name in names:
            shutil.copytree(out / name, temporary / name, ignore=shutil.ignore_patterns(".*", LOG, "*.parquet"))
            if draw:
                draw_again(name, out, temporary / PRINT / name, width_mm=170, formats=("pdf",))
        documents = [
            (PAPERS[str(stem)], rows.to_dict("records")) for stem, rows in errata().groupby("stem", sort=False)
        ]
        write_page(temporary / "errata.html", "errata", documents=documents)
        write_index(temporary, site=True)

    publish_folder(site, fill, replace=True, parameter="site")
    return site / "index.html"
