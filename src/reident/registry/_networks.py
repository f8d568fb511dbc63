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
    Entry(
        "planted_subgraph", "attack", "network", "attacks.planted_subgraph:implant", "other",
        (
            Parameter("k", "int", "[1, inf)", "nodes", start=3),
            Parameter("d0", "int", "[1, inf)", "edges", start=3),
            Parameter("d1", "int", "[1, inf)", "edges", start=6),
            Parameter("redraws", "int", "[1, inf)"),
        ),
        "Backstrom et al. (2007); Vanhoef (2012), chapter 8", "active attack: planting", takes="graph targets",
    ),
    Entry(
        "recover", "attack", "network", "attacks.planted_subgraph:recover", "other",
        (
            Parameter("degree_slack", "int", "[0, inf)", "edges"),
            Parameter("edge_slack", "int", "[0, inf)", "edges"),
            Parameter("max_found", "int", "[1, inf)"),
            Parameter("node_limit", "int", "[1, inf)", "nodes"),
        ),
        "Backstrom et al. (2007); Vanhoef (2012), chapter 8", "active attack: finding what was planted",
        takes="released plan",
    ),
    Entry(
        "coalition", "attack", "network", "attacks.planted_subgraph:coalition", "other",
        (),
        "Backstrom et al. (2007); Vanhoef (2012), section 8.9", "passive attack of a coalition", takes="graph members",
    ),
    Entry(
        "propagation", "attack", "network", "attacks.propagation:propagate", "other",
        (
            Parameter("theta", "float", "[0, inf)"),
            Parameter("keep_seeds", "bool"),
            Parameter("max_sweeps", "int", "[1, inf)", "sweeps"),
        ),
        "Narayanan and Shmatikov (2009); Vanhoef (2012), chapter 10", "propagation from seeds",
        takes="release known seeds crawled_release crawled_known",
    ),
    Entry(
        "seeds", "attack", "network", "attacks.seeds:find_seeds", "other",
        (
            Parameter("method", "choice", choices=('matching', 'clique')),
            Parameter("n", "int", "[1, inf)", "nodes", start=4),
            Parameter("theta", "float", "[0, inf)"),
            Parameter("clique_size", "int", "[2, inf)", "nodes"),
            Parameter("tolerance", "float", "[0, inf)"),
        ),
        "Narayanan and Shmatikov (2009); Vanhoef (2012), chapter 10", "finding seeds", takes="release known clique",
    ),
    Entry(
        "link_scores", "attack", "network", "attacks.link_prediction:link_scores", "other",
        (
            Parameter("score",
        "choice", choices=('jaccard', 'common_neighbours', 'adamic_adar', 'resource_allocation', 'cosine')),
        ),
        "Vanhoef (2012), section 9.9", "scores of links", takes="graph pairs",
    ),
    Entry(
        "likely_links", "attack", "network", "attacks.link_prediction:likely_links", "other",
        (
            Parameter("n", "int", "[1, inf)", "links", start=2),
            Parameter("score",
        "choice", choices=('jaccard', 'common_neighbours', 'adamic_adar', 'resource_allocation', 'cosine')),
        ),
        "Vanhoef (2012), section 9.9", "most likely links", takes="graph",
    ),
    Entry(
        "drop_unlikely_edges", "attack", "network", "attacks.link_prediction:drop_unlikely_edges", "other",
        (
            Parameter("threshold", "float", "[0, inf)", start=0.1),
            Parameter("score",
        "choice", choices=('jaccard', 'common_neighbours', 'adamic_adar', 'resource_allocation', 'cosine')),
        ),
        "Vanhoef (2012), section 9.9", "undoing added edges", takes="graph",
    ),
    Entry(
        "edge_overlap", "metric", "network", "metrics.networks:edge_overlap", "other",
        (),
        "Vanhoef (2012), chapter 9", "edges in common", takes="original release",
    ),
    Entry(
        "network_properties", "metric", "network", "metrics.networks:network_properties", "other",
        (
            Parameter("x_min", "int", "[1, inf)", "edges"),
            Parameter("exact_limit", "int", "[1, inf)", "nodes"),
        ),
        "Vanhoef (2012), section 7.3.2", "properties of a network", takes="graph",
    ),
    Entry(
        "clustering_coefficient", "metric", "network", "metrics.networks:clustering_coefficient", "other",
        (
            Parameter("variant", "choice", choices=('mean', 'global', 'defined')),
        ),
        "Vanhoef (2012), section 7.3.2", "clustering", takes="graph",
    ),
    Entry(
        "average_path_length", "metric", "network", "metrics.networks:average_path_length", "other",
        (
            Parameter("exact_limit", "int", "[1, inf)", "nodes"),
        ),
        "Vanhoef (2012), section 7.3.2", "mean path length", takes="graph",
    ),
    Entry(
        "density", "metric", "network", "metrics.networks:density", "other",
        (),
        "Vanhoef (2012), section 7.3.2", "density", takes="graph",
    ),
    Entry(
        "mapping_quality", "metric", "network", "metrics.networks:mapping_quality", "other",
        (),
        "Narayanan and Shmatikov (2009)", "right and wrong nodes", takes="mapping truth ignore",
    ),
)  # fmt: skip
