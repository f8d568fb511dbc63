"""Ways in which offices write a column anew, that anybody can go again: units, scales, parts of dates and texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray
from reident.tables.agreement import step_of
from reident.tables.labels import interval_of

__all__ = ["Way", "plain_cells", "ways_of", "ways_of_two"]

#: What numbers are multiplied with from one unit to another, either way: powers of ten, inches, feet, pounds, miles,
#: months, weeks, days and parts of days.
_UNITS = (*(10.0**k for k in range(1, 10)), 2.54, 0.3048, 0.45359237, 1.609344, 12, 7, 365.25, 24, 60, 3600, 86400)
_RATIOS = (1.0, *(ratio for unit in _UNITS for ratio in (unit, 1 / unit)))
_SHAPES: dict[str, Callable[[Any], Any]] = {
    "logarithm": np.log, "logarithm to base 10": np.log10, "logarithm to base 2": np.log2,
    "logarithm of 1 more": np.log1p, "square root": np.sqrt, "square": np.square, "reciprocal": np.reciprocal,
}  # fmt: skip
_MONTHS = {
    "German": ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
               "November", "Dezember"),
    "English": ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                "November", "December"),
}  # fmt: skip
_DAYS = {
    "German": ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
    "English": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}
#: The signs of `strftime` that stand for words, and forms of dates as it writes them.
_SPOKEN = ("%B", "%b", "%A", "%a")
_FORMS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y/%m/%d",
    "%y%m%d", "%d%m%y", "%m%d%y", "%d%m%Y", "%m%d%Y", "%Y%m%d", "%d.%m.%y", "%d.%m.", "%d.%m", "%m-%d", "%d-%m",
    "%m/%d", "%d/%m", "%m%d", "%d%m", "%m/%d/%Y", "%m/%d/%y", "%G-W%V", "%G%V", "W%V", "%Y-%j", "%Y%j", "%Y%m",
    "%y%m", "%m%y", "%m%Y", "%m/%y", "%-d.%-m.%Y", "%-d. %B %Y", "%d. %B %Y", "%-d %B %Y", "%d %B %Y", "%B %-d, %Y",
    "%B %d, %Y", "%B %Y", "%b %Y", "%B", "%b", "%A", "%a", "%d-%b-%Y", "%d-%b-%y", "%-d %b %Y", "%d %b %Y",
)  # fmt: skip
_EPOCH, _SHEET = pd.Timestamp("1970-01-01"), 25569  # days from a spreadsheet's first day to the epoch
_YEAR = 365.2425
#: Days of 1800 and of 2200, from the epoch: no age is counted up to a day outside.
_FIRST, _LAST = -62_000, 84_000
_INFINITE = (np.inf, -np.inf)


@dataclass(frozen=True, eq=False)
class Way:
    """One way to write a column anew: `how` in words, and a function of the column and of what is `given` beside it."""

    how: str
    function: Callable[..., Any]
    given: tuple[Any, ...] = ()

    def of(self, own: pd.Series) -> pd.Series:
        """Return a column so written."""
        with np.errstate(all="ignore"):
            found = pd.Series(self.function(own, *self.given), own.index)
        return found.mask(found.isin(_INFINITE)) if pd.api.types.is_float_dtype(found) else found


def plain_cells(column: pd.Series) -> pd.Series:
    """Return a column of any type as what can be computed with: floats, dates, or objects.

    Categories stand as their values, shapes as objects, infinite numbers as missing, truth values as texts, dates
    without their zone.
    """
    if isinstance(column.dtype, pd.CategoricalDtype | pd.SparseDtype) or column.dtype.name == "geometry":
        column = pd.Series(np.asarray(column.array), column.index, name=column.name)
    if pd.api.types.is_bool_dtype(column):
        return _text(column)
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return column.dt.tz_localize(None)
    if not pd.api.types.is_numeric_dtype(column):
        return column
    numbers = pd.Series(column.to_numpy(float, na_value=np.nan), column.index, name=column.name)
    return numbers.mask(numbers.isin(_INFINITE))


def ways_of(column: pd.Series, released: pd.Series) -> Iterator[Way]:
    """Yield the ways in which a released column may have been written from a column, the plainest first.

    Both as `plain_cells` gives them, and neither without any value.
    """
    numeric = pd.api.types.is_numeric_dtype(released)
    days = _dates(column)
    if days is not None:
        yield from _of_dates(days, released, numeric=numeric)
    elif pd.api.types.is_numeric_dtype(column):
        if numeric:
            yield from _of_numbers(column, released)
        elif least := _least(released):
            for ratio in _RATIOS:
                yield Way(f"times {ratio:.9g}, in its intervals", lambda x, f, low: _banded(x * f, low), (ratio, least))
    elif numeric:
        yield Way("as a number", lambda x: pd.to_numeric(x, errors="coerce"))
    else:
        longest = int(column.dropna().astype("str").str.len().max())
        for length in range(1, min(longest, 9)):
            yield Way(f"its first {length} signs", lambda own, n: _text(own).str[:n], (length,))
            yield Way(f"its last {length} signs", lambda own, n: _text(own).str[-n:], (length,))


def ways_of_two() -> Iterator[tuple[str, Callable[[FloatArray, FloatArray], FloatArray]]]:
    """Yield what may be computed from two columns of numbers, in words that take their names."""
    yield "{0} + {1}", np.add
    yield "{0} - {1}", np.subtract
    yield "{0} * {1}", np.multiply
    yield "{0} / {1}", np.divide
    for power in (0, 4):  # of metres, and of centimetres
        yield f"{10**power} {{0}} / {{1}} squared", partial(_over_square, 10.0**power)


def _over_square(unit: float, one: FloatArray, two: FloatArray) -> FloatArray:
    return unit * one / two**2


def _text(own: pd.Series) -> pd.Series:
    return own.astype("str").where(own.notna())


def _dates(column: pd.Series) -> pd.Series | None:
    """Return a column of dates as dates; None for any other."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    cells = column.dropna()
    if (
        pd.api.types.is_numeric_dtype(column)
        or not cells.iloc[:20].astype("str").str.fullmatch(r"\d{4}-\d\d-\d\d").all()
    ):
        return None
    found = _as_dates(column)
    return found if found[column.notna()].notna().all() else None


def _as_dates(own: pd.Series) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(own):
        return own
    return pd.to_datetime(_text(own), errors="coerce", format="%Y-%m-%d")


def _of_numbers(own: pd.Series, released: pd.Series) -> Iterator[Way]:
    step = step_of(released.dropna().to_numpy(float))
    for ratio in _RATIOS:
        told = "as it is" if ratio == 1 else f"times {ratio:.9g}"
        yield Way(told, lambda x, f: x * f, (ratio,))
        yield Way(f"times {-ratio:.9g}", lambda x, f: -x * f, (ratio,))
        if step > 0:
            yield Way(f"{told}, rounded down", lambda x, f, s: np.floor(x * f / s * (1 + 1e-12)) * s, (ratio, step))
            yield Way(f"{told}, rounded half to even", lambda x, f, s: np.round(x * f / s) * s, (ratio, step))
    for name, shape in _SHAPES.items():
        yield Way(f"its {name}", lambda x, f: f(x), (shape,))
    low, high, mean = own.min(), own.max(), own.mean()
    for ddof in (0, 1):
        spread = own.std(ddof=ddof)
        yield Way("in standard deviations from the mean", lambda x, s: (x - mean) / s, (spread,))
    yield Way("from 0 at the least to 1 at the most", lambda x: (x - low) / (high - low))
    for what, whole in (("largest", high), ("mean", mean), ("sum", own.sum()), ("median", own.median())):
        yield Way(f"as a share of the {what}", lambda x, w: x / w, (whole,))
        yield Way(f"in percent of the {what}", lambda x, w: 100 * x / w, (whole,))
    yield from _fitted(own, released)
    for rising in (True, False):
        for ties in ("min", "max", "average", "dense"):
            place = own.rank(method=ties, ascending=rising).groupby(own).first()
            yield Way("its rank" if rising else "its rank from above", lambda x, p: x.map(p), (place,))


def _fitted(own: pd.Series, released: pd.Series) -> Iterator[Way]:
    """Yield the lines that lay the ends, or all values in their order, of the one column on the other's."""
    mine, theirs = (np.sort(one.dropna().to_numpy(float)) for one in (own, released))
    if len(theirs) < 2 or mine[0] == mine[-1]:
        return
    for sign in (1.0, -1.0):
        there = np.sort(sign * theirs)
        lines = [(np.ptp(there) / np.ptp(mine), mine[0], there[0])]
        if len(mine) == len(there):
            apart = mine - mine.mean()
            with np.errstate(all="ignore"):
                lines.append((apart @ there / (apart @ apart), mine.mean(), there.mean()))
        for slope, at, start in lines:
            told = f"times {sign * slope:.6g}, {sign * (start - slope * at):+.6g}"
            yield Way(told, lambda x, a, b, c, s: s * (a * (x - c) + b), (slope, start, at, sign))


def _of_dates(own: pd.Series, released: pd.Series, *, numeric: bool) -> Iterator[Way]:
    """Yield parts of dates, other ways to write them, and, beside numbers, their counts of days and their ages."""
    parts: dict[str, Callable[[Any], Any]] = {
        "year": lambda d: d.year, "year without its century": lambda d: d.year % 100,
        "decade": lambda d: d.year // 10 * 10, "month": lambda d: d.month, "quarter": lambda d: d.quarter,
        "day of the month": lambda d: d.day, "day of the year": lambda d: d.day_of_year,
        "day of the week": lambda d: d.day_of_week, "day of the week from 1": lambda d: d.day_of_week + 1,
        "week": lambda d: d.isocalendar().week,
    }  # fmt: skip
    if numeric:
        for name, part in parts.items():
            yield Way(f"its {name}", lambda x, f: f(_as_dates(x).dt).astype("float64"), (part,))
        for start, unit, told in (
            (0, 1, "days from 1970"), (0, 86400, "seconds from 1970"), (0, 86400e3, "milliseconds from 1970"),
            (_SHEET, 1, "a spreadsheet's number of it"), (719163, 1, "days from year 1"),
        ):  # fmt: skip
            yield Way(told, lambda x, s, u: (_day(x) + s) * u, (start, unit))
        for reference in _references(_day(own), released, 1.0):
            yield Way(f"days up to {_shown(reference)}", lambda x, r: r - _day(x), (reference,))
        for reference in _references(_day(own), released, _YEAR):
            yield Way(f"whole years up to {_shown(reference)}", lambda x, r: _ages(x, r), (reference,))
            year = (_EPOCH + pd.Timedelta(days=reference)).year
            for last in (year - 1, year, year + 1):
                yield Way(f"{last} less its year", lambda x, y: y - _as_dates(x).dt.year, (last,))
    else:
        yield Way("its quarter", lambda x: _as_dates(x).dt.quarter.map("Q{:.0f}".format, na_action="ignore"))
        for ending in ("er", "s"):
            yield Way(
                "its decade", lambda x, e: (_as_dates(x).dt.year // 10 * 10).map(f"{{:.0f}}{e}".format), (ending,)
            )
        yield from _ages_in_intervals(_day(own), released)
        if least := _least(released):
            yield Way("its year, in its intervals", lambda x, low: _banded(_as_dates(x).dt.year, low), (least,))
    for form in _FORMS:
        spoken = [sign for sign in _SPOKEN if sign in form]
        if numeric and (spoken or not form.replace("%", "").isalpha()):
            continue
        for language in ("German", "English") if spoken else ("",):
            told = f"written as {form} {language}".rstrip()
            yield Way(told, lambda x, f, w: _written(x, f, w, numeric=numeric), (form, language))


def _ages_in_intervals(days: pd.Series, released: pd.Series) -> Iterator[Way]:
    """Yield the intervals of ages that labels say, on the days on which so many persons were in them."""
    least = _least(released)
    for reference in _references(days, released.map(least), _YEAR) if least else ():
        told = f"whole years up to {_shown(reference)}, in its intervals"
        yield Way(told, lambda x, r, low: _banded(_ages(x, r), low), (reference, least))


def _least(released: pd.Series) -> dict[Any, float]:
    """Return the least number of each label, where nearly all are intervals; else nothing."""
    read = {label: interval for label in released.dropna().unique() if (interval := interval_of(label)) is not None}
    if len(read) < 2 or released.dropna().isin(list(read)).mean() < 0.95:
        return {}
    return {label: low + (not closed) * 1e-9 if low > -np.inf else low for label, (low, _, closed, _) in read.items()}


def _banded(numbers: pd.Series, least: dict[Any, float]) -> pd.Series:
    """Return the label of each number: that with the largest least number that is not above it."""
    labels = sorted(least, key=lambda label: least[label])
    place = np.searchsorted([least[label] for label in labels], numbers, side="right") - 1
    return pd.Series(np.array(labels, object)[np.maximum(place, 0)], numbers.index).where(
        (place >= 0) & numbers.notna()
    )


def _day(own: pd.Series) -> pd.Series:
    return (_as_dates(own) - _EPOCH).dt.total_seconds() / 86400


def _shown(day: float) -> str:
    return f"{_EPOCH + pd.Timedelta(days=float(day)):%Y-%m-%d}"


def _ages(own: pd.Series, reference: float) -> pd.Series:
    """Return whole years lived on a day."""
    dates, then = _as_dates(own).dt, _EPOCH + pd.Timedelta(days=float(reference))
    before = (dates.month > then.month) | ((dates.month == then.month) & (dates.day > then.day))
    return (then.year - dates.year - before).astype("float64")


def _references(days: pd.Series, released: pd.Series, unit: float) -> list[float]:
    """Return the days on which so many persons are so old as the release says, were they all in it."""
    born, ages = np.sort(days.dropna().to_numpy(float)), np.sort(released.dropna().to_numpy(float))
    if not len(born) or not len(ages) or ages[-1] * unit > 60_000 or ages[0] < 0:
        return []
    steps = np.unique(ages) if unit > 1 else ages[[0, len(ages) // 2, -1]]
    # Who is at least so old was born on this day or before: the share of the release that is, among all.
    place = np.searchsorted(ages, steps, side="left")
    older = (len(ages) - place) / len(ages) * len(born)
    last = born[np.clip(np.round(older).astype(int) - 1, 0, len(born) - 1)]
    next_one = born[np.clip(np.round(older).astype(int), 0, len(born) - 1)]
    if unit == 1:
        return _told(np.unique(last + steps))
    low, high = last + steps * unit, next_one + steps * unit
    inner = low.max(), high[older < len(born) - 0.5].min(initial=np.inf)
    middle = float(np.median(low))
    return _told(np.array([np.mean(inner), *inner, middle]))


def _told(days: FloatArray) -> list[float]:
    """Return those of the days up to which somebody may have counted, whole."""
    return list(dict.fromkeys(np.round(days[(days >= _FIRST) & (days <= _LAST)]).tolist()))


def _written(own: pd.Series, form: str, language: str, *, numeric: bool) -> pd.Series:
    dates = _as_dates(own)
    for sign in _SPOKEN if language else ():
        if sign in form:
            of_days = sign in ("%A", "%a")
            names = (_DAYS if of_days else _MONTHS)[language]
            short = 99 if sign.isupper() else 2 if of_days and language == "German" else 3
            word = (dates.dt.day_of_week if of_days else dates.dt.month - 1).map(
                lambda n, s=short, w=names: w[int(n)][:s], na_action="ignore"
            )
            head, tail = (dates.dt.strftime(piece) if piece else "" for piece in form.split(sign))
            return (head + word + tail).where(dates.notna())
    found = dates.dt.strftime(form).where(dates.notna())
    return pd.to_numeric(found, errors="coerce") if numeric else found
