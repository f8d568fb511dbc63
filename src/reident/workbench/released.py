"""Reading a release that anybody made: its file, and which of its columns is which of the original."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import BoolArray, DataError, ParameterError, check_mapping, check_several
from reident.methods.release import LAT, LON, Release
from reident.networks.marks import SIDES, Relations, read_relations
from reident.places.points import degrees_of
from reident.tables.classes import refuse_nested
from reident.tables.labels import LabelReader, text_of, texts_of
from reident.workbench.files import read_like, without_apostrophes
from reident.workbench.microdata import is_graph
from reident.workbench.opening import open_file
from reident.workbench.panel import placed_table, read_release
from reident.workbench.released_codes import bare, with_decoded, with_grouped, with_respelt
from reident.workbench.released_computed import Computed, computed_columns, overlap, with_parts
from reident.workbench.released_places import (
    Box,
    Places,
    box_of,
    inside,
    swapped,
    with_found_places,
    with_turned_places,
)
from reident.workbench.released_unjudged import unjudged
from reident.workbench.roles import place_columns

__all__ = ["Calls", "as_called", "read_any", "read_network", "read_records", "with_marks"]

#: What programs write where a value is missing.
_ABSENT = frozenset({"NA", "NaN", "nan", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null", "None", "."})
#: The share of the records of either file that must agree with some value of the other.
_ALIKE = 0.95
#: Degrees up to which a place is where it was.
_SAME_DEG = 1e-4
#: Values and labels up to which labels are also read: intervals, sets and masks.
_MOST = 1000


def as_called(
    release: Any,
    original: Any,
    quasi: Sequence[str],
    others: Sequence[str] = (),
    places: tuple[str, str] | None = None,
    called: Mapping[str, str] | None = None,
    what: str = "release",
) -> tuple[Any, list[str]]:
    """Return a table with its columns called as in the original, and what was read as what, a sentence each.

    A column that the release lacks is sought by `called`, then by its name in other letters, then by its values, where
    one other column alone holds them. Coordinates are sought by their names and range.

    `what` the table is called in sentences.

    Raises
    ------
    ParameterError
        If `called` names a column that one of the files lacks.
    DataError
        If none of the columns that an intruder knows is found, and the release has others that nobody can tell.
    """
    names, told, left, missing = _calling(release, original, quasi, others, places, called, what)
    said = release.rename(columns=names) if names else release
    return said, told + _unread(said, left, missing, what, quasi, places)


def _calling(
    release: Any,
    original: Any,
    quasi: Sequence[str],
    others: Sequence[str],
    places: tuple[str, str] | None,
    called: Mapping[str, str] | None,
    what: str,
) -> tuple[dict[str, str], list[str], list[Any], list[str]]:
    """Return new names, a sentence each, and what nobody can tell: columns of the table, and names of the original."""
    names: dict[str, str] = {}
    for own, other in (called or {}).items():
        for table, name, which in ((original, own, "original"), (release, other, what)):
            if name not in table.columns and not (table is release and own in release.columns):
                raise ParameterError(f"`called` must name columns of both files, got {name!r}: the {which} lacks it")
        if other in release.columns:
            names[other] = own
    told = [f"{other!r} of the {what} was read as {own!r}: it is said to be." for other, own in names.items()]
    geometry = [release.geometry.name] if hasattr(release, "to_crs") else []
    taken = {*original.columns, *names, *geometry, *(places or ())}
    free = [column for column in release.columns if column not in taken]
    here = {*release.columns, *names.values()}
    lat_lon = [name for name in (places or ()) if name not in here and not geometry]
    missing = [name for name in dict.fromkeys([*quasi, *others]) if name not in here and name in original.columns]
    for name in [*missing, *lat_lon]:
        alike = [other for other in free if _bare(other) == _bare(name)]
        if len(alike) == 1:
            names[alike[0]] = name
            told.append(f"{alike[0]!r} of the {what} was read as {name!r}: the name differs in its letters only.")
    free = [name for name in free if name not in names]
    if places and len(lat_lon) == 2 and not set(lat_lon) & set(names.values()):
        found = place_columns(pd.DataFrame(release[free]))
        if found is not None and found["crs"] == "EPSG:4326":
            pairs = {found["lat"]: places[0], found["lon"]: places[1]}
            names |= pairs
            told.append(f"{' and '.join(map(repr, pairs))} of the {what} were read as the places: {found['reason']}.")
    free = [name for name in free if name not in names]
    missing = [name for name in missing if name not in names.values()]
    fits = {name: [other for other in free if _same_values(original[name], release[other])] for name in missing}
    for name, others in fits.items():
        if len(others) == 1 and sum(others[0] in some for some in fits.values()) == 1:
            names[others[0]] = name
            told.append(f"{others[0]!r} of the {what} was read as {name!r}: it holds its values.")
    left = [name for name in free if name not in names]
    return names, told, left, [name for name in missing if name not in names.values()]


def _unread(
    said: Any, left: Sequence[Any], missing: Sequence[str], what: str, known: Sequence[str], places: Any
) -> list[str]:
    """Return the sentence on columns that nobody can tell; refuse them where they are all that could be attacked."""
    if not (left and missing):
        return []
    unknown = ", ".join(map(repr, left))
    hint = f"if one of them holds {missing[0]!r}, " + (
        f"--called {missing[0]}={left[0]} says so (in Python `called`)" if what == "release" else "it must be called so"
    )
    if known and not hasattr(said, "to_crs") and not {*known, *(places or ())} & set(said.columns):
        raise DataError(
            f"the {what} must hold a column that is known of the persons, {', '.join(map(repr, known))}, it has "
            f"{unknown}: nothing could be attacked; {hint}"
        )
    return [f"The original lacks {unknown} of the {what}: {hint}."]


def _bare(name: Any) -> str:
    return bare(str(name)) or str(name)


def _same_values(own: pd.Series, other: pd.Series) -> bool:
    """Whether nearly every value of a column is among another's or under one of its labels, and the other way round."""
    mine, theirs = own.value_counts(), other.value_counts()
    values, labels = mine.index, theirs.index.astype(object)
    texts, said = (pd.Index([text_of(one) for one in index], dtype=object) for index in (values, labels))
    if not len(values) or not len(labels) or set(said) <= {"*"}:
        return False
    equal = _equal(mine, theirs, texts, said)
    if equal < _ALIKE and not any(pd.api.types.is_numeric_dtype(one) for one in (own, other)):
        equal = _equal(mine, theirs, *(index.map(bare) for index in (texts, said)))
    if equal >= _ALIKE or max(len(values), len(labels)) > _MOST:
        return equal >= _ALIKE
    covered = LabelReader(values, labels).cover()
    return min(_share(mine, np.any(covered, axis=1)), _share(theirs, np.any(covered, axis=0))) >= _ALIKE


def _equal(mine: pd.Series, theirs: pd.Series, texts: pd.Index, said: pd.Index) -> float:
    return min(_share(mine, np.asarray(texts.isin(said))), _share(theirs, np.asarray(said.isin(texts))))


def _share(counts: pd.Series, which: BoolArray) -> float:
    return float(counts.to_numpy()[which].sum() / counts.sum())


def read_records(data: Any, reading: Mapping[str, Any] | None = None) -> Any:
    """Read a file of records; a table as it is."""
    if not isinstance(data, str | Path):
        return data
    return open_file(data, **(reading or {})).data


class Calls:
    """Calls the columns of releases as the original calls them, and keeps what was said of it."""

    def __init__(
        self,
        original: Any,
        roles: Mapping[str, Any],
        called: Mapping[str, str] | None,
        new: Sequence[str] = (),
    ) -> None:
        for name in original.columns if isinstance(original, pd.DataFrame) else ():
            refuse_nested(original[name], "the original")
        self.told: list[str] = []
        #: Columns of releases that nobody has judged.
        self.findings: list[dict[str, Any]] = []
        #: Columns of releases that are computed from what is known, by their names.
        self.computed: dict[Any, Computed] = {}
        self._original, self._called = original, check_mapping(called, "called", optional=True)
        self._new = set(new)
        #: Columns said to be new that no release has had so far.
        self.unmet = {*new}
        self._quasi, self._others = (check_several(roles[name], name) for name in ("quasi", "sensitive"))
        single = {
            name: [] if roles[name] is None else check_several([roles[name]], name) for name in ("lat", "lon", "id")
        }
        self._others += [*single["id"], *filter(None, [roles.get("household"), roles.get("person")])]
        self._places = (roles["lat"], roles["lon"]) if roles["lat"] and roles["lon"] else None
        if hasattr(original, "to_crs"):
            self._places = (LAT, LON)
        self._known = {*self._quasi, *self._others}
        self._names, self._table = roles.get("release_names") or (), roles.get("release_table")
        self._crs = roles.get("release_crs") or roles.get("crs")
        self._box: Box | None = None
        if self._places is not None and isinstance(original, pd.DataFrame):
            placed = placed_table(original, roles["lat"], roles["lon"], roles.get("crs"))
            lat, lon = (placed[name].to_numpy(float, na_value=np.nan) for name in (LAT, LON))
            self._homes: Places = lat, lon
            self._box = box_of(*self._homes)

    def register(self, register: Any) -> Any:
        """Return a list of the population with its columns so called, if there is one."""
        if not isinstance(register, pd.DataFrame):
            return register
        said, told = as_called(register, self._original, self._quasi, what="register")
        self.told += told
        return self.known_of(said)

    @property
    def quasi(self) -> list[str]:
        """The columns that an intruder knows, with those that releases computed from them."""
        return [*self._quasi, *self.computed]

    @property
    def computed_from(self) -> set[Any]:
        """The columns that releases show as something computed from them."""
        return {name for one in self.computed.values() for name in one.sources}

    def read(self, path: Path) -> Any:
        """Read a table with its columns so called, as text where the original's are."""
        return self(without_apostrophes(read_like(path, self._original, self._crs, self._names, self._table)))

    def __call__(self, release: Any) -> Any:
        """Return a table with its columns so called; anything else as it is."""
        if not (isinstance(release, pd.DataFrame) and isinstance(self._original, pd.DataFrame)) or release.empty:
            return release
        for name in release.columns:
            refuse_nested(release[name], "the release")
        self.unmet -= {*release.columns}
        said, places, found = self._with_places(release)
        said, parted = with_parts(said, self._original, self._quasi)
        names, told, left, missing = _calling(
            said, self._original, self._quasi, self._others, places, self._called, "release"
        )
        read = [part for part in said.columns if part not in release.columns and str(part).startswith(_of_parts(names))]
        said, gaps = _with_gaps(said.drop(columns=read).rename(columns=names), self._original)
        said, respelt = with_respelt(said, self._original, [*self._quasi, *self._others])
        said, computed = computed_columns(said, pd.DataFrame(self._original), self._quasi)
        said, half = _with_half_a_place(said, places)
        for one in [*computed, *half]:
            self.computed.setdefault(one.name, one)
        left = [name for name in left if name in release.columns and name not in {*self.computed, *self._new}]
        missing = [name for name in missing if not any(name in one.sources for one in computed)]
        if places and not half and not {*places} & set(said.columns) and not hasattr(said, "to_crs"):
            missing = [*missing, places[0]]
        known = self.known_of(pd.DataFrame(self._original))
        said, grouped = with_grouped(said, known, missing, left)
        left, missing = ([name for name in names if name not in grouped] for names in (left, missing))
        said, codes = with_decoded(said, known, [*self._quasi, *self._others])
        told += [one.told for one in [*computed, *half]]
        told += _unread(said, left, missing, "release", [*self._quasi, *self.computed], places)
        hidden = [name for name in missing if name in {*self._quasi, *(places or ())}]
        coarser = [
            name for name in self._quasi if name in said.columns and name in known.columns
            and texts_of(said[name]).nunique() < known[name].nunique()
        ]  # fmt: skip
        found_there = unjudged(said, known, left, hidden, {*names, *(one.released for one in computed)}, coarser)
        self.findings += [one.as_dict() for one in found_there if one.as_dict() not in self.findings]
        self.told += [
            line
            for line in [*found, *parted, *told, *gaps, *respelt, *dict.fromkeys(grouped.values()), *codes]
            if line not in self.told
        ]
        return said

    def known_of(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table of persons with what releases computed from its columns beside them."""
        for one in self.computed.values():
            if set(one.sources) <= set(table.columns):
                table = table.assign(**{one.name: one.values(table)})
        return table

    def _with_places(self, release: Any) -> tuple[Any, tuple[str, str] | None, list[str]]:
        """Return a release with the places that it holds under other names, in other units or in texts."""
        if self._places is None or self._box is None:
            return release, self._places, []
        plain, own = {_bare(name): name for name in release.columns}, tuple(map(_bare, self._places))
        free = [name for name in release.columns if name not in self._known and name not in self._places]
        if hasattr(release, "to_crs"):
            return self._finer(release, [release.geometry.name], free, _degrees_of_points(release))
        if not set(own) <= set(plain):
            return self._sought(release, free)
        names = [plain[name] for name in own]
        lat, lon = (release[name] for name in names)
        numbers = [pd.to_numeric(one, errors="coerce").to_numpy(float, na_value=np.nan) for one in (lat, lon)]
        if self._crs not in (None, "EPSG:4326"):
            return self._finer(release, names, free, degrees_of(numbers[1], numbers[0], str(self._crs)))
        if all(pd.api.types.is_numeric_dtype(one) for one in (lat, lon)):
            north, east = numbers
            if swapped(north, east, self._box):
                told = [f"{names[0]!r} and {names[1]!r} of the release were exchanged, to lie where the original's do."]
                turned = release.assign(**{names[0]: lon, names[1]: lat})
                said, places, finer = self._finer(turned, names, free, (east, north))
                return said, places, finer or told
            if inside(north, east, self._box):
                said, places, finer = self._finer(release, names, free, (north, east))
                if finer:
                    return said, places, finer
                said, told = with_turned_places(release, names, *self._homes)
                same = told and np.nanmedian(np.abs(said[LAT] - north)) < _SAME_DEG
                return (release, self._places, []) if same or not told else (said, (LAT, LON), told)
        return self._sought(release, [*names, *(name for name in free if name not in names)])

    def _sought(self, release: Any, free: Sequence[Any]) -> tuple[Any, tuple[str, str] | None, list[str]]:
        """Return a release with the places that some of its columns hold in any way."""
        assert self._box is not None
        said, told = with_found_places(release, free, self._box, self._homes)
        if not told:
            said, told = with_turned_places(release, free, *self._homes)
        return said, (LAT, LON) if told else self._places, told

    def _finer(
        self, release: Any, names: list[Any], free: Sequence[Any], shown: Places
    ) -> tuple[Any, tuple[str, str] | None, list[str]]:
        """Return a release with finer places than those shown, where the columns beside `names` hold them."""
        assert self._box is not None
        beside = pd.DataFrame(release.drop(columns=names))
        free = [name for name in free if name not in names]
        said, told = with_found_places(beside, free, self._box, self._homes, shown)
        if not told:
            return release, self._places, []
        return said, (LAT, LON), told


def _degrees_of_points(table: Any) -> Places:
    """Return the places of a table of points, NaN where there is none."""
    points = table.geometry if table.crs is None or table.crs.is_geographic else table.geometry.to_crs("EPSG:4326")
    points = points.where(points.geom_type == "Point")
    return points.y.to_numpy(float), points.x.to_numpy(float)


def _of_parts(names: Mapping[Any, Any]) -> tuple[str, ...]:
    """Return how the names of parts of cells begin that were read as a whole."""
    return tuple(f"{name}{sign}" for name in names for sign in (", part ", "."))


def _with_half_a_place(release: Any, places: tuple[str, str] | None) -> tuple[Any, list[Computed]]:
    """Return a release that shows one coordinate of a place with it as a column that is known."""
    shown = [name for name in places or () if name in release.columns]
    if len(shown) != 1:
        return release, []
    name = f"{shown[0]} alone"
    told = f"{shown[0]!r} of the release is one coordinate of a place, and was joined as a number."
    one = Computed(name, shown[0], (shown[0],), told, lambda table: table[shown[0]])
    return release.rename(columns={shown[0]: name}), [one]


def _with_gaps(release: Any, original: Any) -> tuple[Any, list[str]]:
    """Read what other programs write for a missing value as one, where the original holds no such value."""
    told, found = [], release
    for name in set(release.columns) & set(original.columns):
        column = release[name]
        if pd.api.types.is_numeric_dtype(column) or not column.isin(_ABSENT).any():
            continue
        absent = column.isin(_ABSENT - set(original[name].dropna().astype(str)))
        if absent.any():
            found = found.assign(**{name: column.mask(absent, None)})
            said = ", ".join(sorted(set(column[absent])))
            told.append(f"{name}: {said} in the release was read as missing ({int(absent.sum())} records).")
    return found, sorted(told)


def read_any(release: Any, named: Mapping[str, Any], calls: Calls) -> Release:
    """Read a release: a table, a file, or a folder with a manifest and perhaps distances."""
    if not isinstance(release, str | Path):
        return read_release(calls(release), "release", **named)
    path = Path(release)
    if not path.is_dir():
        return read_release(calls.read(path), "release", **named)
    files = sorted(one for one in path.glob("release.*") if one.is_file())
    if not files:
        raise DataError(f"`release` must be a file or a folder with a file release.*, got {str(path)!r}")
    table: Any = calls.read(files[0])
    if (path / "distances_km.npy").is_file():
        table = table, np.load(path / "distances_km.npy", allow_pickle=False)
    read = read_release(table, "release", **named)
    if (path / "manifest.json").is_file():
        manifest = json.loads((path / "manifest.json").read_text("utf-8"))
        chain = manifest.get("chain") or [manifest]
        moved = [step for step in chain if read.has_places and "records_without_place" in step]
        step = next(iter(moved), chain[-1])  # the law of places is what an intruder can use
        read = replace(read, method=step.get("method", "unknown"), options=step.get("parameters", {}))
    return read


def read_network(release: Any) -> tuple[Release, pd.DataFrame]:
    """Read a released network, and the marks of its nodes: a graph, a file, or a folder that `protect` wrote."""
    if isinstance(release, str | Path):
        path = Path(release)
        if not path.exists() or (path.is_dir() and not (path / "release.csv").is_file()):
            raise DataError(f"`release` must be a file or a folder with a file release.csv, got {str(path)!r}")
        release = read_relations(path / "release.csv" if path.is_dir() else path)
    marks = pd.DataFrame()
    if isinstance(release, Relations):
        sides = list(SIDES) if release.sorted else []
        release, marks = release.network, release.marks.drop(columns=sides, errors="ignore")
    elif not is_graph(release):
        raise ParameterError(f"`release` must be a network as the original is, or a path, got {type(release).__name__}")
    return read_release(release, "release"), marks


def with_marks(said: Release, theirs: pd.DataFrame, own: pd.DataFrame) -> tuple[Release, pd.DataFrame, list[str]]:
    """Return a released network and the persons with what both lists say of them beside with whom, and a sentence.

    Only marks that the lists have alike are compared: a direction that was drawn anew, or follows new names, says
    nothing.
    """
    alike = [name for name in own.columns if name in theirs.columns and overlap(theirs[name], own[name]) >= _ALIKE]
    if not {*SIDES} <= {*alike} or (own[SIDES[0]] == own[SIDES[1]]).all():
        alike = [name for name in alike if name not in SIDES]
    if not alike:
        return said, own[[]], []
    told = [f"Of each person's relations these were joined, too: {', '.join(alike)}."]
    return replace(said, table=theirs.loc[said.table.index, alike]), own[alike], told
