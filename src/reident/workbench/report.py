"""The report of an assessment: one HTML page that needs nothing else, and its tables and figures as files."""

from __future__ import annotations

import base64
import html
import platform
from importlib import metadata
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import reident
from reident.errors import DataError
from reident.plotting import new_figure, save_figure
from reident.plotting.rumap import plot_ru_panels
from reident.rumap import frontier
from reident.workbench.microdata import LAT, LON

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_report"]

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:66rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}
h1{font-size:1.6rem}h2{margin-top:2.2rem;border-bottom:1px solid #bbb}h3{margin-bottom:.3rem}
table{border-collapse:collapse;font-size:.86rem;margin:.6rem 0}
td,th{padding:.25rem .6rem;text-align:left;border-bottom:1px solid #ddd;vertical-align:top}
th{background:#f2f2f2}img{max-width:100%;height:auto}code,pre{background:#f5f5f5;padding:.1rem .3rem}
pre{padding:.7rem;overflow-x:auto}.risk{font-weight:bold;color:#8a1c00}.look{color:#6b5000}
.note{background:#fff6e0;border-left:4px solid #d90;padding:.6rem 1rem}.wide{overflow-x:auto}
"""

_VERSIONS = ("numpy", "pandas", "scipy", "numba", "geopandas", "shapely", "matplotlib")


def write_report(assessment: Any, out: Path, *, command: str = "") -> Path:
    """Write the report of an assessment into a folder; see `Assessment.save`."""
    try:
        (out / "figures").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"`out` must be a folder that can be written, got {str(out)!r}: {error}") from None
    parts = [_advice(assessment), _data(assessment), _assumed(assessment)]
    for kind, frame in assessment.maps.items():
        frame.to_csv(out / f"points-{kind}.csv", index=False)
        parts.append(_maps(kind, frame, assessment, out))
    assessment.advice.to_csv(out / "advice.csv", index=False)
    parts.append(_reproduce(assessment, command))
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Disclosure risk assessment</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        "<h1>Disclosure risk: assessment of a release</h1>"
        '<p class="note">For the custodian only: this page describes confidential data. Do not publish it.</p>'
        f"{''.join(parts)}</body></html>\n"
    )
    path = out / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


def _advice(assessment: Any) -> str:
    lines = []
    for _, row in assessment.advice.iterrows():
        lines.append(
            f"<tr><td>{_e(row['data'])}</td><td>{_e(row['attack'])}</td><td>{_e(row['analysis'])}</td>"
            f"<td>{_e(row['advice'])}</td></tr>"
        )
    return (
        f"<h2>What it advises</h2><p><strong>{_e(assessment.sentence)}</strong></p>{_searched(assessment)}"
        f"<h3>By map</h3><p>Each map by itself, on simulated files; what is released together is judged above. "
        f"Tolerable risk: {assessment.limit:.0%}. The lines about every attack come "
        "first, since an intruder chooses the attack; then one an attack and a use: "
        "what serves one use may fail another, and no line weighs them against each other.</p>"
        '<div class="wide"><table><thead><tr><th>data</th><th>attack</th><th>use</th><th>most useful release within '
        f"the limit</th></tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _searched(assessment: Any) -> str:
    found = assessment.search
    if found is None:
        return ""
    return (
        f"<p>{len(found.candidates)} releases were judged, the most useful first, of {found.n_chains} that the steps "
        f"allow; where a part by itself is refused, no release with it is judged. Each is judged as <code>reident "
        f"check</code> judges it, in {found.draws} draws where the method draws.</p>{_table(found.candidates)}"
    )


def _data(assessment: Any) -> str:
    profile = assessment.profile
    checks = "".join(
        f"<tr><td>{_e(row['check'])}</td><td>{_e(row['finding'])}</td>"
        f'<td class="{_e(row["verdict"])}">{_e(row["verdict"])}</td></tr>'
        for _, row in profile.checks.iterrows()
    )
    figure = ""
    if "places" in assessment.plans:
        figure = (
            f"<h3>Where the records are</h3>{_image(_density(assessment.plans['places'].data.table), 'record counts')}"
        )
    return (
        "<h2>The data</h2><table><thead><tr><th>check</th><th>finding</th><th>verdict</th></tr></thead>"
        f"<tbody>{checks}</tbody></table><h3>Columns</h3>{_table(profile.columns)}{figure}"
    )


def _density(table: pd.DataFrame) -> Figure:
    """Draw how many records lie where; no single place can be read off."""
    figure, ax = new_figure(size=(5.6, 4.6))
    lat, lon = table[LAT].to_numpy(float), table[LON].to_numpy(float)
    drawn = ax.hexbin(lon, lat, gridsize=22, mincnt=1, cmap="cividis", bins="log" if len(table) > 200 else None)
    ax.set_aspect(1 / max(0.05, float(np.cos(np.radians(lat.mean())))))
    ax.set_xlabel("longitude (degrees)")
    ax.set_ylabel("latitude (degrees)")
    figure.colorbar(drawn, ax=ax, label="records a cell", shrink=0.8)
    return figure


def _assumed(assessment: Any) -> str:
    lines = "".join(f"<li>{_e(line)}</li>" for line in assessment.assumptions())
    return f"<h2>What was assumed</h2><ul>{lines}</ul>"


_TITLES = {
    "places": "Places: protections against linkage by distances",
    "table": "Table: generalisation and masking",
    "network": "Network: other degrees, moved edges",
}


def _maps(kind: str, frame: pd.DataFrame, assessment: Any, out: Path) -> str:
    parts = [f"<h2>{_e(_TITLES[kind])}</h2>"]
    panels = frame.groupby(["attack", "analysis"], sort=False)
    for number, ((attack, analysis), panel) in enumerate(panels, start=1):
        figure = plot_ru_panels(panel, risk_limit=assessment.limit, width_cm=12.0)
        save_figure(figure, f"map-{kind}-{number}", out / "figures")
        best = frontier(panel, risk_limit=assessment.limit)
        columns = ["method", "parameter", "value", "risk", "risk_low", "risk_high", "utility", "undominated", "advice"]
        parts.append(
            f"<h3>{_e(attack)}, against {_e(analysis)}</h3>{_image(figure, f'{attack} against {analysis}')}"
            f"<p>The frontier: no release tried has both lower risk and higher utility.</p>{_table(best[columns])}"
        )
    listed = frame.drop(columns=[c for c in ("setting",) if c in frame.columns])
    parts.append(f"<details><summary>All {len(frame)} points</summary>{_table(listed)}</details>")
    return "".join(parts)


def _reproduce(assessment: Any, command: str) -> str:
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _VERSIONS)
    return (
        "<h2>To reproduce</h2>"
        + (f"<pre>{_e(command)}</pre>" if command else "")
        + f"<p>Seed {assessment.seed}, {assessment.repetitions} repetitions of every release. Values assessed: sha256 "
        f"<code>{assessment.data_sha256}</code>.</p><p>reident {reident.__version__}, Python "
        f"{platform.python_version()}, {_e(versions)}.</p>"
    )


def _image(figure: Figure, alt: str) -> str:
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=120, metadata={"Software": None})
    text = base64.b64encode(stream.getvalue()).decode()
    return f'<p><img alt="{_e(alt)}" src="data:image/png;base64,{text}"></p>'


def _table(frame: pd.DataFrame) -> str:
    head = "".join(f"<th>{_e(column.replace('_', ' '))}</th>" for column in map(str, frame.columns))
    body = "".join(
        "<tr>" + "".join(f"<td>{_e(_cell(value))}</td>" for value in row) + "</tr>"
        for row in frame.itertuples(index=False, name=None)
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.4g}"
    return str(value)


def _e(value: Any) -> str:
    return html.escape(str(value))
