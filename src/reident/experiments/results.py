"""Store the result of a run, which a batch collects over all its runs, and its claims."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

#: The file that a run leaves in its folder.
RESULT = "result.parquet"

#: The columns of the claims that a notebook shows.
_SHOWN = [
    "item", "verdict", "verdict_as_printed", "published", "reproduced", "low", "high", "margin", "n", "deviating",
    "data", "algorithm", "cut", "note",
]  # fmt: skip


def declare(result: pd.DataFrame | Mapping[str, Any], out: str | Path | None) -> pd.DataFrame:
    """Declare a table, or the values of one row, as the result of a run.

    Parameters
    ----------
    result : DataFrame or mapping
        Measures in columns; `reident batch` puts the run's parameters before them and all runs into one frame.
    out : path, optional
        The folder of the run, a notebook's parameter `out`; without one nothing is written.

    Returns
    -------
    DataFrame
        The table.
    """
    frame = result if isinstance(result, pd.DataFrame) else pd.DataFrame([dict(result)])
    if out:
        Path(out).mkdir(parents=True, exist_ok=True)
        frame.to_parquet(Path(out) / RESULT, index=False)
    return frame


def save_claims(claims: pd.DataFrame, out: str | Path | None) -> pd.DataFrame:
    """Store the claims of a run as ``claims.csv`` in its folder, and return the columns that say most.

    Parameters
    ----------
    claims : DataFrame
        As `reident.compare` returns them.
    out : path, optional
        The folder of the run, a notebook's parameter `out`; without one nothing is written.
    """
    if out:
        Path(out).mkdir(parents=True, exist_ok=True)
        claims.to_csv(Path(out) / "claims.csv", index=False)
    return claims[_SHOWN].dropna(axis="columns", how="all").round(4)
