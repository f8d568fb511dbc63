"""The registry's description of a method, and the checks that follow from it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from reident.base import Option, Options, ParameterError, Parameters, Public, check_mapping, check_together, described

ROLES = ("anonymiser", "attack", "metric")
DATA = ("places", "table", "network")

#: Names of arguments of anonymisers that are data; `reident.methods.forms.ARGUMENTS` finds each.
NAMES = (
    *("points", "lat", "lon", "distances_km", "table", "urban", "columns", "groups", "quasi", "k_quasi"),
    *("epsilon_quasi", "hierarchies", "sensitive", "graph"),
)

#: How an attack or a metric is called; anonymisers have a form of release (`reident.methods.forms`).
CALLS = {
    "claims": "f(release, knowledge, **options) -> Outcome (`reident.methods.outcome`), with rng= if it draws",
    "distance utility": "f(original_km, release_km, **options) -> float, of the released records in one order",
    "point utility": "f(original, release, **options) -> float, of tables of places in one order",
    "value utility": "f(original, release, columns=, **options) -> float, of tables of numbers",
    "label utility": "f(original, release, columns=, **options) -> float, of tables as they are",
    "share utility": "f(original, release, **options) -> float, of how likely each record is in each bin of a column",
    "network utility": "f(original, release, **options) -> float, of networks on the same nodes",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method.

    Attributes
    ----------
    name : str
        As in the function's signature.
    rule : Option
        Its domain, as the signature says.
    start : plain value, optional
        The workbench's value where the function itself has no default, or None.
    grid : tuple
        The values that the workbench tries by itself, weakest protection first; lengths are for a country with a
        median distance of 250 km between records where the entry is `scaled`.
    """

    name: str
    rule: Option
    start: Any = None
    grid: tuple[Any, ...] = ()

    @property
    def unit(self) -> str:
        """Empty for a pure number."""
        return self.rule.unit

    def read(self, text: str) -> Any:
        """Return the value of a typed text."""
        return self.rule.read(text, self.name)

    def check(self, value: Any) -> Any:
        """Return a value that keeps the parameter's rule, or raise `ParameterError`."""
        return self.rule.check(value, self.name)


@dataclass(frozen=True, eq=False)
class Entry:
    """One method, of the package or from outside.

    What a user may set and which public inputs the method needs stand in the function's signature (`reident.base`).

    Attributes
    ----------
    name : str
        Its name on the command line, in the explorer and on maps.
    role : {"anonymiser", "attack", "metric"}
    data : {"places", "table", "network"}
        The kind of data that it is applied to.
    target : str or callable
        The function, or ``"module:function"`` inside this package, imported when it is first needed.
    form : str
        For an anonymiser what it releases, a key of `reident.methods.forms.FORMS`; else how it is called (`CALLS`).
    source : str
        Where the method is described.
    label : str
        What axes and tables say.
    fixed : mapping
        Arguments that make this entry out of a more general function.
    takes : str
        Names of declared parameters that are not to be set, separated by blanks.
    start, grid : mapping of str to value, and to tuple
        By parameter: what the workbench takes where the function has no default, or None, and the values that it tries
        by itself, weakest protection first.
    scaled : bool
        Whether lengths in `grid` are scaled to the data, as those of the package are; default: they are tried as given.
    guarantee : str
        What a release guarantees, with the options in braces (``{others}`` is k - 1); empty for nothing.
    classes : bool
        Whether releases have classes of records alike.
    law : str
        The public law by which it moves places, for attacks: "ring", "cell" or "normal degrees".
    exact : bool
        Whether it draws from an exact source of its own where it is given none.
    measure : str
        How maps read an attack as a risk: "risk", the success over the persons in the release, or "precision", the
        share of claims that are right.
    usual : str
        The kinds of data on whose maps it stands by default, separated by blanks.
    needs : str
        Requirements, separated by blanks: of data "labels", "sensitive", "numbers" (two numeric quasi-identifiers); of
        a release and an intruder's knowledge also "unperturbed", "points", "register", "households", "earlier",
        "method" (`reident.methods.attacks.REQUIREMENTS`).
    seconds : float
        Its longest run, about, s: quick ones come first, and from 1 s on a map tries it only where it is named.
    by_pairs : bool
        Whether its cost grows with the pairs of a known and a released person of the same labels.
    """

    name: str
    role: str
    data: str
    target: str | Callable[..., Any]
    form: str
    source: str = ""
    label: str = ""
    fixed: Options = field(default_factory=dict)
    takes: str = ""
    start: Options = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    scaled: bool = False
    guarantee: str = ""
    classes: bool = False
    law: str = ""
    exact: bool = False
    measure: str = "risk"
    usual: str = ""
    needs: str = ""
    seconds: float = 0.0
    by_pairs: bool = False

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        if callable(self.target):
            return self.target
        module, _, name = self.target.partition(":")
        return getattr(importlib.import_module(f"reident.{module}"), name)

    @cached_property
    def signature(self) -> Mapping[str, inspect.Parameter]:
        """The arguments of the function, by name."""
        return inspect.signature(self.function).parameters

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters open to a user, in the order of the signature."""
        fixed = {*self.fixed, *self.takes.split()}
        return tuple(
            Parameter(name, rule, self.start.get(name), tuple(self.grid.get(name, ())))
            for name, rule in described(self.function).items()
            if isinstance(rule, Option) and name not in fixed
        )

    @cached_property
    def public(self) -> Mapping[str, Public]:
        """The public inputs that the method needs beside the data."""
        return {name: public for name, public in described(self.function).items() if isinstance(public, Public)}

    @property
    def required(self) -> frozenset[str]:
        """The names of the public inputs without which the method cannot be applied."""
        return frozenset(name for name in self.public if self.signature[name].default is inspect.Parameter.empty)

    @property
    def requirements(self) -> tuple[str, ...]:
        """The needs of an attack, with those that follow from its kind of data (`reident.methods.attacks`)."""
        of_data = {"table": "records", "places": "distances places", "network": "network relations"}[self.data]
        return tuple(dict.fromkeys(f"{of_data} {self.needs}".split()))

    @property
    def costly(self) -> bool:
        """Whether the method takes a second and more: it learns, or looks at all pairs."""
        return self.seconds >= 1

    def suits(self, data: Any) -> bool:
        """Tell whether data have all that the method needs to be offered."""
        has = {
            "labels": bool(data.quasi),
            "sensitive": data.sensitive is not None,
            "numbers": len(data.numeric) >= 2,
        }
        return all(has.get(need, True) for need in self.needs.split())

    @property
    def call(self) -> str:
        """How a user writes it: ``reident.places.mask_disc``."""
        function = self.function
        name = function.__qualname__
        # Another function of the package may have the name.
        homes = "reident", ".".join(function.__module__.split(".")[:2])
        public = [home for home in homes if getattr(importlib.import_module(home), name, None) is function]
        return f"{[*public, function.__module__][0]}.{name}"

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by name."""
        by_name = {parameter.name: parameter for parameter in self.parameters}
        if name not in by_name:
            listed = ", ".join(by_name) or "none"
            raise ParameterError(f"`{self.name}` has no parameter {name!r}: it has {listed}")
        return by_name[name]

    def defaults(self) -> Parameters:
        """Return every parameter's default: the workbench's `start`, else the function's own."""
        defaults = {parameter.name: parameter.start for parameter in self.parameters}
        for name, argument in self.signature.items():
            if name in defaults and defaults[name] is None and argument.default is not inspect.Parameter.empty:
                defaults[name] = argument.default
        return defaults

    def check(self, options: Options) -> Parameters:
        """Return all options, checked, defaults filled in."""
        filled = self.defaults()
        for name, value in check_mapping(options, "options").items():
            parameter = self.parameter(name)
            filled[name] = None if value is None and filled[name] is None else parameter.check(value)
        rules = {parameter.name: parameter.rule for parameter in self.parameters}
        for name, rule in rules.items():
            # A default must not exceed a stated bound: with an outer radius of 100 m the inner one is 10 m.
            if rule.at_most and name not in options and filled[name] > filled[rule.at_most]:
                filled[name] = 0.1 * filled[rule.at_most]
        check_together(rules, filled)
        return filled

    def arguments(self, options: Options) -> Parameters:
        """Return the keyword arguments of a call of the function with these options."""
        return {**self.fixed, **self.check(options)}
