"""The parameters of a study: the fields of its profiles that a user may set, each with its rule."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reident.base import Option, ParameterError

__all__ = ["Listed", "changed", "rules"]


@dataclass(frozen=True)
class Listed(Option):
    """A list of values, each by the same rule and none of them twice."""

    each: Option
    kind = "list"

    @property
    def range(self) -> str:
        """What each value may be."""
        return f"each {self.each.range}"

    def check(self, value: Any, name: str) -> list[Any]:
        """Return the list, or raise `ParameterError`."""
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence | np.ndarray) or not len(value):
            raise ParameterError(f"`{name}` must be a list of at least one value, got {value!r}")
        checked = [self.each.check(one, name) for one in value]
        for position, one in enumerate(checked):
            if one in checked[:position]:
                raise ParameterError(f"`{name}` must give each value once, got {one!r} twice")
        return checked


def rules(plan: Any) -> dict[str, Option]:
    """Return the rule of each field of a profile that a user may set."""
    found: dict[str, Option] = {}
    for name, annotation in typing.get_type_hints(type(plan), include_extras=True).items():
        found.update((name, one) for one in getattr(annotation, "__metadata__", ()) if isinstance(one, Option))
    return found


def changed(plan: Any, parameters: Mapping[str, Any], study: str) -> dict[str, Any]:
    """Return the parameters that are given, checked; None leaves the profile's value."""
    known = rules(plan)
    for name in parameters:
        if name not in known:
            raise ParameterError(f"`{name}` must be a parameter of the study {study}: {', '.join(known)}")
    return {name: known[name].check(value, name) for name, value in parameters.items() if value is not None}
