# The public names of this subpackage and where they are defined.

from .datasets import errata as errata
from .datasets import published as published
from .networks import sample_network as sample_network
from .people import adult_with_height as adult_with_height
from .people import voter_list as voter_list
from .simulate import points_in_area as points_in_area
