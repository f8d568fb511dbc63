"""What a study is, how it runs, and what it returns.

A study is one folder of `reident.studies`, or of another package: its ``__init__.py`` declares it and imports nothing
heavy, so that names are listed at once; its module `frames` says what is swept and what is made of the trials, its
module `figures` draws. `Study.run` is the same for all of them.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from reident.base import DataError, check_choice, check_seed, scratch
from reident.data._paths import notebooks_folder
from reident.data.papers import Paper
from reident.experiments.results import declare
from reident.studies.parameters import changed, rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Results", "Study", "Sweep"]

#: Arguments of `reident._old_sweep.grid.run`: grid, trial, and where needed repetitions, shared, together, stem.
Sweep = dict[str, Any]

#: Settings that a forecast tries of each sweep, in one process: the full profile runs long and deserves a better one.
_SAMPLES = {"full": 2}


@dataclass(frozen=True)
class Study:
    """A reproduction of a document: one folder, one notebook, one name.

    Attributes
    ----------
    name : str
        The study's name; also the first word of its sweeps' stems.
    document : Paper
        The document that it reproduces.
    title : str
        What it is about, in a few words.
    notebook : str
        The notebook's name in the house's folder, or the path of a notebook elsewhere.
    seed : int
        The default seed.
    profiles : mapping of str to dataclass
        ``smoke`` (to see that it runs), ``quick`` (about a minute), ``full`` (the numbers to quote): a value for each
        parameter of the study.
    result : str
        The frame that a run declares as its result.
    conditions : tuple of str
        Parameters that are conditions of the document, not cells of its grids: with others than its own nothing can be
        compared with print.
    words : mapping of str to str
        How values of its settings are called where people read them.
    quick_minutes : float
        Minutes of a processor that ``quick`` takes, roughly: the shortest of several studies begins, then the longest.
    figures : tuple of str
        The figures' names, in the order of the document.
    module : str
        The package with the modules `frames` (functions `sweeps`, `frames` and `claims`) and `figures` (`FIGURES`).
    """

    name: str
    document: Paper
    title: str
    notebook: str
    seed: int
    profiles: Mapping[str, Any]
    figures: tuple[str, ...]
    module: str
    result: str
    conditions: tuple[str, ...] = ()
    quick_minutes: float = 1.0
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The document's stem."""
        return self.document.stem

    @property
    def notebook_path(self) -> Path:
        """The notebook's file."""
        named = Path(self.notebook)
        return named if named.suffix == ".ipynb" else notebooks_folder() / f"{self.notebook}.ipynb"

    def plan(self, profile: str = "quick", **parameters: Any) -> Any:
        """Return a profile with some parameters replaced; None leaves the profile's.

        A profile with a method `following` says there what else follows from the parameters that are given.

        Raises
        ------
        ParameterError
            If there is no such profile or parameter, or a value breaks its rule.
        """
        plan = self.profiles[check_choice(profile, "profile", list(self.profiles))]
        given = changed(plan, parameters, self.name)
        plan = dataclasses.replace(plan, **given)
        return plan.following(given) if hasattr(plan, "following") else plan

    def sweeps(self, plan: Any, seed: int) -> dict[str, Sweep]:
        """Return the sweeps of a plan by name, each with its stem: the streams of its trials hash it."""
        sweeps = self._module("frames").sweeps(plan, seed)
        return {name: {"stem": f"{self.name}-{name}", **sweep} for name, sweep in sweeps.items()}

    def run(
        self,
        profile: str = "quick",
        *,
        jobs: int = 1,
        scheduler: str | None = None,
        seed: int | None = None,
        folder: str | Path | None = None,
        progress: bool = True,
        **parameters: Any,
    ) -> Results:
        """Run the study.

        Parameters
        ----------
        profile : {"smoke", "quick", "full"}
            The parameters' values, but for those given here.
        jobs, scheduler
            As for `reident._old_sweep.grid.run`.
        seed : int, optional
            Root of the trials' streams; the study's own by default.
        folder : path, optional
            Where finished trials are kept and the results are written; an interrupted run goes on there.
        progress : bool
            Say first about how long the run takes, by a few of its trials, and then how far it is.
        **parameters
            Parameters of the study, the fields of its profiles; None leaves the profile's value.

        Returns
        -------
        Results
            The frames that the figures read, and the comparison with print.

        Raises
        ------
        ParameterError
            If a parameter is unknown or breaks its rule; nothing has run then.
        """
        from reident._old_sweep import grid

        plan = self.plan(profile, **parameters)
        seed = check_seed(self.seed if seed is None else seed)
        sweeps = self.sweeps(plan, seed)
        with ExitStack() as stack:
            # Without a folder the trials of the forecast are kept for this run only.
            kept = folder if folder is not None else stack.enter_context(scratch())
            engine: dict[str, Any] = {
                "seed": seed,
                "jobs": jobs,
                "scheduler": scheduler,
                "folder": Path(kept) / "parts",
                "progress": progress,
            }
            if progress:
                grid.forecast(sweeps.values(), samples=_SAMPLES.get(profile, 1), **engine)
            trials = {name: grid.run(**{**engine, **sweep}) for name, sweep in sweeps.items()}
        work = self._module("frames")
        frames = work.frames(plan, seed, trials)
        claims = self._comparable(work.claims(plan, seed, frames), profile, plan)
        used = {name: getattr(plan, name) for name in rules(plan)}
        results = Results(self.name, profile, seed, frames, claims, used)
        if folder is not None:
            declare(frames[self.result], folder)
            results.save(folder)
        return results

    def _comparable(self, claims: pd.DataFrame, profile: str, plan: Any) -> pd.DataFrame:
        """Mark a comparison with print as none if the run has other conditions than the document."""
        other = [name for name in self.conditions if getattr(plan, name) != getattr(self.profiles[profile], name)]
        told = f"run with other {', '.join(other)} than the document's"
        return claims.assign(verdict="not comparable", note=told) if other else claims

    def drawings(self) -> Mapping[str, Callable[[Results], Figure]]:
        """Return the functions that draw the figures, by name; this imports matplotlib."""
        drawn: Mapping[str, Callable[[Results], Figure]] = self._module("figures").FIGURES
        assert tuple(drawn) == self.figures, f"{self.module}: `STUDY.figures` and `FIGURES` name other figures"
        return drawn

    def draw(self, results: Results) -> dict[str, Figure]:
        """Draw all figures of the study."""
        return {name: draw(results) for name, draw in self.drawings().items()}

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self.module}.{name}")


@dataclass(frozen=True)
class Results:
    """The outcome of a study: what figures and pages are made from.

    Attributes
    ----------
    study : str
        The name of the `Study`.
    profile : str
        ``"smoke"``, ``"quick"`` or ``"full"``.
    seed : int
        The seed from which every trial's stream is derived.
    frames : mapping of str to DataFrame
        The tidy frames that the figures read.
    comparison : DataFrame
        Published against reproduced, as made by `reident.studies.comparison.compare`.
    parameters : mapping of str to value
        What the run's parameters were, of those that a user may set.
    """

    study: str
    profile: str
    seed: int
    frames: Mapping[str, pd.DataFrame]
    comparison: pd.DataFrame
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def save(self, folder: str | Path) -> Path:
        """Write the frames (parquet), the comparison (CSV) and a description (JSON) into `folder`."""
        folder = Path(folder)
        (folder / "frames").mkdir(parents=True, exist_ok=True)
        for name, frame in self.frames.items():
            frame.to_parquet(folder / "frames" / f"{name}.parquet", index=False)
        self.comparison.to_csv(folder / "comparison.csv", index=False)
        described = {
            "study": self.study,
            "profile": self.profile,
            "seed": self.seed,
            "parameters": dict(self.parameters),
            "frames": list(self.frames),
        }
        (folder / "study.json").write_text(json.dumps(described, indent=2) + "\n")
        return folder

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
