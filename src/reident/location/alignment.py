"""Attack. Align the shape of a cloud of records with population density."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
from scipy import fft

from reident.base import FloatArray, IntArray
from reident.kernels._numba import in_threads
from reident.kernels.location import density as kernel
from reident.location.population_density import BLURS, PopulationDensity
from reident.location.spherical_mds import RADIUS_KM
from reident.places.points import without_strays

# Solutions kept; records that the first look needs; side, in cells, of the blocks that give one start each; best starts
# of a heading, and of all headings, that are compared.
_KEPT, _FEW, _BLOCK, _PEAKS, _LISTED = 20, 300, 6, 30, 600
# Starts nearer to one another than this many scatters, and solutions, count once.
_SAME_START, _SAME_MAP = 2.0, 30 / 11
# The golden angle, as a share of a full turn; headings nearer to one another than this, radians, count as one.
_GOLDEN, _SAME_HEADING = (np.sqrt(5) - 1) / 2, 0.35


def best_motions(x: FloatArray, density: PopulationDensity, *, n_starts: int = 100) -> list[tuple[float, FloatArray]]:
    """Return the motions that align a shape best with a density, with their log-likelihoods, best first.

    Every heading, plain and mirrored, is slid over the whole map at once (a correlation by Fourier transform, at the
    coarsest blur); the best `n_starts` that differ then climb through finer and finer blurs.
    """
    motions = _starts(x, density, n_starts)
    best: list[tuple[float, FloatArray]] = []
    for level in range(len(BLURS)):
        scores = _climb(x, motions, density, level)
        best = _distinct(x, motions, scores, density.scatter_km * (_SAME_MAP if level else 1.0), _KEPT)
        motions = np.stack([motion for _, motion in best])
    return best


def other_headings(
    x: FloatArray, density: PopulationDensity, motion: FloatArray, n_headings: int, first: float
) -> FloatArray:
    """Return the best motions in headings other than that of `motion`, shape (k, 3, 3).

    Half of the headings are mirrored; they begin at `first` of a full turn and follow at the golden angle.
    """
    headings = 2 * np.pi * ((first + _GOLDEN * np.arange(n_headings)) % 1)
    _, motions = _slid(x, density, zip(itertools.cycle([1.0, -1.0]), headings, strict=False), n_peaks=1)
    for level in range(len(BLURS)):
        _climb(x, motions, density, level)
    every, frame = np.concatenate([motions, motion[None]]), _own_frame(x)
    # The side of the cloud after each motion, plain or mirrored, and the direction of its first axis.
    axis, middle = every @ frame[0], every @ frame[2]
    east = np.cross([0.0, 0.0, 1.0], middle)
    side = np.sign(np.linalg.det(every))
    angle = np.arctan2((axis * np.cross(middle, east)).sum(axis=1), (axis * east).sum(axis=1))
    turned = np.abs((angle - angle[-1] + np.pi) % (2 * np.pi) - np.pi)
    return motions[((side != side[-1]) | (turned > _SAME_HEADING))[:-1]]


def _climb(x: FloatArray, motions: FloatArray, density: PopulationDensity, level: int) -> FloatArray:
    """Improve motions, in place, at one blur, and return their scores; the first level takes some records only."""
    if level == 0:
        x = np.ascontiguousarray(x[:: max(1, len(x) // _FEW)])
    blur, scores = BLURS[level], np.empty(len(motions))
    grid, radius = density.log_density(blur), max(_radius(x), 1e-6)
    step = blur * density.scatter_km / 2 / RADIUS_KM
    last = (0.3 if blur == BLURS[-1] else 2.0) / 11 * density.scatter_km / RADIUS_KM

    def climb(part: slice) -> None:
        kernel.climb_motions(
            x, motions[part], scores[part], density.axes, density.scale, grid, density.outside, step, last, radius
        )

    in_threads(climb, [slice(first, first + 10) for first in range(0, len(motions), 10)])
    return scores


def _radius(x: FloatArray) -> float:
    """Return the root mean square distance from the cloud's middle, radians, without strays."""
    x = x[without_strays(x)]
    return float(np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean()))


def _distinct(
    x: FloatArray, motions: FloatArray, scores: FloatArray, near_km: float, n_motions: int
) -> list[tuple[float, FloatArray]]:
    """Return the best `n_motions` with images of the cloud that are on average at least `near_km` apart."""
    moment = x.T @ x / len(x)
    kept: list[int] = []
    for number in np.argsort(-scores, kind="stable"):
        # The mean squared chord between A x and B x is 2 - 2 trace(A' B M), M the second moment of x.
        overlap = np.einsum("kij,il,jl->k", motions[kept], motions[number], moment)
        if (2 - 2 * overlap > (near_km / RADIUS_KM) ** 2).all():
            kept.append(int(number))
        if len(kept) == n_motions:
            break
    return [(float(scores[number]), motions[number].copy()) for number in kept]


def _starts(x: FloatArray, density: PopulationDensity, n_starts: int) -> FloatArray:
    """Return motions from the peaks of the correlation of the cloud, in all headings, with the coarsest map."""
    blur_km = BLURS[0] * density.scatter_km
    headings = np.arange(0, 2 * np.pi, min(0.15, 0.8 * blur_km / 2 / (RADIUS_KM * max(_radius(x), 1e-6))))
    scores, motions = _slid(x, density, itertools.product((1.0, -1.0), headings), _PEAKS)
    highest = np.argsort(-scores, kind="stable")[:_LISTED]
    chosen = _distinct(x, motions[highest], scores[highest], _SAME_START * density.scatter_km, n_starts)
    return np.stack([motion for _, motion in chosen])


def _slid(
    x: FloatArray, density: PopulationDensity, poses: Iterable[tuple[float, float]], n_peaks: int
) -> tuple[FloatArray, FloatArray]:
    """Slide a cloud over the coarsest map in poses (mirrored, heading); return scores and motions of the best shifts.

    Of each pose the best `n_peaks` count, one a block of cells.
    """
    stride = max(1, round(BLURS[0] * density.scatter_km / 4 / density.cell_km))
    # Every `stride`-th cell counted from the centre, so that the centre stays one.
    first = (density.side // 2) % stride
    grid = density.log_density(BLURS[0])[first::stride, first::stride] - density.outside
    side, frame = len(grid), _own_frame(x)
    flat = RADIUS_KM * x @ frame[:2].T / (stride * density.cell_km)
    reach = min(int(np.ceil(np.abs(flat).max() * np.sqrt(2))) + 2, side)
    size = fft.next_fast_len(side + reach, real=True)
    spectrum = fft.rfft2(grid, (size, size))
    scores, motions = [], []
    for mirrored, heading in poses:
        cosine, sine = np.cos(heading), np.sin(heading)
        turn = np.array([[mirrored * cosine, -sine, 0], [mirrored * sine, cosine, 0], [0, 0, 1]])
        cloud = fft.rfft2(_counted(flat @ turn[:2, :2].T, reach, size))
        score, shifts = _peaks(fft.irfft2(spectrum * cloud.conj(), (size, size))[:side, :side], n_peaks)
        up = density.vectors(shifts * stride + first)
        east = density.axes[0] - (up @ density.axes[0])[:, None] * up
        east /= np.linalg.norm(east, axis=1, keepdims=True)
        scores.append(score)
        motions.append(np.stack([east, np.cross(up, east), up], axis=2) @ turn @ frame)
    return np.concatenate(scores), np.concatenate(motions)


def _own_frame(x: FloatArray) -> FloatArray:
    """Return two axes and the middle of a cloud, a rotation."""
    middle = x.mean(axis=0)
    frame = np.linalg.svd(middle[None])[2][[1, 2, 0]]
    frame[2] = middle / np.linalg.norm(middle)
    frame[0] *= np.sign(np.linalg.det(frame))
    return frame


def _counted(plane: FloatArray, reach: int, size: int) -> FloatArray:
    """Count points in the cells of a periodic grid around its corner, up to `reach` cells away."""
    cells = np.rint(plane).astype(np.int64)
    cells = cells[(np.abs(cells) <= reach).all(axis=1)] % size
    return np.bincount(cells[:, 0] * size + cells[:, 1], minlength=size * size).reshape(size, size).astype(float)


def _peaks(score: FloatArray, n_peaks: int) -> tuple[FloatArray, IntArray]:
    """Return the scores of the best cells, one a block of cells, and their rows and columns, shape (n_peaks, 2)."""
    side = len(score) // _BLOCK
    whole = score[: side * _BLOCK, : side * _BLOCK].reshape(side, _BLOCK, side, _BLOCK)
    blocks = whole.swapaxes(1, 2).reshape(side * side, _BLOCK * _BLOCK)
    top = np.argsort(-blocks.max(axis=1), kind="stable")[:n_peaks]
    best = blocks[top].argmax(axis=1)
    cells = np.stack(np.divmod(top, side), axis=1) * _BLOCK + np.stack(np.divmod(best, _BLOCK), axis=1)
    return blocks[top, best], cells
