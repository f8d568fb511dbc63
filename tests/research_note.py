"""The research note on released distances: its text and the runs that it rests on, for the tests of what is said."""

from pathlib import Path

import pandas as pd

import reference_runs as example
from reident.data.datasets import embedded_file

NOTE = Path(__file__).parents[1] / "paper" / "distances-are-a-map.md"


def note():
    return " ".join(NOTE.read_text(encoding="utf-8").split())


def measured():
    return pd.read_csv(embedded_file("measured/certificate_level.csv"))


def exact_now():
    """The runs of the present code on exact embeddings without gaps."""
    runs = example.measured()
    runs = runs[runs["commit"].notna() & (runs[["rounding_km", "noise_km", "missing"]] == 0).all(axis=1)]
    assert runs["seed"].min() > 9200
    return runs
