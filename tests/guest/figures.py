"""The figure of the guest's study."""

from reident.plotting import new_figure


def ages(results):
    """Draw the share of unique ages."""
    figure, ax = new_figure()
    results.frames["ages"].plot.scatter("width", "unique", ax=ax)
    return figure


FIGURES = {"figure-1-ages": ages}
