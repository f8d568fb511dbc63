import itertools
import math
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, linprog, milp


def files(n, p, seed, noise=0.6):
    rng = np.random.default_rng(seed)
    columns = [f"v{i}" for i in range(p)]
    original = pd.DataFrame(rng.lognormal(size=(n, p)), columns=columns, index=[f"r{i}" for i in range(n)])
    spread = noise * np.exp(rng.normal(size=p))
    return original * np.exp(rng.normal(size=(n, p)) * spread), original


def some_released(n, m, p, seed=0, noise=0.3):
    """Known records 0..m-1, and n of them released with noise, in another order."""
    rng = np.random.default_rng(seed)
    known = pd.DataFrame(rng.lognormal(size=(m, p)), columns=[f"v{i}" for i in range(p)])
    release = known.iloc[rng.permutation(m)[:n]]
    return release * np.exp(rng.normal(size=(n, p)) * noise), known


def least_hitting_set(conflicts, n):
    hits = LinearConstraint([[float(i in conflict) for i in range(n)] for conflict in conflicts], 1)
    return round(milp(np.ones(n), constraints=hits, integrality=np.ones(n), bounds=Bounds(0, 1)).fun)


def conflicts_of(learned, original):
    """Return the certificate's conflicts as sets of positions."""
    return [frozenset(original.index.get_loc(label) for label in conflict) for conflict in learned.certificate]


def numbered(clusters, n):
    return np.array([next(c for c, members in enumerate(clusters) if i in members) for i in range(n)])


def mdav(points, k):
    left, clusters = list(range(len(points))), []

    def gap(a, b):
        return float(((points[a] - b) ** 2).sum())

    def cluster_about(record):
        nearest = sorted(left, key=lambda i: (gap(i, points[record]), i))[:k]
        clusters.append(nearest)
        for i in nearest:
            left.remove(i)

    def farthest(point):
        return max(left, key=lambda i: (gap(i, point), -i))

    while len(left) >= 3 * k:
        r = farthest(points[left].mean(axis=0))
        cluster_about(r)
        cluster_about(farthest(points[r]))
    if len(left) >= 2 * k:
        cluster_about(farthest(points[left].mean(axis=0)))
    if left:
        clusters.append(left)
    return numbered(clusters, len(points))


def pairs(points, k):
    """Clusters about the two most distant records, again and again; the tail in the table's order."""
    left, clusters = list(range(len(points))), []
    while len(left) >= 3 * k:
        gap = lambda i, j: float(((points[i] - points[j]) ** 2).sum())  # noqa: E731
        pair = max(combinations(left, 2), key=lambda ij: (gap(*ij), -ij[0], -ij[1]))
        for centre in pair:
            nearest = sorted(left, key=lambda i: (gap(i, centre), i))[:k]
            clusters.append(nearest)
            left = [i for i in left if i not in nearest]
    while len(left) >= 2 * k:
        clusters.append(left[:k])
        left = left[k:]
    clusters.append(left)
    return numbered(clusters, len(points))


def choquet(values, measure):
    """Definition as an integral over thresholds; `measure` maps frozensets of positions to values."""
    total, below = 0.0, 0.0
    for value in sorted(set(values)):
        total += (value - below) * measure[frozenset(i for i, v in enumerate(values) if v >= value)]
        below = value
    return total


def sets(n):
    return [frozenset(s) for size in range(n + 1) for s in combinations(range(n), size)]


def as_measure(values, n):
    return {s: values[sum(1 << i for i in s)] for s in sets(n)}


def random_measure(rng, n):
    """Running maximum of random numbers along the inclusion order, scaled to 1."""
    raw = {s: rng.random() ** 2 for s in sets(n)}
    closed = {s: max(raw[t] for t in sets(n) if t <= s) for s in sets(n)}
    values = np.zeros(2**n)
    for s, v in closed.items():
        values[sum(1 << i for i in s)] = v
    values[0] = 0.0
    values[-1] = max(values.max(), 1e-3)
    return values / values[-1]


@cache
def zero_one_measures(n):
    """Every fuzzy measure with values 0 and 1 only: all others are mixtures of these."""
    measures = (np.array([0.0, *values, 1.0]) for values in itertools.product((0.0, 1.0), repeat=2**n - 2))
    return [mu for mu in measures if all(mu[s] <= mu[s | 1 << c] for s in range(2**n) for c in range(n))]


def corner_rows(release, original, model):
    """Each record's rivals (rows): how much farther than the own record they are by the extreme distances of a model.

    Its other distances are mixtures of these. By a matrix, of two columns, the extreme ones are a polygon's corners.
    """
    a, b = standardise(release.to_numpy()), standardise(original.to_numpy())
    measures = [as_measure(mu, a.shape[1]) for mu in zero_one_measures(a.shape[1])] if model == "choquet" else []
    angles = np.pi * np.arange(2000) / 2000
    at = {
        "weighted_mean": np.square,
        "choquet": lambda d: np.array([choquet((d**2).tolist(), measure) for measure in measures]),
        "bilinear": lambda d: (d @ [np.cos(angles), np.sin(angles)]) ** 2,
    }[model]
    return [np.array([at(x - y) - at(x - b[i]) for j, y in enumerate(b) if j != i]) for i, x in enumerate(a)]


def together(rows, records):
    """Whether one mixture links all these records."""
    lines = np.vstack([rows[i] / np.abs(rows[i]).max(axis=1, keepdims=True) for i in records])
    n = lines.shape[1]
    found = linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.c_[-lines, np.ones(len(lines))],
        b_ub=np.zeros(len(lines)),
        A_eq=[[1.0] * n + [0.0]],
        b_eq=[1.0],
        bounds=[(0, 1)] * n + [(-4, 4)],
    )
    return -found.fun > 1e-6


def standardise(x):
    return (x - x.mean(0)) / x.std(0)


def squares(release, original):
    a, b = standardise(release.to_numpy()), standardise(original.to_numpy())
    return (a[:, None] - b[None]) ** 2


def nearest(distances):
    """Per row: least distance, first position of it and the number of ties."""
    least = distances.min(axis=1)
    tied = distances <= least[:, None] * (1 + 1e-12)
    return least, tied.argmax(axis=1), tied.sum(axis=1)


def pooled(m, u):
    """Pool neighbouring levels until the ratio of m to u falls."""
    blocks = [([x], [y]) for x, y in zip(m, u, strict=True)]
    k = 0
    while k + 1 < len(blocks):
        (m0, u0), (m1, u1) = blocks[k : k + 2]
        if sum(m1) * sum(u0) > sum(m0) * sum(u1):
            blocks[k : k + 2] = [(m0 + m1, u0 + u1)]
            k = max(0, k - 1)
        else:
            k += 1
    return [y * sum(ms) / sum(us) for ms, us in blocks for y in us]


def fellegi_sunter(a, b, limits, rounds):
    """Textbook EM over all pairs, one at a time by agreement pattern, m / u falling; returns m and u of the levels."""
    patterns = {}
    for x in a:
        for y in b:
            pattern = tuple(sum(abs(x[c] - y[c]) > cut for cut in cuts) for c, cuts in enumerate(limits))
            patterns[pattern] = patterns.get(pattern, 0) + 1
    pairs, prior = len(a) * len(b), 1 / len(b)
    sizes = [len(cuts) + 1 for cuts in limits]
    u = [[sum(k for p, k in patterns.items() if p[c] == g) / pairs for g in range(s)] for c, s in enumerate(sizes)]
    half = 0.5 ** (1 + math.floor(math.log2(len(b))))
    m = []
    for shares in u:
        within = [(1 - half / sum(shares[: g + 1])) / (1 - half) for g in range(len(shares))]
        m.append([x - y for x, y in zip(within, [0.0, *within], strict=False)])
    for _ in range(rounds):
        match = {}
        for p in patterns:
            yes, no = prior, 1 - prior
            for c, g in enumerate(p):
                yes, no = yes * m[c][g], no * u[c][g]
            match[p] = patterns[p] * yes / (yes + no)
        total = sum(match.values())
        new = [[sum(k for p, k in match.items() if p[c] == g) / total for g in range(s)] for c, s in enumerate(sizes)]
        new = [pooled(x, y) for x, y in zip(new, u, strict=True)]
        change = max(abs(x - y) for old, now in zip(m, new, strict=True) for x, y in zip(old, now, strict=True))
        m = new
        if change < 1e-4:
            break
    return m, u
