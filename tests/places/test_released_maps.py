"""What the note and the notebook say about the certificate, on the runs that are kept."""

import pandas as pd

from reident.data.datasets import embedded_file
from reident.studies.released_maps import figures
from reident.studies.released_maps.trials import FAILING, LEVELS, WRONG_KM


def measured():
    return pd.read_csv(embedded_file("measured/certificate_level.csv"))


def test_the_certificate_keeps_its_level_on_failing_runs():
    runs = measured()
    failing = runs[runs["median_km"] > WRONG_KM]
    assert len(failing) >= 190
    assert set(failing["kind"]) == set(FAILING)
    for level in LEVELS:
        assert failing[f"wrong_{level:g}"].sum() <= level * failing["n_wrong"].sum()


def test_the_level_figure_names_what_it_counts():
    figure = figures.level_figure(measured())
    titles = [ax.get_title() for ax in figure.axes]
    runs = measured()
    assert titles[0].startswith(str((runs["median_km"] > WRONG_KM).sum()))
    assert len(figure.axes[0].lines) == 3
