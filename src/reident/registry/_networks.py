"""Methods for networks."""

from __future__ import annotations

from reident.registry._entry import Entry, Parameter

NETWORKS: tuple[Entry, ...] = (
    Entry(
        "degree_anonymity", "anonymiser", "network", "anonymisers.degree_anonymity:degree_anonymise", "graph",
        (
            Parameter("k", "int", "[1, inf)", "nodes", start=5, grid=(2, 5, 10, 25)),
            Parameter("method", "choice", choices=("direct", "supergraph", "relaxed", "simultaneous")),
            Parameter("probing", "choice", choices=("batch", 1, 2, 3, 4)),
            Parameter("patience", "int", "[1, inf)"),
            Parameter("max_delta", "int", "[1, inf)"),
            Parameter("max_probes", "int", "[1, inf)"),
            Parameter("time_limit_s", "float", "(0, inf)", "s"),
        ),
        "Vanhoef (2012), chapter 9; Liu and Terzi (2008)", "k-degree anonymity", takes="graph",
    ),
    Entry(
        "naive", "anonymiser", "network", "anonymisers.naive:naive_anonymise", "graph", (),
        "Vanhoef (2012), Definition 8.1", "other names only", takes="graph",
    ),
)  # fmt: skip
