"""Evaluate a release: the one way from released cells to the risk of persons."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reident.base import IntArray, ParameterError, check_listed, check_mapping, check_seed, check_share
from reident.methods import Entry, entries, find
from reident.methods.attacks import in_persons, lacking, run_attack
from reident.methods.outcome import NotApplicable, Outcome, person_risks
from reident.methods.release import LAT, LON, Knowledge, Release, have_places, own_numbers, places_of
from reident.networks.graph import Network, reordered
from reident.places.distances import great_circle_km
from reident.tables.labels import texts_of
from reident.tables.record_risk import individual_risk
from reident.workbench.composition import composition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The columns of a report's frame.
COLUMNS = [
    *("name", "what", "risk", "low", "high", "baseline", "control", "residual", "worst", "share_above_limit"),
    *("n_above", "n", "precision", "recall", "verdict", "complete", "assumption", "reason"),
]
_NUMBERS = [*COLUMNS[2:10], "precision", "recall"]
#: Seconds that costly attacks may take by their estimates, s.
BUDGET_S = 150.0
#: Measures, whose numbers no intruder can reach: they stand in the frame and decide nothing.
MEASURES = ("spatial_k",)
_TRIED = 300


@dataclass(frozen=True, eq=False)
class RiskReport:
    """Risks of a release under every attack that applies.

    Attributes
    ----------
    frame : DataFrame
        One row an attack: ``name``; ``what`` is claimed; ``risk``, the mean success over the persons in the release
        with ``low`` and ``high`` (Wilson, 95 %);
        ``baseline`` (guessing without the release), ``control`` (persons who are not in the release), ``residual``;
        ``worst``, the largest risk of a person; ``share_above_limit``, ``n_above``, ``n``; ``precision`` and
        ``recall``, the shares of the claims that are right and of the persons in the release who are found;
        ``verdict``; ``reason``, why an attack could not be run.
    persons : DataFrame
        One row a person in the release, by the label of the person's first record: ``risk``, the largest over the
        attacks; ``attack``, the one that sets it; ``above``, whether some attack puts the person above the limit.
        Confidential.
    share_above_limit : float
        The share of persons above the limit; where an attack is run on a sample, the sample's share if it is larger.
    limit : float
    by_household : int
        Persons above the limit only for another member of their household.
    skipped : mapping of str to str
        Attacks that do not apply to the release or to the intruder's knowledge, with the reason.
    outcomes : mapping of str to Outcome
        The claims of each attack about each person. Confidential.
    """

    frame: pd.DataFrame
    persons: pd.DataFrame
    share_above_limit: float
    limit: float
    by_household: int = 0
    skipped: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict, repr=False)

    @property
    def applied(self) -> pd.DataFrame:
        """The rows of the attacks that could be run."""
        return self.frame[self.frame["reason"] == ""]

    @property
    def worst(self) -> pd.DataFrame:
        """Persons by falling risk."""
        return self.persons.sort_values("risk", ascending=False, kind="stable")

    @property
    def highest(self) -> float:
        """The largest risk of a person."""
        return float(self.persons["risk"].max()) if len(self.persons) else 0.0

    @property
    def attack(self) -> str:
        """The attack that puts most persons above the limit, "" if none does."""
        run = self.applied[self.applied["what"].isin(["identity", "attribute"])]
        run = run[run["share_above_limit"] > 0]
        return "" if run.empty else str(run.loc[run["share_above_limit"].idxmax(), "name"])

    def to_json(self) -> str:
        """Return the report as JSON: persons in their order, without the claims about each."""
        frame = self.frame.astype(object).where(self.frame.notna(), None)
        return json.dumps({
            "frame": frame.to_dict("records"), "persons": self.persons.to_dict("list"), "skipped": dict(self.skipped),
            "share_above_limit": self.share_above_limit, "limit": self.limit, "by_household": self.by_household,
        })  # fmt: skip

    @classmethod
    def of_json(cls, text: str, persons: pd.Index) -> RiskReport:
        """Return the report that `to_json` wrote, about persons with these labels."""
        listed = json.loads(text)
        frame, each = _typed(listed.pop("frame")), pd.DataFrame(listed.pop("persons"), index=persons)
        return cls(frame, each, **listed)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the share of persons above the limit under each attack."""
        from reident.plotting import new_figure

        run = self.applied.iloc[::-1]
        if ax is None:
            ax = new_figure(size=(6.0, 1.0 + 0.24 * len(run)))[1]
        ax.barh(run["name"], 100 * run["share_above_limit"].to_numpy(float), color="tab:blue")
        ax.set(xlim=(0, 100), xlabel=f"persons above a risk of {self.limit:.0%} (%)")
        return ax


def evaluate(
    release: Release,
    knowledge: Any = None,
    *,
    limit: float = 0.25,
    limit_attribute: float | None = None,
    attacks: Sequence[str | Mapping[str, Any]] | None = None,
    keys: Mapping[str, IntArray] | None = None,
    quick: bool = False,
    stop_above: float | None = None,
    seed: int = 0,
) -> RiskReport:
    """Run every attack that applies to a release, and judge each person by the worst of them.

    Parameters
    ----------
    release : Release
        What `protect` returned, or a release as attacks read it.
    knowledge : Knowledge or Dataset, optional
        Default: everything that the data set of the release says of each of its records.
    limit : float
        Tolerable risk of a person.
    limit_attribute : float, optional
        Tolerable gain over the guess without the release, for attacks on sensitive values; default `limit`.
    attacks : sequence of str or mapping, optional
        Names, or mappings with "name" and options: ``{"name": "common_subgraph", "alpha": 0.1}``. Default: all that
        apply.
    keys : mapping of str to ndarray, optional
        Numbers that hold released records together, by name ("person", "household").
    quick : bool
        Leave out costly attacks, and measures without a verdict.
    stop_above : float, optional
        Stop once the share of persons above the limit exceeds it: the release is refused.
    seed : int
        Drives attacks that draw.

    Returns
    -------
    RiskReport
        What these attacks find. It bounds no other attack.

    Raises
    ------
    ParameterError
        If the release or the keys are no such thing, an attack is unknown, or no data set says what is known.
    """
    if not isinstance(release, Release):
        raise ParameterError(f"`release` must be a Release, got {type(release).__name__}")
    limit = check_share(limit, "limit")
    of_values = check_share(limit_attribute, "limit_attribute", limit)
    knowledge = _shuffled(knowledge_of(release, knowledge), check_seed(seed))
    presence = None if knowledge.knows_presence else individual_risks(knowledge)["presence"]
    keys = check_mapping(keys, "keys", optional=True)
    rows: list[dict[str, Any]] = []
    skipped: dict[str, str] = {}
    outcomes: dict[str, Outcome] = {}
    who = knowledge.who[knowledge.present]
    persons = pd.DataFrame({"risk": 0.0, "attack": "", "above": False}, index=who.unique())
    shared, largest, share = persons, 0.0, 0.0
    for label, known, run in _plan(knowledge, attacks, keys, skipped, quick=quick, seed=seed):
        row = dict.fromkeys(COLUMNS) | {"name": label, "assumption": "", "reason": ""}
        try:
            outcome = run(known)
            summary, each = person_risks(
                outcome, of_values if outcome.what == "attribute" else limit, presence=presence
            )
            row |= summary | {"what": outcome.what, "assumption": outcome.assumption, "complete": outcome.complete}
            outcomes[label] = outcome
            if label in MEASURES:
                row |= {"what": "measure", "verdict": "a measure"}
            elif outcome.what != "link":
                each = each.reindex(persons.index)
                higher = each["risk"] > persons["risk"]
                above = persons["above"] | (each["above"] == True)  # noqa: E712 (missing for persons without a claim)
                persons = persons.assign(
                    risk=persons["risk"].mask(higher, each["risk"]), attack=persons["attack"].mask(higher, label),
                    above=above,
                )  # fmt: skip
                concerned = known.who[known.present].nunique() / max(1, len(persons))
                largest = max(largest, float(np.nan_to_num(summary["share_above_limit"])) * concerned)
        except NotApplicable as reason:
            row |= {"verdict": "not run", "reason": str(reason)}
        rows.append(row)
        shared = _together(persons, knowledge)
        share = max(largest, float(shared["above"].mean()) if len(shared) else 0.0)
        if stop_above is not None and share > stop_above:
            break
    by_household = int((shared["above"] & ~persons["above"]).sum())
    heads = knowledge.known.index[knowledge.present][~who.duplicated()]
    return RiskReport(_typed(rows), shared.set_axis(heads), share, limit, by_household, skipped, outcomes)


def _typed(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the rows of attacks as a frame."""
    types = dict.fromkeys(_NUMBERS, float) | dict.fromkeys(("n_above", "n"), "Int64")
    return pd.DataFrame(rows, columns=COLUMNS).astype(types)


def knowledge_of(release: Release, knowledge: Any) -> Knowledge:
    """Return the intruder's knowledge, with the deviations of released distances."""
    dataset = getattr(release, "dataset", None) if knowledge is None else knowledge
    if not isinstance(dataset, Knowledge):
        if dataset is None or not hasattr(dataset, "knowledge"):
            raise ParameterError("`knowledge` must be a Dataset or Knowledge: the release names no data set")
        dataset = dataset.knowledge(release.table.index.get_indexer(dataset.data.index))
    known: Knowledge = dataset.on(release)
    if known.windows is None and known.has_places and release.has_distances:
        known = replace(known, windows=partial(_windows, known))
    return known


def individual_risks(knowledge: Knowledge) -> pd.DataFrame:
    """Model each person in the release as one of the population that the survey weights describe.

    Returns
    -------
    DataFrame
        By person: ``weight``, for how many persons the person stands; ``risk``, the individual risk of Benedetti and
        Franconi by the labels that agree; ``presence``, the probability that a person of the population with these
        labels is in the file: the risk times the persons in the file who have them.
    """
    knowledge = in_persons(knowledge)
    assert knowledge.weights is not None
    weights = pd.to_numeric(knowledge.weights).to_numpy(float)
    inside = np.flatnonzero(knowledge.present)
    inside = inside[~knowledge.who[inside].duplicated()]  # of several records of a person the first
    agreement = knowledge.agreement
    alike = agreement.patterns()[1][inside]
    model = pd.DataFrame({"class": alike, "weight": weights[inside]}, index=knowledge.who[inside])
    risk = individual_risk(model, "class", "weight")
    model["presence"] = (risk["risk"] * risk["sample"]).clip(upper=1.0)
    # Who has no record that agrees is not found by labels.
    model["risk"] = risk["risk"].where(agreement.counts()[inside] > 0, 0.0)
    return model.drop(columns="class")


def _plan(
    knowledge: Knowledge, attacks: Sequence[str | Mapping[str, Any]] | None,
    keys: Mapping[str, IntArray], skipped: dict[str, str], *, quick: bool, seed: int,
) -> Iterator[tuple[str, Knowledge, Callable[..., Outcome]]]:  # fmt: skip
    """Yield each attack: its label, the knowledge that it uses, and its function; list those left out."""
    if attacks is None:
        if len(knowledge.release.table.columns) and knowledge.quasi:
            yield "class_of_record", knowledge, composition
            for key, numbers in keys.items():
                yield f"records_of_{key}", knowledge, partial(composition, numbers=numbers, kind=key)
        # Quick ones first. Of these the ones on places: a search has attacked the table by itself before.
        ordered = sorted(entries("attack"), key=lambda entry: (entry.seconds, entry.data != "places"))
        chosen: list[tuple[Entry, dict[str, Any]]] = [(entry, {}) for entry in ordered]
    else:
        specs = [{"name": spec} if isinstance(spec, str) else dict(spec) for spec in check_listed(attacks, "attacks")]
        chosen = [(find(spec.pop("name", ""), "attack"), spec) for spec in specs]
    budget, placed = BUDGET_S, _placed(knowledge)
    for entry, options in chosen:
        why = lacking(entry, knowledge)
        if quick and attacks is None and not why and (entry.costly or entry.name in MEASURES):
            why = "costly attacks and measures without a verdict are left out"
        elif attacks is None and entry.costly and not why:
            budget -= entry.seconds
            if budget < 0:
                why = f"the budget of {BUDGET_S:g} s for costly attacks is spent: name it in `attacks`"
        if attacks is None and why:
            skipped[entry.name] = why
            continue
        run = partial(run_attack, entry.name, options=options, seed=seed)
        if entry.data == "places":
            yield entry.name, placed, run
        elif not why and "sensitive" in entry.needs.split() and len(knowledge.secrets) > 1:
            for column in knowledge.secrets:
                yield f"{entry.name} of {column}", knowledge.about(column), run
        else:
            yield entry.name, knowledge, run


def _shuffled(knowledge: Knowledge, seed: int) -> Knowledge:
    """Put the nodes of a network in another order: ties must not lead an attack to the true one."""
    release = knowledge.release
    if not isinstance(release.network, Network):
        return knowledge
    order = np.random.default_rng([seed, 7]).permutation(release.network.n_nodes)
    place = np.argsort(order)
    names = list(release.network.nodes)
    network = reordered(release.network, place, [names[row] for row in order])
    shuffled = replace(release, table=release.table.iloc[order], network=network)
    return knowledge.on(shuffled, truth=np.append(place, -1)[knowledge.truth])


def _placed(knowledge: Knowledge) -> Knowledge:
    """Return the records and the persons with a place: the subject of attacks on places."""
    release = knowledge.release
    is_placed, at_home = have_places(release.table), have_places(knowledge.known)
    if is_placed.all() and at_home.all():
        return knowledge
    earlier = [replace(other, table=other.table[have_places(other.table)]) for other in knowledge.earlier]
    of_persons = replace(knowledge.of(np.flatnonzero(at_home)), earlier=earlier)
    place = np.append(np.where(is_placed, np.cumsum(is_placed) - 1, -1), -1)
    return of_persons.on(replace(release, table=release.table[is_placed]), truth=place[of_persons.truth])


def _together(persons: pd.DataFrame, knowledge: Knowledge) -> pd.DataFrame:
    """Give each person the largest risk of a member of the household."""
    if knowledge.households is None or persons.empty:
        return persons
    home = own_numbers(knowledge.households.groupby(knowledge.who).first().reindex(persons.index))
    homes = persons.assign(home=home).sort_values("risk", ascending=False, kind="stable").groupby("home")
    highest = homes[["risk", "attack"]].transform("first")
    return highest.assign(above=homes["above"].transform("any")).loc[persons.index]


def own_order(table: pd.DataFrame) -> IntArray:
    """Return the order of the rows by their cells: ties lead no attack to the order of a file."""
    codes = [pd.factorize(texts_of(table[name]).fillna("nan"), sort=True)[0] for name in sorted(table, key=str)]
    return np.lexsort([np.arange(len(table)), *codes[::-1]])


def as_attacked(
    table: pd.DataFrame, method: str, options: Mapping[str, Any], n_original: int, *, matrix_km: Any = None,
    order: IntArray | None = None,
) -> Release:  # fmt: skip
    """Return records as attacks read them, in an order that the cells give, or in a stated one."""
    order = own_order(table) if order is None else order
    matrix = None if matrix_km is None else np.asarray(matrix_km)[np.ix_(order, order)]
    form = "distances" if matrix is not None else "points" if {LAT, LON} <= set(table) else "table"
    return Release(form, table.iloc[order], method, options, n_original, matrix_km=matrix)


def _windows(knowledge: Knowledge, alpha: float, _: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return how far released distances deviate from true ones, as trying the method teaches an intruder."""
    known, truth = knowledge.known, knowledge.truth
    persons = np.flatnonzero((truth >= 0) & have_places(known) & have_places(knowledge.release.table)[truth])
    sampled = rng.choice(persons, min(_TRIED, len(persons)), replace=False)
    upper = np.triu_indices(len(sampled), 1)
    released = knowledge.release.between(truth[sampled])
    assert released is not None
    gaps = (great_circle_km(*places_of(known.iloc[sampled])) - released)[upper]
    low, high = np.quantile(gaps, [(1 - alpha) / 2, (1 + alpha) / 2]) if gaps.size else (0.0, 0.0)
    return {"window_km": (float(low) - 1e-6, float(high) + 1e-6)}
