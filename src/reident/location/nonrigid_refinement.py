"""Attack. Refine an aligned cloud of uncertain shape against the population density, keeping known distances."""

from __future__ import annotations

import numpy as np

from reident.base import FloatArray, IntArray
from reident.kernels.location import density as kernel
from reident.location.population_density import PopulationDensity
from reident.location.spherical_mds import RADIUS_KM, refit, usable_pairs

# Rounds: how far a patch may move and the blur of the density, as multiples of the homes' scatter (60 to 10 km, 20 to
# 11 km).
_ROUNDS = ((60 / 11, 20 / 11), (40 / 11, 15 / 11), (25 / 11, 1.0), (15 / 11, 1.0), (10 / 11, 1.0))
# Neighbours that move together, and how many records come to one patch's centre.
_PATCH, _EVERY = 80, 8
# All distances of a release share their causes: a record's distances count for about this share of their number.
_TRUST, _TRUST_AT_LAST = 0.03, 0.1
# A patch's log-likelihood is tempered: its records share the errors of the shape.
_TEMPER, _WIDEST_TURN, _TURNS = 0.3, 0.5, 9
# Blurs of the last steps, in which each record moves uphill by itself.
_LAST = (15 / 11,) * 8 + (1.0,) * 8


def refine_nonrigidly(
    x: FloatArray, distances_km: FloatArray, sd_km: FloatArray, density: PopulationDensity
) -> FloatArray:
    """Return an aligned cloud bent to the density.

    Patches of neighbours look for a shift and turn within a shrinking window; the means of their places pin the
    records, and the distances tie them. In the end each record is pinned to where the density rises. Without the
    distances a climb would collapse onto the cities.
    """
    usable = usable_pairs(sd_km)
    ties = np.where(usable, (RADIUS_KM / np.where(usable, sd_km, 1.0)) ** 2, 0.0)
    for window, blur in _ROUNDS:
        pins, certainty = _patch_pins(density.cells(x), x, density, window, blur)
        at = density.vectors(pins)
        strongest = (RADIUS_KM / (2 / 11 * density.scatter_km)) ** 2
        weight = np.minimum(certainty * density.scale**2, strongest)
        x = refit(at, distances_km, _TRUST * ties, pins=at, pin_weight=weight, sweeps=40)
    for blur in _LAST:
        at = density.vectors(_uphill(density.cells(x), density, blur))
        pull = np.full(len(x), (RADIUS_KM / (blur * density.scatter_km)) ** 2)
        x = refit(x, distances_km, _TRUST_AT_LAST * ties, pins=at, pin_weight=pull, sweeps=4)
    return x


def _patch_pins(
    cells: FloatArray, x: FloatArray, density: PopulationDensity, window: float, blur: float
) -> tuple[FloatArray, FloatArray]:
    """Return the places of records by the patches around them, in cells, and their precision, cells^-2."""
    grid = density.log_density(blur)
    reach = window * density.scatter_km / density.cell_km
    steps = np.arange(-10, 11) * max(reach / 10, 1.0)
    shifts = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)
    shifts = np.ascontiguousarray(shifts[(shifts**2).sum(axis=1) <= reach**2 * (1 + 1e-9)])
    total, certainty = np.zeros_like(cells), np.zeros(len(cells))
    for members in _patches(x):
        points = np.ascontiguousarray(cells[members])
        middle = points.mean(axis=0)
        centred = points - middle
        radius = max(float(np.sqrt((centred**2).sum(axis=1).mean())), 2.5)
        limit = min(reach / radius, _WIDEST_TURN)
        turns = np.linspace(-limit, limit, _TURNS)
        scores = np.empty((_TURNS, len(shifts)))
        kernel.window_scores(points, middle, turns, shifts, grid, density.outside, scores)
        prior = (shifts**2).sum(axis=1) / (reach / 2) ** 2 + (turns / (limit / 2))[:, None] ** 2
        belief = _TEMPER * scores - prior / 2
        belief = np.exp(belief - belief.max())
        belief /= belief.sum()
        shift = belief.sum(axis=0) @ shifts
        variance = belief.sum(axis=0) @ ((shifts - shift) ** 2).sum(axis=1) / 2 + (steps[1] - steps[0]) ** 2 / 3
        angle = belief.sum(axis=1) @ turns
        cosine, sine = np.cos(angle), np.sin(angle)
        moved = centred @ np.array([[cosine, sine], [-sine, cosine]]) + middle + shift
        weight = np.exp(-0.5 * (centred**2).sum(axis=1) / radius**2) / variance
        total[members] += weight[:, None] * moved
        certainty[members] += weight
    reached = certainty > 0
    pins = np.where(reached[:, None], total / np.where(reached, certainty, 1.0)[:, None], cells)
    return pins, certainty


def _patches(x: FloatArray) -> list[IntArray]:
    """Return the nearest neighbours of centres that lie far from one another."""
    nearness = x @ x.T
    centre, nearest = 0, nearness[0].copy()
    patches = []
    for _ in range(max(1, len(x) // _EVERY)):
        patches.append(np.argsort(-nearness[centre], kind="stable")[:_PATCH])
        centre = int(nearest.argmin())
        nearest = np.maximum(nearest, nearness[centre])
    return patches


def _uphill(cells: FloatArray, density: PopulationDensity, blur: float) -> FloatArray:
    """Return each place moved by a mean-shift step towards higher density, two blurs at most; all in cells."""
    grid = density.log_density(blur)
    width = blur * density.scatter_km / density.cell_km
    i, j = np.clip(np.rint(cells).astype(np.int64), 1, density.side - 2).T
    slope = np.stack([grid[i + 1, j] - grid[i - 1, j], grid[i, j + 1] - grid[i, j - 1]], axis=1) / 2
    step = width**2 * slope
    length = np.linalg.norm(step, axis=1, keepdims=True)
    return cells + step * np.minimum(1.0, 2 * width / np.maximum(length, 1e-9))
