# Every name at the top of the package and where it is defined: what Python, type checkers and editors read.

from . import (
    base as base,
    cliques as cliques,
    data as data,
    experiments as experiments,
    location as location,
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
from .cliques.cliques import max_clique as max_clique
from .data.datasets import (
    errata as errata,
    published as published,
)
from .experiments.claims import claims as claims
from .experiments.compare import compare as compare
from .experiments.parameters import check_parameters as check_parameters
from .experiments.sweep import sweep as sweep
from .methods.registry import register as register
from .networks.degree_anonymity import degree_anonymise as degree_anonymise
from .networks.graph import Network as Network
from .places.common_subgraph import (
    MetricMicrodata as MetricMicrodata,
    common_subgraph_attack as common_subgraph_attack,
)
from .places.distances import great_circle_km as great_circle_km
from .places.quality import linkage_quality as linkage_quality
from .places.lipschitz_embedding import embed_distances as embed_distances
from .places.noise import perturb_coordinates as perturb_coordinates
from .plotting.interactive import (
    ru_map_page as ru_map_page,
    ru_map_widget as ru_map_widget,
)
from .plotting.ru_curves import plot_ru_map as plot_ru_map
from .queries.histograms import laplace_histogram as laplace_histogram
from .rumap import (
    frontier as frontier,
    ru_frame as ru_frame,
)
from .tables.choquet.choquet_linkage import learn_linkage as learn_linkage
from .tables.anonymisation import k_anonymise as k_anonymise
from .tables.k_epsilon import k_epsilon_anonymise as k_epsilon_anonymise
from .tables.microaggregation import microaggregate as microaggregate
from .tables.record_linkage import link_records as link_records
from .workbench.assessing import (
    Assessment as Assessment,
    assess as assess,
)
from .workbench.check import (
    Finding as Finding,
    Verdict as Verdict,
    check as check,
)
from .workbench.dataset import Dataset as Dataset, open_dataset as open_dataset
from .workbench.schema import Schema as Schema
from .workbench.evaluate import (
    RiskReport as RiskReport,
    evaluate as evaluate,
)
from .workbench.making import Step as Step
from .workbench.pipeline import (
    Pipeline as Pipeline,
    Release as Release,
    protect as protect,
)
from .workbench.ru_map import risk_utility as risk_utility

__version__: str
__all__: list[str]
