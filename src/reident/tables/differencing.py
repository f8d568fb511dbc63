"""Attack. Differencing: an intruder knows all but one record of a class with noise scaled to its range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import DataError, FloatArray, IntArray, Real, check_array, check_bounds, check_vector, checked
from reident.tables.classes import check_classes, class_rows

__all__ = ["Differencing", "differencing_attack"]

#: Values between the bounds that the intruder weighs against one another.
_CANDIDATES = 401


@dataclass(frozen=True)
class Differencing:
    """The intruder's guess and evidence for each target.

    Attributes
    ----------
    table : DataFrame
        One row a target: `record` (its position), `value`, `guess` (the median of what he believes), `low` and `high`
        (he is 90 % sure that it lies between), `error` (of the guess), `evidence` (the largest difference between two
        values' log-likelihoods: under epsilon-differential privacy at most epsilon; infinite where a value is excluded
        for certain).
    epsilon : float
        What the release states.
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

    Differential privacy promises that such an intruder learns next to nothing. Where the noise of a class is scaled to
    the range of its values, the noise of the others, which he sees by subtraction, tells him that range, and so the
    target's value if it is the largest or smallest; the more records the class has, the better, whatever epsilon is.

    Parameters
    ----------
    original, release : array_like of float, shape (n,)
        The attribute before and after Laplace noise, row by row the same record. He knows `original` but for the
        target's, and whose each released value is: by the other columns of the records, which he knows too.
    classes : array_like of int, shape (n,)
        From 0; -1 for a record in no class, whose `release` is not looked at.
    targets : array_like of int
        Positions of the records attacked, each alone; not of records in no class.
    epsilon : float
        The stated budget, which is public.
    bounds : (low, high)
        Between them he holds every value for equally likely beforehand, in the attribute's units. The range of a class
        tells how far out the target is, not on which side: give the side if he knows it.
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
    # A class of one value is published exactly: that is what was seen, or it is excluded.
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
