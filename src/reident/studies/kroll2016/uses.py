"""Uses of distances that the paper names, each run on true and on released distances: coefficients, clusters, gaps.

Geographically weighted regression is our own few lines: mgwr and spreg ask for coordinates, which a release does not
have. So is the scan: it needs each record's neighbours in order, and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import xlogy

from reident.base import BoolArray, FloatArray

__all__ = ["NamedUses"]

# Records in a regression's neighbourhood, eigenvectors of a map, neighbours that fill a gap, share of gaps, and the
# nearest records whose mean value is a place's true slope.
_BANDWIDTH, _VECTORS, _FILLING, _GAPS, _SMOOTH = 60, 10, 3, 0.2, 20
# A true cluster's records, and how often a case occurs in it and elsewhere; no window holds more than a quarter.
_CLUSTER, _INSIDE, _OUTSIDE, _LARGEST = 40, 0.6, 0.1, 0.25


class NamedUses:
    """The named uses on true distances, to be compared with what they find on released ones.

    `values` vary in space; a cluster of cases and a regression are drawn by `seed`.
    """

    def __init__(self, distances: FloatArray, values: FloatArray, *, seed: int) -> None:
        rng, n = np.random.default_rng([seed, 5]), len(distances)
        self._values, self._missing = values, rng.permutation(n)[: int(_GAPS * n)]
        self._inside = np.zeros(n, dtype=bool)
        self._inside[np.argsort(distances[rng.integers(n)], kind="stable")[: min(_CLUSTER, n // 4)]] = True
        self._cases = rng.random(n) < np.where(self._inside, _INSIDE, _OUTSIDE)
        self._slope = values[np.argsort(distances, axis=1, kind="stable")[:, :_SMOOTH]].mean(axis=1)
        self._x = rng.normal(size=n)
        self._y = self._slope * self._x + 0.5 * rng.normal(size=n)
        self._true = self._found(distances)

    def _found(self, d: FloatArray) -> tuple[FloatArray, float, float, float]:
        """Return spatial eigenvectors, the error of filled gaps, the overlap of clusters, the error of slopes."""
        slopes = local_slopes(d, self._x, self._y, neighbours=min(_BANDWIDTH, len(d) - 1))
        return (
            eigenvector_map(d)[:, :_VECTORS],
            imputation_error(d, self._values, self._missing),
            _jaccard(scan(d, self._cases), self._inside),
            float(np.sqrt(np.mean((slopes - self._slope) ** 2))),
        )

    def on(self, d_release: FloatArray) -> dict[str, Any]:
        """Return how PCNM, imputation, a cluster test and a regression fare on a release.

        `pcnm_overlap`: share of the first ten spatial eigenvectors that is kept. `imputation_error`: root mean square
        error of filled gaps over that with true distances. `scan_overlap` and `scan_overlap_true`: Jaccard index of the
        most likely cluster with the true one, by released and by true distances. `gwr_slope_error`,
        `gwr_slope_error_true`: root mean square error of local slopes against the true ones.
        """
        (true_map, true_error, true_overlap, true_slopes), (found, error, overlap, slopes) = (
            self._true,
            self._found(d_release),
        )
        return {
            "pcnm_overlap": float((np.linalg.norm(true_map.T @ found) ** 2) / true_map.shape[1]),
            "imputation_error": error / true_error,
            "scan_overlap": overlap,
            "scan_overlap_true": true_overlap,
            "gwr_slope_error": slopes,
            "gwr_slope_error_true": true_slopes,
        }


def eigenvector_map(d: FloatArray) -> FloatArray:
    """Return the principal coordinates of neighbour matrices (PCNM), the broadest patterns first.

    Distances beyond the longest edge of the minimum spanning tree count as four times that edge.
    """
    reach = float(minimum_spanning_tree(np.maximum(d, 1e-9)).max())
    cut = np.where(d <= reach, d, 4 * reach)
    np.fill_diagonal(cut, 0.0)
    centring = np.eye(len(d)) - 1 / len(d)
    roots, vectors = np.linalg.eigh(-0.5 * centring @ cut**2 @ centring)
    return np.asarray(vectors[:, ::-1][:, roots[::-1] > 1e-9 * abs(roots).max()])


def imputation_error(d: FloatArray, values: FloatArray, missing: np.ndarray) -> float:
    """Return the root mean square error of missing values filled with the mean of the nearest known ones."""
    from sklearn.neighbors import KNeighborsRegressor

    known = np.setdiff1d(np.arange(len(d)), missing)
    model = KNeighborsRegressor(n_neighbors=_FILLING, metric="precomputed").fit(d[np.ix_(known, known)], values[known])
    filled = model.predict(d[np.ix_(missing, known)])
    return float(np.sqrt(np.mean((filled - values[missing]) ** 2)))


def scan(d: FloatArray, cases: BoolArray) -> BoolArray:
    """Return the records of the most likely cluster of cases: Kulldorff's scan, Bernoulli model, circular windows."""
    n, total = len(d), int(cases.sum())
    order = np.argsort(d, axis=1, kind="stable")[:, : max(1, int(_LARGEST * n))]
    size = np.arange(1, order.shape[1] + 1)
    inside = np.cumsum(cases[order], axis=1)
    outside = total - inside
    ratio = (
        xlogy(inside, inside / size)
        + xlogy(size - inside, 1 - inside / size)
        + xlogy(outside, outside / (n - size))
        + xlogy(n - size - outside, 1 - outside / (n - size))
    )
    ratio[inside * (n - size) <= outside * size] = -np.inf
    centre, last = np.unravel_index(int(ratio.argmax()), ratio.shape)
    found = np.zeros(n, dtype=bool)
    found[order[centre, : last + 1]] = True
    return found


def local_slopes(d: FloatArray, x: FloatArray, y: FloatArray, *, neighbours: int) -> FloatArray:
    """Return the slope of y on x around each record: geographically weighted regression, adaptive bisquare kernel."""
    reach = np.sort(d, axis=1)[:, [neighbours]]
    scaled = d / np.maximum(reach, 1e-9)
    weight = np.where(scaled < 1, (1 - scaled**2) ** 2, 0.0)
    weight /= weight.sum(axis=1, keepdims=True)
    mean_x, mean_y = weight @ x, weight @ y
    covariance = weight @ (x * y) - mean_x * mean_y
    return np.asarray(covariance / np.maximum(weight @ (x * x) - mean_x**2, 1e-12))


def _jaccard(a: BoolArray, b: BoolArray) -> float:
    return float((a & b).sum() / (a | b).sum())
