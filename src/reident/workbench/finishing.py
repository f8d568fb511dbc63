"""Give released columns the form that the file gave them: whole numbers, digits, public ends, names, coordinates."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype, is_numeric_dtype
from scipy.special import entr

from reident.base import FloatArray, is_numeric
from reident.places.points import longitudes_like, projected
from reident.workbench.cells import decimals_of, round_up
from reident.workbench.microdata import LAT, LON

_DAY = r"\d{4}-\d{2}-\d{2}"
_DAYS = re.compile(rf"\{{(?:{_DAY}[^{{}}]*, [^{{}}]*|[^{{}}]*, {_DAY}[^{{}}]*)\}}")
_CLOSED = re.compile(r"\[(-?[\d.]+(?:e[-+]?\d+)?), (-?[\d.]+(?:e[-+]?\d+)?)\]")
#: Into how many steps a public grid parts the range of a column, about.
_STEPS = 1000
#: Codes of missing values lie far from the rest: the range counts up to so many times that of the middle nine tenths.
_FAR = 10


def in_form(before: pd.Series, after: pd.Series) -> pd.Series:
    """Return a released column in the form of the original's: whole numbers whole, as many digits as there were.

    Rounding what a method released tells nothing more of the original.
    """
    if not is_numeric(before):
        return public_days(before, after)
    if not is_numeric_dtype(after):
        return public_ends(before, after)
    digits = decimals_of(before)
    if is_integer_dtype(before):
        whole = after.astype("Float64").round()
        return whole.astype("Int64" if whole.isna().any() else "int64")
    return after if digits is None else after.astype("float64").round(digits)


def public_ends(before: pd.Series, after: pd.Series) -> pd.Series:
    """Round the closed intervals ``[a, b]`` of labels outwards to a public grid.

    The grid is 1, 2 or 5 times a power of ten, a thousandth of the column's range (values far apart from the rest
    aside) or a little more, and no finer than the column's own digits: of the data it tells their order of magnitude.
    Where values are themselves multiples of a larger unit, such as rounded to hundreds, the grid is ten times that
    unit.
    """
    values = np.unique(before.dropna().to_numpy(float))
    if not len(values):
        return after
    low, high = np.quantile(values, 0.05, method="lower"), np.quantile(values, 0.95, method="higher")
    spread, digits = min(np.ptp(values), _FAR * (high - low)), decimals_of(before)
    step = max(round_up(spread / _STEPS), 0.0 if digits is None else 10.0**-digits)
    own = _apart(values[(low <= values) & (values <= high)], digits)
    if own >= step and len(values) < spread / own / 2:  # few of the grid's points are values, and every end one
        step = round_up(10 * own)
    return _outwards(after, step) if step > 0 else after


def _outwards(after: pd.Series, step: float) -> pd.Series:
    """Round the closed intervals of labels outwards to multiples of a step."""
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))

    def outwards(match: re.Match[str]) -> str:
        low, high = (float(match.group(i)) for i in (1, 2))
        ends = [f"{np.rint(end / step) * step:.{decimals}f}" for end in (low, high)]
        if float(ends[0]) > low:  # the printed end decides, not a quotient in floating point
            ends[0] = f"{(np.rint(low / step) - 1) * step:.{decimals}f}"
        if float(ends[1]) < high:
            ends[1] = f"{(np.rint(high / step) + 1) * step:.{decimals}f}"
        return "[" + ", ".join(ends) + "]"

    labels = {label: _CLOSED.sub(outwards, label) for label in pd.unique(after.dropna()) if isinstance(label, str)}
    return after.map(lambda label: labels.get(label, label)) if labels else after


def public_days(before: pd.Series, after: pd.Series) -> pd.Series:
    """Return labels that list days as a run of whole months, ``{1943-03-01, ..., 1951-08-31}``: no end is a person's.

    Where half of the days from the first to the last are persons' anyway, the labels stay.
    """
    labels = [label for label in pd.unique(after.dropna()) if isinstance(label, str) and _DAYS.fullmatch(label)]
    if not labels:
        return after
    days = pd.to_datetime(before.astype(str), errors="coerce", format="ISO8601").dt.normalize().dropna()
    if len(days) and days.nunique() >= ((days.max() - days.min()).days + 1) / 2:
        return after
    return after.replace({label: _months(label[1:-1].split(", ")) for label in labels})


def _months(listed: list[str]) -> str:
    first, last = listed[0], listed[-1]
    if re.match(_DAY, first):
        first = f"{pd.Period(first[:10], 'M').start_time:%Y-%m-%d}"
    if re.match(_DAY, last):
        last = f"{pd.Period(last[:10], 'M').end_time:%Y-%m-%d}{' 23:59:59' if len(last) > 10 else ''}"
    return f"{{{first}, ..., {last}}}"


def _apart(known: FloatArray, digits: int | None) -> float:
    """Return the unit of which all differences of the values are multiples, if it is larger than their last digit."""
    if digits is None or not known.size or np.abs(known).max() * 10.0**digits >= 2**53:
        return 0.0
    whole = np.rint(known * 10.0**digits).astype(np.int64)
    unit = int(np.gcd.reduce(whole - whole[0]))
    return unit * 10.0**-digits if unit > 1 else 0.0


def with_coordinates(
    after: pd.DataFrame, before: pd.DataFrame, places: tuple[str, str], crs: str | None
) -> pd.DataFrame:
    """Write ``lat_deg`` and ``lon_deg`` of a release in the file's own columns, CRS and digits, to a metre at least.

    Fewer digits would undo a mask, and digits that depend on the true places would tell of them.
    """
    lat, lon = after[LAT].to_numpy(float), after[LON].to_numpy(float)
    if is_projected := crs not in (None, "EPSG:4326"):
        lon, lat = projected(lat, lon, crs)
    else:
        lon = longitudes_like(lon, before[places[1]].to_numpy(float, na_value=np.nan))
    made = after.drop(columns=[LAT, LON])
    for name, values in zip(places, (lat, lon), strict=True):
        digits = decimals_of(before[name])
        rounded = values if digits is None else np.round(values, max(digits, 0 if is_projected else 5))
        is_whole = is_projected and is_integer_dtype(before[name])
        made[name] = rounded.astype("int64") if is_whole else rounded
    return made[[column for column in before.columns if column in made.columns]]


def column_loss(before: pd.Series, after: pd.Series) -> float:
    """Return the share of a column's information that its release lost, from 0 to 1.

    Numbers released as numbers: 1 less the squared correlation. Otherwise 1 less the shared information over the
    information of the original, numbers in twenty classes. Both series are aligned by their index; records left out
    count as lost.
    """
    released = after.dropna().index
    share = len(released) / max(1, len(before))
    old, new = before.loc[released], after.loc[released]
    known = old.notna()
    old, new = old[known], new[known]
    if len(old) < 2:
        return 1.0 - share if len(before) else 0.0
    if is_numeric(old) and is_numeric(new):
        x, y = old.to_numpy(float), new.to_numpy(float)
        if np.array_equal(x, y):
            return 1.0 - share
        spread = np.ptp(x) > 0 and np.ptp(y) > 0
        kept = float(np.corrcoef(x, y)[0, 1]) ** 2 if spread else 0.0
        return 1.0 - share * kept
    if is_numeric_dtype(old) and old.nunique() > 20:
        old = pd.qcut(old.astype("float64").rank(method="average"), 20, labels=False, duplicates="drop")
    a, b = (pd.factorize(column.astype(str))[0] for column in (old, new))
    counts = [np.unique(labels, return_counts=True)[1] for labels in (a, b, a * (b.max() + 1) + b)]
    own, other, both = (entr(count / count.sum()).sum() for count in counts)
    return float(np.clip(1.0 - share * ((own + other - both) / own if own > 0 else 1.0), 0.0, 1.0))
