"""Every measure of utility by name; all grow with utility. How each form is called: `reident.methods.utilities`."""

from __future__ import annotations

from functools import partial

from reident.methods._entry import Entry

_SPATIAL = "Kroll and Schnell (2016)"
_PROPERTIES = "Vanhoef (2012), section 7.3.2"


#: Those of a usual map.
_USUAL = (
    "neighbours_kept distances_kept distance_precision information_kept correlations_kept edge_overlap path_length_kept"
)
#: What the data must have.
_NEEDS = {"correlations_kept": "numbers", "classification_accuracy": "sensitive"}


def _utility(data: str, form: str, name: str, label: str, source: str, module: str) -> Entry:
    takes = {"distance": "original_km release_km values"}.get(form, "original release columns target")
    return Entry(
        name, "metric", data, f"{module}:{name}", f"{form} utility", source, label, takes=takes,
        usual=data if name in _USUAL.split() else "", needs=_NEEDS.get(name, ""),
    )  # fmt: skip


_distance = partial(_utility, "places", "distance", module="places.utility")
_point = partial(_utility, "places", "point", module="places.utility")
_table = partial(_utility, "table", module="tables.kept")  # its form is the first argument
_network = partial(_utility, "network", "network", module="networks.utility")

#: In the order in which they are listed.
UTILITIES: tuple[Entry, ...] = (
    _distance(
        "neighbours_kept", "nearest neighbours kept (share)", "the analysis of local clusters", module="tables.utility"
    ),
    _distance("distances_kept", "correlation of distances", "Pearson's correlation", module="tables.utility"),
    _distance(
        "distance_precision", "reciprocal variance of distance deviations (km⁻²)", "Kroll (2015), section 5",
        module="tables.utility",
    ),
    Entry(
        "nearest_neighbour_kept", "metric", "places", "places.spatial:nearest_neighbour_agreement", "distance utility",
        source=f"{_SPATIAL}, figure 2, left", label="nearest neighbour kept (share)", takes="d_original d_release",
    ),
    _distance("ranks_kept", "rank correlation of distances", f"{_SPATIAL}, figure 2, right"),
    _distance("small_distances_kept", "small distances kept (share)", _SPATIAL),
    _distance("clusters_kept", "clusters kept (adjusted Rand index)", _SPATIAL),
    _distance("weights_kept", "weights of a local regression kept (share)", _SPATIAL),
    _distance("density_index_kept", "Clark and Evans' index kept (ratio)", "Clark and Evans (1954)"),
    _distance("morans_i_kept", "Moran's I kept", "Moran (1950)"),
    _distance("gearys_c_kept", "Geary's C kept", "Geary (1954)"),
    _point("places_kept", "nearness to the true places", "median displacement"),
    _point("mean_centre_kept", "mean centre kept", "centrography"),
    _point("standard_distance_kept", "standard distance kept (ratio)", "centrography"),
    _point("cells_kept", "counts by cell kept (share)", "maps of counts"),
    _table(
        "value", "information_kept", "information kept (share)", "Domingo-Ferrer and Mateo-Sanz (2002)",
        module="tables.utility",
    ),
    _table(
        "value", "correlations_kept", "correlations kept (share)", "mean absolute change of correlations",
        module="tables.utility",
    ),
    _table("value", "means_kept", "means kept", "Domingo-Ferrer and Torra (2001)"),
    _table("value", "variances_kept", "variances kept (ratio)", "Domingo-Ferrer and Torra (2001)"),
    _table("value", "regression_kept", "intervals of coefficients kept (overlap)", "Karr et al. (2006)"),
    _table("value", "propensity_kept", "not told from the original", "Woo et al. (2009)"),
    _table("value", "classification_accuracy", "accuracy of a tree's predictions", "Iyengar (2002)"),
    _table("share", "marginals_kept", "distributions of columns kept (share)", "total variation"),
    _table("share", "contingencies_kept", "two-way tables kept (share)", "total variation"),
    _table("share", "entropy_kept", "bits that labels say (share)", "Gionis and Tassa (2009)"),
    _table("label", "discernibility_kept", "records told apart (share of pairs)", "Bayardo and Agrawal (2005)"),
    _table("label", "classes_kept", "classes kept (share)", "LeFevre et al. (2006)"),
    _network("edge_overlap", "edges in common (share)", "Vanhoef (2012), chapter 9"),
    _network("edges_kept", "edges kept (share)", "Vanhoef (2012), chapter 9"),
    _network("degrees_kept", "distribution of degrees kept (share)", _PROPERTIES),
    _network("clustering_kept", "clustering kept (ratio)", _PROPERTIES),
    _network("path_length_kept", "mean path length kept (ratio)", _PROPERTIES),
    _network("diameter_kept", "diameter kept (ratio)", _PROPERTIES),
    _network("density_kept", "density kept (ratio)", _PROPERTIES),
    _network("exponent_kept", "exponent of the degrees kept (ratio)", _PROPERTIES),
)  # fmt: skip
