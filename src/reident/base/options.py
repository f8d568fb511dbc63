"""Domains of a method's parameters, declared once, at the function.

    @checked
    def mask_disc(points: Any, *, radius_m: Annotated[float, Real(0, HALF_TURN_M, unit="m")], rng: RNGLike = None)

The call is checked by it, and so are the command line, the maps and the explorer's controls before anything runs:
`reident methods` prints it. A parameter whose default is None may be None.
"""

from __future__ import annotations

import functools
import inspect
import math
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, ParamSpec, TypeVar

import pandas as pd

from reident.base.check_data import check_area, check_coordinates
from reident.base.check_values import check_choice, check_flag, check_integer, check_real, interval
from reident.base.errors import DataError, ParameterError

P = ParamSpec("P")
R = TypeVar("R")


class Option:
    """A parameter that a user sets."""

    kind = "text"
    parse: ClassVar[Callable[[str], Any]] = str
    unit = ""
    #: Another parameter that it must not exceed.
    at_most = ""

    @property
    def range(self) -> str:
        """The domain as text."""
        return ""

    def check(self, value: Any, name: str) -> Any:  # noqa: ARG002 (any value is a text)
        """Return a value that keeps the rule, or raise `ParameterError`."""
        return value

    def read(self, text: str, name: str) -> Any:
        """Return the value of a typed text."""
        try:
            value = type(self).parse(text)
        except ValueError:
            raise ParameterError(f"`{name}` must be of type {self.kind}, got {text!r}") from None
        return self.check(value, name)


class Text(Option):
    """Any text."""


@dataclass(frozen=True)
class Real(Option):
    """A finite number from `low` to `high`."""

    kind = "float"
    parse: ClassVar[Callable[[str], Any]] = float
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    open_low: bool = False
    open_high: bool = False
    why: str = ""
    at_most: str = ""

    @property
    def range(self) -> str:
        """The interval, ``"[0, inf)"``."""
        return interval(self.low, self.high, self.open_low, self.open_high)

    def check(self, value: Any, name: str) -> float:
        """Return a number in the interval, or raise `ParameterError`."""
        return check_real(
            value, name, low=self.low, high=self.high, open_low=self.open_low, open_high=self.open_high, why=self.why
        )  # fmt: skip


@dataclass(frozen=True)
class Whole(Option):
    """A whole number from `low` to `high`."""

    kind = "int"
    parse: ClassVar[Callable[[str], Any]] = int
    low: int | None = None
    high: int | None = None
    unit: str = ""
    why: str = ""
    at_most: str = ""

    @property
    def range(self) -> str:
        """The interval, ``"[1, inf)"``."""
        opening = "(-inf" if self.low is None else f"[{self.low}"
        return f"{opening}, inf)" if self.high is None else f"{opening}, {self.high}]"

    def check(self, value: Any, name: str) -> int:
        """Return a whole number in the interval, or raise `ParameterError`."""
        return check_integer(value, name, low=self.low, high=self.high, why=self.why)


class Choice(Option):
    """One of several values."""

    kind = "choice"

    def __init__(self, *choices: Hashable) -> None:
        self.choices = choices

    @property
    def range(self) -> str:
        """The values."""
        return ", ".join(map(str, self.choices))

    def check(self, value: Any, name: str) -> Any:
        """Return one of the values, or raise `ParameterError`."""
        return check_choice(value, name, self.choices)

    def read(self, text: str, name: str) -> Any:
        """Return the value of a typed text."""
        return self.check(next((choice for choice in self.choices if str(choice).lower() == text.lower()), text), name)


class Flag(Choice):
    """True or False."""

    kind = "bool"

    def __init__(self) -> None:
        super().__init__(False, True)

    def check(self, value: Any, name: str) -> bool:
        """Return a truth value, or raise `ParameterError`."""
        return check_flag(value, name)


@dataclass(frozen=True)
class Public(ABC):
    """A public input that a method needs beside the data.

    Attributes
    ----------
    meaning : str
        What it is, for those who must give it.
    columns : tuple of str
        Numbers that each of its rows must have, at least 0.
    """

    meaning: str
    columns: tuple[str, ...] = ()

    @abstractmethod
    def read(self, value: Any, name: str) -> pd.DataFrame:
        """Return it as a plain table, or raise."""

    def give(self, stored: pd.DataFrame) -> Any:
        """Return the value in the type that the method takes."""
        return stored


class PublicPlaces(Public):
    """A table or GeoDataFrame of points."""

    def read(self, value: Any, name: str) -> pd.DataFrame:
        """Return a plain table with ``lat_deg``, ``lon_deg`` and the columns, or raise."""
        if not isinstance(value, pd.DataFrame):
            raise ParameterError(f"`{name}` must be a table of places ({self.meaning}), got {type(value).__name__}")
        wanted = [*(() if hasattr(value, "to_crs") else ("lat_deg", "lon_deg")), *self.columns]
        absent = [column for column in wanted if column not in value.columns]
        if absent:
            raise DataError(f"`{name}` must have the columns {wanted!r}, got {list(value.columns)!r}")
        if hasattr(value, "to_crs"):
            if value.crs is None:
                raise DataError(f"`{name}` must have a CRS: without one its coordinates could be degrees or metres")
            degrees = value.geometry.to_crs("EPSG:4326")
            lat, lon = check_coordinates(degrees.y, degrees.x)
        else:
            lat, lon = check_coordinates(value["lat_deg"], value["lon_deg"])
        if not len(lat):
            raise DataError(f"`{name}` must hold at least one place, got none")
        return pd.DataFrame({"lat_deg": lat, "lon_deg": lon}).assign(**_numbers(value, self.columns, name))


class PublicArea(Public):
    """A polygon in degrees, or a frame of polygons with a CRS."""

    def read(self, value: Any, name: str) -> pd.DataFrame:
        """Return the area as a plain table, or raise."""
        import shapely

        return pd.DataFrame({"wkt": [shapely.to_wkt(check_area(value, name), rounding_precision=-1)]})

    def give(self, stored: pd.DataFrame) -> Any:
        """Return the value in the type that the method takes."""
        import shapely

        return shapely.from_wkt(stored["wkt"].iloc[0])


class PublicAreas(Public):
    """A frame of polygons with a CRS."""

    def read(self, value: Any, name: str) -> pd.DataFrame:
        """Return the areas, in degrees, as a plain table with the columns, or raise."""
        if getattr(value, "crs", None) is None:
            raise DataError(f"`{name}` must be a frame of polygons with a CRS ({self.meaning})")
        table = pd.DataFrame({"wkt": value.geometry.to_crs("EPSG:4326").to_wkt().to_numpy()})
        return table.assign(**_numbers(value, self.columns, name))

    def give(self, stored: pd.DataFrame) -> Any:
        """Return the value in the type that the method takes."""
        import geopandas as gpd

        polygons = gpd.GeoSeries.from_wkt(stored["wkt"], crs="EPSG:4326")
        return gpd.GeoDataFrame(stored.drop(columns="wkt"), geometry=polygons)


def _numbers(value: pd.DataFrame, columns: tuple[str, ...], name: str) -> dict[str, Any]:
    """Return columns of a public input as numbers of at least 0, or raise."""
    absent = [column for column in columns if column not in value.columns]
    if absent:
        raise DataError(f"`{name}` must have the columns {absent!r}, got {list(value.columns)!r}")
    read = {column: pd.to_numeric(value[column], errors="coerce").to_numpy(float) for column in columns}
    for column, numbers in read.items():
        if not (numbers >= 0).all():
            raise DataError(f"column {column!r} of `{name}` must hold numbers of at least 0 without gaps")
    return read


Said = Option | Public


@functools.lru_cache(maxsize=1024)
def described(function: Callable[..., Any]) -> dict[str, Said]:
    """Return the domain of each parameter open to a user, and each public input, from the signature."""
    by_name: dict[str, Said] = {}
    for name, annotation in inspect.get_annotations(inspect.unwrap(function), eval_str=True).items():
        for member in _members(annotation):
            if typing.get_origin(member) is Annotated:
                by_name.update(
                    (name, description) for description in member.__metadata__ if isinstance(description, Said)
                )
    return by_name


def check_together(rules: Mapping[str, Option], values: Mapping[str, Any]) -> None:
    """Raise `ParameterError` where a value exceeds that of another parameter which limits it."""
    for name, rule in rules.items():
        other = values.get(rule.at_most)
        if other is not None and values.get(name) is not None and values[name] > other:
            raise ParameterError(f"`{name}` must be at most `{rule.at_most}` ({other:g}), got {values[name]:g}")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check every parameter of a call against the function's signature.

    Where a parameter may also be of another type, such as a mapping with a value a column, the function checks that.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kws: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kws)
        except TypeError:
            return function(*args, **kws)  # names the argument that the function has not, and itself
        rules = _rules(function)
        for name, (rule, is_optional) in rules.items():
            if name in bound.arguments and not (is_optional and bound.arguments[name] is None):
                bound.arguments[name] = rule.check(bound.arguments[name], name)
        check_together({name: rule for name, (rule, _) in rules.items()}, bound.arguments)
        return function(*bound.args, **bound.kwargs)

    return call


@functools.lru_cache(maxsize=1024)
def _rules(function: Callable[..., Any]) -> dict[str, tuple[Option, bool]]:
    """Return the rules of parameters of one type only, and whether they may be None, by type or default."""
    hints: dict[str, Any] = inspect.get_annotations(function, eval_str=True)
    rules = dict[str, tuple[Option, bool]]()
    for name, rule in described(function).items():
        members = _members(hints[name])
        bare = next(member for member in members if typing.get_origin(member) is Annotated)
        if isinstance(rule, Option) and all(member in (bare, type(None)) for member in members):
            is_unset = inspect.signature(function).parameters[name].default is None
            rules[name] = rule, is_unset or type(None) in (*members, *typing.get_args(bare.__origin__))
    return rules


def _members(hint: Any) -> tuple[Any, ...]:
    return (hint,) if typing.get_origin(hint) is Annotated else typing.get_args(hint)
