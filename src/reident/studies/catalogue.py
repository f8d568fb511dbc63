"""All studies: those of the house, and those that other packages declare."""

from __future__ import annotations

from typing import Any

from reident.base import ParameterError, check_choice, load_offered
from reident.studies.kroll2016 import STUDY as KROLL2016
from reident.studies.study import Study
from reident.studies.vanhoef2012_tables import STUDY as VANHOEF2012_TABLES

__all__ = ["GROUP", "STUDIES", "available_studies", "select_studies"]

#: The entry-point group in which a package names its own studies: ``name = "package.module:STUDY"``.
GROUP = "reident.studies"

_HOUSE = (KROLL2016, VANHOEF2012_TABLES)

#: Every study there is, in the order in which they run and are shown.
STUDIES: dict[str, Study] = {study.name: study for study in _HOUSE}


def _take(offered: Any) -> None:
    """Add a study of an installed package."""
    if not isinstance(offered, Study):
        raise ParameterError(f"it must name a Study, got {type(offered).__name__}")
    if offered.name in STUDIES:
        raise ParameterError(f"a study must have a name of its own, got {offered.name!r}, which another study has")
    STUDIES[offered.name] = offered


load_offered(GROUP, _take)


def available_studies() -> list[Study]:
    """Return the studies whose notebook is there, in order."""
    return [study for study in STUDIES.values() if study.notebook_path.is_file()]


def select_studies(names: list[str] | None = None) -> list[Study]:
    """Return the available studies with these names or documents' stems; all of them for none given.

    Raises
    ------
    ParameterError
        If a name is neither a study nor a stem.
    """
    available = available_studies()
    if not names:
        return available
    for name in names:
        check_choice(name, "stem", sorted({study.name for study in available} | {study.stem for study in available}))
    return [study for study in available if study.name in names or study.stem in names]
