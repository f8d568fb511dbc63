# The public names of this subpackage and where they are defined.

from .budget import Budget as Budget
from .degree_sequence import private_degree_sequence as private_degree_sequence
from .exponential import (
    choice_probabilities as choice_probabilities,
)
from .exponential import (
    exponential_mechanism as exponential_mechanism,
)
from .histograms import laplace_histogram as laplace_histogram
from .impossibility import (
    ImpossibilityGame as ImpossibilityGame,
)
from .impossibility import (
    impossibility_game as impossibility_game,
)
from .information import (
    min_entropy as min_entropy,
)
from .information import (
    privacy_loss_bound as privacy_loss_bound,
)
from .information import (
    self_information as self_information,
)
from .information import (
    statistical_distance as statistical_distance,
)
from .kmeans import private_kmeans as private_kmeans
from .laplace import (
    discrete_laplace as discrete_laplace,
)
from .laplace import (
    simulation_laplace as simulation_laplace,
)
from .median_mechanism import MedianMechanism as MedianMechanism
from .pan_private import PanPrivateDensity as PanPrivateDensity
from .queries import (
    laplace_count as laplace_count,
)
from .queries import (
    laplace_sum as laplace_sum,
)
from .query_failures import (
    MaxAuditor as MaxAuditor,
)
from .query_failures import (
    auditing_attack as auditing_attack,
)
from .query_failures import (
    averaging_attack as averaging_attack,
)
from .query_failures import (
    query_set_attack as query_set_attack,
)
from .query_failures import (
    sampling_exposure as sampling_exposure,
)
from .randomisation import randomised_response as randomised_response
