"""Declare the result of a run: a table that a batch collects over all its runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["RESULT", "declare"]

#: The file that a run leaves in its folder.
RESULT = "result.parquet"


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
