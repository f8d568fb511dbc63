# The public names of this subpackage and where they are defined.

from .cliques import (
    Clique as Clique,
)
from .cliques import (
    Cliques as Cliques,
)
from .cliques import (
    max_clique as max_clique,
)
from .cliques import (
    max_cliques as max_cliques,
)
from .quasi import quasi_clique as quasi_clique
