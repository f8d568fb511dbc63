"""Uses of distances that the paper names, each run on true and on released distances: coefficients, clusters, gaps.

Geographically weighted regression is our own few lines: mgwr and spreg ask for coordinates, which a release does not
have. So is the scan: it needs each record's neighbours in order, and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import xlogy

from reident._types import BoolArray, FloatArray

__all__ = ["named_uses"]

# Records in a regression's neighbourhood, eigenvectors of a map, neighbours that fill a gap, share of gaps, and the
# nearest records whose mean value is a place's true slope.
_BANDWIDTH, _VECTORS, _FILLING, _GAPS, _SMOOTH = 60, 10, 3, 0.2, 20
# A true cluster's records, and how often a case occurs in it and elsewhere; no window holds more than a quarter.
_CLUSTER, _INSIDE, _OUTSIDE, _LARGEST = 40, 0.6, 0.1, 0.25


def named_uses(d_original: FloatArray, d_release: FloatArray, values: FloatArray, *, seed: int) -> dict[str, Any]:
    """Return how PCNM, imputation, a cluster test and a regression fare on the release; `values` vary in space.

    `pcnm_overlap`: share of the first ten spatial eigenvectors that is kept. `imputation_error`: root mean square error
    of filled gaps over that with true distances. `scan_overlap` and `scan_overlap_true`: Jaccard index of the most
    likely cluster with the true one, by released and by true distances. `gwr_slope_error`, `gwr_slope_error_true`: root
    mean square error of local slopes against the true ones.
    """
    rng = np.random.default_rng([seed, 5])
    n = len(d_original)
    maps = [eigenvector_map(d)[:, :_VECTORS] for d in (d_original, d_release)]
    missing = rng.permutation(n)[: int(_GAPS * n)]
    errors = [imputation_error(d, values, missing) for d in (d_original, d_release)]
    inside = np.zeros(n, dtype=bool)
    inside[np.argsort(d_original[rng.integers(n)], kind="stable")[: min(_CLUSTER, n // 4)]] = True
    cases = rng.random(n) < np.where(inside, _INSIDE, _OUTSIDE)
    found = [scan(d, cases) for d in (d_original, d_release)]
    slope = values[np.argsort(d_original, axis=1, kind="stable")[:, :_SMOOTH]].mean(axis=1)
    x = rng.normal(size=n)
    y = slope * x + 0.5 * rng.normal(size=n)
    slopes = [local_slopes(d, x, y, neighbours=min(_BANDWIDTH, n - 1)) for d in (d_original, d_release)]
    rms = [float(np.sqrt(np.mean((each - slope) ** 2))) for each in slopes]
    return {
        "pcnm_overlap": float((np.linalg.norm(maps[0].T @ maps[1]) ** 2) / maps[0].shape[1]),
        "imputation_error": errors[1] / errors[0],
        "scan_overlap": _jaccard(found[1], inside),
        "scan_overlap_true": _jaccard(found[0], inside),
        "gwr_slope_error": rms[1],
        "gwr_slope_error_true": rms[0],
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
