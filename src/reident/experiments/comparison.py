"""Published against reproduced: one frame for every number that a document prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

__all__ = ["COLUMNS", "compare", "exact", "stand_in", "within"]

#: The columns of every comparison: what, as printed, as reproduced, the interval in which print and reproduction
#: agree, the verdict ("agrees", "differs" or "not comparable"), and the reason for a difference where one is known.
COLUMNS = ["item", "published", "reproduced", "low", "high", "verdict", "note"]


def within(item: str, published: float, reproduced: float, low: float, high: float, note: str = "") -> dict[str, Any]:
    """Compare a simulated number: it agrees if print lies inside the interval [low, high] of the reproduction."""
    agrees = low <= published <= high
    return dict(zip(COLUMNS, [item, published, reproduced, low, high, _verdict(agrees), note], strict=True))


def exact(item: str, published: Any, reproduced: Any, note: str = "") -> dict[str, Any]:
    """Compare a number that does not depend on chance: it agrees if it is the same."""
    agrees = bool(published == reproduced)
    return dict(zip(COLUMNS, [item, published, reproduced, None, None, _verdict(agrees), note], strict=True))


def stand_in(row: Mapping[str, Any]) -> dict[str, Any]:
    """Mark a row whose data are drawn in place of the paper's: shown beside print, it neither agrees nor differs."""
    return {**row, "verdict": "not comparable"}


def compare(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Gather rows made by `within` and `exact` into a comparison frame."""
    return pd.DataFrame(list(rows), columns=COLUMNS)


def _verdict(agrees: bool) -> str:
    return "agrees" if agrees else "differs"
