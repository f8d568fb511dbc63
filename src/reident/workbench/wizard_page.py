"""Texts, style and file links of the page for own data."""

from __future__ import annotations

import base64
import html
from pathlib import Path

import ipywidgets as widgets

from reident.workbench.opening import OpenedFile
from reident.workbench.schema import ROLES

__all__ = ["MAP", "RULE", "STYLE", "found_text", "head", "linked", "roles_text"]

#: Bytes up to which a file is offered as a download of the page; larger ones are named by their path.
_MOST_BYTES = 30_000_000
#: Names of columns are read whole, links look like links, and what is to be typed as it would be typed.
STYLE = """<style>
.widget-label {white-space: normal; height: auto; line-height: 1.3}
.widget-html-content h2 {font-size: 1.17em; margin: .8em 0 .4em}
.widget-html-content a {color: #0b57d0; text-decoration: underline}
.widget-html-content pre {font: 13px/1.45 monospace; white-space: pre-wrap; word-break: normal;
 overflow-wrap: break-word}
.widget-html-content p, .widget-html-content li {line-height: 1.45; max-width: 60rem}
.widget-button:focus-visible, .widget-html-content a:focus-visible, select:focus-visible, input:focus-visible
 {outline: 2px solid #0b57d0; outline-offset: 1px}
@media print {
 html, body, #main, #jp-main-content-panel, #rendered_cells, .jp-OutputArea, .jp-OutputArea-child, .jp-OutputArea-output
  {position: static !important; height: auto !important; width: auto !important; overflow: visible !important;
   contain: none !important}
 .widget-button {display: none}
 img, svg, pre, .widget-hbox {break-inside: avoid}
}
</style>"""
RULE = """A person is above the limit whose risk of being found, or of giving away a secret, is larger than the
tolerable risk; <i>share above</i> is the tolerated share of such persons. Each release is repeated: quick for a first
look, full for a decision."""
MAP = """Each point is a release that was judged, by its share of persons above the limit. Dashed: more than tolerated;
a refused release has at least the share drawn."""


def roles_text() -> str:
    """Return a list of the roles with their meanings."""
    listed = "".join(f"<li><b>{role}</b>: {meaning}</li>" for role, meaning in ROLES.items())
    return (
        f"<p>Confirm what each column is.</p><details><summary>What the roles mean</summary><ul>{listed}</ul></details>"
    )


def found_text(opened: OpenedFile) -> str:
    """Return a description of an opened file, with receipts and notes."""
    notes = [f"changed while reading: {line}" for line in opened.receipts] + opened.notes
    listed = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return f"<p>{html.escape(str(opened).splitlines()[0])}</p>" + (f"<ul>{listed}</ul>" if listed else "")


def head(text: str) -> widgets.HTML:
    """Return the heading of a step."""
    return widgets.HTML(f"<h2>{text}</h2>")


def linked(path: Path, name: str) -> str:
    """Return a link that holds a file, so that no further address serves confidential data; of a large one the name."""
    if path.stat().st_size > _MOST_BYTES:
        return html.escape(name)
    address = f"data:application/octet-stream;base64,{base64.b64encode(path.read_bytes()).decode()}"
    return f'<a download="{html.escape(name.replace("/", "-"))}" href="{address}">{html.escape(name)}</a>'
