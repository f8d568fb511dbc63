"""Make a release of one's own file, with a manifest that may be published beside it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import reident
from reident._validation import check_choice, check_columns
from reident.errors import DataError, ParameterError, PrivacyWarning
from reident.experiments.microdata import LAT, LON, automatic_hierarchy
from reident.metrics.distances import great_circle_km
from reident.registry import Entry, find
from reident.workbench.files import WRITTEN, with_places, write_file

__all__ = ["protect"]


def protect(
    data: Any,
    out: str | Path,
    *,
    method: str,
    options: Mapping[str, Any] | None = None,
    quasi: str | Sequence[str] = (),
    lat: str | None = None,
    lon: str | None = None,
    sensitive: str | None = None,
    epsilon_quasi: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    area: Any = None,
    candidates: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
    suffix: str = ".csv",
) -> Path:
    """Write a release of the data and a public manifest into a new folder.

    Random numbers come from the operating system's entropy and are kept nowhere; records are shuffled and lose their
    index; columns that no argument names are left out. The manifest tells method, public parameters and loss, never
    seeds, reference sets, true places, or the original order. Whether the release is safe enough is not checked here:
    see `assess`.

    Parameters
    ----------
    data : DataFrame or GeoDataFrame
        Complete in the columns used. Not modified.
    out : path
        A folder that does not exist yet; it appears only when the release is complete.
    method : str
        A registered anonymiser for tables or places.
    options : mapping, optional
        Its parameters.
    quasi, lat, lon, sensitive, epsilon_quasi
        As for `assess`. Methods for numeric columns mask the numeric quasi-identifiers.
    keep : str or sequence of str
        Further columns, released as they are.
    area : polygon, optional
        For an embedding: where reference places are drawn. Default: the data's bounding box, widened to whole degrees;
        it is public.
    candidates : DataFrame or GeoDataFrame, optional
        For swapping: a public list of places. Required there: the records' own places would be released true.
    hierarchies : mapping of str to Hierarchy, optional
        Default: automatic ones.
    suffix : str
        The kind of file: ".csv", ".parquet", ".xlsx", ".gpkg".

    Returns
    -------
    Path
        The folder, with ``release`` and ``manifest.json``, and ``distances_km.npy`` for methods that release distances
        instead of places (rows in the order of the release).

    Raises
    ------
    ParameterError
        If a name or parameter is wrong, or the folder exists already.
    DataError
        If values are missing or `out` cannot be written.
    """
    entry = find(method, "anonymiser")
    settings = entry.check(options or {})
    check_choice(suffix, "suffix", WRITTEN)
    target = Path(out)
    if target.exists():
        raise ParameterError(f"`out` must not exist yet, got {str(target)!r}: a release is never overwritten")
    data = with_places(data, lat, lon)
    listed = check_columns(data, quasi, "quasi", table_name="data", min_columns=0)
    noisy = check_columns(data, epsilon_quasi, "epsilon_quasi", table_name="data", min_columns=0)
    others = check_columns(data, keep, "keep", table_name="data", min_columns=0)
    others += [] if sensitive is None else check_columns(data, [sensitive], "sensitive", table_name="data")
    named = list(dict.fromkeys([*listed, *noisy, *others]))
    if entry.data == "places":
        release, distances, loss = _places(data, entry, settings, named, area, candidates)
    elif entry.data == "table":
        release, distances, loss = _table(data, entry, settings, listed, noisy, named, sensitive, hierarchies)
    else:
        raise ParameterError(f"`method` must be for tables or places, got {method!r}, which is for {entry.data}")
    order = np.random.default_rng().permutation(len(release))
    release = release.iloc[order].reset_index(drop=True)
    manifest = {
        "method": entry.name,
        "call": entry.call,
        "source": entry.source,
        "parameters": {name: value for name, value in settings.items() if value is not None},
        "records_released": len(release),
        "records_left_out": len(data) - len(release),
        "columns": [str(column) for column in release.columns],
        "columns_released_unchanged": _unchanged(entry, data, listed, noisy, named),
        "loss": loss,
        "random_numbers": "operating system entropy, not kept",
        "order": "shuffled",
        "guarantee": _guarantee(entry, settings),
        "made_with": f"reident {reident.__version__}",
    }
    _publish(target, release, None if distances is None else distances[np.ix_(order, order)], manifest, suffix)
    return target


def _complete(data: Any, columns: Sequence[str]) -> None:
    absent = {column: int(count) for column, count in data[list(columns)].isna().sum().items() if count}
    if absent:
        raise DataError(f"`data` must not have missing values in the columns protected, got {absent} (column: records)")


def _places(
    data: Any, entry: Entry, settings: Mapping[str, Any], named: list[str], area: Any, candidates: Any
) -> tuple[Any, Any, dict[str, float]]:
    from reident.anonymisers._places import read_places, write_places

    geometry = [data.geometry.name] if hasattr(data, "to_crs") else [LAT, LON]
    absent = [column for column in geometry if column not in data.columns]
    if absent:
        raise ParameterError(f"`lat` and `lon` must be given for the method {entry.name!r}: the data have no geometry")
    points = data[[*(column for column in named if column not in geometry), *geometry]].reset_index(drop=True)
    lat, lon = read_places(points, "data")
    true = great_circle_km(lat, lon)
    arguments = entry.arguments(settings)
    table = points.drop(columns=geometry)
    if entry.form == "coordinates":
        moved = write_places(points, *entry.function(lat, lon, **arguments))
    elif entry.form == "points":
        moved = entry.function(points, **arguments)
    elif entry.form == "candidates":
        if candidates is None:
            raise ParameterError(
                f"`candidates` must be given for {entry.name!r}: the records' own places would be released true"
            )
        moved = entry.function(points, candidates, **arguments)
    else:
        if entry.form == "embedding":
            released = entry.function(lat, lon, area=_public_area(lat, lon, area), **arguments)
        else:
            released = entry.function(true, **arguments)
        return pd.DataFrame(table), released, _distance_loss(true, released)
    rows = moved.index.to_numpy()
    loss = _distance_loss(true[np.ix_(rows, rows)], great_circle_km(*read_places(moved, "release")))
    return moved, None, loss


def _public_area(lat: Any, lon: Any, area: Any) -> Any:
    if area is not None:
        return area
    import shapely

    west, south, east, north = np.floor(lon.min()), np.floor(lat.min()), np.ceil(lon.max()), np.ceil(lat.max())
    return shapely.box(west, max(-90, south), east + (west == east), min(90, north + (south == north)))


def _distance_loss(true: Any, released: Any) -> dict[str, float]:
    from reident.metrics.utility import distances_kept, neighbours_kept

    if len(true) < 3:
        return {}
    return {
        "neighbours_kept": round(neighbours_kept(true, released), 3),
        "distances_kept": round(distances_kept(true, released), 3),
    }


def _table(
    data: Any,
    entry: Entry,
    settings: Mapping[str, Any],
    quasi: list[str],
    noisy: list[str],
    named: list[str],
    sensitive: str | None,
    hierarchies: Mapping[str, Any] | None,
) -> tuple[pd.DataFrame, None, dict[str, float]]:
    if not quasi:
        raise ParameterError(f"`quasi` must name the columns that {entry.name!r} protects, got none")
    _complete(data, [*quasi, *noisy])
    table = pd.DataFrame(data)[named].reset_index(drop=True)
    arguments = entry.arguments(settings)
    classes = [column for column in quasi if column not in noisy]
    if entry.form == "columns":
        columns = _numeric(table, quasi)
        if not columns:
            raise ParameterError(f"`quasi` must name a numeric column for {entry.name!r}, got {quasi!r}")
        made = entry.function(table, columns, **arguments)
        return made.table, None, {"information_loss": round(float(made.information_loss), 4)}
    trees = {column: (hierarchies or {}).get(column) or automatic_hierarchy(table[column]) for column in classes}
    if entry.form == "classes":
        if arguments.get("ell") is not None or arguments.get("t") is not None:
            arguments["sensitive"] = sensitive
        made = entry.function(table, quasi, hierarchies=trees, **arguments)
        return made.table, None, {f"{name}_loss": round(float(value), 4) for name, value in made.losses.items()}
    if not noisy:
        raise ParameterError(f"`epsilon_quasi` must name a column for the method {entry.name!r}, got none")
    with warnings.catch_warnings():
        # Said in the manifest instead: the ranges come from the data, so that this is not differential privacy.
        warnings.simplefilter("ignore", PrivacyWarning)
        made = entry.function(table, k_quasi=classes, epsilon_quasi=noisy, hierarchies=trees, **arguments)
    return made.table, None, {}


def _numeric(table: pd.DataFrame, quasi: list[str]) -> list[str]:
    return [c for c in quasi if pd.api.types.is_numeric_dtype(table[c]) and not pd.api.types.is_bool_dtype(table[c])]


def _unchanged(entry: Entry, data: Any, quasi: list[str], noisy: list[str], named: list[str]) -> list[str]:
    if entry.data == "places":
        return [str(column) for column in named]
    touched = _numeric(data, quasi) if entry.form == "columns" else [*quasi, *noisy]
    return [str(column) for column in named if column not in touched]


def _guarantee(entry: Entry, settings: Mapping[str, Any]) -> str:
    if entry.form == "classes":
        return f"every released record shares its quasi-identifiers with at least {settings['k'] - 1} others"
    if entry.form == "classes and noise":
        return (
            f"{settings['k']}-anonymous in the columns generalised; the noise is scaled to ranges from the data and is "
            "not differential privacy"
        )
    return "none: the risk depends on what an intruder knows"


def _publish(target: Path, release: Any, distances: Any, manifest: Mapping[str, Any], suffix: str) -> None:
    """Write all files beside the target, then rename: the folder is complete or not there."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise DataError(f"`out` must be in a folder that can be written, got {str(target)!r}: {error}") from None
    try:
        write_file(release, temporary / f"release{suffix}")
        if distances is not None:
            np.save(temporary / "distances_km.npy", distances, allow_pickle=False)
        (temporary / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
        temporary.chmod(0o755)
        os.rename(temporary, target)  # noqa: PTH104 (fails where the target has appeared and is not empty)
    except OSError as error:
        raise DataError(f"the release could not be written to {str(target)!r}: {error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
