import numpy as np
import pytest

from reident.kernels.location import registration


def places(rng, n):
    lat, lon = np.radians(rng.uniform(47, 55, n)), np.radians(rng.uniform(6, 15, n))
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def naive_score(x, codes, motion, axes, grid, cell):
    """Count point after point; those that fall beside the grid hit nothing."""
    hits = 0
    for point, code in zip(x, codes, strict=True):
        i, j = (
            int(np.floor(axis @ motion @ point / cell)) + side // 2
            for axis, side in zip(axes, grid.shape[1:], strict=True)
        )
        hits += 0 <= i < grid.shape[1] and 0 <= j < grid.shape[2] and bool(grid[code, i, j])
    return hits


@pytest.mark.parametrize("n", [3, 9, 40, 150])
def test_the_score_of_a_motion_is_that_of_points_counted_one_by_one(n):
    rng = np.random.default_rng(n)
    y, codes = places(rng, n), rng.integers(0, 3, n)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    axes = np.linalg.svd(y.mean(axis=0)[None])[2][1:]
    # A part of the points lies beside this grid, on all sides.
    cell, grid = 0.002, np.zeros((3, 50, 50), dtype=bool)
    registration.paint(grid, cell, y @ axes.T, codes, 0.004)
    members = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[members], np.arange(4))
    pairs = np.array([(a, b) for a in range(min(n, 12)) for b in range(min(n, 12)) if a != b])
    motions, scores = np.zeros((len(pairs), 3, 3)), np.zeros(len(pairs), dtype=np.int64)
    x = y @ turn
    registration.best_motions(
        x, codes, pairs, y, starts, members, 1e-6, axes, grid, cell, 1000, 0, motions, scores
    )  # fmt: skip
    there = naive_score(y, codes, np.eye(3), axes, grid, cell)
    assert 0 < there < n or n < 10
    for motion, score in zip(motions, scores, strict=True):
        # Each pair suggests the motion that turns the points back; near the edge of a cell a point may fall beside.
        assert abs(score - naive_score(x, codes, motion, axes, grid, cell)) <= 1
        assert score >= there - 2
