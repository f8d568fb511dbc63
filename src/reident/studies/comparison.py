"""The ledger: one row for every claim of a document, what it was judged by, and what it would have noticed.

The claims stand in ``data/published/<study>_claims.csv``, with the rule by which each is judged; a study hands over
readings, and `ledger` sets them beside print. A verdict must be able to fail: what would still be called "agrees" if
print were another (the next row of its table, the other direction) is called "cannot tell".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError

__all__ = [
    "COLUMNS",
    "DATA",
    "RULES",
    "VERDICTS",
    "Reading",
    "compare",
    "exact",
    "held",
    "held_in_all",
    "judge",
    "judge_again",
    "ledger",
    "not_run",
    "stand_in",
]

VERDICTS = ("agrees", "differs", "cannot tell", "not comparable", "proven wrong")

#: The data that a claim got: the files it was made on (or none are needed), others of the same kind, drawn ones.
OWN, PUBLIC, DRAWN = "the document's own", "public stand-in", "drawn"

#: Of a small profile, or of a run without a claim's conditions: no data that the claim could be judged on.
PART = "a part of the data"
DATA = (OWN, PUBLIC, DRAWN, PART)

#: What a claim needs where drawn data are its own: the document simulates, by a recipe that it gives.
SIMULATION = "a simulation"

#: Print of a statement in words, which is told as true or not: of what it rests on, a verdict notices the sign alone.
STATED = ("holds", "yes")

#: The columns of a ledger: the claim and its place, what it needs and got, rule and tolerance, print and reading with
#: interval and number of draws, its cell in a table and its figure, the verdict, and the smallest change of print that
#: it would notice.
COLUMNS = ["item", "place", "kind", "needs", "got", "rule", "tolerance", "published", "reproduced", "low", "high"]
COLUMNS += ["draws", "row", "column", "figure", "verdict", "power", "note"]

#: The columns of a claim that a ledger reads.
_CLAIM = ["item", "place", "kind", "needs", "rule", "tolerance", "published", "figure", "erratum", "cause"]

#: Draws of data below which chance is not judged: Student's interval of fewer says more about the draws than of print.
MIN_DRAWS = 5


@dataclass(frozen=True)
class Reading:
    """What a run found for a claim.

    Attributes
    ----------
    claim : str
        The item of a row of the study's claims.
    reproduced : object
        The number, word or truth found; for a direction the effect, positive as the claim has it.
    low, high : float, optional
        The interval that the claim's rule asks for.
    got : str
        The data that it was found on.
    note : str
        What else the reader should know.
    row, column : str
        The cell of a table; the claim is then the whole table.
    published : object, optional
        A cell's printed value; for other claims it stands with the claim.
    draws : int, optional
        Independent draws of data behind the interval.
    """

    claim: str
    reproduced: Any
    low: float = math.nan
    high: float = math.nan
    got: str = OWN
    note: str = ""
    row: str = ""
    column: str = ""
    published: Any = None
    draws: int | None = None


@dataclass(frozen=True)
class Beside:
    """A printed value beside a reading, as a rule sees it."""

    published: Any
    reproduced: Any
    low: float
    high: float
    tolerance: float
    draws: float


def equal(it: Beside) -> str:
    """Judge what does not depend on chance: it agrees if it is the same, to the printed digit."""
    return "agrees" if _plain(it.published) == _plain(it.reproduced) else "differs"


def predicts(it: Beside) -> str:
    """Judge a simulated number: print must lie where one further draw of the data would.

    The interval may not be wider than the tolerance, nor come from fewer than five draws.
    """
    if math.isnan(it.low) or it.draws < MIN_DRAWS:
        return "cannot tell"
    if not it.low <= float(it.published) <= it.high:
        return "differs"
    return "agrees" if it.high - it.low <= it.tolerance else "cannot tell"


def close(it: Beside) -> str:
    """Judge a number that print rounds or calls approximate: ours may be off by the tolerance.

    Our interval, where there is one, must lie wholly within it to agree, wholly outside to differ.
    """
    low, high = _interval(it)
    nearest, farthest = float(it.published) - it.tolerance, float(it.published) + it.tolerance
    return _decided(nearest <= low and high <= farthest, high < nearest or farthest < low)


def at_most(it: Beside) -> str:
    """Judge an upper limit (one-sided); the tolerance says what "close to" adds to it."""
    low, high = _interval(it)
    limit = float(it.published) + it.tolerance
    return _decided(high <= limit, low > limit)


def at_least(it: Beside) -> str:
    """Judge a lower limit (one-sided); the tolerance says what "close to" takes from it."""
    low, high = _interval(it)
    limit = float(it.published) - it.tolerance
    return _decided(low >= limit, high < limit)


def in_all(it: Beside) -> str:
    """Judge a claim about several settings: it must hold in each of them.

    Print is their number; the interval runs from the settings in which it surely holds to those in which it may.
    """
    low, high = _interval(it)
    return _decided(low >= float(it.published), high < float(it.published))


def direction(it: Beside) -> str:
    """Judge a direction: the effect's interval must lie on the side that print says, beyond the tolerance."""
    low, high = _interval(it)
    if it.published != "holds":
        low, high = -high, -low
    return _decided(low > it.tolerance, high <= it.tolerance)


RULES: dict[str, Callable[[Beside], str]] = {
    "equal": equal,
    "predicts": predicts,
    "close": close,
    "at most": at_most,
    "at least": at_least,
    "in all": in_all,
    "direction": direction,
}

#: The rule of the opposite limit.
OPPOSITE = {"at most": "at least", "at least": "at most"}


def judge(rule: str, it: Beside) -> str:
    """Return the verdict of a rule: agrees, differs or cannot tell."""
    return RULES[rule](it)


def ledger(claims: pd.DataFrame, readings: Iterable[Reading]) -> pd.DataFrame:
    """Set a study's readings beside the claims of its document, as `reident.data.papers.claims` returns them.

    A claim without a reading keeps its row and cannot be told. Drawn data never agree nor differ where the document
    had others.

    Raises
    ------
    DataError
        If a reading belongs to no claim.
    """
    printed = claims.fillna("").set_index("item", drop=False)
    found: dict[str, list[Reading]] = {}
    for reading in readings:
        if reading.claim not in printed.index:
            raise DataError(f"a reading must belong to a claim, got {reading.claim!r}")
        found.setdefault(reading.claim, []).append(reading)
    absent = "no run of this profile reads it"
    rows = [
        _row(claim, reading)
        for _, claim in printed.iterrows()
        for reading in found.get(str(claim["item"]), [Reading(str(claim["item"]), "", got="", note=absent)])
    ]
    return judge_again(pd.DataFrame(rows, columns=COLUMNS), claims)


def judge_again(frame: pd.DataFrame, claims: pd.DataFrame) -> pd.DataFrame:
    """Return a ledger with verdict and power as its own readings give them, such as one read from a file."""
    known = claims.fillna("").set_index("item")
    rows = frame.to_dict("records")
    tables = _tables(rows)
    for row in rows:
        claim = known.loc[_claim_of(row)]
        row["verdict"], row["power"], why = _judged(row, _neighbours(row, tables))
        if row["verdict"] == "differs" and claim["erratum"]:
            row["verdict"], why = "proven wrong", f"erratum {claim['erratum']}"
        if row["verdict"] == "differs" and claim["cause"]:
            why = claim["cause"]
        if why and why not in row["note"]:
            row["note"] = f"{row['note']}; {why}" if row["note"] else why
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(claim: pd.Series, reading: Reading) -> dict[str, Any]:
    cell = ", ".join(part for part in (reading.row, reading.column) if part)
    return {
        **{name: claim[name] for name in ("place", "kind", "needs", "rule", "tolerance", "figure")},
        "item": f"{reading.claim}, {cell}" if cell else reading.claim,
        "got": reading.got,
        "published": claim["published"] if reading.published is None else reading.published,
        **{name: _short(getattr(reading, name)) for name in ("reproduced", "low", "high")},
        "draws": reading.draws,
        "row": reading.row,
        "column": reading.column,
        "note": reading.note,
    }


def _claim_of(row: Mapping[str, Any]) -> str:
    cell = ", ".join(part for part in (row["row"], row["column"]) if part)
    return str(row["item"]).removesuffix(f", {cell}") if cell else str(row["item"])


def _judged(row: Mapping[str, Any], neighbours: list[Any]) -> tuple[str, str, str]:
    """Return verdict, power, and why it cannot be told where that is so."""
    if row["got"] == PART or (row["got"] == DRAWN and row["needs"] != SIMULATION):
        return "not comparable", "", ""
    if row["reproduced"] == "":
        return "cannot tell", "", ""
    rule, it = str(row["rule"]), _beside(row)
    verdict = judge(rule, it)
    power = "" if verdict == "differs" else _power(rule, it)
    if verdict == "cannot tell":
        return verdict, power, _why_not(rule, it)
    unnoticed = [said for said, other, turned in _perturbed(row, it, neighbours) if judge(other, turned) == "agrees"]
    if verdict == "agrees" and unnoticed:
        return "cannot tell", power, f"{unnoticed[0]} would agree as well"
    return verdict, power, ""


def _beside(row: Mapping[str, Any]) -> Beside:
    low, high, tolerance, draws = (_number(row[name]) for name in ("low", "high", "tolerance", "draws"))
    tolerance, draws = 0.0 if math.isnan(tolerance) else tolerance, math.inf if math.isnan(draws) else draws
    return Beside(row["published"], row["reproduced"], low, high, tolerance, draws)


def _perturbed(row: Mapping[str, Any], it: Beside, neighbours: list[Any]) -> Iterator[tuple[str, str, Beside]]:
    """Yield print as it might have been: the neighbours in its table, the other direction, a slope turned round."""
    rule = str(row["rule"])
    for value in neighbours:
        if _plain(value) != _plain(it.published):
            yield "the next cell's print", rule, replace(it, published=value)
    if rule == "direction":
        yield "the other direction", rule, replace(it, published="fails")
    elif rule == "in all":
        held, (low, high), n = float(it.reproduced), _interval(it), float(it.published)
        yield "the opposite in all", rule, replace(it, reproduced=n - held, low=n - high, high=n - low)
    elif rule in OPPOSITE:
        yield "the opposite", OPPOSITE[rule], it
    if row["kind"] == "slope":
        yield "the opposite slope", rule, replace(it, published=-float(it.published))


def _tables(rows: list[dict[str, Any]]) -> dict[str, dict[tuple[str, str], Any]]:
    tables: dict[str, dict[tuple[str, str], Any]] = {}
    for row in rows:
        if row["row"] or row["column"]:
            tables.setdefault(_claim_of(row), {})[row["row"], row["column"]] = row["published"]
    return tables


def _neighbours(row: Mapping[str, Any], tables: dict[str, dict[tuple[str, str], Any]]) -> list[Any]:
    """Return the printed values one row and one column away, on both sides."""
    cells = tables.get(_claim_of(row), {})
    found = []
    for axis in (0, 1):
        line = [cell for cell in cells if cell[1 - axis] == (row["row"], row["column"])[1 - axis]]
        at = line.index((row["row"], row["column"])) if (row["row"], row["column"]) in line else None
        if at is not None:
            found += [cells[cell] for cell in (*line[max(at - 1, 0) : at], *line[at + 1 : at + 2])]
    return found


def _power(rule: str, it: Beside) -> str:
    """Say the smallest change of print that the rule would notice, found by changing it."""
    if rule == "equal":
        return "reversal" if it.published in STATED else "any change"
    if rule in ("direction", "in all"):
        return "reversal" if rule == "direction" else "one setting"
    signs = {"at most": (-1,), "at least": (1,)}.get(rule, (-1, 1))
    shifts = [_smallest_shift(rule, it, sign) for sign in signs]
    side = "" if len(signs) > 1 else (" down" if signs[0] < 0 else " up")
    return f"{max(shifts):.3g}{side}" if max(shifts) < math.inf else "nothing"


def _smallest_shift(rule: str, it: Beside, sign: int) -> float:
    """Bisect for the smallest shift of print to one side from which on the rule says that it differs."""

    def differs(shift: float) -> bool:
        return judge(rule, replace(it, published=float(it.published) + sign * shift)) == "differs"

    sizes = (*_interval(it), float(it.published), it.tolerance)
    low, high = 0.0, 4 * sum(abs(size) for size in sizes if math.isfinite(size))
    if not differs(high):
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if differs(middle) else (middle, high)
    return high


def _why_not(rule: str, it: Beside) -> str:
    if rule != "predicts":
        return "print lies inside our uncertainty"
    if it.draws < MIN_DRAWS or math.isnan(it.low):
        return f"fewer than {MIN_DRAWS} draws"
    return f"interval wider than {it.tolerance:g}"


def _interval(it: Beside) -> tuple[float, float]:
    """Return our interval; the number itself where it has none, because chance plays no part."""
    if math.isnan(it.low):
        return float(it.reproduced), float(it.reproduced)
    return it.low, it.high


def _decided(agrees: bool, differs: bool) -> str:
    return "agrees" if agrees else "differs" if differs else "cannot tell"


def _plain(value: Any) -> float | str:
    """Return a number as such, however it is written, and anything else as text."""
    if isinstance(value, bool):
        return str(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def _number(value: Any) -> float:
    found = _plain(value)
    return found if isinstance(found, float) else math.nan


def _short(value: Any) -> Any:
    """Round a number to six figures, as it is stored: what is judged is what is shown."""
    if isinstance(value, bool | str | int):
        return value
    found = _number(value)
    return value if math.isnan(found) else float(f"{found:.6g}")


def exact(item: str, published: Any, reproduced: Any, note: str = "", got: str = OWN) -> Reading:
    """Return the reading of a number or word that does not depend on chance, beside its print."""
    return Reading(item, reproduced, got=got, note=note, published=published)


def held(item: str, holds: bool, note: str) -> Reading:
    """Return the reading of a statement in words: it holds, or it does not."""
    return exact(item, "holds", "holds" if holds else "does not hold", note)


def held_in_all(item: str, effects: Iterable[float | tuple[float, float]], note: str, got: str = OWN) -> Reading:
    """Return the reading of a statement about several settings, by its effect in each, positive as it is stated.

    An effect is a number, or the interval of one that chance plays a part in. Where it is nought, or its interval holds
    nought, the statement may hold: it does not say less there than its opposite.
    """
    ends = np.array([one if isinstance(one, tuple) else (one, one) for one in effects], float)
    surely, maybe = int((ends[:, 0] > 0).sum()), int((~(ends[:, 1] < 0)).sum())
    return Reading(item, surely, surely, maybe, got, note, published=len(ends))


def not_run(item: str, needs: str) -> Reading:
    """Return the reading of a claim whose conditions a run does not have: it is not comparable."""
    return Reading(item, "not run", got=PART, note=f"needs {needs}")


def stand_in(reading: Reading) -> Reading:
    """Mark a reading whose data are drawn in place of the document's: shown beside print, it is not comparable."""
    return replace(reading, got=DRAWN)


def compare(readings: Iterable[Reading], claims: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the ledger of readings that bring their print along; what `claims` does not list is judged as it comes.

    That is, exactly without an interval, and by the interval, however wide, where there is one.
    """
    readings = list(readings)
    known = pd.DataFrame(columns=_CLAIM) if claims is None else claims
    items = dict.fromkeys(reading.claim for reading in readings if reading.claim not in set(known["item"]))
    bare = {reading.claim: "equal" if math.isnan(reading.low) else "predicts" for reading in readings}
    told = {"kind": "number", "needs": "nothing", "tolerance": "inf"}
    listed = pd.DataFrame([dict.fromkeys(_CLAIM, "") | told | {"item": item, "rule": bare[item]} for item in items])
    return ledger(pd.concat([known, listed], ignore_index=True), readings)
