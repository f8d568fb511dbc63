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
        "naive", "anonymiser", "network", "networks.naive:naive_anonymise", "network",
        source="Vanhoef (2012), Definition 8.1", label="other names only",
    ),
    Entry(
        "edge_disclosure", "metric", "network", "networks.edge_disclosure:edge_disclosure", "other",
        source="Vanhoef (2012), sections 7.2 and 9.2", label="links given away by degrees", takes="release original",
    ),
    Entry(
        "edge_overlap", "metric", "network", "networks.properties:edge_overlap", "other",
        source="Vanhoef (2012), chapter 9", label="edges in common", takes="original release",
    ),
    Entry(
        "network_properties", "metric", "network", "networks.properties:network_properties", "other",
        source="Vanhoef (2012), section 7.3.2", label="properties of a network", takes="graph",
    ),
    Entry(
        "clustering_coefficient", "metric", "network", "networks.properties:clustering_coefficient", "other",
        source="Vanhoef (2012), section 7.3.2", label="clustering", takes="graph",
    ),
    Entry(
        "average_path_length", "metric", "network", "networks.properties:average_path_length", "other",
        source="Vanhoef (2012), section 7.3.2", label="mean path length", takes="graph",
    ),
    Entry(
        "density", "metric", "network", "networks.properties:density", "other",
        source="Vanhoef (2012), section 7.3.2", label="density", takes="graph",
    ),
    Entry(
        "mapping_quality", "metric", "network", "networks.properties:mapping_quality", "other",
        source="Narayanan and Shmatikov (2009)", label="right and wrong nodes", takes="mapping truth ignore",
    ),
)  # fmt: skip
