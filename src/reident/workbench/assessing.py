"""Assess one's own data: profile, simulated intruder, fitting protections and attacks, one report."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    check_choice,
    check_columns,
    check_mapping,
    check_real,
    check_replaceable,
    keep_private,
    move_files,
)
from reident.data.simulate import drawn_together
from reident.rumap import ORIGINAL
from reident.workbench.advising import advice_of_maps, slots_of, slots_of_chain, verdict
from reident.workbench.dataset import Dataset, read_recipe_of
from reident.workbench.map_plan import Plan
from reident.workbench.network_search import MOST_NODES, search_network
from reident.workbench.preparing import MOST_RECORDS, prepare
from reident.workbench.profiling import DataProfile, alone_persons
from reident.workbench.recipe import Recipe
from reident.workbench.searching import DRAWS, MOST_JUDGED, PLACE, Search, search_release

__all__ = ["REPETITIONS", "WRITTEN", "Assessment", "assess"]

#: Files and folders that an assessment writes.
WRITTEN = (
    "report.html", "report-external.html", "advice.csv", "figures", "recipe.yaml", "recipe-earlier.yaml",
    "points-table.csv", "points-places.csv", "points-network.csv",
)  # fmt: skip

#: Repetitions of every release: quick for a first look, full for a decision.
REPETITIONS = {"smoke": 2, "quick": 5, "full": 30}


@dataclass(frozen=True, eq=False)
class Assessment:
    """What was found about a file.

    Attributes
    ----------
    profile : DataProfile
    maps : mapping of str to DataFrame
        "places", "table" and "network", as far as the data have them: risk-utility frames.
    plans : mapping of str to Plan
        What was tried, for each map.
    advice : DataFrame
        One row a utility under all attacks together, then one an attack and a utility: the most useful release that
        puts no more persons above the limit than tolerated, in all but one of twenty releases, as ``method``,
        ``parameter``, ``value``, ``risk``, ``risk_high``, ``above_high``, ``utility`` and a sentence; none fitting says
        so.
    limit : float
        The tolerable risk of a person.
    repetitions, seed : int
    data_sha256 : str
        Of the values that were assessed.
    search : Search or None
        The releases of table and places together that were judged as `check` judges them, and the one that passed.
    tolerate : float
        The share of persons who may lie above the limit.
    network : Search or None
        The releases of a network that were judged so; it is the `search` too where only a network was assessed.
    """

    profile: DataProfile
    maps: Mapping[str, pd.DataFrame]
    plans: Mapping[str, Plan]
    advice: pd.DataFrame
    limit: float
    repetitions: int
    seed: int
    data_sha256: str
    search: Search | None = None
    tolerate: float = 0.0
    network: Search | None = None

    @property
    def sentence(self) -> str:
        """What is advised, or that nothing is."""
        large = ""
        if "network" in self.plans and self.network is None:
            n = self.plans["network"].data.network.n_nodes
            large = f": {n} nodes, more than {MOST_NODES}, take long; reident check judges a release that was made"
        if "network" not in self.plans or {"table", "places"}.isdisjoint(self.plans):
            return verdict(self.search, self.limit, self.tolerate, left_out=large)
        other = verdict(self.network, self.limit, self.tolerate, left_out=large)
        return f"{verdict(self.search, self.limit, self.tolerate)}; the network: {other}"

    def assumptions(self) -> list[str]:
        """Say what was assumed, a sentence each."""
        told = []
        for kind, made in self.plans.items():
            one = made.intruder
            if kind == "network":
                told.append(
                    f"Network: the intruder knows all {one.n_known} persons and all their relations: the worst case."
                )
                continue
            told.append(
                f"{'Places' if kind == 'places' else 'Table'}: the intruder knows {one.n_known} persons, "
                f"{one.n_common} of whom are in the release ({one.overlap:.0%}); the release attacked has "
                f"{one.n_released} of the {self.profile.n_complete} complete records, drawn anew in each of "
                f"{self.repetitions} repetitions."
            )
            if len(made.data.table) < self.profile.n_complete:
                told.append(
                    f"Of the {self.profile.n_complete} complete records {len(made.data.table)} were used: those drawn "
                    "at random where there are many, and with a sensitive value where one is named."
                )
            known = [*made.data.quasi, *(["the place"] if kind == "places" else [])]
            told.append(f"The intruder knows {', '.join(known)} of these persons exactly: the worst case.")
            told += [f"Left out: {name}. {reason}." for name, reason in made.left_out.items()]
        told += [] if self.search is None else self.search.groups
        told += [
            "The intruder knows the method and its parameters, not its random numbers.",
            "A search for the largest consistent match that ends at its limit counts with its best match so far; the "
            "column `incomplete` of the table of points says how often that was so.",
            "A measured risk is the success of these attacks by this intruder. It bounds no other attack.",
        ]
        return told

    def chain(self) -> list[dict[str, Any]]:
        """Return the advised release as the steps of a recipe; empty where none passed what `check` asks."""
        return [] if self.search is None else self.search.chain

    def advised(self, recipe: Recipe) -> Recipe:
        """Return a recipe with the advised release, limit and tolerance: what `protect` makes and `check` reads."""
        held = [] if self.search is None else self.search.withhold
        rule = {"limit": self.limit, "tolerate": self.tolerate}
        return replace(recipe, chain=self.chain(), withhold=held, methods=[], **rule)  # type: ignore[arg-type]

    def save(self, out: str | Path, *, command: str = "", recipe: str = "", receipts: Sequence[str] = ()) -> Path:
        """Write the report in two editions, the points of the maps and the advice (CSV) and the figures.

        ``report.html`` is for the custodian; ``report-external.html`` holds no value of the data. `command` made the
        assessment, `recipe` is the path of the advised recipe, `receipts` say what reading the file changed.

        Returns
        -------
        Path
            That of ``report.html``.
        """
        from reident.workbench.report import write_report

        out = Path(out)
        check_replaceable(out, WRITTEN)
        try:
            out.mkdir(0o700, parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=".report-", dir=out) as folder:
                made = Path(folder) / "report"
                write_report(self, made, command=command, recipe=recipe, receipts=receipts)
                keep_private(made)
                move_files(made, out, last="report.html")
        except OSError as error:
            raise DataError(f"`out` must be a folder that can be written, got {str(out)!r}: {error}") from None
        return out / "report.html"


def assess(
    data: Any,
    *,
    limit: float | None = None,
    tolerate: float | None = None,
    methods: Mapping[str, Sequence[Any]] | None = None,
    pipeline: Any = None,
    intruder: Mapping[str, Any] | None = None,
    profile: str = "quick",
    seed: int = 0,
    jobs: int | str = 1,
    folder: str | Path | None = None,
    progress: bool = True,
    **given: Any,
) -> Assessment:
    """Profile data, simulate an intruder, map the risk and utility of the protections that fit, and advise a release.

    Parameters
    ----------
    data : Dataset, or a table, file or network with the keywords of `Dataset`
        Every sensitive column is attacked. Methods that look at sensitive values look at the one with the fewest, and
        so do the maps.
    limit : float, optional
        The tolerable risk of a person; default the recipe's, else 0.25.
    tolerate : float, optional
        The share of persons who may lie above it, in all but one of twenty releases; default the recipe's, else 0.
    methods : mapping, optional
        "places", "table" and "network" to lists as `risk_utility` takes them; default: all that fit.
    pipeline : Recipe, optional
        Its chain, a parameter a value or a list of values: all combinations are candidates, instead of the releases of
        the maps. Its columns to keep and its policy for missing values are those of the release that is advised.
    intruder : mapping, optional
        ``n_known`` and ``overlap`` as for `risk_utility`.
    profile : {"smoke", "quick", "full"}
        2, 5 or 30 repetitions of the maps; of a release that draws 2, 5 or 20 draws are judged.
    seed : int
    jobs : int or str
        Processors, or the address of a running dask scheduler.
    folder : path, optional
        Where finished trials and candidates are kept: the same assessment goes on from there.
    progress : bool
    **given
        Keywords of `Dataset`, such as ``quasi`` or ``must_keep``.

    Returns
    -------
    Assessment

    Raises
    ------
    ParameterError, DataError
        If a column is absent, there is nothing to assess (no quasi-identifier, place or network), or fewer than 20
        complete records remain.
    """
    repetitions = REPETITIONS[check_choice(profile, "profile", list(REPETITIONS))]
    dataset = Dataset.of(data, **given)
    tolerate = check_real(dataset.tolerate if tolerate is None else tolerate, "tolerate", low=0, high=1)
    told = Recipe() if pipeline is None else read_recipe_of(pipeline)
    slots = slots_of_chain(told.chain)
    for name in check_mapping(intruder, "intruder", optional=True):
        check_choice(name, "intruder", ("n_known", "overlap"))
    made = prepare(dataset, limit=limit, methods=methods, seed=seed, **(intruder or {}))
    for step in told.chain:
        check_columns(dataset.frame, step.get("columns") or [], "columns", table_name="data", min_columns=0)
    for name in dataset.must_keep:
        check_choice(name, "must_keep", (*dataset.quasi, *([PLACE] if "places" in made.plans else [])))
    aside = check_columns(dataset.frame, told.keep, "keep", table_name="data", min_columns=0)
    where = {"jobs": jobs} if isinstance(jobs, int) else {"scheduler": jobs}
    running: dict[str, Any] = {"repetitions": repetitions, "seed": seed, **where}
    maps: dict[str, pd.DataFrame] = {}
    for kind, planned in made.plans.items():
        maps[kind] = planned.frame(planned.run(folder=folder, progress=progress, **running))
    complete, limit = pd.DataFrame(made.complete), made.limit
    person = dataset.schema.single("person")
    _agree(maps, complete, dataset.quasi, person)
    searched = None
    if {"table", "places"} & set(made.plans):
        whose = None if person is None else dataset.data[person]
        drawn = drawn_together(whose, len(dataset), np.random.default_rng(seed))[:MOST_RECORDS]
        searched = search_release(
            dataset.part(np.sort(drawn)), slots or slots_of(made.plans, dataset, limit),
            others=list(dict.fromkeys([*aside, *dataset.sensitive])),
            limit=limit, tolerate=tolerate, missing=told.missing_values,
            draws=DRAWS[profile], seed=seed, scale=len(dataset) / len(drawn),
            most=MOST_JUDGED * (3 if dataset.must_keep else 1),
            folder=None if folder is None else Path(folder) / "parts", progress=progress,
        )  # fmt: skip
    judged_network = None
    if "network" in made.plans:
        judged_network = search_network(
            made.plans["network"], limit=limit, tolerate=tolerate, draws=DRAWS[profile], seed=seed, progress=progress
        )
    digest = hashlib.sha256(pd.util.hash_pandas_object(complete.astype(str)).to_numpy().tobytes())
    advice = advice_of_maps(maps, limit, tolerate)
    return Assessment(
        made.profile, maps, made.plans, advice, limit, repetitions, seed, digest.hexdigest(),
        searched or judged_network, tolerate, judged_network,
    )  # fmt: skip


def _agree(maps: Mapping[str, pd.DataFrame], complete: pd.DataFrame, quasi: Sequence[str], person: str | None) -> None:
    """Stop where the map contradicts the data: who is alone with what the intruder knows is above every limit."""
    if "table" not in maps or not quasi:
        return
    of_persons = alone_persons(complete, quasi, person)
    alone, n = float(of_persons.mean()), len(of_persons)
    frame = maps["table"]
    above = float(frame.loc[frame["method"] == ORIGINAL, "above"].max())
    if above < alone - 0.05 - 3 * (alone * (1 - alone) / n) ** 0.5:
        raise DataError(
            f"the map contradicts the data: {alone:.0%} of the persons are alone with their {', '.join(quasi)}, and "
            f"the attacks on the data as they are put {above:.0%} of persons above the limit: no report is written"
        )
