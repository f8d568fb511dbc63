"""Refinement of points on the sphere to distances, and scores of rigid motions by labels.

Points are unit vectors, shape (n, 3); angles are radians.
"""

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.location.tangents import dot, solve_symmetric


@jit
def _tangent_step(x, i, target, weight, pin, pin_weight, scale):
    """Return the Gauss-Newton step of point i, all others held fixed, robust to outliers beyond `scale`."""
    a, b, c = x[i, 0], x[i, 1], x[i, 2]
    # Normal equations in 3-D; the component along the point itself is removed by the caller.
    h00 = h01 = h02 = h11 = h12 = h22 = g0 = g1 = g2 = 0.0
    for j in range(target.shape[0]):
        w = weight[j]
        if w <= 0.0 or j == i:
            continue
        cosine = a * x[j, 0] + b * x[j, 1] + c * x[j, 2]
        u0, u1, u2 = x[j, 0] - cosine * a, x[j, 1] - cosine * b, x[j, 2] - cosine * c
        sine = np.sqrt(u0 * u0 + u1 * u1 + u2 * u2)
        if sine < 1e-12:
            continue
        u0, u1, u2 = u0 / sine, u1 / sine, u2 / sine
        residual = np.arctan2(sine, cosine) - target[j]
        # Cauchy weights: a distance that is far off hardly counts.
        ratio2 = w * residual * residual / scale
        w /= 1.0 + ratio2
        h00 += w * u0 * u0
        h01 += w * u0 * u1
        h02 += w * u0 * u2
        h11 += w * u1 * u1
        h12 += w * u1 * u2
        h22 += w * u2 * u2
        g0 += w * residual * u0
        g1 += w * residual * u1
        g2 += w * residual * u2
    if pin_weight > 0.0:
        h00, h11, h22 = h00 + pin_weight, h11 + pin_weight, h22 + pin_weight
        g0 += pin_weight * (pin[0] - a)
        g1 += pin_weight * (pin[1] - b)
        g2 += pin_weight * (pin[2] - c)
    # The direction along the point has no say: make it stiff.
    stiff = h00 + h11 + h22 + 1e-300
    h00, h01, h02 = h00 + stiff * a * a, h01 + stiff * a * b, h02 + stiff * a * c
    h11, h12, h22 = h11 + stiff * b * b, h12 + stiff * b * c, h22 + stiff * c * c
    # A little damping keeps points with all neighbours in one line from jumping.
    damp = 1e-3 * stiff
    return solve_symmetric(h00 + damp, h01, h02, h11 + damp, h12, h22 + damp, g0, g1, g2)


@jit
def refine_shape(x, target, weight, pins, pin_weight, scale, sweeps, tolerance):
    """Move the last m points, in place, so that their angles with the first k fit `target` (m, k) under `weight`.

    Point by point, each step is Gauss-Newton with the others fixed. `pins` (n, 3) pull with `pin_weight` (n,). `scale`
    is the weighted squared residual at which a distance loses half its weight. Ends when no point moves by `tolerance`.
    Returns the number of sweeps.
    """
    first = x.shape[0] - target.shape[0]
    for sweep in range(sweeps):
        largest = 0.0
        for i in range(first, x.shape[0]):
            row = i - first
            s0, s1, s2 = _tangent_step(x, i, target[row], weight[row], pins[i], pin_weight[i], scale)
            length = np.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
            if length > 0.05:
                s0, s1, s2 = 0.05 * s0 / length, 0.05 * s1 / length, 0.05 * s2 / length
            a, b, c = x[i, 0] + s0, x[i, 1] + s1, x[i, 2] + s2
            norm = np.sqrt(a * a + b * b + c * c)
            x[i, 0], x[i, 1], x[i, 2] = a / norm, b / norm, c / norm
            largest = max(largest, length)
        if largest < tolerance:
            return sweep + 1
    return sweeps


@jit
def _frame(a, b, frame):
    """Fill `frame` (3, 3) with a, the direction from a to b, and a normal to both; False if b gives none."""
    cosine = dot(a, b)
    for t in range(3):
        frame[0, t] = a[t]
        frame[1, t] = b[t] - cosine * a[t]
    norm = np.sqrt(dot(frame[1], frame[1]))
    if norm < 1e-12:
        return False
    for t in range(3):
        frame[1, t] /= norm
    frame[2, 0] = frame[0, 1] * frame[1, 2] - frame[0, 2] * frame[1, 1]
    frame[2, 1] = frame[0, 2] * frame[1, 0] - frame[0, 0] * frame[1, 2]
    frame[2, 2] = frame[0, 0] * frame[1, 1] - frame[0, 1] * frame[1, 0]
    return True


@jit
def _hits(points, layers, low, high, across, down, marked, rows, columns, at):
    """Count the points low..high-1 that `across` and `down` bring to a marked cell of their layer; `at` is for use."""
    x, y, z, layer = points[0, low:high], points[1, low:high], points[2, low:high], layers[low:high]
    for q in range(high - low):
        # Vectorised: no branch and no look-up.
        i = np.int64(np.floor(across[0] * x[q] + across[1] * y[q] + across[2] * z[q])) + rows // 2
        j = np.int64(np.floor(down[0] * x[q] + down[1] * y[q] + down[2] * z[q])) + columns // 2
        inside = (i >= 0) & (i < rows) & (j >= 0) & (j < columns)
        at[q] = layer[q] + i * columns + j if inside else -1
    hits = 0
    for q in range(high - low):
        hits += marked[max(at[q], 0)] & (at[q] >= 0)
    return hits


@jit
def _score(points, layers, motion, axes, marked, rows, columns, cell, sufficient, at):
    """Count the points that a motion brings to a marked cell of their label; stop early when hopeless."""
    # These map a point straight into the plane, in cells: axes (2, 3) after the motion.
    across, down = np.zeros(3), np.zeros(3)
    for s in range(3):
        across[s] = dot(axes[0], motion[:, s]) / cell
        down[s] = dot(axes[1], motion[:, s]) / cell
    total = points.shape[1]
    # After an eighth and a quarter, a motion well below the pace of the best so far is given up.
    eighth, quarter = min(total // 8 + 1, total), min(total // 4 + 1, total)
    slow, slower = sufficient - 4 * np.sqrt(sufficient + 1.0), sufficient - 6 * np.sqrt(sufficient + 1.0)
    hits = _hits(points, layers, 0, eighth, across, down, marked, rows, columns, at)
    if 8 * hits < slower:
        return 0
    hits += _hits(points, layers, eighth, quarter, across, down, marked, rows, columns, at)
    if 4 * hits < slow:
        return 0
    return hits + _hits(points, layers, quarter, total, across, down, marked, rows, columns, at)


@jit
def best_motions(x, codes, pairs, y, starts, members, tolerance, axes, grid, cell, budget, threshold, motions, scores):
    """Fill, for every pair of released points, the best label-consistent rigid motion with a score above `threshold`.

    `members[starts[c]:starts[c + 1]]` are the known points of label c. A pair of released points suggests a motion for
    each pair of known points of the same labels at the same distance, plain and mirrored; at most `budget` motions, or
    one more, are scored for each.
    """
    rows, columns = grid.shape[1], grid.shape[2]
    points, layers, marked = x.T.copy(), codes * (rows * columns), grid.ravel()
    for t in range(pairs.shape[0]):
        a, b = pairs[t, 0], pairs[t, 1]
        apart = np.arccos(min(1.0, max(-1.0, dot(x[a], x[b]))))
        high = np.cos(apart - tolerance) if apart > tolerance else 2.0
        low = np.cos(apart + tolerance) if apart + tolerance < np.pi else -2.0
        motion, frame_p, frame_q = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
        at = np.empty(x.shape[0], dtype=np.int64)
        scored, best = 0, threshold
        if not _frame(x[a], x[b], frame_p):
            continue
        for u in members[starts[codes[a]] : starts[codes[a] + 1]]:
            if scored >= budget:
                break
            for v in members[starts[codes[b]] : starts[codes[b] + 1]]:
                between = dot(y[u], y[v])
                if u == v or between > high or between < low:
                    continue
                if scored >= budget:
                    break
                if not _frame(y[u], y[v], frame_q):
                    continue
                # The rotation that brings one frame to the other, plain and mirrored.
                for sign in (1.0, -1.0):
                    for r in range(3):
                        for s in range(3):
                            motion[r, s] = (
                                frame_q[0, r] * frame_p[0, s]
                                + frame_q[1, r] * frame_p[1, s]
                                + sign * frame_q[2, r] * frame_p[2, s]
                            )
                    scored += 1
                    hits = _score(points, layers, motion, axes, marked, rows, columns, cell, best, at)
                    if hits > best:
                        best = scores[t] = hits
                        motions[t] = motion
