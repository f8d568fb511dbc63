"""reident: a workbench for disclosure risk.

It protects microdata, attacks the protected release the way an intruder would, measures what was disclosed and what
the release is still good for, and draws both on one risk-utility map. The public names below load their module when
they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Module -> public names. One line a module, in the order of the layers.
_MODULES = {
    "errors": "DataError ParameterError PrivacyWarning SearchLimitWarning TrialError",
    "mechanisms.budget": "Budget",
    "mechanisms.degree_sequence": "private_degree_sequence",
    "mechanisms.exponential": "choice_probabilities exponential_mechanism",
    "mechanisms.kmeans": "private_kmeans",
    "mechanisms.pan_private": "PanPrivateDensity",
    "mechanisms.histograms": "laplace_histogram",
    "mechanisms.queries": "laplace_count laplace_mean laplace_sum",
    "mechanisms.randomised_response": "randomised_response",
    "mechanisms.laplace": "discrete_laplace simulation_laplace",
    "papers": "errata published",
    "rumap": "frontier pareto plot_ru_map plot_ru_panels ru_frame",
    "metrics.distances": "great_circle_km great_circle_cross_km great_circle_pairs_km",
    "metrics.spatial": "autocorrelation clustering_agreement distance_utilities nearest_neighbour_agreement",
    "simulate": "points_in_area sample_network",
    "networks": "DirectedNetwork Network as_network",
    "network_files": "read_graph write_graph",
    "anonymisers.degree_anonymity": "DegreeAnonymisation anonymise_degrees degree_anonymise is_degree_anonymous",
    "anonymisers.naive": "NaiveAnonymisation naive_anonymise",
    "metrics.ranking": "AUC auc",
    "metrics.networks": (
        "Detectability MappingQuality NetworkProperties PathLengths average_path_length clustering_coefficient "
        "degree_sequence density detectability diameter edge_overlap mapping_quality network_properties path_lengths "
        "power_law_exponent"
    ),
    "attacks.propagation": "Propagation propagate",
    "attacks.seeds": "Seeds find_seeds",
    "attacks.link_prediction": "drop_unlikely_edges likely_links link_scores random_non_edges score_threshold",
    "attacks.planted_subgraph": "Plan Recovery coalition implant recover",
    "anonymisers.coordinate_noise": "DistanceDeviation distance_deviation_quantiles perturb_coordinates",
    "anonymisers.distance_noise": "distance_noise_window_km perturb_distances",
    "anonymisers.lipschitz_embedding": "embed_distances",
    "anonymisers.masks": "mask_disc mask_donut mask_grid move_rigidly swap_locations",
    "attacks.tolerance_intervals": "ToleranceIntervals tolerance_intervals",
    "attacks.calibration": "Calibration calibrate_distances",
    "attacks.localisation": "Localisation",
    "attacks.multilateration": "multilateration_attack",
    "attacks.registration": "registration_attack",
    "anonymisers.hierarchy": "Hierarchy",
    "anonymisers.k_anonymity": "KAnonymous k_anonymise",
    "anonymisers.k_epsilon": "KEpsilonRelease k_epsilon_anonymise",
    "attacks.minimality": "MinimalityBreach minimality_attack",
    "attacks.nearest_record": "NearestRecord nearest_record_attack",
    "metrics.class_noise": "confidence_suppression expected_relative_error noise_entropy_loss relative_error",
    "people": "adult_with_height voter_list",
    "metrics.disclosure": "equivalence_classes k_anonymity l_diversity recursive_c reidentification_risk t_closeness",
    "attacks.class_disclosure": "background_knowledge_attack homogeneity_attack similarity_attack skewness_attack",
    "attacks.intersection": "IntersectionAttack intersection_attack intersection_course",
    "attacks.query_failures": "MaxAuditor auditing_attack averaging_attack query_set_attack sampling_exposure",
    "attacks.cliques": "Clique Cliques max_clique max_cliques",
    "attacks.common_subgraph": "Linkage MetricMicrodata classical_linkage common_subgraph_attack",
    "attacks.compatibility": "CompatibilityGraph compatibility_graph",
    "metrics.privacy_loss": "privacy_loss_bound",
    "attacks.quasi_cliques": "quasi_clique",
    "metrics.linkage": "LinkageQuality linkage_quality",
    "metrics.utility": "correlations_kept distance_precision distances_kept information_kept neighbours_kept",
    "workbench.mapping": "risk_utility",
    "workbench.assessing": "Assessment assess",
    "workbench.protecting": "protect",
    "anonymisers.microaggregation": "Microaggregation microaggregate",
    "anonymisers.perturbation": "add_noise round_values swap_ranks",
    "attacks.attribute_leakage": "AttributeLeakage attribute_leakage",
    "attacks.choquet_linkage": "LearnedLinkage learn_linkage",
    "attacks.fuzzy_measure": "FuzzyMeasure",
    "attacks.record_linkage": "RecordLinkage link_records",
}
_SUBMODULES = (  # noqa: SIM905 (a line to read)
    "anonymisers attacks datasets errors experiments mechanisms metrics networks papers plotting registry rumap runner "
    "simulate workbench"
).split()
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"reident.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return importlib.import_module(f"reident.{name}")
    raise AttributeError(f"module 'reident' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_SUBMODULES})
