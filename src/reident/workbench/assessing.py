"""Assess a data set: profile it, judge the protections that fit as `check` does, and advise a release."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    ParameterError,
    Parameters,
    check_choice,
    check_columns,
    check_integer,
    check_replaceable,
    check_seed,
    check_share,
    keep_private,
    move_files,
    working,
)
from reident.data.simulate import drawn_together
from reident.methods import entries
from reident.methods.forms import check_public_used
from reident.workbench.candidates import Evaluator
from reident.workbench.dataset import Dataset
from reident.workbench.knowledge import PLACE
from reident.workbench.making import Step, steps_of
from reident.workbench.microdata import LAT, LON, digest_of, has_places, located
from reident.workbench.recipe import Recipe, read_recipe_of
from reident.workbench.ru_map import Spec, parsed, tried_releases
from reident.workbench.schema import UNKNOWN
from reident.workbench.search import DRAWS, MOST_JUDGED, Search, search_release, slots_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Files and folders that an assessment writes.
WRITTEN = (
    "report.html", "report-external.html", "figures", "recipe.yaml", "recipe-earlier.yaml", "map.csv",
)  # fmt: skip
#: Nodes beyond which no release of a network is judged here: each takes minutes.
MOST_NODES = 5000
#: Records beyond which an assessment works on a random sample of so many, and says so.
_MOST_RECORDS = 20_000


@dataclass(frozen=True, eq=False)
class Assessment:
    """Profile of a data set, the releases that were judged, and the one that is advised.

    Attributes
    ----------
    profile : DataFrame
        The columns, see `Schema.profile`.
    search : Search or None
        The releases of table and places together that were judged as `check` judges them, and the one that passed; of
        a data set that is a network alone, those of the network.
    network : Search or None
        The releases of the network.
    limit, tolerate : float
        Tolerable risk of a person, and tolerable share of persons above it.
    seed : int
    data_sha256 : str
        Of the values that were assessed.
    kinds : tuple of str
        "table", "places" and "network", as far as the data have them.
    left_out : mapping of str to str
        Methods that cannot be applied to the data, with the reason.
    n_nodes : int
        Nodes of the network, 0 without one.
    """

    profile: pd.DataFrame
    search: Search | None
    network: Search | None
    limit: float
    tolerate: float
    seed: int
    data_sha256: str
    kinds: tuple[str, ...]
    left_out: Mapping[str, str]
    n_nodes: int = 0

    @property
    def frame(self) -> pd.DataFrame:
        """The judged releases as a risk-utility map; see `Search.frame`."""
        return pd.DataFrame() if self.search is None else self.search.frame

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the risk-utility map of the judged releases; the advised one is ringed."""
        if self.search is None or self.search.judged.empty:
            raise DataError("no release could be judged: there is no map")
        return self.search.plot(ax=ax)

    @property
    def advice(self) -> str:
        """The advice in a sentence, or that no release passed."""
        none = "no release was judged, and nothing is advised"
        if self.n_nodes:
            none += f": {self.n_nodes} nodes, more than {MOST_NODES}, take long; reident check judges a release"
        records, network = (none if s is None else s.sentence for s in (self.search, self.network))
        has_both = "network" in self.kinds and len(self.kinds) > 1
        return f"{records}; the network: {network}" if has_both else records

    def assumptions(self) -> list[str]:
        """Return the assumptions about the intruder, a sentence each."""
        listed = []
        if "network" in self.kinds:
            listed.append("Network: the intruder knows all persons and all their relations: the worst case.")
        if self.search is not None and self.search is not self.network:
            names = self.search.evaluator.protected
            known = ", ".join("the place" if name == PLACE else name for name in names)
            listed.append(f"The intruder knows {known} of every person exactly: the worst case of what can be known.")
            listed += self.search.groups
        listed += [f"Left out: {name}. {reason}." for name, reason in self.left_out.items()]
        return [
            *listed, "The intruder knows the method and its parameters, not its random numbers.",
            "A measured risk is the success of these attacks by this intruder. It bounds no other attack.",
        ]  # fmt: skip

    def chain(self) -> list[Parameters]:
        """Return the advised release as the steps of a recipe; empty if no release passed."""
        return [] if self.search is None else self.search.chain

    def advised(self, recipe: Recipe) -> Recipe:
        """Return a recipe with the advised release, limit and tolerance, for `protect` and `check`."""
        withhold = [] if self.search is None else self.search.withhold
        rule = {"limit": self.limit, "tolerate": self.tolerate}
        return replace(recipe, chain=self.chain(), withhold=withhold, methods=[], **rule)  # type: ignore[arg-type]

    @property
    def passed(self) -> bool:
        """Whether a release is advised."""
        return self.search is not None and self.search.passed

    def save(
        self, out: str | Path, *, recipe: Recipe | None = None, command: str = "", receipts: Sequence[str] = ()
    ) -> Path:
        """Write the report in two editions, the table of candidates (CSV), the figures, and the advised recipe.

        ``report.html`` is for the custodian; ``report-external.html`` holds no value of the data.

        Parameters
        ----------
        out : path
        recipe : Recipe, optional
            The recipe that was assessed: with the advised steps it is written as ``recipe.yaml``, and an earlier one is
            set aside as ``recipe-earlier.yaml``.
        command : str
            The command that made the assessment.
        receipts : sequence of str
            The conversions of reading the file.

        Returns
        -------
        Path
            That of ``report.html``.
        """
        from reident.workbench.report import write_report

        out = Path(out)
        check_replaceable(out, WRITTEN)
        advised = None if recipe is None or not self.passed else self.advised(recipe)
        try:
            out.mkdir(0o700, parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=".report-", dir=out) as folder:
                draft = Path(folder) / "report"
                path = str(out / "recipe.yaml") if advised else ""
                write_report(self, draft, command=command, recipe=path, receipts=receipts)
                if recipe is not None and (out / "recipe.yaml").is_file():
                    shutil.copyfile(out / "recipe.yaml", draft / "recipe-earlier.yaml")
                if advised is not None:
                    replace(advised, file=os.path.relpath(advised.file, out)).write(draft / "recipe.yaml")
                keep_private(draft)
                move_files(draft, out, last="report.html")
        except OSError as error:
            raise DataError(f"`out` must be a folder that can be written, got {str(out)!r}: {error}") from None
        return out / "report.html"


def assess(
    data: Any,
    *,
    limit: float | None = None,
    tolerate: float | None = None,
    methods: Sequence[Spec] | None = None,
    pipeline: Any = None,
    profile: str = "quick",
    seed: int = 0,
    jobs: int | str = 1,
    cache: str | Path | None = None,
    progress: bool | Callable[[int, int], None] = True,
    **keywords: Any,
) -> Assessment:
    """Profile data, judge the protections that fit, the most useful first, and advise the first that passes.

    Parameters
    ----------
    data : Dataset, or a table, file or network with the keywords of `Dataset`
        Every sensitive column is attacked. Methods that look at sensitive values look at the one with the fewest.
    limit : float, optional
        The tolerable risk of a person; default the recipe's, else 0.25.
    tolerate : float, optional
        The share of persons who may lie above it; default the recipe's, else 0.
    methods : sequence of str or mapping, optional
        As for `risk_utility`, of all kinds of data; default: those of the recipe, else, of each kind, all that fit.
    pipeline : Recipe, optional
        Its chain, a parameter a value or a list of values: all combinations are candidates, instead of those of the
        registry. Its columns to keep and its policy for missing values are those of the release that is advised.
    profile : {"smoke", "quick", "full"}
        Of a release that draws 2, 5 or 20 draws are judged.
    seed : int
    jobs : int or str
        Processes, or the address of a running dask scheduler.
    cache : path, optional
        Judged candidates are stored there: the same assessment goes on from there.
    progress : bool or callable
        A function is called with the releases judged and their largest number; an exception of it ends the search.
    **keywords
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
    draws = DRAWS[check_choice(profile, "profile", DRAWS)]
    dataset = Dataset.of(data, **keywords)
    limit = check_share(limit, "limit", dataset.limit)
    tolerate = check_share(tolerate, "tolerate", dataset.tolerate)
    check_seed(seed)
    jobs = jobs if isinstance(jobs, str) else check_integer(jobs, "jobs", low=1)
    recipe = Recipe() if pipeline is None else read_recipe_of(pipeline)
    slots = [steps_of(step) for step in recipe.chain]
    complete = complete_records(dataset)
    tried, left_out = releases_to_try(dataset, complete, recipe.methods if methods is None else methods)
    for listed, name in ((recipe.keep, "keep"), *((step.get("columns") or [], "columns") for step in recipe.chain)):
        check_columns(dataset.frame, listed, name, table_name="data", min_columns=0)
    for name in dataset.must_keep:
        check_choice(name, "must_keep", (*dataset.quasi, *([PLACE] if "places" in tried else [])))
    rule: Parameters = {"limit": limit, "tolerate": tolerate, "draws": draws, "seed": seed}
    run: Parameters = {"progress": progress, "jobs": jobs, "cache": cache}
    search = network = None
    if {"table", "places"} & set(tried):
        person = dataset.schema.single("person")
        persons = None if person is None else dataset.data[person]
        sample = drawn_together(persons, len(dataset), np.random.default_rng(seed))[:_MOST_RECORDS]
        judged = dataset.part(np.sort(sample))
        run_of_records = run | {"max_judged": MOST_JUDGED * (3 if dataset.must_keep else 1)}
        unchanged = list(dict.fromkeys([*recipe.keep, *dataset.sensitive]))
        evaluator = Evaluator(
            judged, unchanged, missing=recipe.missing_values, scale=len(dataset) / len(sample), **rule
        )  # fmt: skip
        search = search_release(evaluator, slots or slots_of(tried, dataset, limit), **run_of_records)
        if (column := _costliest(search, dataset)) and not slots:
            fewer = replace(evaluator, dataset=judged.without([column]), withheld=(column,))
            without = search_release(fewer, slots_of(tried, fewer.dataset, limit), **run_of_records)
            if without.passed:
                search = replace(
                    without, evaluator=search.evaluator, before=search.before, price_before=search.price_before,
                    candidates=pd.concat([search.candidates, without.candidates], ignore_index=True),
                    n_chains=search.n_chains + without.n_chains, is_cut=search.is_cut or without.is_cut,
                )  # fmt: skip
    n_nodes = dataset.named_network.n_nodes if "network" in tried else 0
    if "network" in tried and n_nodes <= MOST_NODES:
        others = [step for step in tried["network"] if step.entry.name != "naive"]  # new names alone first
        network = search_release(Evaluator(Dataset(dataset.named_network), **rule), [[Step("naive"), *others]], **run)
    return Assessment(
        dataset.schema.profile(dataset.data), search or network, network, limit, tolerate, seed,
        digest_of(None, {"records": complete}), tuple(tried), left_out, n_nodes,
    )  # fmt: skip


def assess_into(out: Path, dataset: Dataset, recipe: Recipe, *, command: str = "", **options: Any) -> Assessment:
    """Assess a data set by a recipe, and write report and advised recipe into a folder; an interrupted run goes on.

    Parameters
    ----------
    out : path
        The folder, for this user and one process alone: its files describe confidential data.
    dataset : Dataset
    recipe : Recipe
        With the path of its file, relative to the working directory.
    command : str
        The command, for the report.
    **options
        As for `assess`.
    """
    check_replaceable(out, WRITTEN)
    pipeline = recipe
    if recipe.schema.ends:  # a network has no chain of steps: each step is a candidate
        pipeline = replace(recipe, chain=[], methods=recipe.chain or recipe.methods)
    with working(out, private=True) as (work, _):
        assessment = assess(dataset, pipeline=pipeline, cache=work, **options)
        assessment.save(out, recipe=recipe if recipe.file else None, command=command, receipts=dataset.receipts)
    return assessment


def _costliest(search: Search, dataset: Dataset) -> str | None:
    """Return the column by which most persons fail, where no release passed and another column is left to release."""
    price = search.price_before
    if search.passed or price is None or len(dataset.quasi) < 2 or set(dataset.must_keep) - {PLACE}:
        return None
    return next((name for name in price.columns["column"] if name != PLACE), None)


def complete_records(dataset: Dataset) -> Any:
    """Return the records of a data set that can be assessed that have every quasi-identifier and a place on the earth.

    Raises
    ------
    ParameterError, DataError
        If it cannot be assessed.
    """
    data, listed = dataset.frame, dataset.quasi
    if clash := sorted({LAT, LON} & set(listed)):
        raise ParameterError(
            f"`quasi` must not name {clash[0]!r}: columns called {LAT} and {LON} hold places here; rename it in "
            "the file, or give its role place"
        )
    if not (listed or dataset.has_places or dataset.named_network is not None):
        raise ParameterError(f"`quasi`, `lat` and `lon` or `network` must be given: {UNKNOWN}")
    dataset.weights()  # refuses weights that are not numbers above 0
    is_complete = data[listed].notna().all(axis=1)
    if has_places(data):
        is_complete = is_complete & located(data)
    if is_complete.sum() < 20:
        raise DataError(
            "`data` must have at least 20 records with every quasi-identifier and a valid place, got "
            f"{is_complete.sum()}: {_few_records(data, listed)}"
        )
    return data[is_complete].reset_index(drop=True)


def releases_to_try(
    dataset: Dataset, complete: Any, methods: Sequence[Spec] = ()
) -> tuple[dict[str, list[Step]], dict[str, str]]:
    """Return the releases to try of each kind of data, and the methods that lack something, with the reason."""
    tried = {}
    left_out: dict[str, str] = {}
    sample, records = complete.iloc[:_MOST_RECORDS], {}
    if dataset.has_places:
        records["places"] = dataset.records("places", data=sample)
    else:
        check_public_used(dataset.public, [])
    if dataset.quasi:
        table = sample if dataset.first_sensitive is None else sample[sample[dataset.first_sensitive].notna()]
        records["table"] = dataset.records("table", data=table, public={})
    if dataset.named_network is not None:
        records["network"] = dataset.records("network")
    for kind, data in records.items():
        named = [spec for spec in methods if parsed(spec, "anonymiser")[0].data == kind]
        tried[kind], lacking = tried_releases(data, named or None, len(data.table))
        left_out |= lacking
        if kind == "places":
            check_public_used(dataset.public, [*(step.entry for step in tried[kind]), *entries("attack")])
    return tried, left_out


def _few_records(data: Any, quasi: list[str]) -> str:
    """Return the way on where few records are complete."""
    gaps = data[quasi].isna().sum().sort_values(ascending=False)
    if len(data) < 20 or not gaps.any():
        return (
            "`protect` with a `method` makes a release of so few, and `check` judges it; of fewer than 8 none is made"
        )
    largest = ", ".join(f"{name!r} ({count})" for name, count in gaps[gaps > 0].head(3).items())
    return f"of {len(data)}, most are missing in {largest}; columns with many gaps can be given the role other"
