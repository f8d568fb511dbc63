"""Checks of data: vectors, places, matrices of distances, areas, tables and their columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base.check_values import check_integer, check_listed, is_key
from reident.base.cost import afford
from reident.base.errors import DataError, ParameterError
from reident.base.types import FloatArray

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry


def check_array(values: Any, name: str, dtype: Any = np.float64) -> np.ndarray:
    """Return `values` as an array of numbers of a type, None for any; its shape is left to the caller."""
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"`{name}` must hold {'rows of equal length' if dtype is None else 'numbers only'}: {error}"
        ) from None


def check_column(values: Any, name: str) -> pd.Series:
    """Return values of any kind as a column: one a record, and not records themselves."""
    if np.ndim(check_array(values, name, None)) != 1:
        raise DataError(f"`{name}` must be one-dimensional, got shape {np.shape(values)}")
    if getattr(getattr(values, "dtype", None), "kind", "") == "V":
        raise DataError(f"`{name}` must hold one value a record, got records of several")
    return pd.Series(values)


#: What numpy would turn into numbers unasked, by the kind of its type.
_NO_NUMBERS = {"c": "complex ones", "M": "dates", "m": "durations", "U": "text", "S": "bytes", "V": "records"}


def check_vector(values: ArrayLike, name: str, *, length: int | None = None) -> FloatArray:
    """Return `values` as a contiguous float64 vector of finite numbers.

    Numbers only: a masked value is none, a complex one would lose a part, a date would become a count of days or
    years, a text may be an identifier.
    """
    if hasattr(values, "adj"):
        raise DataError(f"`{name}` must hold numbers, got a graph: its nodes are none")
    if np.ma.is_masked(values):
        raise DataError(f"`{name}` must have no masked value, got {int(np.ma.count_masked(values))}: drop them first")
    array = check_array(values, name, None)
    if array.dtype.kind in _NO_NUMBERS and (array.size or array.dtype.kind not in "US"):
        raise DataError(f"`{name}` must hold numbers, got {_NO_NUMBERS[array.dtype.kind]}")
    if array.dtype == object and any(isinstance(value, str | complex | np.datetime64) for value in array.flat):
        raise DataError(f"`{name}` must hold numbers only, got others among them")
    vector = np.ascontiguousarray(check_array(array, name))
    if vector.ndim != 1:
        raise DataError(f"`{name}` must be one-dimensional, got shape {vector.shape}")
    if length is not None and vector.shape[0] != length:
        raise DataError(f"`{name}` must have {length} entries, got {vector.shape[0]}")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise DataError(
            f"`{name}` must be finite, got {vector[bad[0]]} at position {bad[0]} ({bad.size} such value(s))"
        )
    return vector


def check_coordinates(
    lat: ArrayLike, lon: ArrayLike, *, lat_name: str = "lat_deg", lon_name: str = "lon_deg"
) -> tuple[FloatArray, FloatArray]:
    """Return latitudes in [-90, 90] and longitudes in [-180, 360] degrees, of equal length."""
    lat_deg = check_vector(lat, lat_name)
    lon_deg = check_vector(lon, lon_name)
    if lat_deg.shape != lon_deg.shape:
        raise DataError(
            f"`{lat_name}` and `{lon_name}` must have the same length, got {lat_deg.size} and {lon_deg.size}"
        )
    for values, name, low, high in ((lat_deg, lat_name, -90, 90), (lon_deg, lon_name, -180, 360)):
        bad = np.flatnonzero((values < low) | (values > high))
        if bad.size:
            raise DataError(
                f"`{name}` must lie in [{low}, {high}] degrees, got {values[bad[0]]:g} at position {bad[0]}: "
                "are latitude and longitude swapped, or are these metres?"
            )
    return lat_deg, lon_deg


def check_distance_matrix(distances: ArrayLike, name: str, *, size: int | None = None) -> FloatArray:
    """Return a pseudometric's distance matrix, km: square, finite, symmetric, non-negative, zero diagonal.

    Zeros off the diagonal are allowed: two people at one address. Symmetry is required up to 1e-9 of the largest
    entry. The triangle inequality is not required, since noise added to distances breaks it.
    """
    matrix = np.ascontiguousarray(check_array(distances, name))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"`{name}` must be square, got shape {matrix.shape}")
    if size is not None and matrix.shape[0] != size:
        raise DataError(f"`{name}` must have one row a record ({size}), got {matrix.shape[0]}")
    blocks = _row_blocks(matrix)
    if not all(np.isfinite(matrix[rows]).all() for rows in blocks):
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise DataError(f"`{name}` must be finite, got {matrix[row, column]} at ({row}, {column})")
    if matrix.size and matrix.min() < 0:
        row, column = np.unravel_index(int(matrix.argmin()), matrix.shape)
        raise DataError(f"`{name}` must not be negative, got {matrix[row, column]:g} at ({row}, {column})")
    if matrix.size:
        allowed = 1e-9 * max(1.0, float(matrix.max()))
        if any(np.abs(matrix[rows, rows.start :] - matrix.T[rows, rows.start :]).max() > allowed for rows in blocks):
            gap = np.abs(matrix - matrix.T)
            row, column = np.unravel_index(int(gap.argmax()), gap.shape)
            raise DataError(
                f"`{name}` must be symmetric, got {matrix[row, column]:g} at ({row}, {column}) "
                f"and {matrix[column, row]:g} at ({column}, {row})"
            )
        diagonal = np.flatnonzero(np.diagonal(matrix))
        if diagonal.size:
            raise DataError(
                f"`{name}` must have a zero diagonal, got {matrix[diagonal[0], diagonal[0]]:g} for record {diagonal[0]}"
            )
    return matrix


def _row_blocks(matrix: FloatArray, cells: int = 2_000_000) -> list[slice]:
    """Return the rows of a matrix in blocks of so many cells: a large one is looked through without a copy."""
    n_rows = max(1, cells // max(1, matrix.shape[1]))
    return [slice(first, first + n_rows) for first in range(0, len(matrix), n_rows)]


def check_area(area: Any, name: str = "area") -> BaseGeometry:
    """Return a valid, non-empty polygon in degrees from a shapely polygon, a GeoSeries or a GeoDataFrame.

    A GeoDataFrame must have a CRS and is transformed to longitude and latitude; a bare polygon is taken as such.
    """
    import shapely
    from shapely.geometry.base import BaseGeometry

    if hasattr(area, "to_crs"):
        if area.crs is None:
            raise DataError(f"`{name}` must have a CRS: without one its coordinates could be degrees or metres")
        if len(area) == 0 or area.geometry.isna().any():
            raise DataError(f"`{name}` must have geometries, none missing, got {area.geometry.isna().sum()} missing")
        broken = area.geometry[~area.geometry.is_valid]
        if len(broken):
            raise DataError(f"`{name}` must hold valid polygons: {shapely.is_valid_reason(broken.iloc[0])}")
        area = area.to_crs("EPSG:4326").union_all()
    if not isinstance(area, BaseGeometry) or area.geom_type not in ("Polygon", "MultiPolygon"):
        kind = getattr(area, "geom_type", type(area).__name__)
        raise DataError(f"`{name}` must be a polygon, a GeoSeries or a GeoDataFrame of polygons, got {kind}")
    if not area.is_valid:
        raise DataError(f"`{name}` must be a valid polygon: {shapely.is_valid_reason(area)}")
    if area.is_empty or area.area == 0:
        raise DataError(f"`{name}` must not be empty, got a polygon of area 0")
    west, south, east, north = area.bounds
    if west < -180 or east > 360 or south < -90 or north > 90:
        raise DataError(f"`{name}` must be in degrees, got bounds {area.bounds}: is it in metres?")
    shapely.prepare(area)
    return area


def check_embedding(
    lat: ArrayLike, lon: ArrayLike, n_reference_sets: Any, reference_set_size: Any
) -> tuple[FloatArray, FloatArray, tuple[int, int]]:
    """Return the places and the shape (sets, places in a set) of a Lipschitz embedding of at least two places."""
    lat_deg, lon_deg = check_coordinates(lat, lon, lat_name="lat", lon_name="lon")
    if lat_deg.size < 2:
        raise DataError(f"`lat` and `lon` must give at least 2 places, got {lat_deg.size}: one place has no distance")
    sets = check_integer(n_reference_sets, "n_reference_sets", low=1)
    size = check_integer(reference_set_size, "reference_set_size", low=1)
    what = f"{sets:,} sets of {size:,} places"
    afford(100 * sets * size, "n_reference_sets" if sets > size else "reference_set_size", what, "take fewer")
    return lat_deg, lon_deg, (sets, size)


def check_table(table: Any, name: str, *, min_records: int = 1) -> pd.DataFrame:
    """Return `table` if it is a DataFrame with unique column names and enough records."""
    if not isinstance(table, pd.DataFrame):
        raise DataError(f"`{name}` must be a pandas DataFrame, got {type(table).__name__}")
    if not table.columns.is_unique:
        twice = table.columns[table.columns.duplicated()][0]
        raise DataError(f"`{name}` must have unique column names, got {twice!r} more than once")
    if len(table) < min_records:
        raise DataError(f"`{name}` must have at least {min_records} record(s), got {len(table)}")
    return table


def check_columns(
    table: pd.DataFrame | Sequence[Any],
    columns: str | Iterable[Any],
    name: str,
    *,
    table_name: str = "table",
    min_columns: int = 1,
) -> list[str]:
    """Return distinct columns of a table, or of the names of its columns, as a list; a single name is a list of one."""
    existing = list(table.columns if isinstance(table, pd.DataFrame) else table)
    listed = [columns] if isinstance(columns, str) else check_listed(columns, name)
    if len(listed) < min_columns:
        raise ParameterError(f"`{name}` must name at least {min_columns} column(s), got {listed!r}")
    if not all(is_key(column) for column in listed):
        raise ParameterError(f"`{name}` must name columns, got {listed!r}")
    absent = [column for column in listed if column not in existing]
    if absent:
        raise ParameterError(
            f"`{name}` must name columns of `{table_name}`, got {absent!r}: the table has {existing!r}"
        )
    twice = [column for position, column in enumerate(listed) if column in listed[:position]]
    if twice:
        raise ParameterError(f"`{name}` must name each column once, got {twice[0]!r} more than once")
    return listed


def check_ids(ids: Sequence[Hashable] | pd.Index | pd.Series, name: str) -> pd.Index:
    """Return identifiers as an Index without missing values or repetitions."""
    index = pd.Index(ids)
    if index.hasnans:
        raise DataError(f"`{name}` must not have missing identifiers, got {int(index.isna().sum())}")
    if not index.is_unique:
        raise DataError(f"`{name}` must be unique, got {index[index.duplicated()].tolist()[0]!r} more than once")
    return index


def encode_labels(tables: Sequence[pd.DataFrame], quasi: Sequence[str], names: Sequence[str]) -> list[np.ndarray]:
    """Code the quasi-identifier values of several tables as integers that agree across the tables.

    Two records get the same code exactly if they agree in every column of `quasi`. A missing value never agrees
    with anything, not with another missing value either: such a record gets the code -1.
    """
    for column in quasi:
        kinds = [kind_of(table[column]) for table in tables]
        known = {kind for kind in kinds if kind != "empty"}
        if len(known) > 1:
            described = ", ".join(f"{kind} in `{name}`" for kind, name in zip(kinds, names, strict=True))
            raise DataError(
                f"quasi-identifier {column!r} must have one type in all tables, got {described}: "
                "values of different types never agree"
            )
    stacked = pd.concat([table[list(quasi)].astype(object) for table in tables], ignore_index=True)
    # A row with a missing value belongs to no group: pandas numbers it NaN or -1, depending on its version.
    codes = stacked.groupby(list(quasi), sort=False, dropna=True).ngroup().fillna(-1).to_numpy(np.int64)
    return np.split(codes, np.cumsum([len(table) for table in tables])[:-1])


def kind_of(column: pd.Series) -> str:
    """Name the comparable kind of a column: number, boolean, time, text, mixed or empty."""
    values = column.dropna()
    if values.empty:
        return "empty"
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    inferred = pd.api.types.infer_dtype(values, skipna=True)
    names = {
        "integer": "number",
        "floating": "number",
        "mixed-integer-float": "number",
        "decimal": "number",
        "string": "text",
        "boolean": "boolean",
    }
    if inferred.startswith(("date", "time", "period")):
        return "time"
    return names.get(inferred, inferred)


def is_numeric(values: pd.Series) -> bool:
    """Tell whether a column holds numbers; booleans are none here."""
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def check_numeric(table: pd.DataFrame, columns: Sequence[str], name: str) -> FloatArray:
    """Return numeric, complete, finite columns as a float64 matrix, one row a record."""
    listed = [table[column] for column in columns]  # twice as fast as the table of these columns
    for values in listed:
        if not is_numeric(values):
            raise DataError(f"column {values.name!r} of `{name}` must be numeric, got {values.dtype}: code it first")
    numbers = np.column_stack([values.to_numpy(np.float64, na_value=np.nan) for values in listed])
    bad = ~np.isfinite(numbers)
    if bad.any():
        at = int(bad.any(axis=0).argmax())
        rows = np.flatnonzero(bad[:, at])
        raise DataError(
            f"column {columns[at]!r} of `{name}` must have no missing or infinite value, got {numbers[rows[0], at]} in "
            f"row {rows[0]} ({rows.size} such row(s)): impute or drop them first"
        )
    return numbers
