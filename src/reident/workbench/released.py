"""Reading a release that anybody made: its file, and which of its columns is which of the original."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident._check import check_listed, check_mapping, is_key
from reident.errors import DataError, ParameterError
from reident.methods.release import LAT, LON, Release
from reident.networks.files import read_graph
from reident.tables.labels import LabelReader, text_of
from reident.workbench.files import read_like, without_apostrophes
from reident.workbench.microdata import is_graph
from reident.workbench.panel import placed_table, read_release
from reident.workbench.released_codes import with_decoded
from reident.workbench.released_places import Box, box_of, swapped, with_found_places
from reident.workbench.roles import place_columns

__all__ = ["Calls", "as_called", "read_any", "read_network", "read_records"]

#: What programs write where a value is missing.
_ABSENT = frozenset({"NA", "NaN", "nan", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null", "None", "."})
#: The share of the records of either file that must agree with some value of the other.
_ALIKE = 0.95
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
    """Return a release with its columns called as in the original, and what was read as what, a sentence each.

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
        alike = [other for other in free if _plain(other) == _plain(name)]
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
    missing = [name for name in missing if name not in names.values()]
    if missing and left:
        known = {*quasi, *(places or ())}
        nothing = bool(quasi) and not geometry and not known & {*release.columns, *names.values()}
        told.append(_unread(left, missing[0], what, quasi if nothing else ()))
    return (release.rename(columns=names) if names else release), told


def _unread(left: Sequence[Any], missing: Any, what: str, sought: Sequence[str]) -> str:
    """Return the sentence on columns that nobody can tell; refuse them where they are all that could be attacked."""
    unknown = ", ".join(map(repr, left))
    hint = f"if one of them holds {missing!r}, " + (
        f"--called {missing}={left[0]} says so (in Python `called`)" if what == "release" else "it must be called so"
    )
    if sought:
        raise DataError(
            f"the {what} must hold a column that is known of the persons, {', '.join(map(repr, sought))}, it has "
            f"{unknown}: nothing could be attacked; {hint}"
        )
    return f"The original lacks {unknown} of the {what}: {hint}."


def _plain(name: Any) -> str:
    return "".join(sign for sign in str(name).casefold() if sign.isalnum()) or str(name)


def _same_values(own: pd.Series, other: pd.Series) -> bool:
    """Whether nearly every value of a column is among another's or under one of its labels, and the other way round."""
    own, other = own.dropna(), other.dropna()
    values, labels = pd.Index(own.unique()), pd.Index(other.unique(), dtype=object)
    texts, theirs = (pd.Index([text_of(one) for one in index]) for index in (values, labels))
    equal = (own.isin(values[texts.isin(theirs)]).mean(), other.isin(labels[theirs.isin(texts)]).mean())
    if not len(values) or not len(labels) or set(theirs) <= {"*"}:
        return False
    if min(equal) >= _ALIKE or max(len(values), len(labels)) > _MOST:
        return bool(min(equal) >= _ALIKE)
    covered = LabelReader(values, labels).cover()
    shares = (own.isin(values[covered.any(axis=1)]).mean(), other.isin(labels[covered.any(axis=0)]).mean())
    return bool(min(shares) >= _ALIKE)


def read_records(data: Any, reading: Mapping[str, Any] | None = None) -> Any:
    """Read a file of records; a table as it is."""
    if not isinstance(data, str | Path):
        return data
    from reident.workbench.opening import open_file

    return open_file(data, **(reading or {})).data


class Calls:
    """Calls the columns of releases as the original calls them, and keeps what was said of it."""

    def __init__(self, original: Any, roles: Mapping[str, Any], called: Mapping[str, str] | None) -> None:
        self.told: list[str] = []
        self._original, self._called = original, check_mapping(called, "called", optional=True)
        self._quasi, self._others = (_several(roles[name], name) for name in ("quasi", "sensitive"))
        single = {name: [] if roles[name] is None else _several([roles[name]], name) for name in ("lat", "lon", "id")}
        self._others += [*single["id"], *filter(None, [roles.get("household")])]
        self._places = (roles["lat"], roles["lon"]) if roles["lat"] and roles["lon"] else None
        if hasattr(original, "to_crs"):
            self._places = (LAT, LON)
        self._crs = roles.get("release_crs") or roles.get("crs")
        self._box: Box | None = None
        if self._places is not None and isinstance(original, pd.DataFrame):
            placed = placed_table(original, roles["lat"], roles["lon"], roles.get("crs"))
            self._box = box_of(*(placed[name].to_numpy(float, na_value=np.nan) for name in (LAT, LON)))

    def register(self, register: Any) -> Any:
        """Return a list of the population with its columns so called, if there is one."""
        if not isinstance(register, pd.DataFrame):
            return register
        said, told = as_called(register, self._original, self._quasi, what="register")
        self.told += told
        return said

    def read(self, path: Path) -> Any:
        """Read a table with its columns so called, as text where the original's are."""
        return self(without_apostrophes(read_like(path, self._original, self._crs)))

    def __call__(self, release: Any) -> Any:
        """Return a table with its columns so called; anything else as it is."""
        if not (isinstance(release, pd.DataFrame) and isinstance(self._original, pd.DataFrame)):
            return release
        said, places, found = self._with_places(release)
        said, told = as_called(said, self._original, self._quasi, self._others, places, self._called)
        said, gaps = _with_gaps(said, self._original)
        said, codes = with_decoded(said, self._original, [*self._quasi, *self._others])
        self.told += [line for line in [*found, *told, *gaps, *codes] if line not in self.told]
        return said

    def _with_places(self, release: Any) -> tuple[Any, tuple[str, str] | None, list[str]]:
        """Return a release with the places that it holds under other names, in other units or in texts."""
        if self._places is None or self._box is None or hasattr(release, "to_crs"):
            return release, self._places, []
        plain, own = {_plain(name): name for name in release.columns}, tuple(map(_plain, self._places))
        if set(own) <= set(plain):
            lat, lon = (release[plain[name]] for name in own)
            numeric = all(pd.api.types.is_numeric_dtype(one) for one in (lat, lon))
            if not numeric or self._crs not in (None, "EPSG:4326"):
                return release, self._places, []
            north, east = (one.to_numpy(float, na_value=np.nan) for one in (lat, lon))
            if not swapped(north, east, self._box):
                return release, self._places, []
            told = [f"{lat.name!r} and {lon.name!r} of the release were exchanged, to lie where the original's do."]
            return release.assign(**{lat.name: lon, lon.name: lat}), self._places, told
        free = [name for name in release.columns if name not in self._original.columns]
        said, told = with_found_places(release, free, self._box)
        return said, (LAT, LON) if told else self._places, told


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


def _several(names: Any, name: str) -> list[str]:
    listed = [names] if isinstance(names, str) else [] if names is None else check_listed(names, name)
    if not all(is_key(one) for one in listed):
        raise ParameterError(f"`{name}` must name columns, got {listed!r}")
    return listed


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


def read_network(release: Any) -> Release:
    """Read a network that is released: a graph, the file of one, or a folder that `protect` wrote."""
    if isinstance(release, str | Path):
        path = Path(release)
        if not path.exists() or (path.is_dir() and not (path / "release.csv").is_file()):
            raise DataError(f"`release` must be a file or a folder with a file release.csv, got {str(path)!r}")
        release = read_graph(path / "release.csv" if path.is_dir() else path, simplify=True)
    elif not is_graph(release):
        raise ParameterError(f"`release` must be a network as the original is, or a path, got {type(release).__name__}")
    return read_release(release, "release")
