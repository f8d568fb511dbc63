"""Attack. Reading generalised labels: the original values that a label of a release covers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from typing import Any

import numpy as np
import pandas as pd

from reident.base import BoolArray, IntArray, afford, kind_of
from reident.tables.classes import look_of, text_of

#: Pairs of a value and an interval that are compared at once.
_AT_ONCE = 1 << 22

#: The label of a missing value.
GAP = "(missing)"

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_INTERVAL = re.compile(rf"^\s*([\[\(\]])\s*({_NUMBER}|-inf)\s*[,;:]\s*({_NUMBER}|inf)\s*([\]\)\[])\s*$")
_RANGE = re.compile(rf"^\s*({_NUMBER})\s*(?:-|–|\.\.)\s*({_NUMBER})\s*$")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DAYS = re.compile(rf"^\[({_DAY.pattern}[^,\]]*), ({_DAY.pattern}[^,\]]*)\]$")
#: A code with its last characters masked: 0xxxx.
_DIGITS_GONE = re.compile(r"([A-Za-z]{0,3}\d+)([xX#?]+)")
_SHORTENED = re.compile(r"^\{(.+), \.\.\., (.+)\}$")
#: With a decimal comma, behind which a semicolon separates: [1000; 1999,5].
_WITH_COMMAS = re.compile(r"^\s*([\[\(\]])\s*([-+]?\d+(?:[.,]\d+)*)\s*;\s*([-+]?\d+(?:[.,]\d+)*)\s*([\]\)\[])\s*$")
_GROUPED = r"[-+]?[1-9]\d{0,2}(?:[.,]\d{3})+"
_GROUPED_RANGE = re.compile(rf"^\s*({_GROUPED})\s*(?:-|–|\.\.)\s*({_GROUPED})\s*$")
_ONE_SIDED = re.compile(rf"^\s*(<=|>=|<|>|≤|≥)\s*({_NUMBER})\s*$")

#: Intervals in words, with a unit behind them: its ends, and whether these are inside. In English, German, French,
#: Spanish, Italian, Dutch, Polish and Swedish.
_COUNT = r"(?:[-+]?[1-9]\d{0,2}(?:[., ]\d{3})+|[-+]?\d+(?:[.,]\d+)?)"
_UNIT = r"\s*(?:[^\W\d_]{1,10}\.?|[€$£%])?"


def _one_of(*words: str) -> str:
    return "(?:" + "|".join(re.escape(word.strip()) for listed in words for word in listed.split(",")) + ")"


_OVER = _one_of(
    "over, above, more than, older than, >", "über, mehr als, älter als", "plus de", "más de", "più di, oltre",
    "meer dan, ouder dan, boven", "powyżej, ponad, więcej niż", "över, mer än, äldre än",
)  # fmt: skip
_FROM = _one_of(
    "from, at least, ≥, >=", "ab, mindestens, von", "à partir de, au moins, de", "desde, al menos, a partir de",
    "da, almeno", "vanaf, van, minstens", "od, co najmniej", "från, minst",
)  # fmt: skip
_UNDER = _one_of(
    "under, below, less than, younger than, <", "unter, weniger als, jünger als", "moins de", "menos de", "meno di",
    "minder dan, jonger dan, onder", "poniżej, mniej niż", "mindre än, yngre än",
)  # fmt: skip
_UP_TO = _one_of(
    "up to, at most, ≤, <=", "bis zu, bis, höchstens", "jusqu'à, jusqu’à, au plus", "hasta", "fino a",
    "tot en met, tot", "do, najwyżej", "till, högst",
)  # fmt: skip
_AND = _one_of("and, or", "und, oder, u.", "et, ou", "y, o", "e", "en, of", "i, lub, oraz", "och, eller")
_GREATER = _one_of(
    "more, over, older, above", "mehr, älter, darüber, höher, ä.", "plus, davantage", "más, mayores, mayor",
    "più, oltre", "meer, ouder, hoger", "więcej, powyżej, starsi, starsze, starszy", "mer, äldre, över",
)  # fmt: skip
_SMALLER = _one_of(
    "less, fewer, under, younger, below", "weniger, jünger, darunter", "moins", "menos, menores", "meno",
    "minder, jonger", "mniej, młodsi, młodsze, młodszy", "mindre, yngre",
)  # fmt: skip
_MORE, _FEWER = rf"(?:\+|plus|{_AND}\s*{_GREATER})", rf"{_AND}\s*{_SMALLER}"
_TO = _one_of("-, –, —, .., to, until", "bis", "à, a", "al", "tot", "do", "till")
_BETWEEN = _one_of("between", "zwischen", "entre", "tra, fra", "tussen", "między", "mellan")
_WORDED: list[tuple[re.Pattern[str], bool, bool]] = [
    (re.compile(rf"^\s*{pattern}\s*$", re.IGNORECASE), with_low, with_high)
    for pattern, with_low, with_high in (
        (rf"(?:{_FROM}\s*)?(?P<low>{_COUNT}){_UNIT}\s*{_TO}?\s*{_UNDER}\s*(?P<high>{_COUNT}){_UNIT}", True, False),
        (rf"(?:{_FROM}\s*)?(?P<low>{_COUNT})\s*{_TO}\s*(?P<high>{_COUNT}){_UNIT}", True, True),
        (rf"{_OVER}\s*(?P<low>{_COUNT}){_UNIT}\s*(?:{_TO}|{_UP_TO})\s*(?P<high>{_COUNT}){_UNIT}", False, True),
        (rf"{_BETWEEN}\s*(?P<low>{_COUNT})\s*(?:{_AND}|a)\s*(?P<high>{_COUNT}){_UNIT}", True, True),
        (rf"{_UNDER}\s*(?P<high>{_COUNT}){_UNIT}", False, False),
        (rf"{_UP_TO}\s*(?P<high>{_COUNT}){_UNIT}|(?P<most>{_COUNT}){_UNIT}\s*{_FEWER}", False, True),
        (rf"{_OVER}\s*(?P<low>{_COUNT}){_UNIT}", False, False),
        (rf"{_FROM}\s*(?P<low>{_COUNT}){_UNIT}|(?P<least>{_COUNT}){_UNIT}\s*{_MORE}", True, False),
    )
]

#: (low, high, low is inside, high is inside)
Interval = tuple[float, float, bool, bool]


def texts_of(column: pd.Series) -> pd.Series:
    """Return the values of a column as a CSV would hold them; missing ones stay missing."""
    if column.dtype == object and len(set(map(type, column.dropna()))) > 1:  # 1 and True are equal, their texts are not
        return column.map(text_of, na_action="ignore")
    codes, values = pd.factorize(column)
    texts = np.array([*map(text_of, values), None], dtype=object)
    return pd.Series(texts[codes], column.index, name=column.name, dtype=object)


#: Words for truth values, in small letters.
_TRUTH = {"true": "True", "1": "True", "wahr": "True", "false": "False", "0": "False", "falsch": "False"}
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2}(?:\.\d+)?))?)?")


def _truth_text(value: Any) -> str:
    return _TRUTH.get(text_of(value).strip().lower(), text_of(value))


def _day_text(value: Any) -> str:
    match = _MOMENT.fullmatch(text_of(value).strip())
    if match is None:
        return text_of(value)
    day, time, seconds = match.groups()
    moment = f"{time or '00:00'}:{seconds or '00'}"
    return day if moment.rstrip("0.") == "00:00:" else f"{day} {moment}"


def _number_text(value: Any) -> str:
    text = text_of(value)
    if not isinstance(value, str) or not re.fullmatch(_NUMBER, text.strip()):
        return text
    return str(int(text)) if re.fullmatch(r"\s*[-+]?\d+\s*", text) else text_of(float(text))


def common_texts(*columns: pd.Series) -> list[pd.Series]:
    """Return columns as texts that are equal where their values are, whatever type each file gave them.

    Columns of one type are compared as they are. A truth value is that of "true" and 1, a day that of its ISO text, a
    number that of "1.50". Texts that look the same are the same: composed letters or not, blanks of any kind.
    """
    text = _common_text(*columns)
    if text is text_of:
        return [_looks(texts_of(column)) for column in columns]
    written: dict[Any, str] = {}
    for column in columns:
        written |= {
            (type(value), value): text(value) for value in pd.unique(column.astype(object)) if not pd.isna(value)
        }
    return [
        column.astype(object).map(lambda value: written[type(value), value], na_action="ignore") for column in columns
    ]


def _looks(texts: pd.Series) -> pd.Series:
    looks = {text: look_of(text) for text in pd.unique(texts.dropna())}
    return texts if all(text == look for text, look in looks.items()) else texts.map(looks, na_action="ignore")


def _common_text(*columns: pd.Series) -> Callable[[Any], str]:
    """Return how values of columns of several types are written so that equal ones are equal."""
    kinds = {kind_of(column) for column in columns} - {"empty"}
    return next((text for kind, text in _TEXT_BY_KIND.items() if kind in kinds and len(kinds) > 1), text_of)


#: How columns of several types are written; the first type that is there decides.
_TEXT_BY_KIND = {"boolean": _truth_text, "time": _day_text, "number": _number_text}


def places_among(column: pd.Series, values: pd.Index) -> IntArray:
    """Return the place of each value of a column among some distinct values of another, -1 for none."""
    labels, known = common_texts(column, pd.Series(values))
    place: dict[Any, int] = {}
    for at, value in enumerate(known):
        place.setdefault(None if pd.isna(value) else value, at)
    return np.array([place.get(None if pd.isna(value) else value, -1) for value in labels], dtype=np.int64)


def with_gaps(column: pd.Series) -> pd.Series:
    """Return a column in which a missing value is a value of its own."""
    return column.astype(object).where(column.notna(), GAP) if column.isna().any() else column


def interval_of(label: Any, *, grouped: bool = False) -> Interval | None:
    """Return the interval of numbers that a label stands for, None if it is no interval.

    Where `grouped`, 1.000-1.999 is a thousand to two, else one to two.
    """
    if isinstance(label, pd.Interval):
        return float(label.left), float(label.right), label.closed_left, label.closed_right
    if not isinstance(label, str):
        return None
    label = label.replace("\u2212", "-")
    if match := _INTERVAL.match(label):
        opening, low, high, closing = match.groups()
        return float(low), float(high), opening == "[", closing == "]"
    if match := _WITH_COMMAS.match(label):
        opening, low, high, closing = match.groups()
        return _count(low, np.nan), _count(high, np.nan), opening == "[", closing == "]"
    if grouped and (match := _GROUPED_RANGE.match(label)):
        return _count(match.group(1), np.nan), _count(match.group(2), np.nan), True, True
    if match := _ONE_SIDED.match(label):
        sign, bound = match.group(1), float(match.group(2))
        inside = sign in ("<=", ">=", "≤", "≥")
        return (-np.inf, bound, False, inside) if sign[0] in "<≤" else (bound, np.inf, inside, False)
    if (match := _RANGE.match(label)) and float(match.group(1)) <= float(match.group(2)):  # 2021-03 is a month
        return float(match.group(1)), float(match.group(2)), True, True
    for pattern, with_low, with_high in _WORDED:
        if match := pattern.match(label):
            parts = match.groupdict()
            low, high = parts.get("low") or parts.get("least"), parts.get("high") or parts.get("most")
            ends = _count(low, -np.inf), _count(high, np.inf)
            return (*ends, with_low, with_high) if ends[0] <= ends[1] else None
    return None


def _count(text: str | None, absent: float) -> float:
    """Read a number of a text: 1.000 and 1,000 are a thousand, 1,5 is one and a half."""
    if text is None:
        return absent
    grouped = re.fullmatch(r"[-+]?[1-9]\d{0,2}(?:[., ]\d{3})+", text)
    return float(re.sub(r"[., ]", "", text) if grouped else text.replace(",", "."))


class LabelReader:
    """Which labels of a release's column cover which original values of a population's column.

    A label covers a value if it equals it (as text, 39 and "39" alike), stands on a higher level of the value's
    hierarchy, is an interval ("[20, 30)", "20-29", "< 30", "20 bis unter 30 Jahre", "70+", a pandas Interval) that
    contains it, a set ("{a, b}", or a Python set) that lists it, a long set shortened to its ends in the order of the
    text ("{a, ..., k}"), a mask ("130**", "130xx": the same text but for the stars, or a beginning of it, "3*"), a
    year, quarter, month or range of dates ("2021", "2021-Q1", "2021-03", "03.2021", "[2021-03-04, 2021-05-01]"), or
    "*", which covers all. A missing label covers all values, and a missing value is covered by every label.

    Parameters
    ----------
    values : Index
        The distinct original values.
    labels : Index
        The distinct labels.
    hierarchy : object with `to_frame`, DataFrame or None
        One row a value, one column a level.
    """

    def __init__(self, values: pd.Index, labels: pd.Index, hierarchy: Any = None) -> None:
        self.values, self.labels = values, labels
        self._texts = [look_of(text_of(value)) for value in values]
        single = values.dtype in (np.float16, np.float32)  # compared as written: 0.3 is not 0.30000001192
        self.numbers = pd.to_numeric(pd.Series(self._texts if single else values), errors="coerce").to_numpy(np.float64)
        self._missing = np.asarray(values.isna())
        self._ancestors = ancestors(hierarchy)
        intervals = self._intervals()
        self._others = [place for place, interval in enumerate(intervals) if interval is None]
        self._low, self._high, self._with_low, self._with_high = (
            np.array([interval[part] if interval else filler for interval in intervals])
            for part, filler in ((0, np.nan), (1, np.nan), (2, False), (3, False))
        )

    def _intervals(self) -> list[Interval | None]:
        """Return the interval of each label, by the reading of points and commas that holds more values."""
        plain = [interval_of(label) for label in self.labels]
        if not any(isinstance(label, str) and _GROUPED_RANGE.match(label) for label in self.labels):
            return plain

        def held(intervals: list[Interval | None]) -> int:
            ends = [interval[:2] for interval in intervals if interval]
            return sum(any(low <= number <= high for low, high in ends) for number in self.numbers)

        grouped = [interval_of(label, grouped=True) for label in self.labels]
        return grouped if held(grouped) > held(plain) else plain

    def cover(self) -> BoolArray:
        """Return whether each label covers each value, shape (n_values, n_labels).

        Raises
        ------
        ParameterError
            If the table of values by labels does not fit into memory.
        """
        shape = len(self.values), len(self.labels)
        description = f"a table of {shape[0]:,} values by {shape[1]:,} labels"
        remedy = "take a sample of the records, or fewer distinct labels"
        afford(2 * shape[0] * shape[1], "release", description, remedy)
        covered: BoolArray = np.zeros(shape, dtype=bool)
        intervals = np.flatnonzero(~np.isnan(self._low))
        low, high = self._low[intervals], self._high[intervals]
        with_low, with_high = self._with_low[intervals], self._with_high[intervals]
        step = max(1, _AT_ONCE // max(1, intervals.size))
        for start in range(0, shape[0] if intervals.size else 0, step):
            numbers = self.numbers[start : start + step, None]
            above = np.where(with_low, numbers >= low, numbers > low)
            below = np.where(with_high, numbers <= high, numbers < high)
            covered[start : start + step, intervals] = above & below
        self._mark_equal_or_above(covered)
        for place in self._others:
            test = _test(self.labels[place])
            if test is not None:
                covered[:, place] |= np.fromiter(map(test, self._texts), bool, len(self._texts))
        covered[self._missing] = True
        return covered

    def _mark_equal_or_above(self, covered: BoolArray) -> None:
        text_of_both = _common_text(pd.Series(self.values), pd.Series(self.labels, dtype=object))
        places: dict[str, list[int]] = {}
        for place, label in enumerate(self.labels):
            places.setdefault(look_of(text_of_both(label)), []).append(place)
        for row, (value, value_text) in enumerate(zip(self.values, self._texts, strict=True)):
            for text in (text_of_both(value), *map(text_of_both, self._ancestors.get(value_text, ()))):
                if look_of(text) in places:
                    covered[row, places[look_of(text)]] = True


def ancestors(hierarchy: Any) -> Mapping[str, Set[str]]:
    """Return the labels above each value of a hierarchy, as texts; the values as they look."""
    if hierarchy is None:
        return {}
    frame = hierarchy if isinstance(hierarchy, pd.DataFrame) else hierarchy.to_frame()
    above: dict[str, set[str]] = {}
    for row in frame.itertuples(index=False, name=None):
        above.setdefault(look_of(text_of(row[0])), set()).update(map(text_of, row[1:]))
    return above


def _beginnings(label: str) -> tuple[str, ...] | None:
    """Return the beginnings of the dates (YYYY-MM-DD) of a year, quarter, month or day; None for another label."""
    label = label.strip()
    if re.fullmatch(r"[12]\d{3}(?:-\d{2}){0,2}", label):
        return (label,) if len(label) == 10 else (f"{label}-",)
    if match := re.fullmatch(r"(?P<m>\d{1,2})[./](?P<y>[12]\d{3})|(?P<Y>[12]\d{3})[./](?P<M>\d{1,2})", label):
        parts = match.groupdict()
        return (f"{parts['y'] or parts['Y']}-{int(parts['m'] or parts['M']):02d}-",)
    if match := re.fullmatch(r"Q(?P<q>[1-4])[-/ ]?(?P<y>[12]\d{3})|(?P<Y>[12]\d{3})[-/ ]?Q(?P<Q>[1-4])", label):
        parts = match.groupdict()
        first = 3 * int(parts["q"] or parts["Q"]) - 2
        return tuple(f"{parts['y'] or parts['Y']}-{month:02d}-" for month in range(first, first + 3))
    return None


def _parts(text: str) -> str:
    """Return a list's text with a comma around each entry, so that entries that hold commas are found in it."""
    return "," + ",".join(part.strip() for part in text.split(",")) + ","


def _test(label: Any) -> Callable[[str], bool] | None:
    """Return the test of a value's text by a set, a mask or a suppressed label; None for any other label."""
    if isinstance(label, set | frozenset | tuple | list):
        listed = {look_of(text_of(value)) for value in label}
        return lambda text: text in listed
    if not isinstance(label, str):
        if pd.isna(label):
            return lambda text: True  # noqa: ARG005
        label = text_of(label)
    label = look_of(label)
    if (prefix := _beginnings(label)) is not None:
        return lambda text: text.startswith(prefix) and _DAY.match(text) is not None
    if label.strip() == "*":
        return lambda text: True  # noqa: ARG005
    if match := _DAYS.match(label):
        start, end = match.groups()
        return lambda text: start <= text and text[: len(end)] <= end
    if match := _SHORTENED.match(label):
        first, last = match.groups()
        return lambda text: first <= text <= last
    if label.startswith("{") and label.endswith("}"):
        listed_text = _parts(label[1:-1])
        return lambda text: _parts(text) in listed_text
    if (masked := _DIGITS_GONE.fullmatch(label)) is not None:
        digits, n = masked.group(1), len(label)
        return lambda text: text.startswith(digits) and len(text) == n
    if "*" in label:
        beginning = label.rstrip("*")
        pattern = re.compile("".join("." if sign == "*" else re.escape(sign) for sign in label) + r"\Z")
        # One star at the end is read as "begins with"; stars elsewhere, or several, each stand for one character.
        loose = label.count("*") == 1 and label.endswith("*")
        return lambda text: bool(pattern.match(text)) or (loose and text.startswith(beginning))
    return None
