"""Notebooks small enough to write in a test."""

import json

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
