"""The whole reproduction as one static site: every study's page, one page of all printed numbers, the errata.

The site is made from what `reproduce` left in its output folder; nothing is computed again. It can be copied to any web
server or opened from the file system.
"""

from __future__ import annotations

import html
import importlib
import shutil
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import matplotlib as mpl
import numpy as np
import pandas as pd

from reident.errors import DataError
from reident.experiments.study import Results
from reident.papers import PAPERS, STUDIES, errata
from reident.runner._execute import NOTEBOOK, PAGE, RECORD
from reident.runner._index import comparison_rows, read_comparison, read_records, verdicts_text, write_index
from reident.runner._style import page

__all__ = ["write_report"]

#: Folder of the site with every figure as a vector file for print.
PRINT = "figures-for-print"


def write_report(out: str | Path, site: str | Path, *, draw: bool = True) -> Path:
    """Write the site of all studies that have been reproduced in `out` into `site`.

    Parameters
    ----------
    out : path
        The output folder of `reident.runner.reproduce`.
    site : path
        The site's folder; an earlier site there is replaced, any other folder with files is refused.
    draw : bool, default True
        Draw every figure again from the stored results as PDF, into ``figures-for-print``.

    Returns
    -------
    Path
        The site's ``index.html``.

    Raises
    ------
    DataError
        If no study has been reproduced in `out`, or `site` is not empty and no earlier site.
    """
    out, site = Path(out), Path(site)
    records = [record for record in read_records(out) if record["name"] in STUDIES]
    if not records:
        raise DataError(f"no study has been reproduced in {str(out)!r}: run `reident reproduce --out {out}` first")
    if site.exists() and any(site.iterdir()) and not (site / "fidelity.html").is_file():
        raise DataError(f"`site` must be empty, absent or an earlier site, got {str(site)!r} with other files")
    temporary = site.parent / f".{site.name}-{uuid.uuid4().hex}.tmp"
    try:
        temporary.mkdir(parents=True)
        for record in records:
            _copy_study(out / record["name"], temporary / record["name"])
            if draw:
                _draw_for_print(out / record["name"], temporary / PRINT / record["name"])
        comparisons = {record["name"]: read_comparison(out / record["name"] / "comparison.csv") for record in records}
        (temporary / "fidelity.html").write_text(_fidelity(records, comparisons), encoding="utf-8")
        (temporary / "errata.html").write_text(_errata(), encoding="utf-8")
        write_index(temporary, links=_links())
        if site.exists():
            shutil.rmtree(site)
        temporary.replace(site)
    except OSError as error:
        raise DataError(f"`site` could not be written at {str(site)!r}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return site / "index.html"


def _links() -> str:
    return (
        '<nav><a href="index.html">Studies</a> · <a href="fidelity.html">Every printed number</a> · '
        '<a href="errata.html">Errata</a></nav>'
    )


def _copy_study(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for name in (NOTEBOOK, PAGE, RECORD, "comparison.csv", "study.json"):
        if (source / name).is_file():
            shutil.copy2(source / name, target / name)
    if (source / "figures").is_dir():
        shutil.copytree(source / "figures", target / "figures")


def _draw_for_print(source: Path, target: Path) -> None:
    """Draw a study's figures as PDF; the same results give the same bytes."""
    if not (source / "study.json").is_file():
        return
    results = Results.load(source)
    target.mkdir(parents=True)
    for name, draw in importlib.import_module(f"reident.plotting.{results.study}").FIGURES.items():
        with mpl.rc_context({"pdf.fonttype": 42}):
            draw(results).savefig(target / f"{name}.pdf", metadata={"CreationDate": None, "ModDate": None})


def _fidelity(records: list[dict[str, Any]], comparisons: dict[str, pd.DataFrame | None]) -> str:
    parts = [_links(), "<h1>Every printed number</h1>", _explained(), _counted(records, comparisons)]
    for record in records:
        study, comparison = STUDIES[record["name"]], comparisons[record["name"]]
        parts.append(
            f'<section id="{quote(study.name)}"><h2>{html.escape(study.title)}</h2>'
            f'<p class="meta">{html.escape(PAPERS[study.stem].citation)}</p><p>{verdicts_text(comparison)}; '
            f'<a href="{quote(study.name)}/{PAGE}">the study</a></p>'
        )
        parts.append(comparison_rows(comparison) if comparison is not None else "<p>No comparison was stored.</p>")
        parts.append("</section>")
    missing = [study.title for name, study in STUDIES.items() if name not in comparisons]
    if missing:
        parts.append(f"<p>Not reproduced in this run: {html.escape('; '.join(missing))}.</p>")
    return page("reident: every printed number", "\n".join(parts))


def _explained() -> str:
    return (
        "<p>Each line sets a number that a document prints beside ours. A simulated number agrees if print lies inside "
        "the interval that our repetitions give, an exact one if it is the same. Where they differ the line says why, "
        "as far as it is known; no setting was chosen to make a line agree without being named as a calibration.</p>"
        "<p>To agree says little where the interval is wide: <em>width</em> is the median width of the intervals, in "
        "per cent of the printed number. Few repetitions (the quick profile) make it large.</p>"
    )


def _width(comparison: pd.DataFrame | None) -> str:
    """Tell how wide the intervals are, against the printed numbers; empty where there is none."""
    if comparison is None:
        return ""
    numbers = comparison[["published", "low", "high"]].apply(pd.to_numeric, errors="coerce")
    shares = (numbers["high"] - numbers["low"]) / numbers["published"].abs()
    shares = shares[np.isfinite(shares)]  # a bound on one side, or of a printed zero, has no width of this kind
    return f"{100 * shares.median():.3g} %" if len(shares) else ""


def _counted(records: list[dict[str, Any]], comparisons: dict[str, pd.DataFrame | None]) -> str:
    lines = []
    for record in records:
        comparison = comparisons[record["name"]]
        size = 0 if comparison is None else len(comparison)
        lines.append(
            f'<tr><td><a href="#{quote(record["name"])}">{html.escape(STUDIES[record["name"]].title)}</a></td>'
            f'<td class="number">{size}</td><td>{verdicts_text(comparison)}</td>'
            f'<td class="number">{_width(comparison)}</td>'
            f"<td>{html.escape(str(record['parameters'].get('profile', '')))}</td></tr>"
        )
    known = [comparison for comparison in comparisons.values() if comparison is not None]
    both = pd.concat(known, ignore_index=True) if known else None
    size = 0 if both is None else len(both)
    total = (
        f'<tr><td>all</td><td class="number">{size}</td><td>{verdicts_text(both)}</td>'
        f'<td class="number">{_width(both)}</td><td></td></tr>'
    )
    return (
        '<table><thead><tr><th>study</th><th class="number">numbers</th><th>verdicts</th>'
        '<th class="number">width</th><th>profile</th></tr></thead>'
        f"<tbody>{''.join(lines)}{total}</tbody></table>"
    )


def _errata() -> str:
    table = errata()
    parts = [_links(), "<h1>Errata</h1>", "<p>Slips of the documents, and what is used here instead.</p>"]
    for stem, rows in table.groupby("stem", sort=False):
        lines = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(str(row[name]))}</td>" for name in ("number", "place", "printed", "instead"))
            + "</tr>"
            for row in rows.to_dict("records")
        )
        parts.append(
            f"<h2>{html.escape(PAPERS[str(stem)].citation)}</h2><table><thead><tr><th>no.</th><th>place</th>"
            f"<th>printed</th><th>used here</th></tr></thead><tbody>{lines}</tbody></table>"
        )
    return page("reident: errata", "\n".join(parts))
