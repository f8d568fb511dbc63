"""What the registry says about a method, and the checks that follow from it."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reident._validation import check_choice, check_integer, check_mapping, check_real
from reident.errors import ParameterError

__all__ = ["DATA", "FORMS", "ROLES", "Entry", "Parameter"]

ROLES = ("anonymiser", "attack", "metric")
DATA = ("places", "table", "network")

#: How a method is called; a method of a form that the workbench knows needs no further code to take part in a map.
FORMS = {
    "coordinates": "f(lat, lon, **options, rng=) -> (lat, lon)",
    "points": "f(points, **options, rng=) -> points; records may be left out",
    "candidates": "f(points, candidates, **options, rng=) -> points; records may be left out",
    "distances": "f(distances_km, **options, rng=) -> distances_km",
    "embedding": "f(lat, lon, area=, **options, rng=) -> distances_km",
    "columns": "f(table, columns, **options, rng=) -> result with a `table`",
    "classes": "f(table, quasi, hierarchies=, **options) -> result with a `table` of generalised labels",
    "classes and noise": "f(table, k_quasi=, epsilon_quasi=, hierarchies=, **options, rng=) -> table and source",
    "graph": "f(graph, **options, rng=) -> result with a `network`",
    "metric linkage": "f(release, known, quasi=, window_km= or intervals_km=, **options, rng=) -> result with `links`",
    "label linkage": "f(release, known, quasi=, **options, rng=) -> result with `links`",
    "record linkage": "f(release, known, columns=, truth=, **options) -> result with `links`",
    "class disclosure": "f(release, quasi=, sensitive=, **options) -> result with a `share`",
    "class risk": "f(table, quasi, **options) -> result with a `marketer` risk",
    "distance utility": "f(original_km, release_km, **options) -> float",
    "value utility": "f(original, release, columns=, **options) -> float",
    "network utility": "f(original, release, **options) -> float",
    "other": "no common form: call the function itself",
}

_RANGE = re.compile(r"^([\[(])\s*([^,]+),\s*([^\])]+)([\])])$")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method.

    Attributes
    ----------
    name : str
        As in the function's signature.
    kind : {"float", "int", "bool", "choice", "text"}
    range : str
        For numbers the interval in which it must lie, ``"(0, inf)"``.
    unit : str
        Empty for a pure number.
    start : plain value, optional
        What the workbench takes where the function itself has no default.
    grid : tuple
        The values that the workbench tries by itself, weakest protection first; lengths are for a country with a
        median distance of 250 km between records and are scaled to the data.
    choices : tuple
        For a choice.
    """

    name: str
    kind: str
    range: str = ""
    unit: str = ""
    start: Any = None
    grid: tuple[Any, ...] = ()
    choices: tuple[Any, ...] = ()

    @cached_property
    def bounds(self) -> tuple[float, float, bool, bool]:
        """The range as (low, high, low is left out, high is left out)."""
        match = _RANGE.match(self.range)
        if match is None:
            return -math.inf, math.inf, False, False
        left, low, high, right = match.groups()
        return float(low), float(high), left == "(", right == ")"

    def check(self, value: Any) -> Any:
        """Return a value that keeps the parameter's rule, or raise `ParameterError`."""
        if self.kind == "choice":
            return check_choice(value, self.name, self.choices)
        if self.kind == "bool":
            return check_choice(value, self.name, (False, True))
        if self.kind == "text":
            return value
        low, high, open_low, open_high = self.bounds
        if self.kind == "int":
            least = None if low == -math.inf else math.floor(low) + 1 if open_low else math.ceil(low)
            most = None if high == math.inf else int(high)
            return check_integer(value, self.name, low=least, high=most)
        return check_real(value, self.name, low=low, high=high, open_low=open_low, open_high=open_high)


_MEASURE = Parameter("measure", "choice", choices=("precision", "recall"), start="precision")

#: Options that the workbench adds to methods of a form: what the intruder does before and after the call.
EXTRAS: dict[str, tuple[Parameter, ...]] = {
    "metric linkage": (
        Parameter("alpha", "float", "(0, 1)", "share of deviations tolerated", start=0.5),
        Parameter("n_simulations", "int", "[2, inf)", "releases the intruder simulates", start=100),
        _MEASURE,
    ),
    "label linkage": (_MEASURE,),
    "record linkage": (_MEASURE,),
}


@dataclass(frozen=True)
class Entry:
    """One method of the house.

    Attributes
    ----------
    name : str
        What it is called on the command line, in the explorer and on maps.
    role : {"anonymiser", "attack", "metric"}
    data : {"places", "table", "network"}
        What it is applied to.
    target : str
        ``"module:function"`` inside the package; imported when it is first needed.
    form : str
        How it is called, a key of `FORMS`.
    parameters : tuple of Parameter
        What a user may set.
    source : str
        Where the method is described.
    label : str
        What axes and tables say.
    fixed : mapping
        Arguments that make this entry out of a more general function.
    takes : str
        Names of the arguments that are data, separated by blanks.
    """

    name: str
    role: str
    data: str
    target: str
    form: str
    parameters: tuple[Parameter, ...]
    source: str
    label: str
    fixed: Mapping[str, Any] | tuple[()] = ()
    takes: str = ""

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        module, _, name = self.target.partition(":")
        found: Callable[..., Any] = getattr(importlib.import_module(f"reident.{module}"), name)
        return found

    @property
    def call(self) -> str:
        """How a user writes it: ``reident.mask_disc``."""
        import reident

        module, _, name = self.target.partition(":")
        return f"reident.{name}" if name in reident.__all__ else f"reident.{module}.{name}"

    @property
    def extras(self) -> tuple[Parameter, ...]:
        """What may be set beside the function's own parameters where the method takes part in a map."""
        return EXTRAS.get(self.form, ())

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by name."""
        known = {parameter.name: parameter for parameter in (*self.parameters, *self.extras)}
        if name not in known:
            listed = ", ".join(known) or "none"
            raise ParameterError(f"`{self.name}` has no parameter {name!r}: it has {listed}")
        return known[name]

    def defaults(self) -> dict[str, Any]:
        """Return every parameter's default: the function's own, else the workbench's `start`."""
        signature = inspect.signature(self.function).parameters
        return {
            parameter.name: parameter.start
            if parameter.start is not None or signature[parameter.name].default is inspect.Parameter.empty
            else signature[parameter.name].default
            for parameter in (*self.parameters, *self.extras)
        }

    def check(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options, checked, defaults filled in."""
        filled = self.defaults()
        for name, value in check_mapping(options, "options").items():
            rule = self.parameter(name)
            filled[name] = None if value is None and filled[name] is None else rule.check(value)
        return filled

    def arguments(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments of a call of the function with these options."""
        added = {parameter.name for parameter in self.extras}
        checked = self.check(options)
        return {**dict(self.fixed), **{name: value for name, value in checked.items() if name not in added}}
