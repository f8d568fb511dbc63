"""Attack. Estimate the secret parameters of a Lipschitz embedding from its released distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import RNGLike, Whole, check_distance_matrix, check_embedding, check_listed, check_rng, checked
from reident.places.areas import AreaSampler
from reident.places.points import unit_vectors
from reident.places.tolerance import simulate_rows

# Quantiles of the distances that are compared, and the variance, km^2, below which simulation is not trusted.
_QUANTILES, _FLOOR_KM2 = np.linspace(0.02, 0.98, 25), 1.0


class EmbeddingEstimate(NamedTuple):
    """Estimated parameters of a Lipschitz embedding: the likeliest, and all `candidates` with their `log_likelihood`.

    Candidates within some units of the first cannot be told apart by this release.
    """

    n_reference_sets: int
    reference_set_size: int
    candidates: pd.DataFrame


@checked
def estimate_embedding(
    d_release: ArrayLike,
    lat: ArrayLike,
    lon: ArrayLike,
    *,
    area: Any,
    n_reference_sets: Sequence[int] = (5, 10, 20, 50, 100),
    reference_set_sizes: Sequence[int] = (1, 3, 10, 30),
    n_simulations: Annotated[int, Whole(2, unit="embeddings")] = 30,
    rng: RNGLike = None,
) -> EmbeddingEstimate:
    """Estimate the number and the size of the secret reference sets from released distances, shape (n, n), km.

    An intruder who does not know the parameters embeds an own file (`lat`, `lon`, degrees) from the same population
    with each combination of the candidates `n_simulations` times, and takes the one whose distribution of distances is
    most like the released one. With the estimate the attack of Kroll and Schnell (2016) goes on as if the parameters
    were published. `area` is as for `embed_distances`, and so are the errors.

    Notes
    -----
    Kroll and Schnell (2016), footnote 5, leave unknown parameters open. Synthetic likelihood (Wood 2010): the 25
    quantiles of the distances of one embedding are taken as normal with the simulated mean and covariance. Sets of one
    place are the hardest to tell apart. Where the released numbers are exact, the columns of `recover_coordinates` give
    the number of sets without any file.

    Examples
    --------
    >>> from shapely import box
    >>> from reident import embed_distances
    >>> rng, area = np.random.default_rng(0), box(7, 48, 14, 54)
    >>> places = rng.uniform(48, 54, 100), rng.uniform(7, 14, 100)
    >>> released = embed_distances(*places, n_reference_sets=50, reference_set_size=30, area=area, rng=1)
    >>> own = rng.uniform(48, 54, 50), rng.uniform(7, 14, 50)
    >>> estimate_embedding(
    ...     released, *own, area=area, n_reference_sets=(5, 50), reference_set_sizes=(3, 30), rng=2
    ... )[:2]
    (50, 30)
    """
    released = check_distance_matrix(d_release, "d_release")
    observed = np.quantile(released[np.triu_indices(len(released), 1)], _QUANTILES)
    generator, sampler = check_rng(rng), AreaSampler(area)
    counts, sizes = (
        check_listed(values, name)
        for values, name in ((n_reference_sets, "n_reference_sets"), (reference_set_sizes, "reference_set_sizes"))
    )
    rows = []
    for count in counts:
        for size in sizes:
            lat_deg, lon_deg, shape = check_embedding(lat, lon, count, size)
            simulated = simulate_rows(unit_vectors(lat_deg, lon_deg), sampler, shape, n_simulations, generator)
            quantiles = np.quantile(simulated, _QUANTILES, axis=1).T
            gap = observed - quantiles.mean(axis=0)
            covariance = np.cov(quantiles.T) + _FLOOR_KM2 * np.eye(gap.size)
            log_likelihood = -(np.linalg.slogdet(covariance)[1] + gap @ np.linalg.solve(covariance, gap)) / 2
            rows.append((*shape, log_likelihood))
    candidates = pd.DataFrame(rows, columns=["n_reference_sets", "reference_set_size", "log_likelihood"])
    candidates = candidates.sort_values("log_likelihood", ascending=False, kind="stable", ignore_index=True)
    likeliest = candidates.iloc[0]
    return EmbeddingEstimate(int(likeliest["n_reference_sets"]), int(likeliest["reference_set_size"]), candidates)
