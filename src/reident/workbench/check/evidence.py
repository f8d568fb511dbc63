"""Compare a release with its original along the pairs: the writing of columns, dependences, places, order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtr, bdtrc

from reident.base import BoolArray, DataError, FloatArray, IntArray
from reident.methods.release import LAT, LON, Knowledge, Release
from reident.tables.agreement import KEPT, agreement, compare_column, kept_columns
from reident.tables.labels import places_among, texts_of
from reident.tables.writing import NEARER, follows, unread, written
from reident.workbench.check.declarations import Declarations, placed_columns
from reident.workbench.check.dependence import Features, chatterjee, column_of, dependence, ordered, p_order
from reident.workbench.check.reading import ReadRelease
from reident.workbench.check.verdict import Finding, Verdict, as_option
from reident.workbench.composition import codes_of
from reident.workbench.dataset import Dataset
from reident.workbench.evaluate import as_attacked, own_order
from reident.workbench.files import with_places
from reident.workbench.microdata import in_columns
from reident.workbench.readers import geometry_of

#: The level of the tests of the order of rows and of true places.
LEVEL = 1e-6
#: Chatterjee's coefficient from which a column is a function of another one.
_FUNCTION = 0.8
#: Records a value from which and up to which a column holds records together, and the fewest values that it has.
_FEWEST_TOGETHER, _MOST_TOGETHER, _FEWEST_VALUES = 2, 20, 10
#: Values up to which each is a stratum, and ranges into which more are cut.
_STRATA = 12
#: The share of persons or households that may keep the original's number by chance.
_SAME_NUMBERS = 0.05
#: Degrees up to which a place is the true one, and persons nearby whose places tell what chance does.
_SAME_DEG, _NEARBY = 1e-6, 8
#: The fewest places from which an affine map is read.
_FEWEST_PLACES = 20
#: Pairs that are read to find wrong ones, and the level of the test of each column.
_PAIRS_READ, OWN_LEVEL = 2000, 0.001
_WAYS = {
    "coded": "writes the original's values in another way; the pairs show which is which.",
    "unread": "has labels that cannot be read; intruders are assumed to know each person's.",
}
_NO_COLUMN = "No released column agrees with its own original along the pairs: if they are wrong, so is the verdict."


@dataclass(eq=False)
class Evidence:
    """The columns of a release as attacks read them, compared with the original's along the pairs.

    ``shown``: released columns by the original's names; ``known`` and ``secrets``: quasi-identifiers and sensitive
    values of each record of the original, as the release writes them; ``keys``: numbers that hold records together.
    """

    shown: dict[Any, Any] = field(default_factory=dict)
    known: dict[Any, Any] = field(default_factory=dict)
    secrets: dict[Any, pd.Series] = field(default_factory=dict)
    keys: dict[str, IntArray] = field(default_factory=dict)

    def knowledge(
        self, read: ReadRelease, rows: IntArray, dataset: Dataset, earlier: Sequence[Release]
    ) -> tuple[Knowledge, dict[str, IntArray]]:
        """Return the knowledge of every quasi-identifier and place of the release, and the numbers of its records.

        The release is in an order of its own; the index holds the original rows.
        """
        labels = np.where(rows >= 0, rows, -2 - np.arange(len(rows)))
        frame = pd.DataFrame(self.shown, index=pd.RangeIndex(len(rows))).set_axis(labels)
        order = own_order(frame)
        release = as_attacked(
            frame, read.method, read.options, len(dataset), matrix_km=read.matrix_km, order=order
        )  # fmt: skip
        truth = release.table.index.get_indexer(dataset.data.index)
        known = dataset.knowledge(
            truth, known=pd.DataFrame(self.known, index=dataset.data.index), earlier=earlier, release=release
        )
        secrets = {name: self.secrets.get(name, column) for name, column in known.secrets.items()}
        guarded = {
            name: list(secrets[name][places_among(dataset.data[name], pd.Index(values, dtype=object)) >= 0].unique())
            for name, values in known.guarded.items()
        }
        keys = {name: numbers[order] for name, numbers in self.keys.items()}
        return replace(known, secrets=secrets, guarded=guarded), keys


def evidence(
    verdict: Verdict, cells: Any, rows: IntArray, dataset: Dataset, declared: Declarations, features: Features
) -> Evidence:
    """Compare the released columns with the original's along the pairs."""
    result, placed = Evidence(), placed_columns(declared, dataset)
    for column, name in declared.original.items():
        if column not in placed:
            _compare(verdict, result, cells[column], name, rows, dataset, features)
    for column in declared.derived:
        way = unread(pd.Series(index=dataset.data.index, dtype=object), cells[column], rows)
        result.shown[column], result.known[column] = way.released, way.known
        verdict.notes.append(f"{column}: declared derived; intruders are assumed to know each person's value.")
    _place(verdict, result, cells, placed, dataset, rows)
    return result


def _compare(
    verdict: Verdict, result: Evidence, values: pd.Series, name: Any, rows: IntArray, dataset: Dataset,
    features: Features,
) -> None:  # fmt: skip
    """Compare one released column with the original's, by its role."""
    role = dataset.schema.columns[name].role
    column, true = values.name, dataset.data[name]
    own, label = true.iloc[rows[rows >= 0]], values[rows >= 0]
    groups = [*dataset.schema.named("person"), *dataset.schema.named("household")]
    if role in ("latitude", "longitude") or name in dataset.epsilon_quasi:
        role = "quasi-identifier"  # a coordinate alone is a number that others know
    if name == geometry_of(dataset.data):
        remedy = "Release a file with a geometry, such as a GeoPackage, or leave it out."
        verdict.refuse(column, "holds places in cells", remedy)
        return
    if role == "sensitive":
        way = written(true, values, rows)
        released, secret = (way.released, way.known) if way.way == "coded" else (values, true)
        if pd.api.types.is_numeric_dtype(released) != pd.api.types.is_numeric_dtype(secret) or true.dtype == bool:
            released, secret = texts_of(released), texts_of(secret)
        result.shown[name], result.secrets[name] = released, secret.set_axis(dataset.data.index)
    elif role == "quasi-identifier":
        way = written(true, values, rows, dataset.hierarchies.get(name))
        hides = way.way in ("scaled", "exchanged", "perturbed") and bool(_carried(own, label, features, groups))
        if hides or (way.way == "perturbed" and _depend(own, label)):
            way = unread(true, values, rows)
        result.shown[name], result.known[name] = way.released, way.known.set_axis(dataset.data.index)
        if way.way in _WAYS:
            verdict.notes.append(f"{column}: {_WAYS[way.way]}")
        return  # its cells are evidence to attacks, whatever they hold
    elif role in ("person", "household"):
        if role == "household":
            result.shown[name] = values
        if _depend(own, label):
            result.keys[role] = codes_of(values)
        same = (texts_of(label).to_numpy() == texts_of(own).to_numpy()).mean()
        if same > _SAME_NUMBERS:
            verdict.refuse(column, f"keeps the original's numbers in {same:.0%} of the records", "Draw new numbers.")
    elif role == "" and _holds_together(label):
        result.keys[str(column)] = codes_of(values)
        verdict.refuse(
            column, f"holds records together ({values.nunique()} values in {len(values)} records) and has no role",
            f"Say {as_option('household', name, listed=False)}, --person or --quasi (in a recipe also the role other), "
            "or leave it out.",
        )  # fmt: skip
    if role in ("", "other", "weight"):
        if twin := _twin(label, rows[rows >= 0], dataset):
            problem = f"follows from {twin}, which intruders know, and has the role {role or 'none'}"
            verdict.refuse(column, problem, "Name it with --quasi, too, or leave it out.")
        else:
            verdict.notes.append(f"{column}: released, and assumed unknown to intruders (role {role or 'none'}).")
    if partner := _carried(own, label, features, groups):
        problem = f"is declared as {name}, does not follow it alone, and depends on {partner}"
        verdict.refuse(column, problem, f"Leave it out, or declare it with {as_option('derived', column)}.")


def _carried(own: pd.Series, label: pd.Series, features: Features, groups: Sequence[Any]) -> str:
    """Return the other column on which the labels of the pairs depend and their own values do not, "" for none.

    A column that depends on its own is looked at among the persons with one value of it, or range of values: that among
    whom most pairs differ in the label.
    `groups`: columns that hold records together; a constant of each group, as dates are shifted by, is no value.
    """
    own, label = own.iloc[features.rows], label.iloc[features.rows]
    if own.nunique() < 2 or follows(texts_of(own), texts_of(label))[0]:
        return ""
    at, is_own = np.arange(len(own)), _depend(own, label)
    if is_own:
        strata = codes_of(own) if own.nunique() <= _STRATA else (_STRATA * pd.Series(ordered(own)).rank(pct=True)) // 1
        table = pd.crosstab(np.asarray(strata), codes_of(label))
        differ = table.sum(axis=1) ** 2 - (table**2).sum(axis=1)
        at = np.flatnonzero(np.asarray(strata) == differ.idxmax())
    others = features.data.drop(columns=[own.name, *groups]).rename(columns=str).iloc[at]
    own, label = own.iloc[at], label.iloc[at]
    depends = dependence(Features(others, features.known, features.seed), label, learned=not is_own)
    is_inherited = (partner := column_of(depends)) in others and _depend(others[partner], own)
    return "" if is_inherited else depends


def _depend(one: pd.Series, other: pd.Series) -> bool:
    return bool(dependence(Features(one.to_frame()), other, learned=False))


def _holds_together(values: pd.Series) -> bool:
    """Tell whether most records share their value with a few others, as households and persons do."""
    median = values.map(values.value_counts()).median()
    return _FEWEST_TOGETHER <= median <= _MOST_TOGETHER and values.nunique() >= _FEWEST_VALUES


def _twin(released: pd.Series, rows: IntArray, dataset: Dataset) -> str | None:
    """Return the quasi-identifier or the place of which the labels of the pairs are a function, None without one."""
    label, value = texts_of(released), ordered(released)
    counts = label.value_counts(normalize=True)
    if len(counts) < 2 or counts.iloc[0] >= KEPT:
        return None
    known = [(str(name), dataset.data[name]) for name in dataset.quasi]
    known += [("the place", dataset.table[axis]) for axis in (LAT, LON) if dataset.has_places]
    for name, values in known:
        true = values.iloc[rows]
        varied, rng = true.nunique() > len(rows) / 20, np.random.default_rng(0)
        if follows(texts_of(true), label)[0] or (varied and chatterjee(ordered(true), value, rng) > _FUNCTION):
            return name
    return None


# -- the pairs -----------------------------------------------------------------------------------------------------


def wrong_pairs(cells: pd.DataFrame, rows: IntArray, dataset: Dataset, declared: Declarations) -> Finding | str | None:
    """Find pairs along which no column tells of its own: a finding where the rows are the original's, else a note."""
    rng = np.random.default_rng(0)
    at = rng.permutation(np.flatnonzero(rows >= 0))[:_PAIRS_READ]
    data, shown = dataset.data, cells.iloc[at].reset_index(drop=True)
    own, others, compared = rows[at], rng.permutation(rows[at]), {}
    for column, name in declared.original.items():
        part = compare_column(data[name], shown[column], dataset.hierarchies.get(name))
        along, by_chance = (part.agree(persons, np.arange(len(at))).sum() for persons in (own, others))
        agrees = bdtrc(along - 1, len(at), max(1, by_chance) / len(at)) < OWN_LEVEL
        if agrees or _depend(data[name].iloc[own], shown[column]):
            return None
        compared[column] = part
    true = data.iloc[own][[*declared.original.values()]].set_axis([*compared], axis=1)
    held = kept_columns(compared, None, None)
    permuted = {name: replace(part, record_codes=rng.permutation(part.record_codes)) for name, part in compared.items()}
    agree = (agreement(parts, held, shown, len(data)) for parts in (compared, permuted))
    found, expected = (np.isin(each.classes, each.members) for each in agree)
    alike = bool(held) and bdtrc(found.sum() - 1, len(found), expected.mean()) < LEVEL
    if not alike and not any(
        _depend(shown[a], shown[b]) and _depend(true[a], true[b]) for a, b in combinations(true, 2)
    ):
        return _NO_COLUMN  # columns that were permuted, each by itself, or are independent of one another
    return Finding(
        "pairs", "no released column agrees with its own original along them, though the rows are like the original's",
        "If the release was sorted or shuffled after the pairs were written, check it in the order in which it was "
        "written, or give --id COLUMN of both files; a synthetic table needs --control FILE instead of pairs.",
    )  # fmt: skip


# -- places --------------------------------------------------------------------------------------------------------


def _place(verdict: Verdict, result: Evidence, cells: Any, placed: Any, dataset: Dataset, rows: IntArray) -> None:
    """Add the released places, and refuse true ones."""
    geometry = hasattr(cells, "to_crs")
    if not (placed or geometry):
        return
    if not dataset.has_places:
        verdict.refuse("geometry", "is undeclared: the original has no places", "Say which columns hold them.")
        return
    if geometry:
        table = in_columns(cells[[cells.geometry.name]], "release")
    else:
        numbers = pd.DataFrame({name: pd.to_numeric(cells[name], errors="coerce") for name in placed})
        try:
            table = with_places(numbers, placed[0], placed[1], dataset.release_crs or dataset.crs)
        except DataError as error:
            raise DataError(f"in the release {error}; --release-crs EPSG:... names the release's alone") from None
    places, true = (part[[LAT, LON]].to_numpy(float) for part in (table, dataset.table))
    verdict.findings += true_places(places, true, rows)
    if (undone := turned_back(places, true, rows)) is not None:
        places = undone
        verdict.notes.append("places: interchanged, turned, shifted or scaled as a whole; the pairs show how.")
    result.shown[LAT], result.shown[LON] = places.T


def _placed_pairs(released: FloatArray, true: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the true and the released places of the pairs that have both."""
    homes = np.where(rows[:, None] >= 0, true[rows], np.nan)
    has_both = np.isfinite(homes + released).all(axis=1)
    return homes[has_both], released[has_both]


def turned_back(released: FloatArray, true: FloatArray, rows: IntArray) -> FloatArray | None:
    """Undo the affine map from true to released places; None where none brings them nearer."""
    homes, shown = _placed_pairs(released, true, rows)
    if len(homes) < _FEWEST_PLACES:
        return None
    homes = np.column_stack([homes, np.ones(len(homes))])
    fit = np.linalg.lstsq(homes, shown, rcond=None)[0]
    off, on, spread = (
        np.median(np.hypot(*(shown - fitted).T)) for fitted in (homes[:, :2], homes @ fit, np.median(shown, axis=0))
    )
    if NEARER * on > min(off, spread) or np.linalg.matrix_rank(fit[:2]) < 2:
        return None
    return (released - fit[2]) @ np.linalg.inv(fit[:2])


def true_places(released: FloatArray, true: FloatArray, rows: IntArray) -> list[Finding]:
    """Refuse a release in which more places equal the person's own than the places of persons nearby do."""
    homes, shown = _placed_pairs(released, true, rows)
    same = _equal(homes, shown)
    if len(homes) < 2 or not same.any():
        return []
    from scipy.spatial import cKDTree

    near = cKDTree(homes).query(homes, k=min(len(homes), 4 * _NEARBY))[1]
    others = ~_equal(homes[:, None, :], homes[near])
    hits = _equal(homes[:, None, :], shown[near]) & others
    chance = hits.sum() / max(1, others.sum())
    if bdtrc(same.sum() - 1, len(homes), chance) > LEVEL:
        return []
    return [Finding("places", f"{same.sum()} of {len(homes)} equal the person's own place", "Mask every place.")]


def _equal(places: FloatArray, others: FloatArray) -> BoolArray:
    return np.asarray((np.abs(places - others) < _SAME_DEG).all(axis=-1))


# -- the order of the rows ---------------------------------------------------------------------------------------------


def order_leak(cells: pd.DataFrame, rows: IntArray, original: pd.DataFrame) -> Finding | None:
    """Find an order that rows keep where the released cells leave it open.

    An order that released columns themselves give says no more than the cells: it is peeled off first.
    """
    block, changed = np.zeros(len(cells), dtype=np.int64), True
    columns = [ordered(cells[name]) for name in cells]
    while changed:
        changed = False
        for values in columns:
            inside, step = np.diff(block) == 0, np.diff(values)
            moves = step[inside]
            if (moves != 0).any() and ((moves >= 0).all() or (moves <= 0).all()):
                block, changed = np.concatenate([[0], np.cumsum(~inside | (step != 0))]), True
    paired = rows >= 0
    rows, block = rows[paired], block[paired]
    hidden = {"rows": np.arange(len(original), dtype=float)}
    hidden |= {f"column {name}": ordered(original[name]) for name in original}
    for name, order in hidden.items():
        step = np.diff(order[rows])[np.diff(block) == 0]
        up, down = (step > 0).sum(), (step < 0).sum()
        p = 2 * bdtr(min(up, down), up + down, 0.5)
        if block.max(initial=0) == 0 and len(rows) > 50:
            p = min(p, p_order(np.arange(len(rows), dtype=float), order[rows], np.random.default_rng(0)))
        if p * len(hidden) < LEVEL:
            problem = f"are in the order of the original's {name}, where the released cells leave it open"
            remedy = "Shuffle the rows, or sort them by released columns alone, and the pairs with them."
            return Finding("rows", problem, remedy)
    return None
