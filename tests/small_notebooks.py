"""Notebooks small enough to write in a test."""

import json

import pandas as pd

from reident.base import record_files
from reident.studies import comparison
from reident.studies.study import Results

DEFAULTS = "count = 3\nrate: float = 0.5\nname = 'a'\nflag = False\nlist_ = [1]\ntable = {}\nnothing = None\nout = ''"


def write_notebook(path, *cells, parameters=DEFAULTS, title="A small notebook"):
    def cell(source, **metadata):
        return {
            "cell_type": "code",
            "id": f"c{abs(hash(source)) % 10**8}",
            "metadata": metadata,
            "source": source,
            "outputs": [],
            "execution_count": None,
        }

    heading = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": f"# {title}\nWhat it *shows*."}
    code = [cell(parameters, tags=["parameters"])] if parameters is not None else []
    notebook = {
        "cells": [heading, *code, *map(cell, cells)],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(notebook))
    return path


def finished_study(tmp_path):
    """Give an output folder with the results of one study as a run leaves them."""
    folder = tmp_path / "out" / "holohan2017"
    rows = [
        comparison.Reading("recall <at> 1", 0.52, 0.48, 0.56, published=0.5),
        comparison.Reading("recall at 2", 0.52, 0.48, 0.56, note="an erratum & more", published=0.9),
        comparison.exact("vertices", 11, 11),
    ]
    frames = {"rows": pd.DataFrame({"x": [1, 2]})}
    Results("holohan2017", "quick", 1, frames, comparison.compare(rows)).save(folder)
    (folder / "figures").mkdir()
    for name in ("figure-10-b.png", "figure-2-a.png", "figure-2-a.svg", "only.svg"):
        (folder / "figures" / name).touch()
    record = {
        "name": "holohan2017",
        "title": "T",
        "notebook": "n.ipynb",
        "status": "ok",
        "error": None,
        "parameters": {"profile": "quick"},
        "seconds": 12.3,
        "started": "2026-01-01T00:00:00+00:00",
        "reident": "0",
    }
    for name in ("notebook.html", "notebook.ipynb"):
        (folder / name).touch()
    (folder / "record.json").write_text(json.dumps(record))
    record_files(folder)
    return tmp_path / "out"
