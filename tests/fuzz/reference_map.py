import numpy as np

from fuzz import Case
from fuzz.places import haversine, vectors
from reident.kernels.location import trilateration
from reident.kernels.location import trilateration_columns as columns

TOL = 1e-6


def draw_map(rng):
    """Draw records and references (degrees) around one town, and the distances (d, n) of the one from the others."""
    n, d, k = int(rng.integers(8, 14)), int(rng.integers(5, 8)), int(rng.integers(1, 3))
    centre = np.array([rng.uniform(-45, 45), rng.uniform(-130, 130)])
    records = centre + rng.uniform(-0.3, 0.3, (n, 2))
    references = centre + rng.uniform(-0.6, 0.6, (d, k, 2))
    f = np.array([haversine(records, each).min(axis=1) for each in references])
    return records, references, f


def room(references):
    """Return references as the kernels hold them, with room for more."""
    d, k = references.shape[:2]
    out = np.zeros((d, k + 4, 3))
    out[:, :k] = vectors(references.reshape(-1, 2)).reshape(d, k, 3)
    return out


def deviations_comp(records, references, f):
    located = np.ones(len(records), dtype=np.bool_)
    located[0] = False
    counts = np.full(len(references), references.shape[1])
    which = np.zeros(f.shape, dtype=np.int64)
    out = trilateration.deviations(f + 1.0, vectors(records), located, room(references), counts, which)
    return bool(np.isnan(out[:, 0]).all() and np.allclose(out[:, 1:], -1.0, atol=1e-5))


def records_comp(records, references, f):
    """Take half the records for located: what is added lies where it was drawn."""
    x, located = vectors(records), np.arange(len(records)) < len(records) // 2
    km = haversine(records, records)
    counts = np.full(len(references), references.shape[1])
    true, tried = x.copy(), np.full(len(records), -100)
    x[~located] = 0.0
    added = trilateration.add_records(km, f, x, located, room(references), counts, TOL, 4, 10, 4, tried)
    apart = np.linalg.norm(x[located] - true[located], axis=1)
    return bool(added == located.sum() - len(records) // 2 and apart.max() < 1e-8)


def references_comp(records, references, f):
    """Take all records for located: each reference that is found is one that was drawn, in its own set."""
    x, d = vectors(records), len(references)
    out, counts = np.zeros((d, 8, 3)), np.zeros(d, dtype=np.int64)
    tried = np.full(f.shape, -100)
    located = np.ones(len(records), dtype=np.bool_)
    added = trilateration.add_references(f, x, located, out, counts, TOL, 4, 10, tried)
    right = [
        np.linalg.norm(vectors(references[i]) - out[i, j], axis=1).min() < 1e-7
        for i in range(d)
        for j in range(counts[i])
    ]
    return bool(added == counts.sum() and all(right))


def cone_comp(records, references, f):
    """A cone with its tip moved a little comes back; rings round the records find a place that costs little."""
    x, value = vectors(records), f[0] - 7.0
    tip = vectors(references[0, :1])[0]
    if references.shape[1] > 1:
        value = haversine(records, references[0, :1])[:, 0] - 7.0
    r = vectors(references[0, :1] + 1e-4)[0]
    shift = columns.fit_cone(x, value, r, 6.9, 1.0, 60)
    places, shifts = np.empty((3, 3)), np.empty(3)
    costs = columns.search_cone(x, value, 1.0, 2.0, 3, places, shifts)
    found = abs(shift - 7.0) < 1e-4 and np.linalg.norm(r - tip) < 1e-7
    return bool(found and (np.diff(costs) >= 0).all() and costs[0] <= 2.0 * len(x))


def orient_comp(records, references, f):
    """A sign and shift that are found explain the values: they are the ones drawn."""
    x, value = vectors(records), 5.0 - haversine(records, references[0, :1])[:, 0]
    r = np.empty(3)
    sign, shift = columns.orient_column(x, value, np.arange(len(x))[None], TOL, len(x), r)
    return bool(sign == 0 or (sign == -1 and abs(shift - 5.0) < 1e-4))


def linear_comp(records, references, f):
    """The slopes are those of the residuals: moving everything a metre changes them as the slopes say."""
    points = vectors(np.concatenate([records, references[:, 0]]))
    n, m = len(records), len(references)
    record, reference = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
    equations = record, n + reference, reference, np.full(n * m, 2.0)
    e, slopes, e1 = np.empty(n * m), np.empty((n * m, 5)), np.empty(n * m)
    columns.linearise(points, np.zeros(m), *equations, e, slopes)
    right = np.allclose(e, haversine(records, references[:, 0]).ravel() - 2.0, atol=1e-5)
    step = 1e-3 * np.where(np.arange(n + m) < n, 1, -1)[:, None] * [1, -1]
    columns.linearise(columns.shifted(points, step), np.full(m, 1e-3), *equations, e1, np.empty_like(slopes))
    change = slopes @ [1e-3, -1e-3, -1e-3, 1e-3, 1e-3]
    # Close to a tip a metre bends the way.
    far = e + 2.0 > 2.0
    return bool(right and np.allclose((e1 - e)[far], change[far], atol=1e-5))


CASES = [
    Case(("trilateration.deviations",), draw_map, deviations_comp),
    Case(("trilateration.add_records",), draw_map, records_comp),
    Case(("trilateration.add_references",), draw_map, references_comp),
    Case(("trilateration_columns.fit_cone", "trilateration_columns.search_cone"), draw_map, cone_comp),
    Case(("trilateration_columns.orient_column",), draw_map, orient_comp),
    Case(("trilateration_columns.linearise", "trilateration_columns.shifted"), draw_map, linear_comp),
]
