# The public names of this subpackage and where they are defined.

from .anonymisation import (
    KAnonymous as KAnonymous,
)
from .anonymisation import (
    k_anonymise as k_anonymise,
)
from .choquet.choquet_linkage import (
    LearnedLinkage as LearnedLinkage,
)
from .choquet.choquet_linkage import (
    learn_linkage as learn_linkage,
)
from .choquet.fuzzy_measure import FuzzyMeasure as FuzzyMeasure
from .class_disclosure import (
    background_knowledge_attack as background_knowledge_attack,
)
from .class_disclosure import (
    homogeneity_attack as homogeneity_attack,
)
from .class_disclosure import (
    similarity_attack as similarity_attack,
)
from .class_disclosure import (
    skewness_attack as skewness_attack,
)
from .class_noise import (
    confidence_suppression as confidence_suppression,
)
from .class_noise import (
    epsilon_for_error as epsilon_for_error,
)
from .class_noise import (
    expected_relative_error as expected_relative_error,
)
from .class_noise import (
    relative_error as relative_error,
)
from .class_noise_attacks import (
    Differencing as Differencing,
)
from .class_noise_attacks import (
    NearestRecord as NearestRecord,
)
from .class_noise_attacks import (
    differencing_attack as differencing_attack,
)
from .class_noise_attacks import (
    nearest_record_attack as nearest_record_attack,
)
from .disclosure import (
    equivalence_classes as equivalence_classes,
)
from .disclosure import (
    k_anonymity as k_anonymity,
)
from .disclosure import (
    l_diversity as l_diversity,
)
from .disclosure import (
    t_closeness as t_closeness,
)
from .hierarchy import Hierarchy as Hierarchy
from .intersection import (
    IntersectionAttack as IntersectionAttack,
)
from .intersection import (
    intersection_attack as intersection_attack,
)
from .intersection import (
    intersection_course as intersection_course,
)
from .k_epsilon import (
    KEpsilonRelease as KEpsilonRelease,
)
from .k_epsilon import (
    k_epsilon_anonymise as k_epsilon_anonymise,
)
from .microaggregation import (
    Microaggregation as Microaggregation,
)
from .microaggregation import (
    microaggregate as microaggregate,
)
from .perturbation import (
    add_noise as add_noise,
)
from .perturbation import (
    round_values as round_values,
)
from .perturbation import (
    swap_ranks as swap_ranks,
)
from .record_linkage import (
    RecordLinkage as RecordLinkage,
)
from .record_linkage import (
    link_records as link_records,
)
from .record_risk import (
    individual_risk as individual_risk,
)
from .record_risk import population_uniques as population_uniques
from .record_risk import (
    special_uniques as special_uniques,
)
from .scoreboard import (
    Ratings as Ratings,
)
from .scoreboard import (
    ScoreboardMatch as ScoreboardMatch,
)
from .scoreboard import (
    scoreboard_attack as scoreboard_attack,
)
from .scoreboard import (
    simulate_ratings as simulate_ratings,
)
from .utility import (
    correlations_kept as correlations_kept,
)
from .utility import (
    distance_precision as distance_precision,
)
from .utility import (
    distances_kept as distances_kept,
)
from .utility import (
    information_kept as information_kept,
)
from .utility import (
    neighbours_kept as neighbours_kept,
)
