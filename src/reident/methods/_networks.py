"""Methods for networks."""

from __future__ import annotations

from reident.methods._entry import Entry

NETWORKS: tuple[Entry, ...] = (
    Entry(
        "degree_anonymity", "anonymiser", "network", "networks.degree_anonymity:degree_anonymise", "network",
        source="Vanhoef (2012), chapter 9; Liu and Terzi (2008)", label="k-degree anonymity",
        start={"k": 5}, grid={"k": (2, 5, 10, 25)},
        guarantee="every node shares its degree with at least {others} others; nothing is promised about neighbours",
    ),
    Entry(
        "naive", "anonymiser", "network", "networks.perturbation:naive_anonymise", "network",
        source="Vanhoef (2012), Definition 8.1", label="other names only",
    ),
    Entry(
        "swap_edges", "anonymiser", "network", "networks.perturbation:swap_edges", "network",
        source="Ying and Wu (2008)", label="edges exchanged", grid={"share": (0.05, 0.2, 0.6)},
    ),
    Entry(
        "rewire_edges", "anonymiser", "network", "networks.perturbation:rewire_edges", "network",
        source="Hay et al. (2007)", label="edges moved at random", grid={"share": (0.02, 0.1, 0.4)},
    ),
)  # fmt: skip
