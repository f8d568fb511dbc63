"""The whole reproduction as one static site: every study's page, one page of all printed numbers, the errata.

The site is made from what `reproduce` left in its output folder; nothing is computed again. It can be copied to any web
server or opened from the file system.
"""

from __future__ import annotations

import html
import inspect
import shutil
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import matplotlib as mpl
import pandas as pd

from reident.data.papers import PAPERS, errata
from reident.errors import DataError
from reident.runner._execute import NOTEBOOK, PAGE, RECORD
from reident.runner._index import comparison_rows, mark, read_comparison, read_records, verdicts_text, write_index
from reident.runner._ledger import differences, matrix
from reident.runner._style import page
from reident.studies.catalogue import STUDIES
from reident.studies.comparison import DATA, RULES, VERDICTS
from reident.studies.study import Results

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
        (temporary / "fidelity.html").write_text(_fidelity(records, comparisons, temporary), encoding="utf-8")
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
        '<nav><a href="index.html">Studies</a> · <a href="fidelity.html">Every claim</a> · '
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
    for name, draw in STUDIES[results.study].drawings().items():
        with mpl.rc_context({"pdf.fonttype": 42}):
            draw(results).savefig(target / f"{name}.pdf", metadata={"CreationDate": None, "ModDate": None})


def _fidelity(records: list[dict[str, Any]], comparisons: dict[str, pd.DataFrame | None], site: Path) -> str:
    known = {name: comparison for name, comparison in comparisons.items() if comparison is not None}
    parts = [_links(), "<h1>Every claim</h1>", _EXPLAINED, _counted(known), _told(known), _filters()]
    for record in records:
        study, comparison = STUDIES[record["name"]], comparisons[record["name"]]
        profile = str(record["parameters"].get("profile", ""))
        parts.append(
            f'<section id="{quote(study.name)}"><h2>{html.escape(study.title)}</h2>'
            f'<p class="meta">{html.escape(study.document.citation)}</p><p>{verdicts_text(comparison)}; profile '
            f'{html.escape(profile)}; <a href="{quote(study.name)}/{PAGE}">the study</a></p>'
        )
        figures = site / study.name / "figures"
        parts.append(
            comparison_rows(comparison, profile=profile, figures=figures)
            if comparison is not None
            else "<p>No comparison was stored.</p>"
        )
        parts.append("</section>")
    missing = [study.title for name, study in STUDIES.items() if name not in comparisons]
    if missing:
        parts.append(f"<p>Not reproduced in this run: {html.escape('; '.join(missing))}.</p>")
    return page("reident: every claim", "\n".join([*parts, _rules()]))


_EXPLAINED = (
    "<p>Each line sets a claim of a document beside what was found, judged by a rule that was fixed before. "
    "<em>Would notice</em> is the smallest change of print that the rule would call a difference, found by changing "
    "it. What would still agree with the next number of its table, or with the opposite, cannot be told; drawn data "
    "never count. Where a line differs it says why, as far as that is known; no setting was chosen to make a line "
    "agree without being named as a calibration.</p>"
)


def _counted(known: dict[str, pd.DataFrame]) -> str:
    if not known:
        return ""
    first = {STUDIES[name].stem: name for name in reversed(known)}
    lines = [
        f'<tr><td><a href="#{quote(first[document])}">{html.escape(document)}</a></td><td>{html.escape(got)}</td>'
        + "".join(f'<td class="number">{count or ""}</td>' for count in row)
        + "</tr>"
        for (document, got), row in matrix(known).iterrows()
    ]
    heads = "".join(f'<th class="number">{html.escape(verdict)}</th>' for verdict in VERDICTS)
    return (
        f"<table><thead><tr><th>document</th><th>data</th>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _told(known: dict[str, pd.DataFrame]) -> str:
    told = "".join(f"<li>{html.escape(document)}: {html.escape(text)}</li>" for document, text in differences(known))
    return f"<ul>{told}</ul>" if told else ""


def _filters() -> str:
    """Return boxes that hide rows by verdict and by data; the style sheet does it, no script."""
    boxes, styles = [], []
    for said in (*VERDICTS, *DATA, "not read"):
        name = mark(said)
        boxes.append(f'<label><input type="checkbox" id="show-{name}" checked> {html.escape(said)}</label>')
        styles.append(f"body:has(#show-{name}:not(:checked)) tr.{name} {{ display: none; }}")
    return f'<style>{" ".join(styles)}</style><p class="meta">Show: {" ".join(boxes)}</p>'


def _rules() -> str:
    """Return the code of every rule, where the rows' links lead."""
    codes = "".join(
        f'<h3 id="rule-{name.replace(" ", "-")}">{html.escape(name)}</h3>'
        f"<pre>{html.escape(inspect.getsource(rule))}</pre>"
        for name, rule in RULES.items()
    )
    return f"<section><h2>The rules</h2>{codes}</section>"


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
