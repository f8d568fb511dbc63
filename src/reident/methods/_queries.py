"""Methods for queries about a table: the counts of every two columns."""

from __future__ import annotations

from reident.methods._entry import Entry

_PRIVATE = "{{epsilon:g}}-differential privacy of all answers together, for one record {change}"
_GRID = {"epsilon": (4.0, 1.0, 0.25, 0.05)}

QUERIES: tuple[Entry, ...] = (
    Entry(
        "laplace_queries", "anonymiser", "queries", "queries.counting:laplace_queries", "answers",
        source="Vanhoef (2012), Property 5.1", label="Laplace noise on each answer", grid=_GRID, exact=True,
        guarantee=_PRIVATE.format(change="more or less"),
    ),
    Entry(
        "laplace_cells", "anonymiser", "queries", "queries.counting:laplace_cells", "answers",
        source="Vanhoef (2012), section 5.5.4", label="Laplace noise on each cell", grid=_GRID, exact=True,
        guarantee=_PRIVATE.format(change="more or less"),
    ),
    Entry(
        "multiplicative_weights", "anonymiser", "queries", "queries.counting:weighted_queries", "answers",
        source="Hardt et al. (2012)", label="multiplicative weights", grid=_GRID, exact=True,
        guarantee=_PRIVATE.format(change="replaced by another"),
    ),
    Entry(
        "randomised_response", "anonymiser", "queries", "queries.counting:randomised_cells", "answers",
        source="Warner (1965)", label="randomised response", grid=_GRID, exact=True,
        guarantee="{epsilon:g}-differential privacy of each person, also against who collects the answers",
    ),
    Entry(
        "restricted_queries", "anonymiser", "queries", "queries.counting:restricted_queries", "answers",
        source="Vanhoef (2012), section 3.2; here to be broken", label="no small answers", grid={"least": (5, 20)},
    ),
)  # fmt: skip
