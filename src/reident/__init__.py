"""reident: a workbench for disclosure risk.

It protects microdata, attacks the protected release the way an intruder would, measures what was disclosed and what
the release is still good for, and draws both on one risk-utility map. The public names below load their module when
they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.2.0"

# Module -> public names. One line a module, in the order of the layers.
_MODULES = {
    "errors": "DataError ParameterError PrivacyWarning SearchLimitWarning TrialError",
    "rates": "Rate residual_risk wilson_interval",
    "queries.budget": "Budget",
    "queries.degree_sequence": "private_degree_sequence",
    "queries.exponential": "choice_probabilities exponential_mechanism",
    "queries.kmeans": "private_kmeans",
    "queries.pan_private": "PanPrivateDensity",
    "queries.histograms": "laplace_histogram",
    "queries.queries": "laplace_count laplace_mean laplace_sum",
    "queries.randomised_response": "randomised_response",
    "queries.information": "min_entropy self_information shannon_entropy statistical_distance extractable_bits",
    "queries.impossibility": "ImpossibilityGame impossibility_game",
    "queries.continual": "TreeCounter",
    "queries.median_mechanism": "MedianMechanism",
    "queries.multiplicative_weights": "WeightedTable multiplicative_weights",
    "queries.laplace": "discrete_laplace simulation_laplace",
    "data.papers": "errata published",
    "rumap": "frontier pareto ru_frame",
    "plotting.interactive": "ru_map_page ru_map_widget",
    "plotting.rumap": "plot_ru_map plot_ru_panels",
    "plotting.together": "plot_ru_together",
    "places.distances": "great_circle_km great_circle_cross_km great_circle_pairs_km",
    "places.spatial": "autocorrelation clustering_agreement distance_utilities nearest_neighbour_agreement",
    "data.simulate": "points_in_area sample_network",
    "networks.graph": "DirectedNetwork Network as_network",
    "networks.files": "read_graph write_graph",
    "networks.degree_anonymity": "DegreeAnonymisation anonymise_degrees degree_anonymise is_degree_anonymous",
    "networks.naive": "NaiveAnonymisation naive_anonymise",
    "networks.ranking": "AUC auc",
    "networks.edge_disclosure": "EdgeDisclosure edge_disclosure",
    "networks.properties": (
        "NetworkProperties PathLengths average_path_length clustering_coefficient degree_sequence density diameter "
        "network_properties path_lengths power_law_exponent"
    ),
    "networks.kept": "edge_overlap",
    "networks.mapping_quality": "MappingQuality mapping_quality",
    "networks.detectability": "Detectability detectability",
    "networks.propagation": "Propagation propagate",
    "networks.semi_passive": "semi_passive",
    "networks.passive": "mapped_edges passive_attack",
    "networks.seeds": "Seeds find_seeds",
    "networks.spectral": "SpectralMatch spectral_match",
    "networks.link_prediction": "drop_unlikely_edges likely_links link_scores random_non_edges score_threshold",
    "networks.planted_subgraph": "Plan coalition implant",
    "networks.planted_recovery": "Recovery recover",
    "networks.planted_cut": "edge_connected_groups implant_by_cut recover_by_cut",
    "places.coordinate_noise": "perturb_coordinates",
    "places.distance_noise": "perturb_distances",
    "places.tolerance": "DistanceDeviation distance_deviation_quantiles distance_noise_window_km",
    "places.lipschitz_embedding": "embed_distances",
    "places.masks": "mask_disc mask_donut mask_grid mask_population_donut move_rigidly swap_locations",
    "places.tolerance_intervals": "ToleranceIntervals tolerance_intervals",
    "places.calibration": "Calibration calibrate_distances",
    "places.displacement": "mask_areal_elimination mask_dhs mask_planar_laplace mask_voronoi",
    "places.grid_sets": "GridSets SetDistances mask_by_grid_sets repair_grid_sets",
    "places.unmasking": "average_releases unmask_voronoi",
    "places.localisation": "Localisation",
    "places.multilateration": "multilateration_attack",
    "places.population_location": "locate_by_population",
    "places.reference_map": "ReferenceMap locate_by_reference_sets",
    "places.reference_sets": "EqualDifferences HiddenCoordinates exact_equalities recover_coordinates",
    "places.released_step": "ReleasedStep estimate_step",
    "places.registration": "registration_attack",
    "tables.hierarchy": "Hierarchy",
    "tables.k_anonymity": "KAnonymous k_anonymise least_ncp",
    "tables.k_epsilon": "KEpsilonRelease k_epsilon_anonymise",
    "tables.minimality": "MinimalityBreach minimality_attack",
    "tables.scoreboard": "Ratings ScoreboardMatch scoreboard_attack simulate_ratings",
    "tables.nearest_record": "NearestRecord nearest_record_attack",
    "tables.class_noise": "confidence_suppression expected_relative_error noise_entropy_loss relative_error",
    "data.people": "adult_with_height voter_list",
    "tables.differencing": "Differencing differencing_attack",
    "tables.disclosure": "equivalence_classes k_anonymity l_diversity recursive_c reidentification_risk t_closeness",
    "tables.class_disclosure": "background_knowledge_attack homogeneity_attack similarity_attack skewness_attack",
    "tables.intersection": "IntersectionAttack intersection_attack intersection_course",
    "queries.query_failures": "MaxAuditor auditing_attack averaging_attack query_set_attack sampling_exposure",
    "cliques.cliques": "Clique Cliques max_clique max_cliques",
    "places.common_subgraph": "Linkage MetricMicrodata classical_linkage common_subgraph_attack",
    "places.compatibility": "CompatibilityGraph compatibility_graph",
    "queries.privacy_loss": "privacy_loss_bound",
    "cliques.quasi": "quasi_clique",
    "places.linkage_quality": "LinkageQuality linkage_quality",
    "tables.utility": "correlations_kept distance_precision distances_kept information_kept neighbours_kept",
    "methods.registering": "register",
    "workbench.mapping": "risk_utility",
    "workbench.audit": "Finding audit_bytes",
    "workbench.opening": "OpenedFile open_file",
    "workbench.recipe": "Recipe read_recipe",
    "workbench.assessing": "Assessment assess",
    "workbench.checking": "check",
    "workbench.verdict": "Verdict",
    "workbench.knowledge": "KnowledgePrice knowledge_price",
    "workbench.panel": "attack_panel",
    "workbench.protecting": "protect",
    "tables.microaggregation": "Microaggregation microaggregate",
    "tables.perturbation": "add_noise round_values swap_ranks",
    "tables.choquet.attribute_leakage": "AttributeLeakage attribute_leakage",
    "tables.choquet.choquet_linkage": "LearnedLinkage learn_linkage",
    "tables.choquet.fuzzy_measure": "FuzzyMeasure",
    "tables.record_linkage": "RecordLinkage link_records",
    "tables.assignment": "assign_records",
    "tables.individual_risk": "individual_risk special_uniques",
    "tables.population": "population_uniques",
}
_SUBMODULES = (  # noqa: SIM905 (a line to read)
    "cliques data errors methods networks options places plotting queries rumap runner studies sweep tables workbench"
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
