import itertools
import math

import numpy as np

import naive_lipschitz as naive
from fuzz import Case
from reident.kernels.location import density, registration
from reident.kernels.places import lipschitz, sphere


def draw_places(rng, most=5):
    """Draw (lat, lon) in degrees: in one town, one country or anywhere; some coincide."""
    n, spread = int(rng.integers(1, most + 1)), float(rng.choice([0.05, 4.0, 40.0]))
    centre = rng.uniform(-45, 45), rng.uniform(-130, 130)
    places = np.column_stack([centre[0] + spread * rng.uniform(-1, 1, n), centre[1] + spread * rng.uniform(-1, 1, n)])
    if rng.random() < 0.2:
        places[-1] = places[0]
    return places


def vectors(places):
    lat, lon = np.radians(np.atleast_2d(places)).T
    return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def columns(places):
    return np.ascontiguousarray(vectors(places).T)


def haversine(p, q):
    return np.array([[naive.haversine_km(*a, *b) for b in q] for a in p]).reshape(len(p), len(q))


def metres(km):
    """Round to a tenth of a metre: what the polynomial and the haversine formula both give."""
    return np.asarray(km) * 1e-4  # agree() compares to 1e-9 absolute, that is 1e-5 km


def chebyshev_comp(coordinates):
    out = np.full((coordinates.shape[1], coordinates.shape[1]), np.nan)
    lipschitz.chebyshev_matrix(coordinates, 0, coordinates.shape[1], out)
    return out


def cross_comp(p, q):
    out = np.empty((len(p), len(q)))
    sphere.great_circle_cross(columns(p), columns(q), sphere.all_near(columns(p), columns(q)), out)
    return metres(out)


def draw_two(rng):
    p = draw_places(rng)
    q = p + rng.normal(0, 0.01, p.shape) if rng.random() < 0.5 else draw_places(rng)
    return p, np.clip(q, -89, 179)


def half_chord2(points):
    angle = haversine(points[:1], points[1:])[0, 0] / 6371.0
    return np.sin(angle / 2) ** 2


def draw_same_many(rng):
    p = draw_places(rng)
    return p, np.clip(p + rng.normal(0, rng.choice([0.001, 0.1, 10.0]), p.shape), -89, 179)


def draw_embedding(rng):
    points = draw_places(rng, 4)
    d, k = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    return points, points[:1] + rng.normal(0, 2, (d * k, 2)), d, k


def sets_of(references, d, k):
    return vectors(references).reshape(d, k, 3)


def coordinates_ref(points, references, d, k):
    return metres([haversine(points, part).min(axis=1) for part in references.reshape(d, k, 2)])


def simulated_comp(points, references, d, k):
    n = len(points)
    out = np.empty(n * (n - 1) // 2)
    coordinates = lipschitz.lipschitz_coordinates(vectors(points), sets_of(references, d, k))
    lipschitz.chebyshev_rows(coordinates, 0, n, out)
    return metres(out)


def simulated_ref(points, references, d, k):
    released = naive.released_km(points.tolist(), references.reshape(d, k, 2).tolist())
    return metres([released[i][j] for i, j in itertools.combinations(range(len(points)), 2)])


def draw_shape(rng):
    n = int(rng.integers(2, 6))
    x = vectors(rng.uniform(-5, 5, (n, 2)))
    target = np.arccos(np.clip(x @ x.T, -1, 1)) + np.abs(rng.normal(0, 0.01, (n, n)))
    weight = rng.random((n, n)) * (rng.random((n, n)) < 0.8)
    pins = vectors(rng.uniform(-5, 5, (n, 2)))
    return x, target, weight, pins, rng.random(n) * (rng.random(n) < 0.5), float(rng.choice([1e-4, 1.0]))


def refine_comp(x, target, weight, pins, pin_weight, scale):
    moved = x.copy()
    registration.refine_shape(moved, target, weight, pins, pin_weight, scale, 1, 0.0)
    return moved


def refine_ref(x, target, weight, pins, pin_weight, scale):
    """Solve each point's normal equations with matrices, and take the angle from the chord."""
    moved, identity = x.copy(), np.eye(3)
    for i in range(len(moved)):
        own, h, g = moved[i], np.zeros((3, 3)), np.zeros(3)
        for j in range(len(moved)):
            away = moved[j] - (own @ moved[j]) * own
            if j == i or weight[i, j] <= 0 or np.linalg.norm(away) < 1e-12:
                continue
            residual = 2 * math.asin(min(1.0, np.linalg.norm(own - moved[j]) / 2)) - target[i, j]
            direction = away / np.linalg.norm(away)
            w = weight[i, j] / (1 + weight[i, j] * residual**2 / scale)
            h += w * np.outer(direction, direction)
            g += w * residual * direction
        h += pin_weight[i] * identity
        g += pin_weight[i] * (pins[i] - own)
        stiff = np.trace(h)
        if stiff == 0:
            continue
        step = np.linalg.solve(h + stiff * np.outer(own, own) + 1e-3 * (stiff * identity), g)
        length = np.linalg.norm(step)
        moved[i] = own + step * min(1.0, 0.05 / length if length else 1.0)
        moved[i] /= np.linalg.norm(moved[i])
    return moved


def draw_motions(rng):
    """Draw a shape, the known points that it is (some of) after a rotation, and labels of both."""
    n, m = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    y = vectors(rng.uniform(-20, 20, (m, 2)))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    x = (y[rng.integers(0, m, n)] + rng.normal(0, 0.01, (n, 3))) @ turn.T
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    pairs = np.array(list(itertools.permutations(range(n), 2)))
    axes = np.linalg.qr(rng.normal(size=(3, 2)))[0].T.copy()
    grid = rng.random((2, 8, 8)) < 0.5
    return x, rng.integers(0, 2, n), pairs, y, rng.integers(0, 2, m), axes, grid


def motions_comp(x, codes, pairs, y, codes_known, axes, grid):
    members = np.argsort(codes_known, kind="stable")
    starts = np.searchsorted(codes_known[members], np.arange(3))
    motions, scores = np.zeros((len(pairs), 3, 3)), np.zeros(len(pairs), np.int64)
    registration.best_motions(x, codes, pairs, y, starts, members, 0.05, axes, grid, 0.25, 1000, 0, motions, scores)
    return scores, motions


def frame(a, b):
    across = np.cross(a, b)
    across /= np.linalg.norm(across)
    return np.array([a, np.cross(across, a), across])


def motions_ref(x, codes, pairs, y, codes_known, axes, grid):
    motions, scores = np.zeros((len(pairs), 3, 3)), np.zeros(len(pairs), np.int64)
    for t, (a, b) in enumerate(pairs):
        apart = np.arccos(np.clip(x[a] @ x[b], -1, 1))
        if np.linalg.norm(np.cross(x[a], x[b])) < 1e-12:
            continue
        for u, v in itertools.product(np.flatnonzero(codes_known == codes[a]), np.flatnonzero(codes_known == codes[b])):
            if u == v or abs(np.arccos(np.clip(y[u] @ y[v], -1, 1)) - apart) > 0.05:
                continue
            for sign in (1.0, -1.0):
                motion = frame(y[u], y[v]).T @ np.diag([1.0, 1.0, sign]) @ frame(x[a], x[b])
                cells = np.floor(x @ motion.T @ axes.T / 0.25).astype(int) + 4
                inside = ((cells >= 0) & (cells < 8)).all(axis=1)
                hits = sum(grid[c, i, j] for c, (i, j) in zip(codes[inside], cells[inside], strict=True))
                if hits > scores[t]:
                    scores[t], motions[t] = hits, motion
    return scores, motions


def draw_density(rng):
    """Draw points, a rotation to start from, and a rough map that touches the globe near them."""
    x = vectors(draw_places(rng))
    start = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0].T
    axes[2] = axes[2] if rng.random() < 0.3 else x[0] @ start.T
    axes[:2] = np.linalg.svd(axes[2:3])[2][1:]
    side = int(rng.choice([3, 9]))
    return (
        x, start, np.ascontiguousarray(axes), rng.normal(size=(side, side)), float(rng.choice([3.0, 40.0])),
        float(rng.normal()),
    )  # fmt: skip


def bilinear(grid, row, column, outside):
    if not (0 <= row < len(grid) - 1 and 0 <= column < len(grid) - 1):
        return outside
    i, j = math.floor(row), math.floor(column)
    corners = [(a, b) for a in (0, 1) for b in (0, 1)]
    return sum(grid[i + a, j + b] * abs(1 - a - (row - i)) * abs(1 - b - (column - j)) for a, b in corners)


def cloud_score(x, motion, axes, grid, scale, outside):
    middle = (len(grid) - 1) / 2
    cells = [(scale * axes[0] @ motion @ p + middle, scale * axes[1] @ motion @ p + middle) for p in x]
    return sum(bilinear(grid, row, column, outside) for row, column in cells)


def climb_comp(x, start, axes, grid, scale, outside):
    motions, scores = start[None].copy(), np.zeros(1)
    density.climb_motions(x, motions, scores, axes, scale, grid, outside, 0.2, 0.05, 0.3)
    told = scores[0] - cloud_score(x, motions[0], axes, grid, scale, outside)
    rise = scores[0] >= cloud_score(x, start, axes, grid, scale, outside) - 1e-9
    return np.array([told, np.abs(motions[0].T @ motions[0] - np.eye(3)).max(), rise])


def draw_window(rng):
    side = int(rng.choice([4, 9]))
    n, shifts, turns = rng.integers(1, 5, 3)
    return (rng.uniform(-1, side, (n, 2)), rng.uniform(0, side, 2), rng.uniform(-1, 1, turns),
            rng.uniform(-2, 2, (shifts, 2)), rng.normal(size=(side, side)), -3.0)  # fmt: skip


def window_comp(points, middle, turns, shifts, grid, outside):
    scores = np.full((len(turns), len(shifts)), np.nan)
    density.window_scores(points, middle, turns, shifts, grid, outside, scores)
    return scores


def window_ref(points, middle, turns, shifts, grid, outside):
    def there(point, turn, shift):
        moved = complex(*(point - middle)) * complex(math.cos(turn), math.sin(turn))
        return moved.real + middle[0] + shift[0], moved.imag + middle[1] + shift[1]

    return [[sum(bilinear(grid, *there(p, t, s), outside) for p in points) for s in shifts] for t in turns]


CASES = [
    # Many ways lead uphill: told is what the last motion scores, it is a rotation, and none is worse than the start.
    Case(("density.climb_motions",), draw_density, climb_comp, lambda *_: np.array([0.0, 0.0, True])),
    Case(("density.window_scores",), draw_window, window_comp, window_ref),
    Case(
        ("sphere.all_near",), lambda rng: [places[:1] for places in draw_same_many(rng)],
        lambda p, q: sphere.all_near(columns(p), columns(q)),
        lambda p, q: half_chord2(np.vstack([p, q])) <= sphere.NEAR,
    ),
    Case(("sphere.great_circle_cross",), draw_two, cross_comp, lambda p, q: metres(haversine(p, q))),
    Case(
        ("sphere.great_circle_pairs",), draw_same_many,
        lambda p, q: metres(sphere.great_circle_pairs(columns(p), columns(q))),
        lambda p, q: metres(np.diagonal(haversine(p, q))),
    ),
    Case(
        ("lipschitz.lipschitz_coordinates",), draw_embedding,
        lambda p, r, d, k: metres(lipschitz.lipschitz_coordinates(vectors(p), sets_of(r, d, k))), coordinates_ref,
    ),
    Case(
        ("lipschitz.chebyshev_matrix",), lambda rng: (rng.random((int(rng.integers(1, 7)), int(rng.integers(1, 7)))),),
        chebyshev_comp, lambda c: np.abs(c[:, :, None] - c[:, None]).max(axis=0),
    ),
    Case(("lipschitz.chebyshev_rows",), draw_embedding, simulated_comp, simulated_ref),
    Case(("registration.refine_shape",), draw_shape, refine_comp, refine_ref),
    Case(("registration.best_motions",), draw_motions, motions_comp, motions_ref),
]  # fmt: skip
