"""A study that lives outside the package: how often a rounded age is still the only one of its kind."""

from dataclasses import dataclass
from typing import Annotated

from reident.base import Whole
from reident.data.papers import Paper
from reident.studies.parameters import Listed
from reident.studies.study import Study


@dataclass(frozen=True)
class Profile:
    widths: Annotated[list[int], Listed(Whole(1, unit="years"))]
    repetitions: Annotated[int, Whole(1)]


STUDY = Study(
    name="guest",
    document=Paper("guest2026", "A. Guest (2026). Ages by the decade."),
    title="Rounded ages",
    notebook=__file__.replace("__init__.py", "guest.ipynb"),
    seed=7,
    profiles={"smoke": Profile([1, 10], 2), "quick": Profile([1, 2, 5, 10], 4)},
    figures=("figure-1-ages",),
    module=__name__,
    result="ages",
)
