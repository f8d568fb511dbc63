# The public names of this subpackage and where they are defined.

from .localisation import Localisation as Localisation
from .multilateration import multilateration_attack as multilateration_attack
from .population_location import locate_by_population as locate_by_population
from .reference_map import (
    ReferenceMap as ReferenceMap,
)
from .reference_map import (
    locate_by_reference_sets as locate_by_reference_sets,
)
from .reference_sets import (
    EqualDifferences as EqualDifferences,
)
from .reference_sets import (
    HiddenCoordinates as HiddenCoordinates,
)
from .reference_sets import (
    exact_equalities as exact_equalities,
)
from .reference_sets import (
    recover_coordinates as recover_coordinates,
)
from .registration import registration_attack as registration_attack
from .released_step import (
    ReleasedStep as ReleasedStep,
)
from .released_step import (
    estimate_step as estimate_step,
)
