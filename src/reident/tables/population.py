"""Metric. How many people are unique in the population, estimated from a sample's class sizes alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, IntArray, check_choice, check_real
from reident.tables.disclosure import equivalence_classes

__all__ = ["population_uniques"]


def population_uniques(
    table: pd.DataFrame,
    quasi: str | Sequence[str],
    *,
    sampling_fraction: float,
    model: str = "pitman",
    missing: str = "value",
) -> float:
    """Return the estimated share of the population that is unique in its quasi-identifiers.

    Of the sample's uniques only these are safe finds for an intruder who does not know who was sampled. The models
    guess the classes that the sample did not meet; on other data they may be off by a factor of two, so ask both.

    Parameters
    ----------
    table : DataFrame
        A simple random sample of the population.
    quasi : str or sequence of str
        The quasi-identifiers.
    sampling_fraction : float
        Records over people, in (0, 1].
    model : {"pitman", "zayatz"}
        Pitman's sampling formula with two parameters, fitted by maximum likelihood: good for small fractions.
        Zayatz's estimate, which takes the sample's class sizes for the population's: good for large ones.
    missing : {"value", "drop", "raise"}
        As for `equivalence_classes`.

    Returns
    -------
    float
        A share of the population, in [0, 1].

    Raises
    ------
    DataError
        If every record is left out, or the Pitman model does not fit: all records unique, or none.
    ParameterError
        If `sampling_fraction` lies outside (0, 1], or the model is unknown.

    Notes
    -----
    Hoshino (2001), J. Official Stat. 17, 499-520: uniques are Gamma(theta + 1) / Gamma(theta + alpha) N^alpha.
    Zayatz (1991): a sample unique is one of the population with the chance that a class of size 1 is met once, against
    that of all sizes in the sample's proportions (hypergeometric). Dankar et al. (2012) compare them.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [30, 30, 31, 32, 33, 33, 33, 34]})
    >>> round(population_uniques(table, "age", sampling_fraction=0.5, model="zayatz"), 4)
    0.2312
    """
    fraction = check_real(sampling_fraction, "sampling_fraction", low=0, high=1, open_low=True)
    check_choice(model, "model", ("pitman", "zayatz"))
    ids = equivalence_classes(table, quasi, missing=missing)
    if not (ids >= 0).any():
        raise DataError("`table` must have at least one record in a class: all are suppressed or left out")
    sizes, classes = np.unique(np.bincount(ids[ids >= 0]), return_counts=True)
    sizes, classes = sizes[sizes > 0], classes[sizes > 0]
    n = int(sizes @ classes)
    share = _pitman(sizes, classes, n / fraction) if model == "pitman" else _zayatz(sizes, classes, n, fraction)
    return float(np.clip(share, 0.0, 1.0))


def _pitman(sizes: IntArray, classes: IntArray, population: float) -> float:
    from scipy.optimize import minimize
    from scipy.special import gammaln

    n, u = int(sizes @ classes), int(classes.sum())
    if u in (1, n) or sizes[0] > 1:
        raise DataError(f"the Pitman model needs some unique records and some that are not, got {u} classes of {n}")
    rising = np.arange(1, u)

    def unlikely(at: FloatArray) -> float:
        """Return minus the log-likelihood, up to a constant; theta = exp(at[0]), alpha = expit(at[1])."""
        theta, alpha = np.exp(at[0]), 1 / (1 + np.exp(-at[1]))
        within = classes @ (gammaln(sizes - alpha) - gammaln(1 - alpha))
        return float(-np.log(theta + rising * alpha).sum() + gammaln(theta + n) - gammaln(theta + 1) - within)

    best = minimize(unlikely, [np.log(n / 10), 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9})
    theta, alpha = np.exp(best.x[0]), 1 / (1 + np.exp(-best.x[1]))
    return float(np.exp(gammaln(theta + 1) - gammaln(theta + alpha) + (alpha - 1) * np.log(population)))


def _zayatz(sizes: IntArray, classes: IntArray, n: int, fraction: float) -> float:
    from scipy.stats import hypergeom

    uniques = classes[sizes == 1].sum()
    if not uniques:
        return 0.0
    once = hypergeom.pmf(1, round(n / fraction), sizes, n)
    return float(uniques * classes[sizes == 1][0] * once[sizes == 1][0] / (classes @ once) / n)
