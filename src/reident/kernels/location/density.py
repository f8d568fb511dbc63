"""Scoring a cloud of points on a map of log densities, and climbing to better motions of it.

Points are unit vectors, shape (n, 3). The map is square, seen in the plane that touches the globe at its centre: `axes`
(3, 3) holds the directions of its rows, of its columns and of its centre, `scale` is cells a radian. Between cell
centres the log density is bilinear; `outside` holds beyond them.
"""

import numpy as np

from reident.kernels._numba import jit


@jit
def at(grid, row, column, outside):
    """Return the log density at a place given in cells from the corner."""
    if not (0.0 <= row < grid.shape[0] - 1 and 0.0 <= column < grid.shape[1] - 1):
        return outside
    i, j = int(row), int(column)
    u, v = row - i, column - j
    return (1 - v) * ((1 - u) * grid[i, j] + u * grid[i + 1, j]) + v * (
        (1 - u) * grid[i, j + 1] + u * grid[i + 1, j + 1]
    )


@jit
def log_density(x, motion, axes, scale, grid, outside):
    """Return the sum of log densities of the points after a motion."""
    a, b = scale * (axes[0] @ motion), scale * (axes[1] @ motion)
    middle_row, middle_column = 0.5 * (grid.shape[0] - 1), 0.5 * (grid.shape[1] - 1)
    total = 0.0
    for i in range(x.shape[0]):
        row = a[0] * x[i, 0] + a[1] * x[i, 1] + a[2] * x[i, 2] + middle_row
        column = b[0] * x[i, 0] + b[1] * x[i, 1] + b[2] * x[i, 2] + middle_column
        total += at(grid, row, column, outside)
    return total


@jit
def turn(axis, angle):
    """Return the rotation about a unit vector."""
    cosine, sine = np.cos(angle), np.sin(angle)
    a, b, c = axis[0], axis[1], axis[2]
    out = np.empty((3, 3))
    out[0, 0], out[1, 1], out[2, 2] = (
        cosine + (1 - cosine) * a * a,
        cosine + (1 - cosine) * b * b,
        cosine + (1 - cosine) * c * c,
    )
    out[0, 1], out[1, 0] = (1 - cosine) * a * b - sine * c, (1 - cosine) * a * b + sine * c
    out[0, 2], out[2, 0] = (1 - cosine) * a * c + sine * b, (1 - cosine) * a * c - sine * b
    out[1, 2], out[2, 1] = (1 - cosine) * b * c - sine * a, (1 - cosine) * b * c + sine * a
    return out


@jit
def climb_motions(x, motions, scores, axes, scale, grid, outside, step, last, radius):
    """Improve each motion, in place, by shifts and turns until steps of `last` radians on the ground bring no gain.

    Two rotations about the map's axes shift the cloud, one about its own middle turns it; `radius` (radians) makes a
    turn move the cloud's typical point as far as a shift does. A round without a gain halves the step.
    """
    middle = np.zeros(3)
    for i in range(x.shape[0]):
        middle += x[i]
    middle /= np.sqrt(middle[0] ** 2 + middle[1] ** 2 + middle[2] ** 2)
    for m in range(motions.shape[0]):
        motion = motions[m]
        best = log_density(x, motion, axes, scale, grid, outside)
        size = step
        while size > last:
            improved = False
            for k in range(6):
                angle = size if k % 2 == 0 else -size
                moved = (turn(axes[k // 2], angle) if k < 4 else turn(motion @ middle, angle / radius)) @ motion
                score = log_density(x, moved, axes, scale, grid, outside)
                if score > best:
                    best, improved = score, True
                    motion = moved
            if not improved:
                size *= 0.5
        scores[m] = best
        motions[m] = motion


@jit
def window_scores(points, middle, turns, shifts, grid, outside, scores):
    """Fill `scores` (turns, shifts) with the log density of points turned about `middle` and shifted.

    Points, `middle` and `shifts` are in cells from the map's corner, `turns` are radians.
    """
    for a in range(turns.shape[0]):
        cosine, sine = np.cos(turns[a]), np.sin(turns[a])
        for s in range(shifts.shape[0]):
            total = 0.0
            for i in range(points.shape[0]):
                u, v = points[i, 0] - middle[0], points[i, 1] - middle[1]
                row = cosine * u - sine * v + middle[0] + shifts[s, 0]
                column = sine * u + cosine * v + middle[1] + shifts[s, 1]
                total += at(grid, row, column, outside)
            scores[a, s] = total
