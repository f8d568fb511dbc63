"""Anonymiser. (k, epsilon)-anonymity: classes, and Laplace noise inside a class on other quasi-identifiers."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    BoolArray,
    Choice,
    DataError,
    FloatArray,
    IntArray,
    ParameterError,
    PrivacyWarning,
    Real,
    RNGLike,
    Whole,
    check_bounds,
    check_choice,
    check_columns,
    check_mapping,
    check_rng,
    check_table,
    check_vector,
    checked,
)
from reident.queries.laplace import discrete_laplace, grid_granularity, simulation_laplace, snap_to_grid
from reident.tables.anonymisation import METHODS, KAnonymous, k_anonymise
from reident.tables.class_noise import confidence_suppression
from reident.tables.classes import check_classes, class_widths
from reident.tables.hierarchy import Hierarchy

CLASS_RANGE = "class range"
PUBLIC_BOUNDS = "public bounds"

#: The promise of each mode about the epsilon-quasi-identifiers.
GUARANTEES = {
    CLASS_RANGE: "indistinguishable within a class, data-dependent range; NOT differentially private",
    PUBLIC_BOUNDS: "epsilon-local differential privacy of the epsilon-quasi columns given the classes",
}


@dataclass(frozen=True, eq=False)
class KEpsilonRelease:
    """A (k, epsilon)-anonymous release.

    Attributes
    ----------
    table : DataFrame
        The released records: without suppressed ones, k-quasi-identifiers generalised, epsilon-quasi-identifiers
        noisy, shuffled and numbered anew.
    mode : {"class range", "public bounds"}
    guarantee : str
        The promise of the noise, in words. The mode "class range" is not differentially private.
    k : int
    epsilon : float
        The budget of a record, shared equally by its epsilon-quasi-identifiers.
    confidence : float or None
        The confidence of the additional suppression; None if there was none.
    epsilon_quasi : tuple of str
    k_anonymous : KAnonymous
        The k-anonymous table that the noise was added to. Not for release: it has the original values.
    source : ndarray of int64
        The position in the original table of each released record. Not for release: it undoes the shuffle.
    scales : mapping of str to ndarray of float64, shape (n_classes,)
        The scale of the noise of each class, in the column's units; 0 for a class published exactly.
    granularity : mapping of str to float
        The grid of each column, in its units.
    n_constant : mapping of str to int
        The classes in which a column is constant and hence published exactly (mode "class range" only).
    n_clipped : mapping of str to int
        The values outside the public bounds, moved to them.
    n_suppressed : int
        The records that are not released: suppressed for k-anonymity or for the confidence.
    """

    table: pd.DataFrame
    mode: str
    guarantee: str
    k: int
    epsilon: float
    confidence: float | None
    epsilon_quasi: tuple[str, ...]
    k_anonymous: KAnonymous = field(repr=False)
    source: IntArray = field(repr=False)
    scales: Mapping[str, FloatArray] = field(repr=False)
    granularity: Mapping[str, float] = field(repr=False)
    n_constant: Mapping[str, int]
    n_clipped: Mapping[str, int]
    n_suppressed: int


#: Options of `k_anonymise` that `k_epsilon_anonymise` hands on without a parameter of its own.
_OPTIONS = ("loss", "sensitive", "ell", "diversity", "t", "distance")


@checked
def k_epsilon_anonymise(
    table: pd.DataFrame,
    *,
    k_quasi: str | Sequence[str],
    epsilon_quasi: str | Sequence[str],
    k: Annotated[int, Whole(1, unit="records")],
    epsilon: Annotated[float, Real(0, open_low=True, why="a budget of 0 would release nothing")],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    method: Annotated[str, Choice(*METHODS)] = "mondrian",
    suppression_limit: Annotated[float, Real(0, 1, unit="share of the records")] = 0.0,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    confidence: Annotated[float | None, Real(0, 1, open_low=True, open_high=True)] = None,
    rng: RNGLike = None,
    **options: Any,
) -> KEpsilonRelease:
    """Make the k-quasi-identifiers k-anonymous and add Laplace noise to the epsilon-quasi-identifiers, class by class.

    As published, the noise is scaled to the range that the values have in the class. That range comes from the data,
    so it is **not differential privacy**: a record moved far out changes the noise of the others, and a
    class in which all values agree is published exactly. With `bounds` the noise is scaled to a public range: then a
    record's noisy columns are epsilon-locally differentially private, given the class it is in.

    Parameters
    ----------
    table : DataFrame
        The original records. Columns without a role are released as they are: drop direct identifiers first.
    k_quasi : str or sequence of str
        Generalised by `k_anonymise`.
    epsilon_quasi : str or sequence of str
        Numbers, not missing; given noise.
    k : int
    epsilon : float
        The budget of one record; d epsilon-quasi-identifiers get epsilon / d each, since they may be correlated.
        `epsilon_for_error` computes it from the relative error that is wanted.
    hierarchies, method, suppression_limit
        As for `k_anonymise`.
    bounds : mapping of str to (low, high), optional
        A public range for every epsilon-quasi-identifier: known beforehand, not looked up in the table. Values
        outside are moved to it and counted.
    confidence : float, optional
        Suppress the records that an intruder narrows down to fewer than k with this confidence, and then the classes
        with fewer than k such records left (`confidence_suppression`). Smaller values suppress more.
    rng : Generator, int or None
        None, for a release: noise and shuffle from the operating system's entropy. Anything else is for tests.
    **options
        `loss`, `sensitive`, `ell`, `diversity`, `t`, `distance` of `k_anonymise`.

    Returns
    -------
    KEpsilonRelease

    Raises
    ------
    ParameterError
        If a column has two roles, `epsilon` is not above 0, or bounds are missing or reversed.
    DataError
        If an epsilon-quasi-identifier has missing or infinite values, or `confidence` suppresses every record.

    Warns
    -----
    PrivacyWarning
        If the range is data-dependent (no `bounds`), if classes are constant and published exactly, if `rng` is given.
        ``warnings.simplefilter("error", reident.PrivacyWarning)`` refuses such releases.

    Notes
    -----
    Holohan et al. (2017), Algorithm 1 and V-C. Differs: values are first rounded to a grid and the noise is discrete
    Laplace on that grid (`discrete_laplace`), so that low digits disclose no information; the budget is shared over the
    columns of a record, which the paper asks for without saying how; with several epsilon-quasi-identifiers the
    confidence holds for each column alone, not for their combination. The published range makes it no differential
    privacy (erratum 1). The suppression for `confidence` depends on the noise that was drawn: with `bounds` the
    missing records themselves are not covered by the promise.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [20, 21, 50, 52], "height": [170.0, 180, 165, 190]})
    >>> release = k_epsilon_anonymise(
    ...     table, k_quasi="age", epsilon_quasi="height", k=2, epsilon=1, bounds={"height": (140, 210)}
    ... )
    >>> release.guarantee
    'epsilon-local differential privacy of the epsilon-quasi columns given the classes'
    >>> sorted(release.table["age"])
    ['[20, 21]', '[20, 21]', '[50, 52]', '[50, 52]']
    """
    k_columns, e_columns = _check_roles(table, k_quasi, epsilon_quasi)
    for option in options:
        check_choice(option, "options", _OPTIONS)
    limits = _check_bounds(bounds, e_columns)
    values = {name: check_vector(table[name].astype(object), str(name)) for name in e_columns}
    mode = CLASS_RANGE if limits is None else PUBLIC_BOUNDS
    if limits is None:
        _caution(
            "the noise is scaled to the range of each class, which comes from the data: the release is not "
            "differentially private (give public `bounds` for epsilon-local differential privacy)"
        )
    source = None if rng is None else check_rng(rng)
    anonymous = k_anonymise(
        table, k_columns, hierarchies=hierarchies, k=k, suppression_limit=suppression_limit, method=method, **options
    )
    columns = {
        name: _noisy(column, anonymous.classes, epsilon / len(values), None if limits is None else limits[name], source)
        for name, column in values.items()
    }
    constant = {name: int((column.scales == 0).sum()) for name, column in columns.items()}
    if any(constant.values()):
        _caution(f"classes with a constant value are published exactly: {constant} (column: classes)")
    if source is not None and not any(column.scales.any() for column in columns.values()):  # else the noise has said so
        _caution("`rng` is given: the shuffle is repeatable")
    in_class = np.flatnonzero(anonymous.classes >= 0)
    positions = np.arange(in_class.size)
    if confidence is not None:
        positions = np.flatnonzero(~_unsure(columns.values(), anonymous.classes[in_class], k, confidence))
        if not positions.size:
            raise DataError(
                f"`confidence` must leave records to release, got {confidence:g}, which suppresses all "
                f"{in_class.size}: raise it, or lower `epsilon` or `k`"
            )
    order = positions[_shuffled(positions.size, source)]
    released = anonymous.table.copy()
    for name, column in columns.items():
        released[name] = column.noisy
    return KEpsilonRelease(
        table=released.iloc[order].reset_index(drop=True),
        mode=mode,
        guarantee=GUARANTEES[mode],
        k=anonymous.k,
        epsilon=epsilon,
        confidence=confidence,
        epsilon_quasi=tuple(e_columns),
        k_anonymous=anonymous,
        source=in_class[order],
        scales={name: column.scales for name, column in columns.items()},
        granularity={name: column.step for name, column in columns.items()},
        n_constant=constant,
        n_clipped={name: column.n_clipped for name, column in columns.items()},
        n_suppressed=len(table) - positions.size,
    )


@checked
def class_noise_scales(
    values: ArrayLike,
    classes: ArrayLike,
    *,
    epsilon: Annotated[float, Real(0, open_low=True)],
    n_columns: Annotated[int, Whole(1, unit="columns")] = 1,
    width: float | None = None,
) -> FloatArray:
    """Return the scale of the Laplace noise of each class: range x columns / epsilon.

    Parameters
    ----------
    values : array_like of float, shape (n,)
    classes : array_like of int, shape (n,)
        From 0; -1 for a record in no class.
    epsilon : float
        The budget of a record.
    n_columns : int
        The columns that share it.
    width : float, optional
        A public range; None: the range of the values in the class.
    """
    vector = check_vector(values, "values")
    return class_widths(vector, check_classes(classes, vector.size), width) * n_columns / epsilon


def simulate_class_noise(values: ArrayLike, classes: ArrayLike, scales: ArrayLike, *, rng: RNGLike) -> FloatArray:
    """Add fast floating-point Laplace noise to the values of each class: for simulations only, never for a release.

    Parameters
    ----------
    values : array_like of float, shape (n,)
    classes : array_like of int, shape (n,)
        From 0; -1 for a record in no class, whose value becomes NaN.
    scales : array_like of float, shape (n_classes,)
        See `class_noise_scales`; 0 for no noise.
    rng : Generator or int
    """
    vector = check_vector(values, "values")
    ids = check_classes(classes, vector.size)
    b = check_vector(scales, "scales", length=int(ids.max()) + 1)
    rows = np.flatnonzero(ids >= 0)
    noisy = np.full(vector.size, np.nan)
    noisy[rows] = vector[rows] + simulation_laplace(1.0, rows.size, rng=rng) * b[ids[rows]]
    return noisy


@dataclass(frozen=True)
class _NoisyColumn:
    before: FloatArray  # of the records in classes, on the grid
    noisy: FloatArray
    scales: FloatArray
    step: float
    n_clipped: int


def _noisy(
    values: FloatArray,
    classes: IntArray,
    epsilon: float,
    limits: tuple[float, float] | None,
    rng: np.random.Generator | None,
) -> _NoisyColumn:
    """Round one column to a grid and add noise to it, class by class."""
    rows, n_clipped = np.flatnonzero(classes >= 0), 0
    ids = classes[rows]
    values = values[rows]
    if limits is not None:
        n_clipped = int(((values < limits[0]) | (values > limits[1])).sum())
        values = np.clip(values, *limits)
    ranges = class_widths(values, ids, None if limits is None else limits[1] - limits[0])
    wide = ranges[ranges > 0]
    step = grid_granularity(float(wide.min()) / epsilon) if wide.size else 1.0
    before = snap_to_grid(values, step)
    width = None if limits is None else float(np.diff(snap_to_grid(np.array(limits), step))[0])
    scales = class_widths(before, ids, width) / epsilon
    each = (scales > 0)[ids]
    after = before.copy()
    if each.all() and np.ptp(scales) == 0:
        after += discrete_laplace(float(scales[0]), step, after.size, rng=rng)
    elif each.any():
        after[each] += discrete_laplace(scales[ids][each], step, rng=rng)
    return _NoisyColumn(before, after, scales, step, n_clipped)


def _unsure(columns: Iterable[_NoisyColumn], classes: IntArray, k: int, confidence: float) -> BoolArray:
    """Return the records to suppress so that each column alone leaves at least k candidates with a confidence."""
    gone = np.zeros(classes.size, dtype=bool)
    for column in columns:
        suppression = confidence_suppression(
            column.before, column.noisy, classes, scales=column.scales, k=k, confidence=confidence
        )
        gone |= suppression.suppressed
    remaining = np.bincount(classes[~gone], minlength=int(classes.max()) + 1)
    return gone | (remaining < k)[classes]


def _shuffled(size: int, rng: np.random.Generator | None) -> IntArray:
    """Return a permutation, from the operating system's entropy unless a generator is given."""
    if rng is None:
        keys = np.frombuffer(secrets.token_bytes(8 * size), dtype=np.uint64)
        return np.argsort(keys, kind="stable").astype(np.int64)
    return rng.permutation(size).astype(np.int64)


def _caution(message: str) -> None:
    warnings.warn(message, PrivacyWarning, stacklevel=4)


def _check_roles(
    table: pd.DataFrame, k_quasi: str | Sequence[str], epsilon_quasi: str | Sequence[str]
) -> tuple[list[str], list[str]]:
    check_table(table, "table")
    k_columns = check_columns(table, k_quasi, "k_quasi")
    e_columns = check_columns(table, epsilon_quasi, "epsilon_quasi")
    if both := [column for column in e_columns if column in k_columns]:
        raise ParameterError(f"`epsilon_quasi` must not share columns with `k_quasi`, got {both[0]!r} in both")
    return k_columns, e_columns


def _check_bounds(
    bounds: Mapping[str, tuple[float, float]] | None, columns: list[str]
) -> dict[str, tuple[float, float]] | None:
    if bounds is None:
        return None
    check_mapping(bounds, "bounds")
    unknown = [column for column in bounds if column not in columns]
    if unknown:
        raise ParameterError(f"`bounds` must be of epsilon-quasi-identifiers ({columns!r}), got {unknown!r}")
    lacking = [column for column in columns if column not in bounds]
    if lacking:
        raise ParameterError(f"`bounds` must be given for every epsilon-quasi-identifier, got none for {lacking!r}")
    return {column: check_bounds(bounds[column], f"bounds of {column}") for column in columns}
