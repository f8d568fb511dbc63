"""What a study returns: named result frames and the comparison with print, kept in one folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from reident.errors import DataError

__all__ = ["Results", "engine"]


@dataclass(frozen=True)
class Results:
    """The outcome of a study: what figures and pages are made from.

    Attributes
    ----------
    study : str
        The study's name, a key of `reident.papers.STUDIES`.
    profile : str
        ``"smoke"``, ``"quick"`` or ``"full"``.
    seed : int
        The seed from which every trial's stream is derived.
    frames : mapping of str to DataFrame
        The tidy frames that the figures read.
    comparison : DataFrame
        Published against reproduced, as made by `reident.experiments.comparison.compare`.
    """

    study: str
    profile: str
    seed: int
    frames: Mapping[str, pd.DataFrame]
    comparison: pd.DataFrame

    def save(self, folder: str | Path) -> Path:
        """Write the frames (parquet), the comparison (CSV) and a description (JSON) into `folder`."""
        folder = Path(folder)
        (folder / "frames").mkdir(parents=True, exist_ok=True)
        for name, frame in self.frames.items():
            frame.to_parquet(folder / "frames" / f"{name}.parquet", index=False)
        self.comparison.to_csv(folder / "comparison.csv", index=False)
        described = {"study": self.study, "profile": self.profile, "seed": self.seed, "frames": list(self.frames)}
        (folder / "study.json").write_text(json.dumps(described, indent=2) + "\n")
        return folder

    def kept(self, folder: str | Path | None) -> Results:
        """Return these results, written into `folder` if there is one."""
        if folder is not None:
            self.save(folder)
        return self

    @classmethod
    def load(cls, folder: str | Path) -> Results:
        """Read back what `save` wrote.

        Raises
        ------
        DataError
            If no study's results lie in `folder`.
        """
        folder = Path(folder)
        if not (folder / "study.json").is_file():
            raise DataError(f"no results of a study lie in {str(folder)!r}: run `reident reproduce` first")
        described = json.loads((folder / "study.json").read_text())
        frames = {name: pd.read_parquet(folder / "frames" / f"{name}.parquet") for name in described.pop("frames")}
        comparison = pd.read_csv(folder / "comparison.csv", dtype={"note": str}, keep_default_na=False, na_values=[""])
        return cls(**described, frames=frames, comparison=comparison.fillna({"note": ""}))


def engine(*, seed: int, folder: str | Path | None, jobs: int, scheduler: str | None, progress: bool) -> dict[str, Any]:
    """Return what every sweep of a study gives to `grid.run`; finished trials lie beside the results."""
    parts = None if folder is None else Path(folder) / "parts"
    return {"seed": seed, "folder": parts, "jobs": jobs, "scheduler": scheduler, "progress": progress}
