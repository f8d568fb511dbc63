"""Checks of single values: numbers, names, texts, choices, functions.

Every message names the parameter in backticks, the rule, the value, and the reason where it is not obvious.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from reident.base.errors import DataError, ParameterError

T = TypeVar("T")


#: Privacy losses with which doubles can still be multiplied and divided.
_LEAST, _LARGEST = Fraction(1, 10**200), Fraction(10**300)


def _because(why: str) -> str:
    return f": {why}" if why else ""


#: The largest whole number that arrays and compiled loops count to.
MOST = 2**63 - 1


def check_integer(value: Any, name: str, *, low: int | None = None, high: float | None = None, why: str = "") -> int:
    """Return `value` as an int inside [low, high], by default inside the range of 64 bits."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ParameterError(f"`{name}` must be a whole number, got {value!r}{_because(why)}")
    if low is not None and value < low:
        raise ParameterError(f"`{name}` must be at least {low}, got {value}{_because(why)}")
    if high is not None and value > high:
        raise ParameterError(f"`{name}` must be at most {high}, got {value}{_because(why)}")
    if high is None and abs(int(value)) > MOST:
        raise ParameterError(f"`{name}` must fit into 64 bits, got {value}")
    return int(value)


def check_seed(value: Any, name: str = "seed") -> int:
    """Return a seed: a whole number of any length."""
    return check_integer(value, name, low=0, high=math.inf, why="a seed has no sign")


def check_real(
    value: Any,
    name: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    why: str = "",
) -> float:
    """Return `value` as a finite float inside the interval from `low` to `high`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ParameterError(f"`{name}` must be a number, got {value!r}{_because(why)}")
    number = _float(value)
    below = number <= low if open_low else number < low
    above = number >= high if open_high else number > high
    if not math.isfinite(number) or below or above:
        if not why and (low, high) == (0, 1) and 1 < number <= 100:
            why = f"a share of 1: did you mean {number / 100:g}?"
        allowed = interval(low, high, open_low, open_high)
        raise ParameterError(f"`{name}` must lie in {allowed} and be finite, got {value!r}{_because(why)}")
    return number


def check_positive(value: Any, name: str, why: str = "") -> float:
    """Return `value` as a finite float above 0."""
    return check_real(value, name, low=0, open_low=True, why=why)


def check_level(value: Any, name: str) -> float:
    """Return `value` as a float strictly between 0 and 1, such as the level of an interval."""
    return check_real(value, name, low=0, high=1, open_low=True, open_high=True)


def check_share(value: Any, name: str, default: float | None = None) -> float:
    """Return a share of 1, the default where none is given."""
    return check_real(default if value is None else value, name, low=0, high=1)


def interval(low: float, high: float, open_low: bool, open_high: bool) -> str:
    """Return an interval as text, ``"[0, inf)"``."""
    opening = "(" if open_low or low == -math.inf else "["
    return f"{opening}{low:.10g}, {high:.10g}{')' if open_high or high == math.inf else ']'}"


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return math.inf if value > 0 else -math.inf


def check_flag(value: Any, name: str) -> bool:
    """Return `value` if it is True or False: any other value would count as one of them unsaid."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"`{name}` must be True or False, got {value!r}")
    return bool(value)


def check_path(value: Any, name: str) -> Path:
    """Return `value` as a path."""
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        raise ParameterError(f"`{name}` must be a path, got {value!r}")
    return Path(value)


def check_text(value: Any, name: str, *, optional: bool = True) -> None:
    """Require a text, or None where the text may be missing."""
    if not isinstance(value, str) and not (value is None and optional):
        raise ParameterError(f"`{name}` must be a text, got {value!r}")


def check_instance(value: Any, name: str, kind: type, how: str) -> None:
    """Require an object of the package's own, made in a way that the message tells."""
    if not isinstance(value, kind):
        raise ParameterError(f"`{name}` must be {kind.__name__} as {how}, got {type(value).__name__}")


def check_callable(value: Any, name: str) -> None:
    """Require something that can be called."""
    if not callable(value):
        raise ParameterError(f"`{name}` must be a function, got {value!r}")


def check_mapping(value: Any, name: str, *, optional: bool = False) -> Mapping[Any, Any]:
    """Return `value` if it is a mapping; None counts as an empty one where that is allowed."""
    if value is None and optional:
        return {}
    if not isinstance(value, Mapping):
        raise ParameterError(f"`{name}` must be a mapping, such as a dict, got {value!r}")
    return value


def is_row(value: Any) -> bool:
    """Tell whether a value has a length and a first entry: a list, an array, a column or a text."""
    kinds = (Sequence, np.ndarray, pd.Index, pd.Series, pd.api.extensions.ExtensionArray)
    return isinstance(value, kinds) and getattr(value, "ndim", 1) > 0


def check_listed(values: Any, name: str) -> list[Any]:
    """Return the entries of an iterable as a list; a text is no list of its letters."""
    if isinstance(values, str) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise ParameterError(f"`{name}` must be a list of names, got {values!r}")
    return list(values)


def check_names(values: Any, name: str) -> list[Any]:
    """Return the entries of an iterable as a list of hashable keys: nodes, values, pairs of ids."""
    listed = check_listed(values, name)
    for entry in listed:
        if not _has_hash(entry):
            raise ParameterError(
                f"`{name}` must be a list of names, got {entry!r} among them: what has no hash cannot be looked up"
            )
    return listed


def check_several(names: Any, name: str) -> list[Any]:
    """Return one name as a list of one, several as a list, and None as none."""
    listed = [names] if isinstance(names, str) else [] if names is None else check_listed(names, name)
    if not all(is_key(entry) for entry in listed):
        raise ParameterError(f"`{name}` must name columns, got {listed!r}")
    return listed


def check_in_order(values: Any, name: str) -> list[Any]:
    """Return the entries of a list, an array, a column or a text; a set and a table have no first one."""
    if isinstance(values, Set | Mapping | pd.DataFrame):
        raise ParameterError(f"`{name}` must be a list, in an order, got {values!r}")
    return list(values) if isinstance(values, str) else check_listed(values, name)


def call_given(call: Callable[[], T], name: str) -> T:
    """Return the result of `call`, which calls a function given as an argument; errors name that argument.

    Errors of the package pass: a budget that is used up is no fault of the function.
    """
    try:
        return call()
    except (ParameterError, DataError):
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"`{name}` must answer when it is called, got {type(error).__name__}: {error}") from error


def how_many(predicate: Callable[[Any], Any], rows: Iterable[Any]) -> int:
    """Return for how many rows a predicate that was given as an argument says yes."""
    return call_given(lambda: sum(bool(predicate(row)) for row in rows), "predicate")


def check_epsilon(value: Any, name: str = "epsilon") -> Fraction:
    """Return a privacy parameter as an exact positive fraction.

    A float counts as the decimal number that it is written as, so that a hundred times .01 is 1. Text such as
    ``"1/3"``, Decimal and Fraction are taken as they are.
    """
    why = "it is the privacy loss that is allowed, and 0 allows no answer"
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | str | Fraction | Decimal | np.integer | np.floating
    ):
        raise ParameterError(f"`{name}` must be a positive number, got {value!r}: {why}")
    shown = (
        f"a number of {value.bit_length():,} bits" if isinstance(value, int) and abs(value) > 10**40 else repr(value)
    )
    shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
    try:
        is_ratio = isinstance(value, Fraction | int) or (isinstance(value, str) and "/" in value)
        # A decimal number of a large exponent becomes a fraction of as many digits: its range comes first.
        number: Any = Fraction(value) if is_ratio else Decimal(str(value))  # type: ignore[arg-type]
        is_positive, is_inside = number > 0, _LEAST <= number <= _LARGEST
    except (ValueError, ArithmeticError):
        raise ParameterError(f"`{name}` must be a positive finite number, got {shown}: {why}") from None
    if not is_positive:
        raise ParameterError(f"`{name}` must be greater than 0, got {shown}: {why}")
    if not is_inside:
        raise ParameterError(f"`{name}` must lie in [1e-200, 1e+300], got {shown}: its noise is scaled by a double")
    return Fraction(number)


def check_bounds(bounds: Any, name: str = "bounds") -> tuple[float, float]:
    """Return a pair of finite numbers, the lower before the higher."""
    why = "bounds are declared, never taken from the data: the data's own extremes are what must not leak"
    if isinstance(bounds, str) or not is_row(bounds) or len(bounds) != 2:
        raise ParameterError(f"`{name}` must be a pair (low, high), got {bounds!r}: {why}")
    low, high = (check_real(bound, name) for bound in bounds)
    if low >= high:
        raise ParameterError(f"`{name}` must be given as (low, high) with low < high, got ({low:g}, {high:g})")
    return low, high


def check_plain(value: Any, name: str) -> None:
    """Require a plain JSON value: it means the same in every process, in a file, and in a notebook."""
    try:
        is_plain = repr(json.loads(json.dumps(value, allow_nan=False))) == repr(value)
    except (TypeError, ValueError):
        is_plain = False
    if not is_plain:
        advice = ": numpy numbers become plain with .item() or .tolist()" if isinstance(value, np.generic) else ""
        raise ParameterError(
            f"`{name}` must be a plain JSON value (None, bool, int, finite float, str, list, dict with text keys), "
            f"got {value!r} of type {type(value).__name__}{advice}"
        )


def check_choice(value: Any, name: str, choices: Collection[Hashable]) -> Any:
    """Return `value` if it is one of `choices`."""
    if not is_key(value) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"`{name}` must be one of {allowed}, got {value!r}")
    return value


def _has_hash(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_key(value: Any) -> bool:
    """Tell whether a value can be the name of something: it has a hash, and equals itself."""
    try:
        return _has_hash(value) and bool(value == value)
    except (TypeError, ValueError):
        return False
