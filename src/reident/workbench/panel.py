"""The one judge: every release meets every attack for which it offers evidence, and a person's worst risk decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    BoolArray,
    DataError,
    IntArray,
    ParameterError,
    check_columns,
    check_listed,
    check_mapping,
    check_real,
    check_seed,
    check_table,
)
from reident.methods import find
from reident.methods.attacks import attack_names, check_attacks, run_attack
from reident.methods.outcome import Knowledge, NotApplicable, judge_persons
from reident.methods.release import LAT, LON, Release
from reident.networks.graph import Network, as_network, reordered
from reident.places.distances import great_circle_km
from reident.tables.labels import text_of, texts_of
from reident.workbench.files import with_places, without_apostrophes
from reident.workbench.microdata import has_places, in_columns
from reident.workbench.roles import UNKNOWN, survey_weights

__all__ = ["COLUMNS", "Panel", "attack_panel", "knowledge_of", "panel", "placed_table", "read_release"]

#: The columns of a panel.
COLUMNS = [
    *("name", "what", "risk", "low", "high", "baseline", "control", "residual", "worst", "share_above_limit"),
    *("n_above", "n", "verdict", "measure", "calibrated", "complete", "assumption", "reason"),
]


@dataclass(frozen=True, eq=False)
class Panel:
    """What all attacks together say about a release.

    Attributes
    ----------
    attacks : DataFrame
        One row an attack, as `attack_panel` returns them.
    persons : DataFrame
        One row a person in the file, by the label of the person's first record: ``risk``, the largest over the attacks;
        ``attack``, the one that sets it; ``above``, whether some attack puts the person above the limit. Claims about
        relations count for nobody. Where households are known, who finds one member finds them all: everybody has the
        risk of the member most at risk.
    share_above_limit : float
        The share of persons above the limit: of all, or where an attack is run on a sample of those whom it concerns,
        what that makes of all, if it is more.
    by_household : int
        Persons above the limit only for another member of their household.
    """

    attacks: pd.DataFrame
    persons: pd.DataFrame
    share_above_limit: float
    by_household: int = 0

    @property
    def worst(self) -> float:
        """The largest risk of a person."""
        return float(self.persons["risk"].max()) if len(self.persons) else 0.0


def panel(
    release: Release,
    knowledge: Knowledge,
    *,
    limit: float = 0.25,
    names: Sequence[str] | None = None,
    seed: int = 0,
    enough: float | None = None,
) -> Panel:
    """Run attacks by name and judge each; those that say nothing keep a row with the reason.

    Where the share of persons above the limit exceeds `enough`, the rest is not run: the release is refused.
    """
    release, knowledge = _shuffled(release, knowledge, seed)
    placed = _placed(release, knowledge)
    rows = []
    persons = pd.DataFrame({"risk": 0.0, "attack": "", "above": False}, index=knowledge.who[knowledge.present].unique())
    shared, most, share = persons, 0.0, 0.0
    households = None if knowledge.households is None else knowledge.households.groupby(knowledge.who).first()
    for name, label, own in _asked(names, knowledge):
        row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"name": label, "assumption": "", "reason": ""}
        try:
            if names is None and find(name, "attack").costly:
                raise NotApplicable("it takes long: it is run where it is named")
            about = placed if find(name, "attack").data == "places" else (release, own)
            found = run_attack(name, *about, seed=seed)
            told, each = judge_persons(found, limit)
            row |= told | {"what": found.what, "assumption": found.assumption, "complete": found.complete}
            if found.what != "link":
                each = each[each.index.isin(persons.index)]
                higher = each.index[each["risk"] > persons.loc[each.index, "risk"]]
                persons.loc[higher, "risk"] = each.loc[higher, "risk"]
                persons.loc[higher, "attack"] = label
                persons.loc[each.index, "above"] |= each["above"]
                concerned = about[1].who[about[1].present].nunique() / max(1, len(persons))
                most = max(most, float(np.nan_to_num(told["share_above_limit"])) * concerned)
        except NotApplicable as why:
            row |= {"verdict": "not run", "measure": "", "reason": str(why)}
        rows.append(row)
        shared = _together(persons, households)
        share = max(most, float(shared["above"].mean()) if len(shared) else 0.0)
        if enough is not None and share > enough:
            break
    numbers = ["risk", "low", "high", "baseline", "control", "residual", "worst", "share_above_limit"]
    types = dict.fromkeys(numbers, float) | dict.fromkeys(("n_above", "n"), "Int64")
    by_household = int((shared["above"] & ~persons["above"]).sum())
    heads = knowledge.known.index[knowledge.present][~knowledge.who[knowledge.present].duplicated()]
    return Panel(pd.DataFrame(rows, columns=COLUMNS).astype(types), shared.set_axis(heads), share, by_household)


def _shuffled(release: Release, knowledge: Knowledge, seed: int) -> tuple[Release, Knowledge]:
    """Put the nodes of a network in another order: an attack that meets ties must not be led by the true one."""
    if not isinstance(release.network, Network) or knowledge.truth is None:
        return release, knowledge
    order = np.random.default_rng([seed, 7]).permutation(release.network.n_nodes)
    place = np.argsort(order)
    names = list(release.network.nodes)
    network = reordered(release.network, place, [names[row] for row in order])
    truth = np.where(knowledge.truth < 0, -1, place[np.maximum(knowledge.truth, 0)])
    return replace(release, table=release.table.iloc[order], network=network), replace(knowledge, truth=truth)


def _placed(release: Release, knowledge: Knowledge) -> tuple[Release, Knowledge]:
    """Return what attacks by places are about: the records and the persons whose place is not missing."""
    there, at_home = _have_places(release), np.ones(len(knowledge.known), dtype=bool)
    if knowledge.has_places:
        at_home = np.isfinite(knowledge.known[[LAT, LON]].to_numpy(float)).all(axis=1)
    if there.all() and at_home.all():
        return release, knowledge
    earlier = [replace(one, table=one.table[_have_places(one)]) for one in knowledge.earlier]
    of_persons = replace(knowledge.of(np.flatnonzero(at_home)), earlier=earlier)
    if of_persons.truth is not None:
        left = np.append(np.where(there, np.cumsum(there) - 1, -1), -1)
        of_persons = replace(of_persons, truth=left[of_persons.truth])
    return replace(release, table=release.table[there]), of_persons


def _have_places(release: Release) -> BoolArray:
    if not release.has_places:
        return np.ones(len(release.table), dtype=bool)
    found: BoolArray = np.isfinite(release.table[[LAT, LON]].to_numpy(float)).all(axis=1)
    return found


def _asked(names: Sequence[str] | None, knowledge: Knowledge) -> Iterator[tuple[str, str, Knowledge]]:
    """Yield each attack, what its row is called and what its intruder knows: one a sensitive column."""
    for name in names or attack_names():
        if knowledge.further and find(name, "attack").needs == "sensitive":
            for column in (str(knowledge.sensitive), *knowledge.further):
                yield name, f"{name} of {column}", knowledge.about(column)
        else:
            yield name, name, knowledge


def _together(persons: pd.DataFrame, households: pd.Series | None) -> pd.DataFrame:
    """Give everybody the risk of the member of the household who is most at risk."""
    if households is None or persons.empty:
        return persons
    home = pd.factorize(households.reindex(persons.index))[0]
    home = np.where(home < 0, len(home) + np.arange(len(home)), home)
    risk = persons["risk"].to_numpy()
    order = np.lexsort((-risk, home))
    heads = order[np.concatenate([[True], np.diff(home[order]) > 0])]
    head = heads[np.searchsorted(home[heads], home)]
    above = np.isin(home, home[persons["above"].to_numpy(bool)])
    of_head = {name: persons[name].to_numpy()[head] for name in ("risk", "attack")}
    return pd.DataFrame({**of_head, "above": above}, index=persons.index)


def attack_panel(
    release: Any,
    original: Any,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] | None = None,
    lat: str | None = None,
    lon: str | None = None,
    id: str | None = None,  # noqa: A002 (the word of the command line)
    hierarchies: Mapping[str, Any] | None = None,
    network: Any = None,
    register: Any = None,
    earlier: Sequence[Any] = (),
    limit: float = 0.25,
    attacks: Sequence[str] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Attack a release by everything for which it offers evidence.

    The intruder is given what the original says about every person in it: the worst case. What is measured is the
    success of these attacks; it is no bound for others.

    Parameters
    ----------
    release : DataFrame, GeoDataFrame, (DataFrame, distances in km), graph, or Release
        What is released. Its rows need not be in the original's order.
    original : DataFrame or GeoDataFrame
        The confidential records. Not modified.
    quasi : str or sequence of str
        The columns that an intruder may know beside the place. Those that the release lacks are no evidence.
    sensitive : str or sequence of str, optional
        The column whose value must not become known; of several each has rows of its own, "homogeneity of ill".
    lat, lon : str, optional
        The columns with latitudes and longitudes, degrees; a GeoDataFrame has its own places.
    id : str, optional
        A column of both files that tells who is who (the index of both for a `Release` or a graph). Without it nobody
        can tell right claims from wrong ones: what is judged then is the confidence that an intruder may have.
    hierarchies : mapping of str to Hierarchy, optional
        For labels that cannot be read by themselves.
    network : graph, optional
        The relations that the intruder knows, nodes named as the original's index, where a network is released.
    register : DataFrame, optional
        A public list of the population with the quasi-identifiers.
    earlier : sequence, optional
        Earlier releases of the same persons.
    limit : float, default 0.25
        The risk of a person that is tolerable.
    attacks : sequence of str, optional
        Default: all that `reident methods attack` lists.
    seed : int
        Drives attacks that draw.

    Returns
    -------
    DataFrame
        One row an attack: ``name``; ``what`` is claimed; ``risk``, the mean success over the persons in the file, or
        where nobody can tell right claims from wrong ones the mean confidence (``measure`` says which), with
        ``low`` and ``high`` (Wilson, 95 %); ``baseline`` (guessing without the release), ``control`` (persons who are
        not in the file, NaN without any), ``residual``; ``worst``, the largest risk of a person; ``share_above_limit``,
        ``n_above``, ``n``; ``verdict`` ("above the limit", "within the limit", "not told apart from guessing", "not
        run"); ``calibrated``, ``complete``; ``assumption``, a sentence; ``reason``, why the attack could not be run.

    Raises
    ------
    ParameterError, DataError
        If a column is absent, nothing is known, or the files do not fit one another.

    Notes
    -----
    Definitions in `reident.methods.outcome.judge`: a person's risk is the confidence of the claim about them, corrected
    by how often claims of that kind are right; for sensitive values what it gains over guessing.

    Examples
    --------
    >>> people = pd.DataFrame({"id": range(6), "age": [30, 30, 30, 41, 41, 52], "sex": list("ffffmm")})
    >>> found = attack_panel(people, people, quasi=["age", "sex"], id="id", attacks=["exact_join"])
    >>> found[["risk", "worst", "n_above", "verdict"]].round(2).values.tolist()
    [[0.67, 1.0, 6, 'above the limit']]
    """
    limit = check_real(limit, "limit", low=0, high=1)
    seed = check_seed(seed)
    attacks = check_attacks(attacks)
    said = read_release(release, "release", lat, lon, id)
    table = without_apostrophes(check_table(original, "original"))
    known = knowledge_of(
        table, said, quasi=quasi, sensitive=sensitive, lat=lat, lon=lon, id=id, hierarchies=hierarchies,
        network=network, register=register,
        earlier=[read_release(one, "earlier", lat, lon, id) for one in check_listed(earlier, "earlier")],
        told=isinstance(release, Release),
    )  # fmt: skip
    return panel(said, known, limit=limit, names=attacks, seed=seed).attacks


def read_release(
    release: Any,
    name: str,
    lat: str | None = None,
    lon: str | None = None,
    id: str | None = None,  # noqa: A002
    crs: str | None = None,
) -> Release:
    """Read whatever is a release into the form in which attacks take it."""
    if isinstance(release, Release):
        return release
    matrix = None
    if isinstance(release, tuple) and len(release) == 2:
        release, matrix = release[0], np.asarray(release[1], float)
    if not isinstance(release, pd.DataFrame):
        graph = as_network(release, name)
        return Release(
            "network", pd.DataFrame(index=pd.Index(graph.nodes)), "unknown", {}, graph.n_nodes, network=graph
        )
    table = _places(without_apostrophes(check_table(release, name)), lat, lon, crs, must=False)
    if id is not None:
        check_columns(table, [id], "id", table_name=name)
    order = own_order(table.drop(columns=[] if id is None else [id]))
    table, matrix = table.iloc[order], None if matrix is None else matrix[np.ix_(order, order)]
    table = table.reset_index(drop=True) if id is None else table.set_index(_unique(table[id], name))
    form = "distances" if matrix is not None else "points" if has_places(table) else "table"
    return Release(form, table, "unknown", {}, len(table), matrix_km=matrix)


def own_order(table: pd.DataFrame) -> IntArray:
    """Return the order of the rows by what they say: ties lead no attack to the true order, nor by that of a file."""
    codes = [pd.factorize(texts_of(table[name]).fillna("nan"), sort=True)[0] for name in sorted(table.columns, key=str)]
    return np.lexsort(codes[::-1]) if codes else np.arange(len(table))


def _unique(ids: pd.Series, name: str) -> pd.Index:
    if ids.isna().any() or ids.duplicated().any():
        raise DataError(f"`id` must name a column of {name!r} with one value a record, got missing or repeated ones")
    return pd.Index(ids.map(text_of), dtype=object)


def placed_table(table: Any, lat: str | None, lon: str | None, crs: str | None = None) -> pd.DataFrame:
    """Return an original as a plain table, its places in degrees in ``lat_deg`` and ``lon_deg``."""
    return _places(table, lat, lon, crs, must=True)


def _places(table: Any, lat: str | None, lon: str | None, crs: str | None = None, *, must: bool) -> pd.DataFrame:
    """Return a plain table, its places, if it has any, in ``lat_deg`` and ``lon_deg``."""
    if hasattr(table, "to_crs"):
        return in_columns(with_places(table, None, None, crs if table.crs is None else None), "data")
    if lat is not None and lon is not None and (must or {lat, lon} <= set(table.columns)):
        try:
            return pd.DataFrame(with_places(table, lat, lon, crs))
        except DataError as error:
            if must:
                raise
            raise DataError(f"in the release {error} `release_crs` says so where the original's is another") from None
    return table


def knowledge_of(
    original: Any,
    release: Release,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] | None = None,
    person: str | None = None,
    household: str | None = None,
    weight: str | None = None,
    population: float | None = None,
    lat: str | None = None,
    lon: str | None = None,
    id: str | None = None,  # noqa: A002
    crs: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    network: Any = None,
    register: Any = None,
    earlier: Sequence[Release] = (),
    told: bool | None = None,
) -> Knowledge:
    """Return what an intruder knows who knows everything that the original says about everybody in it.

    `told`: whether the index of the release says whose record each is; default: that of a network does.
    """
    table = _places(check_table(original, "original"), lat, lon, crs, must=True)
    listed = check_columns(table, quasi, "quasi", table_name="original", min_columns=0)
    places = has_places(table)
    if not (listed or places or network is not None):
        raise ParameterError(f"`quasi`, places or `network` must be given: {UNKNOWN}")
    secret = check_columns(
        table, [] if sensitive is None else sensitive, "sensitive", table_name="original", min_columns=0
    )
    for column in secret:
        if column in listed:
            raise ParameterError(f"`sensitive` must not be a quasi-identifier too, got {column!r}")
    for name, role in (("person", person), ("household", household), ("weight", weight)):
        if role is not None:
            check_columns(table, [role], name, table_name="original")
    if id is not None:
        check_columns(table, [id], "id", table_name="original")
        table = table.set_index(_unique(table[id], "original"))
    truth = None
    if id is not None or (release.network is not None if told is None else told):
        truth = release.table.index.get_indexer(table.index)
        if not (truth >= 0).any():
            raise DataError(
                "`id` must have values that both files share, got none: no person can be found in the release"
            )
    relations = None if network is None else _ordered(as_network(network, "network"), table.index)
    return Knowledge(
        known=table[[*listed, *([LAT, LON] if places else [])]],
        quasi=listed,
        truth=truth,
        sensitive=secret[0] if secret else None,
        secrets=table[secret[0]] if secret else None,
        further={column: table[column] for column in secret[1:]},
        persons=None if person is None or table[person].is_unique else table[person],
        households=None if household is None else table[household],
        weights=None if weight is None else survey_weights(table[weight], population)[0],
        file=table[[*listed, *secret]],
        hierarchies=check_mapping(hierarchies, "hierarchies", optional=True),
        network=relations,
        windows=_windows(table, release, truth) if places and truth is not None else None,
        earlier=earlier,
        register=None if register is None else check_table(register, "register"),
    )


def _ordered(network: Network, labels: pd.Index) -> Network:
    """Return a network whose node i is the person of row i."""
    place = labels.get_indexer(pd.Index(list(network.nodes)))
    if (place < 0).any() or len(labels) != network.n_nodes:
        raise DataError("the nodes of `network` must be the labels of the original's records, one each")
    return reordered(network, place)


def _windows(table: pd.DataFrame, release: Release, truth: IntArray) -> Any:
    """Return how far released distances deviate from true ones, as who knows the method learns by trying it."""

    def windows(alpha: float, n_simulations: int, rng: np.random.Generator, rule: str | None) -> dict[str, Any]:
        del n_simulations, rule
        at_home = np.isfinite(table[[LAT, LON]].to_numpy(float)).all(axis=1)
        persons = np.flatnonzero((truth >= 0) & at_home & _have_places(release)[truth])
        drawn = rng.choice(persons, min(300, len(persons)), replace=False)
        upper = np.triu_indices(len(drawn), 1)
        true = great_circle_km(table[LAT].to_numpy(float)[drawn], table[LON].to_numpy(float)[drawn])[upper]
        told = release.between(truth[drawn])
        if told is None:
            raise NotApplicable("no distances are released")
        gaps = true - told[upper]
        low, high = np.quantile(gaps, [(1 - alpha) / 2, (1 + alpha) / 2]) if gaps.size else (0.0, 0.0)
        return {"window_km": (float(low) - 1e-6, float(high) + 1e-6)}

    return windows
