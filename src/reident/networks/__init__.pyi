# The public names of this subpackage and where they are defined.

from .degree_anonymity import (
    DegreeAnonymisation as DegreeAnonymisation,
)
from .degree_anonymity import (
    anonymise_degrees as anonymise_degrees,
)
from .degree_anonymity import (
    degree_anonymise as degree_anonymise,
)
from .degree_anonymity import (
    is_degree_anonymous as is_degree_anonymous,
)
from .disclosed_edges import (
    EdgeDisclosure as EdgeDisclosure,
)
from .disclosed_edges import (
    edge_disclosure as edge_disclosure,
)
from .files import (
    read_graph as read_graph,
)
from .files import (
    write_graph as write_graph,
)
from .graph import (
    DirectedNetwork as DirectedNetwork,
)
from .graph import (
    Network as Network,
)
from .graph import (
    as_network as as_network,
)
from .link_prediction import (
    drop_unlikely_edges as drop_unlikely_edges,
)
from .link_prediction import (
    link_scores as link_scores,
)
from .link_prediction import (
    random_non_edges as random_non_edges,
)
from .perturbation import (
    NaiveAnonymisation as NaiveAnonymisation,
)
from .perturbation import (
    naive_anonymise as naive_anonymise,
)
from .planted_cut import (
    edge_connected_groups as edge_connected_groups,
)
from .planted_cut import (
    implant_by_cut as implant_by_cut,
)
from .planted_cut import (
    recover_by_cut as recover_by_cut,
)
from .planted_recovery import (
    Detectability as Detectability,
)
from .planted_recovery import (
    Recovery as Recovery,
)
from .planted_recovery import (
    detectability as detectability,
)
from .planted_recovery import (
    recover as recover,
)
from .planted_subgraph import (
    Plan as Plan,
)
from .planted_subgraph import (
    coalition as coalition,
)
from .planted_subgraph import (
    implant as implant,
)
from .propagation import (
    MappingQuality as MappingQuality,
)
from .propagation import (
    Propagation as Propagation,
)
from .propagation import (
    mapping_quality as mapping_quality,
)
from .propagation import (
    propagate as propagate,
)
from .properties import (
    NetworkProperties as NetworkProperties,
)
from .properties import (
    PathLengths as PathLengths,
)
from .properties import (
    clustering_coefficient as clustering_coefficient,
)
from .properties import (
    density as density,
)
from .properties import (
    network_properties as network_properties,
)
from .properties import (
    path_lengths as path_lengths,
)
from .properties import (
    power_law_exponent as power_law_exponent,
)
from .seeds import (
    Seeds as Seeds,
)
from .seeds import (
    find_seeds as find_seeds,
)
from .seeds import (
    passive_attack as passive_attack,
)
from .spectral import (
    SpectralMatch as SpectralMatch,
)
from .spectral import (
    spectral_match as spectral_match,
)
from .utility import edge_overlap as edge_overlap
