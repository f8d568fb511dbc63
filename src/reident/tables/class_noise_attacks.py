"""Attack. Noise in classes: a noisy value linked to the nearest original one; differencing by all others of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    Choice,
    DataError,
    FloatArray,
    IntArray,
    Real,
    check_array,
    check_bounds,
    check_vector,
    checked,
    wilson_interval,
)
from reident.kernels.tables.within_class import nearest_ties
from reident.tables.classes import check_classes, class_rows, class_values

#: Values between the bounds that the intruder compares.
_CANDIDATES = 401


@dataclass(frozen=True)
class NearestRecord:
    """The outcome of a nearest-record attack.

    Attributes
    ----------
    linked : ndarray of float64, shape (n,)
        The probability that each record is linked to itself: 0 or 1, or 1 / ties for ties broken at random; NaN for
        a record in no class.
    risk : float
        Their mean over the records in classes: the linking risk.
    low, high : float
        Wilson's 95 % interval of the risk, as if records were linked independently.
    baseline : float
        The risk from guessing at random inside each class: classes / records.
    """

    linked: FloatArray
    risk: float
    low: float
    high: float
    baseline: float


@checked
def nearest_record_attack(
    original: ArrayLike,
    release: ArrayLike,
    classes: ArrayLike,
    *,
    ties: Annotated[str, Choice("all", "random", "none")] = "all",
) -> NearestRecord:
    """Link each released record to the record of its class with the nearest original value.

    The intruder knows every original value and every class: the worst case. A linking risk is to be read against
    `baseline`, and it is no re-identification risk where records of a class agree.

    Parameters
    ----------
    original, release : array_like of float, shape (n,)
        The attribute before and after noise, row by row the same record.
    classes : array_like of int, shape (n,)
        From 0; -1 for a record in no class.
    ties : {"all", "random", "none"}
        If several originals are equally near and the right one is among them: a success, as in the paper's formula;
        one over their number; a failure ("closer than all other", as in its text).

    Returns
    -------
    NearestRecord

    Raises
    ------
    DataError, ParameterError
        If the lengths differ, a value is not finite, or an option breaks its rule.

    Notes
    -----
    Holohan et al. (2017), V-B. O(n log n).

    Examples
    --------
    >>> attack = nearest_record_attack([150.0, 160, 170, 180], [151.0, 158, 181, 181], [0, 0, 0, 0])
    >>> attack.risk, attack.baseline
    (0.75, 0.25)
    """
    before = check_vector(original, "original")
    after = check_vector(release, "release", length=before.size)
    ids = check_classes(classes, before.size)
    is_released = ids >= 0
    ordered = class_values(before, ids, "original")
    nearest = nearest_ties(ordered.values, ordered.starts, ids[is_released], after[is_released], before[is_released])
    if ties == "random":
        success = np.divide(1.0, nearest, out=np.zeros(nearest.size), where=nearest > 0)
    else:
        success = ((nearest > 0) if ties == "all" else (nearest == 1)).astype(np.float64)
    linked = np.full(before.size, np.nan)
    linked[is_released] = success
    n = success.size
    rate = wilson_interval(float(success.sum()), n)
    return NearestRecord(linked, rate.value, rate.low, rate.high, (int(ids.max()) + 1) / n)


@dataclass(frozen=True)
class Differencing:
    """The intruder's guess and evidence for each target.

    Attributes
    ----------
    table : DataFrame
        One row a target: `record` (its position), `value`, `guess` (the posterior median), `low` and `high` (the 5 %
        and 95 % points), `error` (of the guess), `evidence` (the largest difference between two
        values' log-likelihoods: under epsilon-differential privacy at most epsilon; infinite where a value is excluded
        for certain).
    epsilon : float
        The stated budget.
    """

    table: pd.DataFrame
    epsilon: float

    @property
    def broken(self) -> float:
        """The share of targets for which the release gave more evidence than epsilon allows."""
        return float((self.table["evidence"] > self.epsilon * (1 + 1e-9)).mean())


@checked
def differencing_attack(
    original: ArrayLike,
    release: ArrayLike,
    classes: ArrayLike,
    targets: ArrayLike,
    *,
    epsilon: Annotated[float, Real(0, open_low=True)],
    bounds: tuple[float, float],
    width: Annotated[float | None, Real(0, open_low=True)] = None,
) -> Differencing:
    """Guess the value of each target from a release, all other values of the class being known.

    Differential privacy bounds the gain of such an intruder. Where the noise of a class is scaled to the range of its
    values, the noise of the others, which he gets by subtraction, discloses that range, and so the target's value if it
    is the largest or smallest; the more records the class has, the better, whatever epsilon is.

    Parameters
    ----------
    original, release : array_like of float, shape (n,)
        The attribute before and after Laplace noise, row by row the same record. He knows `original` but for the
        target's, and the person of each released value, by the other columns.
    classes : array_like of int, shape (n,)
        From 0; -1 for a record in no class, whose `release` is ignored.
    targets : array_like of int
        Positions of the records attacked, each alone; not of records in no class.
    epsilon : float
        The stated budget, which is public.
    bounds : (low, high)
        His prior is uniform between them, in the attribute's units. The range of a class discloses how far out the
        target is, not on which side: give the side if he knows it.
    width : float, optional
        The public range to which the noise was scaled; None: to the range of the class.

    Returns
    -------
    Differencing

    Raises
    ------
    ParameterError
        If `bounds` are not low and high.
    DataError
        If a target is in no class, or alone in its class with no public width.

    Notes
    -----
    With noise of scale range / epsilon, m known records and S the sum of their absolute noise, the log-likelihood of a
    value v is -(m + 1) log b(v) - (S + |release - v|) / b(v), where b(v) is the scale that v would have caused. Exact
    on a grid of 401 values and the true one. See Holohan et al. (2017), Algorithm 1, for the release.

    Examples
    --------
    >>> height = [160.0, 165, 170, 175, 200]
    >>> noisy = [165.0, 158, 190, 172, 180]
    >>> attack = differencing_attack(height, noisy, [0] * 5, [4], epsilon=1, bounds=(120, 220), width=100)
    >>> bool(attack.table["evidence"].max() <= 1)
    True
    """
    low, high = check_bounds(bounds)
    before = check_vector(original, "original")
    after = check_array(release, "release")
    ids = check_classes(classes, before.size)
    if after.shape != before.shape or not np.isfinite(after[ids >= 0]).all():
        raise DataError(f"`release` must have {before.size} entries, finite in classes, got shape {after.shape}")
    chosen = np.atleast_1d(check_array(targets, "targets", None))
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or not ((chosen >= 0) & (chosen < before.size)).all():
        raise DataError(f"`targets` must be positions of records, 0 to {before.size - 1}, got {targets!r}")
    if (ids[chosen] < 0).any():
        raise DataError(f"`targets` must be in a class, got {chosen[ids[chosen] < 0][0]}, which is suppressed")
    members = class_rows(ids, int(ids.max()) + 1)
    grid = np.linspace(low, high, _CANDIDATES)
    rows = []
    for target in chosen:
        classmates = members[ids[target]]
        known = classmates[classmates != target]
        if not known.size and width is None:
            raise DataError(f"`targets` must not be alone in their class without a public `width`, got {target}")
        candidates = np.unique(np.append(grid, before[target]))
        evidence = _log_likelihood(candidates, before, after, known, int(target), epsilon, width)
        rows.append({"record": int(target), "value": before[target], **_belief(candidates, evidence)})
    table = pd.DataFrame(rows, columns=["record", "value", "guess", "low", "high", "evidence"])
    return Differencing(table.assign(error=(table["guess"] - table["value"]).abs()), epsilon)


def _log_likelihood(
    candidates: FloatArray,
    before: FloatArray,
    after: FloatArray,
    known: IntArray,
    target: int,
    epsilon: float,
    width: float | None,
) -> FloatArray:
    """Return the log-likelihood of each value that the target may have; minus infinity where it is excluded."""
    noise = float(np.abs(after[known] - before[known]).sum())
    distance = np.abs(after[target] - candidates)
    if width is not None:
        return np.asarray(-distance * epsilon / width)
    lowest, highest = before[known].min(), before[known].max()
    scale = (np.maximum(candidates, highest) - np.minimum(candidates, lowest)) / epsilon
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = -(known.size + 1) * np.log(scale) - (noise + distance) / scale
    # A class of one value is published exactly: a candidate equals it, or is excluded.
    exact = (noise == 0) & (distance == 0)
    return np.asarray(np.where(scale > 0, likelihood, np.where(exact, np.inf, -np.inf)))


def _belief(candidates: FloatArray, evidence: FloatArray) -> dict[str, float]:
    """Return guess and interval of an intruder with a uniform prior over the candidates, and the evidence."""
    best = evidence.max()
    likely = (evidence == best).astype(np.float64) if np.isinf(best) else np.exp(evidence - best)
    share = np.cumsum(likely) / likely.sum()
    low, guess, high = candidates[np.searchsorted(share, [0.05, 0.5, 0.95])]
    spread = np.inf if np.isinf(evidence).any() else best - evidence.min()
    return {"guess": float(guess), "low": float(low), "high": float(high), "evidence": float(spread)}
