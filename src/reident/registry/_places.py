"""Methods for records with places."""

from __future__ import annotations

from reident.registry._entry import Entry, Parameter

_ANY = "[0, inf)"
_ABOVE = "(0, inf)"
_LIMITS = (
    Parameter("limit", "int", "[1, inf)", "cliques"),
    Parameter("time_limit_s", "float", _ABOVE, "s"),
    Parameter("node_limit", "int", "[1, inf)", "nodes", start=200_000),
)

PLACES: tuple[Entry, ...] = (
    Entry(
        "coordinate_noise", "anonymiser", "places", "anonymisers.coordinate_noise:perturb_coordinates", "coordinates",
        (Parameter("sigma_deg", "float", _ANY, "degrees", start=0.02, grid=(0.01, 0.05, 0.2, 0.6)),),
        "Kroll (2015), section 5", "noise on coordinates", takes="lat lon",
    ),
    Entry(
        "disc", "anonymiser", "places", "anonymisers.masks:mask_disc", "points",
        (Parameter("radius_m", "float", _ANY, "m", start=2000.0, grid=(2000.0, 20000.0, 80000.0)),),
        "the uniform mask of geography", "disc", takes="points",
    ),
    Entry(
        "donut", "anonymiser", "places", "anonymisers.masks:mask_donut", "points",
        (
            Parameter("inner_m", "float", _ANY, "m", start=500.0),
            Parameter("outer_m", "float", _ANY, "m", start=2000.0, grid=(5000.0, 30000.0, 100000.0)),
        ),
        "Hampton et al. (2010), with fixed radii", "donut", takes="points",
    ),
    Entry(
        "grid", "anonymiser", "places", "anonymisers.masks:mask_grid", "points",
        (
            Parameter("cell_m", "float", _ABOVE, "m", start=5000.0, grid=(5000.0, 40000.0, 120000.0)),
            Parameter("min_count", "int", "[1, inf)", "records"),
        ),
        "official statistics' grid cells", "grid cells", takes="points",
    ),
    Entry(
        "swap", "anonymiser", "places", "anonymisers.masks:swap_locations", "candidates",
        (
            Parameter("inner_m", "float", _ANY, "m"),
            Parameter("outer_m", "float", _ANY, "m", start=10000.0, grid=(10000.0, 60000.0)),
        ),
        "location swapping; the candidates are the other records' places", "swapped places",
        takes="points candidates",
    ),
    Entry(
        "rigid_motion", "anonymiser", "places", "anonymisers.masks:move_rigidly", "points",
        (
            Parameter("shift_m", "float", _ANY, "m", grid=(100_000.0,)),
            Parameter("reflect", "bool"),
        ),
        "a motion that keeps all distances", "rigid motion", takes="points",
    ),
    Entry(
        "distance_noise", "anonymiser", "places", "anonymisers.distance_noise:perturb_distances", "distances",
        (Parameter("sigma_km", "float", _ANY, "km", start=5.0, grid=(2.0, 20.0, 100.0)),),
        "Kroll (2015), end of section 5", "noise on distances", takes="distances_km",
    ),
    Entry(
        "lipschitz_embedding", "anonymiser", "places", "anonymisers.lipschitz_embedding:embed_distances", "embedding",
        (
            Parameter("n_reference_sets", "int", "[1, inf)", "sets", start=20, grid=(40, 10, 3)),
            Parameter("reference_set_size", "int", "[1, inf)", "places", start=10),
        ),
        "Kroll and Schnell (2016)", "Lipschitz embedding", takes="lat lon area",
    ),
    Entry(
        "deviation_quantiles",
        "metric", "places", "anonymisers.coordinate_noise:distance_deviation_quantiles", "other",
        (
            Parameter("sigma_deg", "float", _ANY, "degrees", start=0.02),
            Parameter("n_pairs", "int", "[2, inf)", "pairs"),
        ),
        "Kroll (2015), Table 3", "deviation of distances", takes="area",
    ),
    Entry(
        "common_subgraph", "attack", "places", "attacks.common_subgraph:common_subgraph_attack", "metric linkage",
        (
            Parameter("ties", "choice", choices=("first", "random", "all"), start="first"),
            Parameter("gamma", "float", "(0, 1]", "share of neighbours"),
            Parameter("search", "choice", choices=("strong", "published"), start="strong"),
            *_LIMITS,
        ),
        "Kroll (2015), section 4; with intervals Kroll and Schnell (2016)", "linkage by labels and distances",
        takes="release known quasi window_km intervals_km",
    ),
    Entry(
        "label_linkage", "attack", "places", "attacks.common_subgraph:classical_linkage", "label linkage",
        (Parameter("ties", "choice", choices=("all", "unique", "random"), start="random"),),
        "Kroll (2015), section 4, the classical attack", "linkage by labels alone", takes="release known quasi",
    ),
    Entry(
        "tolerance_intervals", "attack", "places", "attacks.tolerance_intervals:tolerance_intervals", "other",
        (
            Parameter("n_reference_sets", "int", "[1, inf)", "sets", start=20),
            Parameter("reference_set_size", "int", "[1, inf)", "places", start=10),
            Parameter("alpha", "float", "(0, 1)", start=0.5),
            Parameter("n_simulations", "int", "[2, inf)", "embeddings"),
            Parameter("condensed", "bool"),
        ),
        "Kroll and Schnell (2016)", "tolerance intervals", takes="lat lon area",
    ),
    Entry(
        "neighbours_kept", "metric", "places", "metrics.utility:neighbours_kept", "distance utility",
        (Parameter("n_neighbours", "int", "[1, inf)", "records"),),
        "the analysis of local clusters", "nearest neighbours kept (share)", takes="original_km release_km",
    ),
    Entry(
        "distances_kept", "metric", "places", "metrics.utility:distances_kept", "distance utility", (),
        "Pearson's correlation", "correlation of distances", takes="original_km release_km",
    ),
    Entry(
        "distance_precision", "metric", "places", "metrics.utility:distance_precision", "distance utility", (),
        "Kroll (2015), section 5", "reciprocal variance of distance deviations (km⁻²)",
        takes="original_km release_km",
    ),
    Entry(
        "linkage_quality", "metric", "places", "metrics.linkage:linkage_quality", "other", (),
        "Kroll (2015), section 5", "precision and recall", takes="links truth",
    ),
    Entry(
        "calibration", "attack", "places", "attacks.calibration:calibrate_distances", "other",
        (
            Parameter("n_reference_sets", "int", "[1, inf)", "sets", start=20),
            Parameter("reference_set_size", "int", "[1, inf)", "places", start=10),
            Parameter("n_simulations", "int", "[2, inf)", "embeddings"),
        ),
        "the intruder of Kroll and Schnell (2016), taken further", "calibrated distances",
        takes="d_release lat lon area",
    ),
    Entry(
        "registration", "attack", "places", "attacks.registration:registration_attack", "other",
        (
            Parameter("n_pairs", "int", "[1, inf)", "pairs"),
        ),
        "registration of point clouds; Kroll and Schnell (2016) ask for it", "location of all records by their shape",
        takes="release known quasi sd_km",
    ),
    Entry(
        "multilateration", "attack", "places", "attacks.multilateration:multilateration_attack", "other",
        (),
        "multilateration from linked records", "location of records by distances to linked ones",
        takes="release links known quasi sd_km",
    ),
    Entry(
        "quasi_clique", "attack", "places", "attacks.quasi_cliques:quasi_clique", "other",
        (
            Parameter("gamma", "float", "(0, 1]", "share of neighbours", start=0.9),
            Parameter("n_rounds", "int", "[1, inf)", "rounds"),
            Parameter("time_limit_s", "float", "(0, inf)", "s"),
            Parameter("node_limit", "int", "[1, inf)", "nodes"),
        ),
        "Kroll (2015), section 5; search of our own", "linkage by a nearly consistent match", takes="graph",
    ),
    Entry(
        "nearest_neighbour_agreement", "metric", "places", "metrics.spatial:nearest_neighbour_agreement", "other",
        (),
        "Kroll and Schnell (2016), figure 2", "nearest neighbour kept (share)", takes="d_original d_release",
    ),
    Entry(
        "clustering_agreement", "metric", "places", "metrics.spatial:clustering_agreement", "other",
        (
            Parameter("n_clusters", "int", "[1, inf)", "clusters", start=3),
            Parameter("linkage", "choice", choices=('average', 'single', 'complete')),
        ),
        "Kroll and Schnell (2016)", "clusters kept", takes="d_original d_release",
    ),
    Entry(
        "distance_utilities", "metric", "places", "metrics.spatial:distance_utilities", "other",
        (
            Parameter("small_km", "float", "(0, inf)", "km"),
            Parameter("n_clusters", "int", "[1, inf)", "clusters", start=3),
            Parameter("neighbours", "int", "[1, inf)", "records", start=2),
            Parameter("band_km", "float", "(0, inf)", "km"),
            Parameter("bandwidth_km", "float", "(0, inf)", "km"),
        ),
        "Kroll and Schnell (2016)", "several utilities of distances", takes="d_original d_release values",
    ),
    Entry(
        "autocorrelation", "metric", "places", "metrics.spatial:autocorrelation", "other",
        (
            Parameter("weights", "choice", choices=('contiguity', 'band', 'inverse')),
            Parameter("neighbours", "int", "[1, inf)", "records", start=2),
            Parameter("band_km", "float", "(0, inf)", "km"),
        ),
        "Moran (1950)", "spatial autocorrelation", takes="values distances_km",
    ),
)  # fmt: skip
