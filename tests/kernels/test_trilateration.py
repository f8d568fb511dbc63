"""Records placed by circles: what is skipped for speed changes nothing that is found."""

import numpy as np
import pytest

from reident.kernels.location import trilateration
from reident.kernels.location.tangents import cross_circles, km_between
from reident.places.distances import unit_vectors

pytestmark = pytest.mark.whole


def naive_place(z, near, distances, f, x, references, counts, tol, needed, support_ratio):
    """Follow every crossing of two circles round references nearest to a neighbour; None where none holds."""
    fz, known = f[:, z], np.flatnonzero(~np.isnan(f[:, z]) & (counts > 0))
    crossing = np.empty((2, 3))
    for y in near:
        reach = 1.6 * distances[z, y] + 4.0
        nearest = {i: min(references[i, : counts[i]], key=lambda r: km_between(x[y], r)) for i in known}
        drawn = [i for i in nearest if abs(km_between(x[y], nearest[i]) - fz[i]) <= reach][:24]
        best, top = None, 0
        for a in drawn:
            for b in drawn:
                if b >= a or not cross_circles(nearest[a], fz[a], nearest[b], fz[b], crossing):
                    continue
                for p in crossing.copy():
                    if km_between(p, x[y]) > reach:
                        continue
                    for scale in (20.0, 5.0, 2.0):
                        at = [min(references[i, : counts[i]], key=lambda r, p=p: km_between(p, r)) for i in known]
                        trilateration.fit_to(p, np.array(at), fz[known], known.size, scale * tol, 6)
                    right, wrong, _ = trilateration.judge_place(p, fz, references, counts, tol)
                    if right >= needed and wrong * support_ratio <= right and right - wrong > top:
                        best, top = p.copy(), right - wrong
        if best is not None:
            return best, top
    return None, 0


@pytest.mark.parametrize(("seed", "support_ratio"), [(0, 10), (1, 10), (2, 3), (3, 3)])
def test_a_record_is_placed_where_following_every_crossing_places_it(seed, support_ratio):
    rng = np.random.default_rng(seed)
    n, d, k, tol, needed = 24, 12, 4, 0.2, 5
    x = unit_vectors(rng.uniform(50, 51, n), rng.uniform(8, 9.5, n))
    references = unit_vectors(rng.uniform(49.5, 51.5, d * k), rng.uniform(7, 10.5, d * k)).reshape(d, k, 3)
    km = np.array([[km_between(p, q) for q in x] for p in x])
    f = np.array([[min(km_between(p, r) for r in each) for p in x] for each in references])
    f += rng.normal(0, 0.4 * tol, f.shape) + 30 * (rng.random(f.shape) < 0.1)
    f[rng.random(f.shape) < 0.2] = np.nan
    counts = np.full(d, k)
    counts[:2] = 0, 2
    near_all = np.argsort(km, axis=1)[:, 1:4]
    placed, same, place = 0, 0, np.empty(3)
    for z in range(n):
        asked = (z, near_all[z], km, f, x, references, counts, tol, needed, support_ratio)
        found = trilateration.place_record(*asked, place)
        naive, top = naive_place(*asked)
        if found and naive is not None:
            placed += 1
            same += km_between(place, naive) < tol
            right, wrong, asked_for = trilateration.judge_place(place, f[:, z], references, counts, tol)
            assert right - wrong == top or (2 * right > asked_for and wrong == 0)
        assert found == (naive is not None)
    assert placed >= 8
    assert same >= 0.9 * placed
