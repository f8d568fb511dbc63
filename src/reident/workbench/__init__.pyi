# The public names of this subpackage and where they are defined.

from .assessing import Assessment as Assessment
from .assessing import assess as assess
from .dataset import Dataset as Dataset
from .dataset import open_dataset as open_dataset
from .knowledge import KnowledgePrice as KnowledgePrice
from .making import Step as Step
from .opening import OpenedFile as OpenedFile
from .opening import open_file as open_file
from .pipeline import Pipeline as Pipeline
from .pipeline import Release as Release
from .pipeline import protect as protect
from .recipe import Recipe as Recipe
from .recipe import read_recipe as read_recipe
from .ru_map import risk_utility as risk_utility
from .schema import Schema as Schema
