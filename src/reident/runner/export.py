"""The figures of a study for a text of one's own: drawn at its width, with captions and tables of their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from reident.base import ParameterError, check_choice
from reident.pages import cell, write_page
from reident.plotting import save_figure
from reident.plotting._style import for_print
from reident.plotting.fitting import fit_for_print
from reident.studies.captions import Drawn, caption, draw_all, words_of
from reident.studies.study import Results, Study

__all__ = ["PRINT", "check_print", "export_figures"]

#: Inside an output folder or a site: figures for print, one folder a study.
PRINT = "figures-for-print"

_FORMATS, _LANGUAGES = ("pdf", "svg", "png"), ("en", "de")

#: What pandas writes at the foot of a page of a long table.
_CONTINUED = "Continued on next page"

#: A table of more rows is no table to read; the frame is among the results.
_ROWS = 400


def check_print(formats: Sequence[str], width: str, language: str) -> float:
    """Return a width in millimetres, or say what of these cannot be printed.

    Raises
    ------
    ParameterError
        If a format or language is none of those known, or a width is not from 60mm to 400mm.
    """
    for kind in formats:
        check_choice(kind, "format", _FORMATS)
    check_choice(language, "language", _LANGUAGES)
    told = re.fullmatch(r"(\d+(?:\.\d+)?) ?mm", width)
    if not told or not 60 <= float(told[1]) <= 400:
        raise ParameterError(f"`width` must be millimetres from 60mm to 400mm, such as 85mm, got {width!r}")
    return float(told[1])


def export_figures(
    study: Study,
    results: Results,
    folder: str | Path,
    *,
    formats: Sequence[str] = ("pdf",),
    width: str = "170mm",
    language: str = "en",
) -> list[Path]:
    """Draw all figures of a finished run for print; the same results give the same bytes.

    Parameters
    ----------
    study, results : Study, Results
        What was run, and what came of it.
    folder : path
        Where each figure, its caption (``.txt``) and its table (``.tex``, ``.html``) are written.
    formats : sequence of {"pdf", "svg", "png"}
        Fonts are embedded; PNG has 600 dots an inch.
    width : str
        Millimetres, such as ``"85mm"``; type has 7 points at that width.
    language : {"en", "de"}
        Of the figure's texts, the caption, and the tables' heads and cells; a text without a translation stays English
        whole.

    Returns
    -------
    list of Path
        The figures.

    Raises
    ------
    ParameterError
        If a format, width or language is none of those known.
    """
    width_mm = check_print(formats, width, language)
    folder, written = Path(folder), list[Path]()
    folder.mkdir(parents=True, exist_ok=True)
    words = words_of(results, language)
    with for_print(width_mm, words):
        for drawn in draw_all(study, results):
            fit_for_print(drawn.figure, words=words)
            written += save_figure(drawn.figure, drawn.name, folder, dpi=600, formats=formats, letters=True)
            told = caption(drawn, language=language)
            (folder / f"{drawn.name}.txt").write_text(f"{told}\n", encoding="utf-8")
            _write_tables(drawn, told, folder, words)
    return written


def _write_tables(drawn: Drawn, told: str, folder: Path, words: Callable[[str], str]) -> None:
    tables = [(name, frame) for name, frame in _tables(drawn) if len(frame) <= _ROWS]
    shown = [
        (name, frame.map(cell).map(words).rename(columns=lambda column: words(str(column).replace("_", " "))))
        for name, frame in tables
    ]
    texts = [f"% {told}"]
    texts += [frame.to_latex(index=False, escape=True, longtable=len(frame) > 40) for _, frame in shown]
    text = "\n".join(texts).replace(_CONTINUED, words(_CONTINUED))
    (folder / f"{drawn.name}.tex").write_text(text, encoding="utf-8")
    write_page(folder / f"{drawn.name}.html", "tables", title=drawn.name, caption=told, tables=shown)


def _tables(drawn: Drawn) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the frames that a figure shows; repetitions as their mean and number."""
    rows = {"rows" if i == 1 else f"rows {i}": frame for i, frame in enumerate(drawn.rest.frames, 1)}
    for name, frame in (rows or drawn.frames).items():
        frame = frame.drop(columns=[column for column in ("seed_key",) if column in frame])
        for column in [name for name in frame if frame[name].dtype == object]:
            frame[column] = frame[column].map(lambda value: "-".join(map(str, value)) if np.ndim(value) else value)
        runs = [column for column in ("repetition", "dataset") if column in frame]
        if runs:
            settings = [column for column in frame if column not in runs and _is_setting(frame, column, runs)]
            numbers = [column for column in frame.select_dtypes("number") if column not in (*settings, *runs)]
            groups = frame.groupby(settings or (lambda _: 0), sort=False, dropna=False)
            frame = groups[numbers].mean().assign(runs=groups.size()).reset_index(drop=not settings)
        yield name, frame


def _is_setting(frame: pd.DataFrame, column: str, runs: list[str]) -> bool:
    """Tell what was set, the same in every repetition, from what was measured."""
    return len({frozenset(part[column].tolist()) for _, part in frame.groupby(runs)}) == 1
