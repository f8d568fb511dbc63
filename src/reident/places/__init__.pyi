# The public names of this subpackage and where they are defined.

from .common_subgraph import (
    Linkage as Linkage,
)
from .common_subgraph import (
    MetricMicrodata as MetricMicrodata,
)
from .common_subgraph import (
    classical_linkage as classical_linkage,
)
from .common_subgraph import (
    common_subgraph_attack as common_subgraph_attack,
)
from .compatibility import (
    CompatibilityGraph as CompatibilityGraph,
)
from .compatibility import (
    compatibility_graph as compatibility_graph,
)
from .displacement import (
    mask_areal_elimination as mask_areal_elimination,
)
from .displacement import (
    mask_dhs as mask_dhs,
)
from .displacement import (
    mask_planar_laplace as mask_planar_laplace,
)
from .displacement import (
    move_rigidly as move_rigidly,
)
from .distance_analyses import (
    autocorrelation as autocorrelation,
)
from .distance_analyses import (
    impute_from_neighbours as impute_from_neighbours,
)
from .distance_analyses import (
    local_slopes as local_slopes,
)
from .distance_analyses import (
    scan_cluster as scan_cluster,
)
from .distance_analyses import (
    spatial_eigenvectors as spatial_eigenvectors,
)
from .distances import (
    great_circle_cross_km as great_circle_cross_km,
)
from .distances import (
    great_circle_km as great_circle_km,
)
from .distances import (
    great_circle_pairs_km as great_circle_pairs_km,
)
from .lipschitz_embedding import embed_distances as embed_distances
from .masks import (
    mask_disc as mask_disc,
)
from .masks import (
    mask_donut as mask_donut,
)
from .masks import (
    mask_grid as mask_grid,
)
from .masks import (
    mask_population_donut as mask_population_donut,
)
from .masks import (
    swap_locations as swap_locations,
)
from .noise import (
    DistanceDeviation as DistanceDeviation,
)
from .noise import (
    distance_deviation_quantiles as distance_deviation_quantiles,
)
from .noise import (
    distance_noise_window_km as distance_noise_window_km,
)
from .noise import (
    perturb_coordinates as perturb_coordinates,
)
from .noise import (
    perturb_distances as perturb_distances,
)
from .quality import (
    LinkageQuality as LinkageQuality,
)
from .quality import (
    linkage_quality as linkage_quality,
)
from .tolerance import (
    ToleranceIntervals as ToleranceIntervals,
)
from .tolerance import (
    tolerance_intervals as tolerance_intervals,
)
from .utility import (
    clustering_agreement as clustering_agreement,
)
from .utility import (
    distance_utilities as distance_utilities,
)
from .utility import (
    nearest_neighbour_agreement as nearest_neighbour_agreement,
)
