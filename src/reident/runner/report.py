"""The whole reproduction as one static site: every study's page, one page of all printed numbers, the errata.

The site is made from what `reproduce` left in its output folder; nothing is computed again. It can be copied to any web
server or opened from the file system.
"""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import DataError, publish_folder
from reident.data.papers import PAPERS, errata
from reident.pages import write_page
from reident.runner._attempts import RECORD
from reident.runner._execute import NOTEBOOK, PAGE
from reident.runner._index import counts, read_comparison, read_records, write_index
from reident.runner._ledger import differences, matrix
from reident.runner.experiments import draw_again, experiments
from reident.runner.export import PRINT, export_figures
from reident.studies.catalogue import STUDIES
from reident.studies.comparison import DATA, RULES, VERDICTS
from reident.studies.study import Results

__all__ = ["write_report"]


def write_report(out: str | Path, site: str | Path, *, draw: bool = True) -> Path:
    """Write the site of all studies that have been reproduced in `out` into `site`.

    Parameters
    ----------
    out : path
        The output folder of `reident.runner.reproduce`.
    site : path
        The site's folder; an earlier site there is replaced, a folder with other files is refused.
    draw : bool, default True
        Draw every figure again from the stored results as PDF, into ``figures-for-print``.

    Returns
    -------
    Path
        The site's ``index.html``.

    Raises
    ------
    DataError
        If no study has been reproduced in `out`, or `site` holds files that are not of an earlier site.
    """
    out, site = Path(out), Path(site)
    records = [record for record in read_records(out) if record["name"] in {*STUDIES, *experiments()}]
    if not records:
        raise DataError(f"no study has been reproduced in {str(out)!r}: run `reident reproduce --out {out}` first")

    def fill(temporary: Path) -> None:
        for record in records:
            _copy_study(out / record["name"], temporary / record["name"])
            if draw and record["name"] in STUDIES:
                _draw_for_print(out / record["name"], temporary / PRINT / record["name"])
            elif draw:
                folder = temporary / PRINT / record["name"]
                draw_again(record["name"], out, folder, width_mm=170, formats=("pdf",))
        of_studies = [record for record in records if record["name"] in STUDIES]
        comparisons = {
            record["name"]: read_comparison(out / record["name"] / "comparison.csv") for record in of_studies
        }
        _write_fidelity(of_studies, comparisons, temporary)
        table = errata()
        documents = [
            (PAPERS[str(stem)].citation, rows.to_dict("records")) for stem, rows in table.groupby("stem", sort=False)
        ]
        write_page(temporary / "errata.html", "errata", documents=documents)
        write_index(temporary, site=True)

    publish_folder(site, fill, replace=True, parameter="site")
    return site / "index.html"


def _copy_study(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for name in (NOTEBOOK, PAGE, RECORD, "comparison.csv", "study.json", "claims.csv"):
        if (source / name).is_file():
            shutil.copy2(source / name, target / name)
    if (source / "figures").is_dir():
        shutil.copytree(source / "figures", target / "figures")


def _draw_for_print(source: Path, target: Path) -> None:
    """Draw a study's figures as PDF, with captions and tables; the same results give the same bytes."""
    if (source / "study.json").is_file():
        results = Results.load(source)
        export_figures(STUDIES[results.study], results, target)


def _write_fidelity(records: list[dict[str, Any]], comparisons: dict[str, pd.DataFrame | None], site: Path) -> None:
    known = {name: comparison for name, comparison in comparisons.items() if comparison is not None}
    write_page(
        site / "fidelity.html",
        "fidelity",
        verdicts=VERDICTS,
        shown=(*VERDICTS, *DATA, "not read"),
        counted=_counted(known),
        differences=list(differences(known)),
        studies=[_shown(record, comparisons[record["name"]], site) for record in records],
        missing=[study.title for name, study in STUDIES.items() if name not in comparisons],
        rules=[(name, inspect.getsource(rule)) for name, rule in RULES.items()],
    )


def _shown(record: dict[str, Any], comparison: pd.DataFrame | None, site: Path) -> dict[str, Any]:
    """Return what the page of all claims shows of a study."""
    study = STUDIES[record["name"]]
    pictures = (site / study.name / "figures").glob("*.png")
    return {
        "name": study.name,
        "title": study.title,
        "citation": study.document.citation,
        "profile": str(record["parameters"].get("profile", "")),
        "page": f"{study.name}/{PAGE}",
        "verdicts": counts(comparison),
        "claims": None if comparison is None else comparison.to_dict("records"),
        "figures": {path.stem: path.relative_to(site).as_posix() for path in pictures},
    }


def _counted(known: dict[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return the lines of the matrix; a document leads to its first study."""
    first = {STUDIES[name].stem: name for name in reversed(known)}
    counted = matrix(known).iterrows() if known else ()
    return [
        {"document": document, "got": got, "first": first[document], "counts": list(row)}
        for (document, got), row in counted
    ]
