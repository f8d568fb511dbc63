"""Store the result of a run, which a batch collects over all its runs, and its claims."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

#: The file that a run leaves in its folder.
RESULT = "result.parquet"

#: The columns of ``claims.csv`` that a notebook does not show.
_HIDDEN = [
    "place", "kind", "cells", "judged", "mean_deviation", "rms", "largest", "trials", "look", "datasets_needed",
    "calibrated", "reason", "since",
]  # fmt: skip


def declare(result: pd.DataFrame | Mapping[str, Any], out: str | Path | None) -> pd.DataFrame:
    """Declare a table, or the values of one row, as the result of a run, and return the table.

    Its columns are measures: `reident batch` puts the run's parameters before them and all runs into one frame. `out`
    is the folder of the run, a notebook's parameter `out`; without one the table is not written.
    """
    frame = result if isinstance(result, pd.DataFrame) else pd.DataFrame([dict(result)])
    if out:
        Path(out).mkdir(parents=True, exist_ok=True)
        frame.to_parquet(Path(out) / RESULT, index=False)
    return frame


def save_claims(claims: pd.DataFrame, out: str | Path | None) -> pd.DataFrame:
    """Store the claims of a run, as `compare` returns them, in the folder `out`; return the columns that say most."""
    if out:
        Path(out).mkdir(parents=True, exist_ok=True)
        claims.to_csv(Path(out) / "claims.csv", index=False)
    return claims.drop(columns=_HIDDEN).dropna(axis="columns", how="all").round(4)
