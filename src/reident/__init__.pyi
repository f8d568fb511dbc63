# Every public name and where it is defined, in the order of the layers: what Python, type checkers and editors read.

from . import (
    base as base,
    cliques as cliques,
    data as data,
    experiments as experiments,
    methods as methods,
    networks as networks,
    places as places,
    plotting as plotting,
    queries as queries,
    runner as runner,
    tables as tables,
    workbench as workbench,
)
from .base import (
    DataError as DataError,
    ParameterError as ParameterError,
    PrivacyWarning as PrivacyWarning,
    SearchLimitWarning as SearchLimitWarning,
    TrialError as TrialError,
)
from .base.rates import Rate as Rate, wilson_interval as wilson_interval
from .queries.budget import Budget as Budget
from .queries.degree_sequence import private_degree_sequence as private_degree_sequence
from .queries.exponential import (
    choice_probabilities as choice_probabilities,
    exponential_mechanism as exponential_mechanism,
)
from .queries.kmeans import private_kmeans as private_kmeans
from .queries.pan_private import PanPrivateDensity as PanPrivateDensity
from .queries.histograms import laplace_histogram as laplace_histogram
from .queries.queries import laplace_count as laplace_count, laplace_sum as laplace_sum
from .queries.randomised_response import randomised_response as randomised_response
from .queries.information import (
    min_entropy as min_entropy,
    self_information as self_information,
    statistical_distance as statistical_distance,
)
from .queries.impossibility import ImpossibilityGame as ImpossibilityGame, impossibility_game as impossibility_game
from .queries.median_mechanism import MedianMechanism as MedianMechanism
from .queries.laplace import discrete_laplace as discrete_laplace, simulation_laplace as simulation_laplace
from .data.papers import errata as errata, published as published
from .experiments.claims import claims as claims
from .experiments.compare import compare as compare
from .experiments.parameters import check_parameters as check_parameters
from .experiments.sweep import sweep as sweep
from .rumap import frontier as frontier, ru_frame as ru_frame
from .plotting.interactive import ru_map_page as ru_map_page, ru_map_widget as ru_map_widget
from .plotting.ru_curves import plot_ru_map as plot_ru_map
from .places.distances import (
    great_circle_km as great_circle_km,
    great_circle_cross_km as great_circle_cross_km,
    great_circle_pairs_km as great_circle_pairs_km,
)
from .places.spatial import (
    autocorrelation as autocorrelation,
    clustering_agreement as clustering_agreement,
    distance_utilities as distance_utilities,
    nearest_neighbour_agreement as nearest_neighbour_agreement,
)
from .places.uses import (
    impute_from_neighbours as impute_from_neighbours,
    local_slopes as local_slopes,
    scan_cluster as scan_cluster,
    spatial_eigenvectors as spatial_eigenvectors,
)
from .data.simulate import points_in_area as points_in_area, sample_network as sample_network
from .networks.graph import DirectedNetwork as DirectedNetwork, Network as Network, as_network as as_network
from .networks.files import read_graph as read_graph, write_graph as write_graph
from .networks.degree_anonymity import (
    DegreeAnonymisation as DegreeAnonymisation,
    anonymise_degrees as anonymise_degrees,
    degree_anonymise as degree_anonymise,
    is_degree_anonymous as is_degree_anonymous,
)
from .networks.perturbation import NaiveAnonymisation as NaiveAnonymisation, naive_anonymise as naive_anonymise
from .networks.edge_disclosure import EdgeDisclosure as EdgeDisclosure, edge_disclosure as edge_disclosure
from .networks.properties import (
    NetworkProperties as NetworkProperties,
    PathLengths as PathLengths,
    average_path_length as average_path_length,
    clustering_coefficient as clustering_coefficient,
    density as density,
    diameter as diameter,
    network_properties as network_properties,
    path_lengths as path_lengths,
    power_law_exponent as power_law_exponent,
)
from .networks.utility import edge_overlap as edge_overlap
from .networks.propagation import MappingQuality as MappingQuality, mapping_quality as mapping_quality
from .networks.planted_recovery import Detectability as Detectability, detectability as detectability
from .networks.propagation import Propagation as Propagation, propagate as propagate
from .networks.seeds import passive_attack as passive_attack
from .networks.seeds import Seeds as Seeds, find_seeds as find_seeds
from .networks.spectral import SpectralMatch as SpectralMatch, spectral_match as spectral_match
from .networks.link_prediction import (
    drop_unlikely_edges as drop_unlikely_edges,
    link_scores as link_scores,
    random_non_edges as random_non_edges,
)
from .networks.planted_subgraph import Plan as Plan, coalition as coalition, implant as implant
from .networks.planted_recovery import Recovery as Recovery, recover as recover
from .networks.planted_cut import (
    edge_connected_groups as edge_connected_groups,
    implant_by_cut as implant_by_cut,
    recover_by_cut as recover_by_cut,
)
from .places.noise import (
    DistanceDeviation as DistanceDeviation,
    distance_deviation_quantiles as distance_deviation_quantiles,
    distance_noise_window_km as distance_noise_window_km,
    perturb_coordinates as perturb_coordinates,
    perturb_distances as perturb_distances,
)
from .places.lipschitz_embedding import embed_distances as embed_distances
from .places.masks import (
    mask_disc as mask_disc,
    mask_donut as mask_donut,
    mask_grid as mask_grid,
    mask_population_donut as mask_population_donut,
    swap_locations as swap_locations,
)
from .places.tolerance import (
    ToleranceIntervals as ToleranceIntervals,
    tolerance_intervals as tolerance_intervals,
)
from .location.calibration import Calibration as Calibration, calibrate_distances as calibrate_distances
from .places.displacement import (
    mask_areal_elimination as mask_areal_elimination,
    mask_dhs as mask_dhs,
    mask_planar_laplace as mask_planar_laplace,
    move_rigidly as move_rigidly,
)
from .location.grid_sets import (
    GridSets as GridSets,
    SetDistances as SetDistances,
    mask_by_grid_sets as mask_by_grid_sets,
    repair_grid_sets as repair_grid_sets,
)
from .location.localisation import Localisation as Localisation
from .location.multilateration import multilateration_attack as multilateration_attack
from .location.population_location import locate_by_population as locate_by_population
from .location.reference_map import ReferenceMap as ReferenceMap, locate_by_reference_sets as locate_by_reference_sets
from .location.reference_sets import (
    EqualDifferences as EqualDifferences,
    HiddenCoordinates as HiddenCoordinates,
    exact_equalities as exact_equalities,
    recover_coordinates as recover_coordinates,
)
from .location.released_step import ReleasedStep as ReleasedStep, estimate_step as estimate_step
from .location.registration import registration_attack as registration_attack
from .tables.hierarchy import Hierarchy as Hierarchy
from .tables.k_anonymity import KAnonymous as KAnonymous, k_anonymise as k_anonymise
from .tables.k_epsilon import KEpsilonRelease as KEpsilonRelease, k_epsilon_anonymise as k_epsilon_anonymise
from .tables.minimality import MinimalityBreach as MinimalityBreach, minimality_attack as minimality_attack
from .tables.scoreboard import (
    Ratings as Ratings,
    ScoreboardMatch as ScoreboardMatch,
    scoreboard_attack as scoreboard_attack,
    simulate_ratings as simulate_ratings,
)
from .tables.nearest_record import NearestRecord as NearestRecord, nearest_record_attack as nearest_record_attack
from .tables.class_noise import (
    confidence_suppression as confidence_suppression,
    epsilon_for_error as epsilon_for_error,
    expected_relative_error as expected_relative_error,
    noise_entropy_loss as noise_entropy_loss,
    relative_error as relative_error,
)
from .data.people import adult_with_height as adult_with_height, voter_list as voter_list
from .tables.differencing import Differencing as Differencing, differencing_attack as differencing_attack
from .tables.disclosure import (
    equivalence_classes as equivalence_classes,
    k_anonymity as k_anonymity,
    l_diversity as l_diversity,
    recursive_c as recursive_c,
    reidentification_risk as reidentification_risk,
    t_closeness as t_closeness,
)
from .tables.class_disclosure import (
    background_knowledge_attack as background_knowledge_attack,
    homogeneity_attack as homogeneity_attack,
    similarity_attack as similarity_attack,
    skewness_attack as skewness_attack,
)
from .tables.intersection import (
    IntersectionAttack as IntersectionAttack,
    intersection_attack as intersection_attack,
    intersection_course as intersection_course,
)
from .queries.query_failures import (
    MaxAuditor as MaxAuditor,
    auditing_attack as auditing_attack,
    averaging_attack as averaging_attack,
    query_set_attack as query_set_attack,
    sampling_exposure as sampling_exposure,
)
from .cliques.cliques import Clique as Clique, Cliques as Cliques, max_clique as max_clique, max_cliques as max_cliques
from .places.common_subgraph import (
    Linkage as Linkage,
    MetricMicrodata as MetricMicrodata,
    classical_linkage as classical_linkage,
    common_subgraph_attack as common_subgraph_attack,
)
from .places.compatibility import CompatibilityGraph as CompatibilityGraph, compatibility_graph as compatibility_graph
from .queries.information import privacy_loss_bound as privacy_loss_bound
from .cliques.quasi import quasi_clique as quasi_clique
from .places.linkage_quality import LinkageQuality as LinkageQuality, linkage_quality as linkage_quality
from .tables.utility import (
    correlations_kept as correlations_kept,
    distance_precision as distance_precision,
    distances_kept as distances_kept,
    information_kept as information_kept,
    neighbours_kept as neighbours_kept,
)
from .methods.registry import register as register
from .workbench.ru_map import risk_utility as risk_utility
from .workbench.opening import OpenedFile as OpenedFile, open_file as open_file
from .workbench.recipe import Recipe as Recipe, read_recipe as read_recipe
from .workbench.assessing import Assessment as Assessment, assess as assess
from .workbench.check import Finding as Finding, Verdict as Verdict, check as check
from .workbench.dataset import Dataset as Dataset, open_dataset as open_dataset
from .workbench.schema import Schema as Schema
from .workbench.evaluate import RiskReport as RiskReport, evaluate as evaluate
from .workbench.knowledge import KnowledgePrice as KnowledgePrice, knowledge_price as knowledge_price
from .workbench.pipeline import Pipeline as Pipeline, Release as Release, Step as Step, protect as protect
from .tables.microaggregation import Microaggregation as Microaggregation, microaggregate as microaggregate
from .tables.perturbation import add_noise as add_noise, round_values as round_values, swap_ranks as swap_ranks
from .tables.choquet.choquet_linkage import LearnedLinkage as LearnedLinkage, learn_linkage as learn_linkage
from .tables.choquet.fuzzy_measure import FuzzyMeasure as FuzzyMeasure
from .tables.record_linkage import RecordLinkage as RecordLinkage, link_records as link_records
from .tables.individual_risk import individual_risk as individual_risk, special_uniques as special_uniques
from .tables.population import population_uniques as population_uniques

__version__: str
__all__: list[str]
