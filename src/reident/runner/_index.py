"""The index page of an output folder: every run, its figures, and published against reproduced numbers."""

from __future__ import annotations

import html
import json
import math
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from reident.runner._execute import NOTEBOOK, PAGE, RECORD
from reident.runner._style import page
from reident.studies.catalogue import STUDIES

__all__ = ["read_records", "write_index"]


#: How a verdict looks, and what is said of several.
LOOKS = {"agrees": "good", "differs": "bad", "proven wrong": "bad"}
SAID = {"agrees": "agree", "differs": "differ"}


def read_records(out: str | Path) -> list[dict[str, Any]]:
    """Return the records of the runs published in a folder: studies in their order, then the others by name."""
    records = [json.loads(file.read_text(encoding="utf-8")) for file in Path(out).glob(f"*/{RECORD}")]
    order = {name: position for position, name in enumerate(STUDIES)}
    return sorted(records, key=lambda record: (order.get(record["name"], len(order)), record["name"]))


def write_index(out: str | Path, *, title: str = "Reproduction", links: str = "") -> Path:
    """Write ``index.html`` over all runs published in `out`; it works from the file system, offline.

    `links` is HTML to stand above the heading. Returns the page's path.
    """
    out = Path(out)
    records = read_records(out)
    comparisons = {record["name"]: read_comparison(out / record["name"] / "comparison.csv") for record in records}
    sections = [_section(out, record, comparisons[record["name"]]) for record in records]
    body = f"{links}<h1>{html.escape(title)}</h1>\n{_overview(records, comparisons)}\n" + "\n".join(sections)
    target = out / "index.html"
    temporary = out / ".index.tmp"
    temporary.write_text(page(f"reident: {title.lower()}", body), encoding="utf-8")
    temporary.replace(target)
    return target


def read_comparison(file: Path) -> pd.DataFrame | None:
    """Return a study's comparison with print, None if the run made none."""
    return pd.read_csv(file, dtype=str, keep_default_na=False) if file.is_file() else None


def counts(comparison: pd.DataFrame | None) -> dict[str, int]:
    """Count the verdicts of a comparison."""
    return {} if comparison is None else comparison["verdict"].value_counts(sort=False).to_dict()


def verdicts_text(comparison: pd.DataFrame | None) -> str:
    """Say the verdicts in words, as HTML."""
    found = counts(comparison)
    words = []
    for verdict in sorted(found):
        look = LOOKS.get(verdict, "meta")
        words.append(f'<span class="{look}">{found[verdict]} {html.escape(SAID.get(verdict, verdict))}</span>')
    return ", ".join(words) or '<span class="meta">no comparison</span>'


def _overview(records: list[dict[str, Any]], comparisons: dict[str, pd.DataFrame | None]) -> str:
    rows = []
    for record in records:
        name = html.escape(record["name"])
        state = '<span class="good">ok</span>' if record["status"] == "ok" else '<span class="bad">failed</span>'
        profile = html.escape(str(record["parameters"].get("profile", "")))
        rows.append(
            f'<tr><td><a href="#{quote(record["name"])}">{name}</a></td><td>{html.escape(_title(record))}</td>'
            f"<td>{verdicts_text(comparisons[record['name']])}</td><td>{profile}</td><td>{state}</td>"
            f'<td class="number">{record["seconds"]:.0f} s</td></tr>'
        )
    made = max((record["started"] for record in records), default="")
    versions = records[-1]["reident"] if records else ""
    return (
        '<p class="meta">The claims of each document beside what was found. “agree”: print passes a rule that was '
        "fixed before, and that would have failed for the next number in its table or the other direction; where it "
        "would not, it cannot be told. A difference is shown as it is.</p>"
        '<div class="wide"><table><thead><tr><th>run</th><th>what</th><th>claims of the document</th><th>profile</th>'
        f'<th>state</th><th class="number">time</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        f'<p class="meta">reident {html.escape(versions)}, last run started {html.escape(made)}.</p>'
    )


def _title(record: dict[str, Any]) -> str:
    study = STUDIES.get(record["name"])
    return study.title if study else record["title"]


def _section(out: Path, record: dict[str, Any], comparison: pd.DataFrame | None) -> str:
    name = record["name"]
    study = STUDIES.get(name)
    citation = f'<p class="meta">{html.escape(study.document.citation)}</p>' if study else ""
    parameters = ", ".join(f"{key} = {value!r}" for key, value in record["parameters"].items())
    links = [
        f'<a href="{quote(name)}/{file}">{said}</a>'
        for file, said in ((PAGE, "the study as a page"), (NOTEBOOK, "its notebook"), (RECORD, "record of the run"))
        if (out / name / file).is_file()
    ]
    parts = [
        f'<section id="{quote(name)}"><h2>{html.escape(_title(record))}</h2>{citation}',
        f'<p>{" · ".join(links)}</p><p class="meta">{html.escape(parameters)}</p>',
        _failure(record),
        _figures(out, name),
        _comparison_table(comparison, str(record["parameters"].get("profile", ""))),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _failure(record: dict[str, Any]) -> str:
    if record["status"] == "ok":
        return ""
    error = record["error"]
    said = html.escape(f"{error['type']}: {error['message']}")
    return f'<p class="bad">The notebook failed; what follows is what it had made until then.</p><pre>{said}</pre>'


def _figures(out: Path, name: str) -> str:
    folder = out / name / "figures"
    images = {file.stem: file for file in sorted(folder.glob("*.png"))}
    images |= {file.stem: file for file in sorted(folder.glob("*.svg")) if file.stem not in images}
    shown = []
    for stem, file in sorted(images.items(), key=lambda item: _natural(item[0])):
        caption = html.escape(stem.replace("-", " "))
        drawn = folder / f"{stem}.svg"
        target = drawn if drawn.is_file() else file
        source, link = (quote(path.relative_to(out).as_posix()) for path in (file, target))
        shown.append(
            f'<figure><a href="{link}"><img src="{source}" alt="{caption}" loading="lazy"></a>'
            f"<figcaption>{caption}</figcaption></figure>"
        )
    return f'<h3>Figures</h3><div class="figures">{"".join(shown)}</div>' if shown else ""


def _natural(text: str) -> list[Any]:
    return [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in text.replace("_", "-").split("-")]


def _comparison_table(comparison: pd.DataFrame | None, profile: str) -> str:
    if comparison is None or comparison.empty:
        return ""
    summary = f"{len(comparison)} claims: {verdicts_text(comparison)}"
    differing = comparison[comparison["verdict"].isin(["differs", "proven wrong"])]
    shown = "" if differing.empty else f"<p>Those that differ:</p>{comparison_rows(differing, profile=profile)}"
    return (
        f"<h3>Published against reproduced</h3><p>{summary}</p>{shown}"
        f"<details><summary>all claims</summary>{comparison_rows(comparison, profile=profile)}</details>"
    )


def comparison_rows(comparison: pd.DataFrame, *, profile: str = "full", figures: Path | None = None) -> str:
    """Return the rows of a ledger as an HTML table.

    What cannot be told says at which profile, unless it is the full one. `figures` is the folder of the study's figures
    beside the page: then each claim links to the figure that shows it, and its rule to the rule's code on the page.
    """
    rows = []
    for row in comparison.to_dict("records"):
        verdict = row["verdict"]
        said = f"{verdict} at {profile}" if verdict == "cannot tell" and profile not in ("full", "") else verdict
        claim, rule = html.escape(row["item"]), html.escape(row["rule"])
        if figures is not None:
            rule = f'<a href="#rule-{rule.replace(" ", "-")}">{rule}</a>'
            if row["figure"] and (figures / f"{row['figure']}.png").is_file():
                claim = f'<a href="{quote(figures.parent.name)}/figures/{quote(row["figure"])}.png">{claim}</a>'
        rows.append(
            f'<tr class="{mark(verdict)} {mark(row["got"] or "not read")}"><td>{claim}</td>'
            f'<td class="number">{_number(row["published"])}</td><td class="number">{_number(row["reproduced"])}</td>'
            f'<td>{rule}{_interval(row)}</td><td class="number">{html.escape(row["power"])}</td>'
            f'<td><span class="{LOOKS.get(verdict, "meta")}">{html.escape(said)}</span></td>'
            f"<td>{html.escape(row['got'])}</td><td>{html.escape(row['note'])}</td></tr>"
        )
    numbers = ("published", "reproduced", "would notice")
    heads = "".join(
        f"<th{' class=number' if said in numbers else ''}>{said}</th>"
        for said in ("claim", "published", "reproduced", "rule", "would notice", "verdict", "data", "note")
    )
    return f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def mark(text: str) -> str:
    """Return a verdict or a kind of data as the name of a class of rows."""
    return "".join(letter for letter in text.replace(" ", "-") if letter.isalpha() or letter == "-")


def _interval(row: dict[str, Any]) -> str:
    return f" [{_number(row['low'])}, {_number(row['high'])}]" if row["low"] or row["high"] else ""


def _number(text: str) -> str:
    """Write a number with four figures or one decimal, whatever shows more; leave anything else as it is."""
    try:
        value = float(text)
    except ValueError:
        return html.escape(text)
    if not math.isfinite(value) or value == int(value):
        return html.escape(text.removesuffix(".0"))
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.1f}"
