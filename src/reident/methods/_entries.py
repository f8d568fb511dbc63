"""Every anonymiser, attack and measure of utility of the package, by name."""

from __future__ import annotations

from functools import partial
from typing import Any

from reident.methods._entry import Entry

# -- anonymisers -------------------------------------------------------------------------------------------------------

#: Sizes of classes.
_SIZES = {"start": {"k": 5}, "grid": {"k": (2, 5, 10, 25)}}
_K_ANONYMOUS = "every released record shares its quasi-identifiers with at least {others} others"


def _anonymiser(
    data: str, form: str, folder: str, name: str, label: str, source: str, function: str, **fields: Any
) -> Entry:
    fields.setdefault("scaled", data == "places")
    return Entry(name, "anonymiser", data, f"{folder}.{function}", form, source, label, **fields)


_points = partial(_anonymiser, "places", "points", "places")
_distances = partial(_anonymiser, "places", "distances", "places")
_table = partial(_anonymiser, "table", "table", "tables")
_network = partial(_anonymiser, "network", "network", "networks")

#: In the order in which they are listed.
ANONYMISERS = (
    _points(
        "coordinate_noise", "noise on coordinates", "Kroll (2015), section 5", "noise:perturb_coordinates",
        start={"sigma_deg": 0.02}, grid={"sigma_deg": (0.01, 0.05, 0.2, 0.6)}, law="normal degrees",
    ),
    _points(
        "disc", "disc", "the uniform mask of geography", "masks:mask_disc",
        start={"radius_m": 2000.0}, grid={"radius_m": (2000.0, 20000.0, 80000.0)}, law="ring",
    ),
    _points(
        "donut", "donut", "Hampton et al. (2010), with fixed radii", "masks:mask_donut",
        start={"inner_m": 500.0, "outer_m": 2000.0}, grid={"outer_m": (5000.0, 30000.0, 100000.0)}, law="ring",
    ),
    _points(
        "population_donut", "donut by population", "Hampton et al. (2010)", "masks:mask_population_donut",
        start={"k_min": 5, "k_max": 50}, grid={"k_max": (50, 500, 5000)},
    ),
    _points(
        "grid", "grid cells", "official statistics' grid cells", "masks:mask_grid",
        start={"cell_m": 5000.0}, grid={"cell_m": (5000.0, 40000.0, 120000.0)}, law="cell",
    ),
    _points(
        "swap", "swapped places", "location swapping with public addresses", "masks:swap_locations",
        start={"outer_m": 10000.0}, grid={"outer_m": (10000.0, 60000.0)}, law="ring",
    ),
    _points(
        "planar_laplace", "planar Laplace", "Andrés et al. (2013), geo-indistinguishability",
        "displacement:mask_planar_laplace", start={"epsilon_per_km": 0.5}, grid={"epsilon_per_km": (1.0, 0.1, 0.02)},
        guarantee=(
            "a place is at most exp({epsilon_per_km:g} d) times likelier from one true place than from another "
            "d km away, for one release of one person"
        ),
    ),
    _points("dhs", "survey clusters", "Burgert et al. (2013)", "displacement:mask_dhs"),
    _points(
        "areal_elimination", "merged areas", "Kounadi and Leitner (2016)", "displacement:mask_areal_elimination",
        fixed={"population": "population"}, start={"k": 100}, grid={"k": (20, 200, 2000)},
    ),
    _points(
        "rigid_motion", "rigid motion", "a motion that keeps all distances", "displacement:move_rigidly",
        grid={"shift_m": (100_000.0,)}, scaled=False,
    ),
    _distances(
        "distance_noise", "noise on distances", "Kroll (2015), end of section 5", "noise:perturb_distances",
        start={"sigma_km": 5.0}, grid={"sigma_km": (2.0, 20.0, 100.0)},
    ),
    _distances(
        "lipschitz_embedding", "Lipschitz embedding", "Kroll and Schnell (2016)", "lipschitz_embedding:embed_distances",
        start={"n_reference_sets": 20, "reference_set_size": 10}, grid={"n_reference_sets": (40, 10, 3)},
    ),
    _table(
        "k_anonymity", "k-anonymity, one level a column", "El Emam et al. (2009)", "anonymisation:k_anonymise",
        fixed={"method": "ola"}, **_SIZES, guarantee=_K_ANONYMOUS, classes=True,
    ),
    _table(
        "mondrian", "k-anonymity, Mondrian", "LeFevre et al. (2006)", "anonymisation:k_anonymise",
        fixed={"method": "mondrian"}, takes="suppression_limit", **_SIZES, guarantee=_K_ANONYMOUS, classes=True,
    ),
    _table(
        "k_epsilon", "(k, epsilon)-anonymity", "Holohan et al. (2017), Algorithm 1", "k_epsilon:k_epsilon_anonymise",
        takes="bounds options", start={"k": 5, "epsilon": 1.0},
        grid={"k": (2, 5, 10, 25), "epsilon": (2.0, 0.5)}, exact=True,
        guarantee=(
            "{k}-anonymous in the columns generalised; the noise is scaled to ranges from the data and is not "
            "differential privacy"
        ),
    ),
    _table(
        "microaggregation", "microaggregation", "Domingo-Ferrer and Torra (2005)", "microaggregation:microaggregate",
        start={"k": 5, "scale": "std"}, grid={"k": (3, 10, 25, 50)}, classes=True,
        guarantee="every combination of released numbers occurs at least {k} times; other columns are as they were",
    ),
    _table(
        "add_noise", "additive noise", "Kim (1986)", "perturbation:add_noise",
        start={"relative": 0.2}, grid={"relative": (0.05, 0.2, 0.5, 1.0)},
    ),
    _table(
        "rank_swapping", "rank swapping", "Moore (1996)", "perturbation:swap_ranks",
        start={"percent": 5.0}, grid={"percent": (1.0, 5.0, 15.0)},
    ),
    _table(
        "rounding", "rounding", "official statistics' rounding", "perturbation:round_values",
        start={"base": 5.0}, grid={"base": (2.0, 10.0)},
    ),
    _network(
        "degree_anonymity", "k-degree anonymity", "Vanhoef (2012), chapter 9; Liu and Terzi (2008)",
        "degree_anonymity:degree_anonymise", **_SIZES,
        guarantee="every node shares its degree with at least {others} others; nothing is promised about neighbours",
    ),
    _network("naive", "other names only", "Vanhoef (2012), Definition 8.1", "perturbation:naive_anonymise"),
    _network(
        "swap_edges", "edges exchanged", "Ying and Wu (2008)", "perturbation:swap_edges",
        grid={"share": (0.05, 0.2, 0.6)},
    ),
    _network(
        "rewire_edges", "edges moved at random", "Hay et al. (2007)", "perturbation:rewire_edges",
        grid={"share": (0.02, 0.1, 0.4)},
    ),
)  # fmt: skip

# -- attacks -----------------------------------------------------------------------------------------------------------

_VANHOEF = "Vanhoef (2012), section 3.3.2"
_PASSIVE = "Narayanan and Shmatikov (2009); Vanhoef (2012), chapter 10"


def _attack(
    data: str, module: str, needs: str, name: str, label: str, source: str, *, also: str = "", function: str = "",
    **fields: Any,
) -> Entry:  # fmt: skip
    return Entry(
        name, "attack", data, f"methods.attacks_{module}:{function or name}", "claims", source, label,
        needs=f"{needs} {also}".strip(), **fields,
    )  # fmt: skip


_by_table = partial(_attack, "table", "tables", "labels")
_by_value = partial(_attack, "table", "values", "labels sensitive")
_by_class = partial(_attack, "table", "values", "labels unperturbed sensitive")
_by_place, _by_network = partial(_attack, "places", "places", "points"), partial(_attack, "network", "networks", "")
_by_distance = partial(_attack, "places", "distances", "", measure="precision")

#: In the order in which a panel lists them. Links are read by the share of claims that are right.
ATTACKS = (
    _by_table(
        "exact_join", "join by all that was left as it was", "Sweeney (2002); the simplest intruder",
        usual="places table", also="unperturbed",
    ),
    _by_table(
        "class_risk", "re-identification inside classes", "El Emam and Dankar (2008)", usual="table", also="unperturbed"
    ),
    _attack(
        "table", "households", "households", "household_join", "whole households at once",
        "household risk, Hundepool et al. (2012)",
    ),
    _by_table(
        "register_join", "look-up in a register", "the journalist's risk, El Emam and Dankar (2008)",
        also="register",
    ),
    _by_table("nearest_record", "nearest record, numbers and categories", "Gower (1971)", usual="table"),
    _by_table("record_assignment", "records assigned one to one", "Herranz et al. (2015)"),
    _by_table(
        "record_linkage", "linkage to the nearest record", "Abril et al. (2012), section 2.1", measure="precision"
    ),
    _by_table(
        "probabilistic_linkage", "probabilistic linkage", "Fellegi and Sunter (1969)", measure="precision",
        seconds=30.0, function="record_linkage", fixed={"distance": "probabilistic"},
    ),
    *(
        _by_table(
            f"{model}_linkage", f"linkage by a learned {words}", source, measure="precision",
            function="learned_linkage", fixed={"model": model}, seconds=seconds,
        )
        for model, words, source, seconds in (
            ("weighted_mean", "weighted mean", "Abril et al. (2012), section 3", 15.0),
            ("choquet", "Choquet integral", "Abril et al. (2012), section 3", 15.0),
            ("bilinear", "bilinear form", "Abril, Torra and Navarro-Arribas (2015)", 20.0),
        )
    ),
    _by_table("nearest_in_class", "nearest value inside the class", "Holohan et al. (2017), section V-B"),
    _by_class("homogeneity", "sensitive value of a whole class", _VANHOEF, usual="table"),
    _by_class("modal_value", "commonest sensitive value of a class", "TCAP: Taub et al. (2018)"),
    _by_class("skewness", "sensitive value made much more probable", _VANHOEF, usual="table"),
    _by_class("similarity", "sensitive values alike in a class", _VANHOEF),
    _by_class("background_knowledge", "sensitive value once others are ruled out", _VANHOEF),
    _by_value("attribute_inference", "sensitive value by a trained model", "Giomi et al. (2023)", seconds=0.3),
    _by_value(
        "intersection", "intersection of releases", "Vanhoef (2012), Algorithm 3.1", also="earlier"
    ),
    _by_place(
        "nearest_place", "nearest place of the same labels", "the simplest intruder on a map", usual="places",
    ),
    _by_place("known_mask", "place by the law of the mask", "Kerckhoffs' principle", also="method"),
    _by_place("place_assignment", "places assigned one to one", "global linkage of places"),
    _by_place("spatial_k", "persons within the displacement", "Cassa et al. (2006)", seconds=0.5),
    _by_place("repeated_masks", "average of repeated masks", "Cassa et al. (2008)", also="earlier"),
    _by_distance(
        "label_linkage", "linkage by labels alone", "Kroll (2015), section 4", usual="places",
        also="labels",
    ),
    _by_distance(
        "common_subgraph", "linkage by labels and distances",
        "Kroll (2015), section 4; with intervals Kroll and Schnell (2016)", usual="places",
        by_pairs=True, seconds=25.0,
    ),
    _by_distance(
        "quasi_clique", "linkage by a nearly consistent match", "Kroll (2015), section 5",
        by_pairs=True, seconds=25.0, function="common_subgraph", start={"gamma": 0.9},
    ),
    _by_distance(
        "reference_sets", "location of all by exact equalities", "beyond Kroll and Schnell (2016)", seconds=0.2,
    ),
    _by_distance(
        "registration", "location of all by their shape", "registration of point clouds",
        seconds=8.0,
    ),
    _by_distance(
        "multilateration", "location of records by distances to linked ones", "multilateration from linked records",
        seconds=0.2,
    ),
    _by_distance(
        "population", "location by where people live", "beyond Kroll and Schnell (2016)", measure="risk", seconds=4.0
    ),
    _by_network("degree", "number of relations known", "Liu and Terzi (2008)", usual="network"),
    _by_network("neighbourhood", "relations of the friends known", "Zhou and Pei (2008)", usual="network"),
    _by_network(
        "coalition", "passive attack of a coalition", "Backstrom et al. (2007); Vanhoef (2012), section 8.9",
        usual="network",
    ),
    _by_network("passive", "passive attack from every start at hand", "Vanhoef (2012), sections 10.3 and 10.4"),
    _by_network("propagation", "passive attack from seeds", _PASSIVE),
    _by_network(
        "seedless_propagation", "passive attack without seeds", _PASSIVE, usual="network", fixed={"method": "matching"}
    ),
    _by_network("edge_disclosure", "links given away by degrees", "Vanhoef (2012), sections 7.2 and 9.2"),
    _by_network(
        "spectral_propagation", "passive attack by spectra", "Fan et al. (2019); Vanhoef (2012), section 10.4",
        function="seedless_propagation", fixed={"method": "spectral"},
    ),
)  # fmt: skip

# -- measures of utility -----------------------------------------------------------------------------------------------

_SPATIAL = "Kroll and Schnell (2016)"
_PROPERTIES = "Vanhoef (2012), section 7.3.2"


#: Those of a usual map, and the needs of the others.
_USUAL = (
    "neighbours_kept distances_kept distance_precision information_kept correlations_kept edge_overlap path_length_kept"
)
_NEEDS = {"correlations_kept": "numbers", "classification_accuracy": "sensitive"}


def _utility(data: str, form: str, name: str, label: str, source: str, module: str) -> Entry:
    return Entry(
        name, "metric", data, f"{module}:{name}", f"{form} utility", source, label,
        usual=data if name in _USUAL.split() else "", needs=_NEEDS.get(name, ""),
    )  # fmt: skip


_distance_utility = partial(_utility, "places", "distance", module="places.utility")
_point_utility = partial(_utility, "places", "point", module="places.utility")
_table_utility = partial(_utility, "table", module="tables.utility")  # its form is the first argument
_network_utility = partial(_utility, "network", "network", module="networks.utility")

#: In the order in which they are listed.
UTILITIES = (
    _distance_utility(
        "neighbours_kept", "nearest neighbours kept (share)", "the analysis of local clusters", module="tables.utility"
    ),
    _distance_utility("distances_kept", "correlation of distances", "Pearson's correlation", module="tables.utility"),
    _distance_utility(
        "distance_precision", "reciprocal variance of distance deviations (km⁻²)", "Kroll (2015), section 5",
        module="tables.utility",
    ),
    Entry(
        "nearest_neighbour_kept", "metric", "places", "places.utility:nearest_neighbour_agreement", "distance utility",
        source=f"{_SPATIAL}, figure 2, left", label="nearest neighbour kept (share)",
    ),
    _distance_utility("ranks_kept", "rank correlation of distances", f"{_SPATIAL}, figure 2, right"),
    _distance_utility("small_distances_kept", "small distances kept (share)", _SPATIAL),
    _distance_utility("clusters_kept", "clusters kept (adjusted Rand index)", _SPATIAL),
    _distance_utility("weights_kept", "weights of a local regression kept (share)", _SPATIAL),
    _distance_utility("density_index_kept", "Clark and Evans' index kept (ratio)", "Clark and Evans (1954)"),
    _distance_utility("morans_i_kept", "Moran's I kept", "Moran (1950)"),
    _distance_utility("gearys_c_kept", "Geary's C kept", "Geary (1954)"),
    _point_utility("places_kept", "nearness to the true places", "median displacement"),
    _point_utility("mean_centre_kept", "mean centre kept", "centrography"),
    _point_utility("standard_distance_kept", "standard distance kept (ratio)", "centrography"),
    _point_utility("cells_kept", "counts by cell kept (share)", "maps of counts"),
    _table_utility("value", "information_kept", "information kept (share)", "Domingo-Ferrer and Mateo-Sanz (2002)"),
    _table_utility("value", "correlations_kept", "correlations kept (share)", "mean absolute change of correlations"),
    _table_utility("value", "means_kept", "means kept", "Domingo-Ferrer and Torra (2001)"),
    _table_utility("value", "variances_kept", "variances kept (ratio)", "Domingo-Ferrer and Torra (2001)"),
    _table_utility("value", "regression_kept", "intervals of coefficients kept (overlap)", "Karr et al. (2006)"),
    _table_utility("value", "propensity_kept", "not told from the original", "Woo et al. (2009)"),
    _table_utility("value", "classification_accuracy", "accuracy of a tree's predictions", "Iyengar (2002)"),
    _table_utility("share", "marginals_kept", "distributions of columns kept (share)", "total variation"),
    _table_utility("share", "contingencies_kept", "two-way tables kept (share)", "total variation"),
    _table_utility("share", "entropy_kept", "bits that labels say (share)", "Gionis and Tassa (2009)"),
    _table_utility("label", "discernibility_kept", "records told apart (share of pairs)", "Bayardo and Agrawal (2005)"),
    _table_utility("label", "classes_kept", "classes kept (share)", "LeFevre et al. (2006)"),
    _network_utility("edge_overlap", "edges in common (share)", "Vanhoef (2012), chapter 9"),
    _network_utility("edges_kept", "edges kept (share)", "Vanhoef (2012), chapter 9"),
    _network_utility("degrees_kept", "distribution of degrees kept (share)", _PROPERTIES),
    _network_utility("clustering_kept", "clustering kept (ratio)", _PROPERTIES),
    _network_utility("path_length_kept", "mean path length kept (ratio)", _PROPERTIES),
    _network_utility("diameter_kept", "diameter kept (ratio)", _PROPERTIES),
    _network_utility("density_kept", "density kept (ratio)", _PROPERTIES),
    _network_utility("exponent_kept", "exponent of the degrees kept (ratio)", _PROPERTIES),
)  # fmt: skip

#: All entries, in the order in which they are listed.
ENTRIES = (*ANONYMISERS, *ATTACKS, *UTILITIES)
