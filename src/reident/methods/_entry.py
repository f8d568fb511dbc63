"""The registry's description of a method, and the checks that follow from it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from reident.base import Choice, Option, ParameterError, Public, check_mapping, check_together, described

__all__ = ["CALLS", "DATA", "ROLES", "Entry", "Parameter"]

ROLES = ("anonymiser", "attack", "metric")
DATA = ("places", "table", "network", "queries")

#: How an attack or a metric is called; anonymisers have a form of release (`reident.methods.forms`).
CALLS = {
    "claims": "f(release, knowledge, **options, rng=) -> Outcome, claims about persons (`reident.methods.outcome`)",
    "distance utility": "f(original_km, release_km, **options) -> float, of the released records in one order",
    "point utility": "f(original, release, **options) -> float, of tables of places in one order",
    "value utility": "f(original, release, columns=, **options) -> float, of tables of numbers",
    "label utility": "f(original, release, columns=, **options) -> float, of tables as they are",
    "share utility": "f(original, release, **options) -> float, of how likely each record is in each bin of a column",
    "network utility": "f(original, release, **options) -> float, of networks on the same nodes",
    "answer utility": "f(original, release, **options) -> float, of answers to the same queries",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method.

    Attributes
    ----------
    name : str
        As in the function's signature.
    rule : Option
        What it may be: what the signature says.
    start : plain value, optional
        What the workbench takes where the function itself has no default, or None.
    grid : tuple
        The values that the workbench tries by itself, weakest protection first; lengths are for a country with a
        median distance of 250 km between records and are scaled to the data.
    """

    name: str
    rule: Option
    start: Any = None
    grid: tuple[Any, ...] = ()

    @property
    def kind(self) -> str:
        """float, int, bool, choice or text."""
        return self.rule.kind

    @property
    def range(self) -> str:
        """The interval of a number, the values of a choice."""
        return self.rule.range

    @property
    def unit(self) -> str:
        """Empty for a pure number."""
        return self.rule.unit

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values of a choice."""
        return self.rule.choices if isinstance(self.rule, Choice) else ()

    def read(self, text: str) -> Any:
        """Return the value of a typed text."""
        return self.rule.read(text, self.name)

    def check(self, value: Any) -> Any:
        """Return a value that keeps the parameter's rule, or raise `ParameterError`."""
        return self.rule.check(value, self.name)


#: Options that the workbench adds to attacks: what is read as the risk. "risk" is the success over the persons who are
#: in the file, "precision" the share of claims that are right, "recall" the share of persons found.
_MEASURE = Parameter("measure", Choice("risk", "precision", "recall"), "risk")
EXTRAS: dict[str, tuple[Parameter, ...]] = {
    "claims": (_MEASURE,),
}


@dataclass(frozen=True, eq=False)
class Entry:
    """One method, of the house or from outside.

    What a user may set and which public inputs the method needs stand in the function's signature (`reident.base`).

    Attributes
    ----------
    name : str
        What it is called on the command line, in the explorer and on maps.
    role : {"anonymiser", "attack", "metric"}
    data : {"places", "table", "network", "queries"}
        What it is applied to; queries are about a table, too.
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
        Names of the arguments that are data or not to be set, separated by blanks.
    start, grid : mapping of str to value, and to tuple
        By parameter: what the workbench takes where the function has no default, or None, and the values that it tries
        by itself, weakest protection first. Lengths are for a country with a median distance of 250 km between records.
    scaled : bool
        Whether these lengths are scaled to the data.
    guarantee : str
        What a release guarantees, with the options in braces (``{others}`` is k - 1); empty for nothing.
    tolerance : str
        How an intruder who knows the method works out the window of a linkage, a key of
        `reident.places.tolerance.RULES`.
    classes : bool
        Whether releases have classes of records alike.
    law : str
        What an attack may use of how it works: "ring", "cell" and "normal degrees" say how places move, "minimal" that
        it cuts as long as it may.
    exact : bool
        Whether it draws from an exact source of its own where it is given none.
    usual : str
        The kinds of data on whose maps it stands if nobody asks for more, separated by blanks.
    needs : str
        What it needs, separated by blanks: of data "labels", "sensitive", "numbers" (two numeric quasi-identifiers);
        of a release and an intruder's knowledge also "points", "register", "households", "earlier", "method"
        (`reident.methods.attacks.lacking`).
    costly : bool
        Whether it learns until a time limit or looks at all pairs: a panel or a map tries it only where it is named.
    seconds : float
        For a costly attack, how long it takes at most, about, s.
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
    fixed: Mapping[str, Any] | tuple[()] = ()
    takes: str = ""
    start: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    scaled: bool = True
    guarantee: str = ""
    tolerance: str = "simulated"
    classes: bool = False
    law: str = ""
    exact: bool = False
    usual: str = ""
    needs: str = ""
    costly: bool = False
    seconds: float = 0.0
    by_pairs: bool = False

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        if callable(self.target):
            return self.target
        module, _, name = self.target.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(f"reident.{module}"), name)
        return function

    @cached_property
    def signature(self) -> Mapping[str, inspect.Parameter]:
        """The arguments of the function, by name."""
        return inspect.signature(self.function).parameters

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters open to a user, in the order of the signature."""
        fixed = {*dict(self.fixed), *self.takes.split()}
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

    def fits(self, kind: str) -> bool:
        """Tell whether the method applies to data of a kind: methods for tables apply to queries about them, too."""
        return kind == self.data or {kind, self.data} == {"table", "queries"}

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
        """How a user writes it: ``reident.mask_disc``."""
        import reident

        function = self.function
        name = function.__qualname__
        # Another function of the house may have the name.
        public = name in reident.__all__ and getattr(reident, name) is function
        return f"reident.{name}" if public else f"{function.__module__}.{name}"

    @property
    def extras(self) -> tuple[Parameter, ...]:
        """Options beside the function's own parameters where the method takes part in a map."""
        added = EXTRAS.get(self.form, ())
        return tuple(replace(option, start=self.start.get(option.name, option.start)) for option in added)

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by name."""
        known = {parameter.name: parameter for parameter in (*self.parameters, *self.extras)}
        if name not in known:
            listed = ", ".join(known) or "none"
            raise ParameterError(f"`{self.name}` has no parameter {name!r}: it has {listed}")
        return known[name]

    def defaults(self) -> dict[str, Any]:
        """Return every parameter's default: the function's own, else the workbench's `start`."""
        return {
            parameter.name: parameter.start
            if parameter.start is not None
            or parameter.name not in self.signature
            or self.signature[parameter.name].default is inspect.Parameter.empty
            else self.signature[parameter.name].default
            for parameter in (*self.parameters, *self.extras)
        }

    def check(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options, checked, defaults filled in."""
        filled = self.defaults()
        for name, value in check_mapping(options, "options").items():
            known = self.parameter(name)
            filled[name] = None if value is None and filled[name] is None else known.check(value)
        rules = {parameter.name: parameter.rule for parameter in self.parameters}
        for name, rule in rules.items():
            # A default must not stand in the way of what was asked for: of an outer radius of 100 m, 10 m inside.
            if rule.at_most and name not in options and filled[name] > filled[rule.at_most]:
                filled[name] = 0.1 * filled[rule.at_most]
        check_together(rules, filled)
        return filled

    def told_options(self, options: Mapping[str, Any]) -> str:
        """Return options in words, with their units: "1 km, 3 km"."""
        texts = []
        for name, value in options.items():
            parameter = self.parameter(name)
            if isinstance(value, bool):
                texts += [name] if value else []
            elif parameter.unit == "m":
                texts.append(f"{value / 1000:g} km")
            else:
                texts.append(f"{value:g} {parameter.unit}".strip() if isinstance(value, int | float) else str(value))
        return ", ".join(texts)

    def arguments(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments of a call of the function with these options."""
        added = {parameter.name for parameter in self.extras}
        checked = self.check(options)
        return {**dict(self.fixed), **{name: value for name, value in checked.items() if name not in added}}
