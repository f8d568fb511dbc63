import json

import pandas as pd

from reident.base import record_files
from reident.experiments.compare import COLUMNS

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


def finished_run(tmp_path):
    """Return an output folder with the results of one experiment as a run leaves them."""
    folder = tmp_path / "out" / "kroll2015"
    (folder / "figures").mkdir(parents=True)
    rows = [
        ("recall <at> 1", "agrees", ""),
        ("recall at 2", "differs", "an erratum & more"),
        ("vertices", "agrees", ""),
    ]
    columns = dict.fromkeys(COLUMNS, "")
    claims = pd.DataFrame([columns | {"item": item, "verdict": verdict, "note": note} for item, verdict, note in rows])
    claims.to_csv(folder / "claims.csv", index=False)
    for name in ("figure-10-b.png", "figure-2-a.png", "figure-2-a.svg", "only.svg"):
        (folder / "figures" / name).touch()
    record = {
        "name": "kroll2015", "title": "T", "notebook": "n.ipynb", "status": "ok", "error": None,
        "parameters": {"seed": 1}, "seconds": 12.3, "started": "2026-01-01T00:00:00+00:00", "reident": "0",
    }  # fmt: skip
    for name in ("notebook.html", "notebook.ipynb"):
        (folder / name).touch()
    (folder / "record.json").write_text(json.dumps(record))
    record_files(folder)
    return tmp_path / "out"
