import numpy as np

import naive_reference_sets as naive
from fuzz import Case
from reident.kernels.location import rounded as kernel
from reident.location import rounded_coordinates

STEP = 2.0


def draw_rounded(rng):
    d, n = int(rng.integers(1, 4)), int(rng.integers(6, 12))
    coordinates = rng.uniform(0, 60, (d, n))
    # The step is no multiple of what the windows are cut at: rounding of the last digit must not decide.
    released = np.round(np.array(naive.largest_differences(coordinates)) / STEP) * STEP * 1.0037
    gaps = np.triu(rng.random((n, n)) < 0.1, 1)
    released[gaps | gaps.T] = np.nan
    values = np.where(rng.random((d, n)) < 0.2, np.nan, coordinates + rng.normal(0, 1.5, (d, n)))
    return released, values


def pairs_of(n):
    return np.column_stack(np.triu_indices(n, 1))


def windows_comp(released, _):
    pairs = pairs_of(len(released))
    widths, heights = np.array([STEP, 2 * STEP]), np.zeros((2, len(pairs)))
    scores = kernel.crowded_windows(released, ~np.isnan(released), pairs, widths, heights)[1]
    return scores.round(9).tolist()


def windows_ref(released, _):
    scores, width = [], 2 * STEP
    for a, b in pairs_of(len(released)):
        v = [released[a, y] - released[b, y] for y in range(len(released)) if y not in (a, b)]
        v = [each for each in v if not np.isnan(each)]
        best = 0.0
        for low in v if len(v) >= 6 else []:
            inside = sum(low <= each <= low + 1.0001 * width for each in v)
            around = (sum(low - 4 * width <= each <= low + 5 * width for each in v) - inside) / 8
            best = max(best, (inside - around) / np.sqrt(around + 1))
        scores.append(round(best, 9))
    return scores


def drop_comp(released, values):
    f = values[0].copy()
    rounded_coordinates.drop_violations(released, f, STEP)
    return f


def drop_ref(released, values):
    f = values[0].copy()
    while True:
        counts = [sum(abs(f[x] - f[y]) > released[x, y] + STEP for y in range(len(f)) if y != x) for x in range(len(f))]
        if max(counts) == 0:
            return f
        f[int(np.argmax(counts))] = np.nan


def bounds_comp(released, values):
    return np.array(rounded_coordinates.from_bounds(released, values[0], STEP, 2))


def bounds_ref(released, values):
    f, rows = values[0], []
    for z in range(len(f)):
        known = [y for y in range(len(f)) if y != z and not np.isnan(f[y] + released[z, y])]
        low = [f[y] - released[z, y] for y in known]
        high = [f[y] + released[z, y] for y in known]
        lower, upper = max(low, default=-np.inf), min(high, default=np.inf)
        near_low = [each for each in low if each >= lower - 2 * STEP]
        near_high = [each for each in high if each <= upper + 2 * STEP]
        found = np.nan
        if len(near_low) >= 2 and len(near_high) >= 2 and abs(np.mean(near_high) - np.mean(near_low)) < 4 * STEP:
            found = np.mean(near_low + near_high)
        elif len(near_high) >= 2 and (len(near_high) >= len(near_low) or len(near_low) < 2):
            found = np.mean(near_high)
        elif len(near_low) >= 2:
            found = np.mean(near_low)
        rows.append((found, lower, upper))
    return np.array(rows).T


CASES = [
    Case(("rounded.crowded_windows",), draw_rounded, windows_comp, windows_ref),
    Case(("location.rounded_coordinates.drop_violations",), draw_rounded, drop_comp, drop_ref),
    Case(("location.rounded_coordinates.from_bounds",), draw_rounded, bounds_comp, bounds_ref),
]
