"""Attack. Align the shape of a cloud of records with population density."""

from __future__ import annotations

import numpy as np
from scipy import fft

from reident.base import FloatArray
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
    x = np.ascontiguousarray(x)
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
    x = np.ascontiguousarray(x)
    slide = _Slide(x, density)
    headings = 2 * np.pi * ((first + _GOLDEN * np.arange(n_headings)) % 1)
    mirrored = np.where(np.arange(n_headings) % 2, -1.0, 1.0)
    motions = slide.motions(np.stack([slide.best(*pose) for pose in zip(mirrored, headings, strict=True)]))
    for level in range(len(BLURS)):
        _climb(x, motions, density, level)
    side, angle = _heading(motions, slide.frame)
    (right_side,), (right_angle,) = _heading(motion[None], slide.frame)
    turned = np.abs((angle - right_angle + np.pi) % (2 * np.pi) - np.pi)
    return motions[(side != right_side) | (turned > _SAME_HEADING)]


def _heading(motions: FloatArray, frame: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sides of a cloud after motions, plain or mirrored, and the directions of its first axis, radians."""
    axis, middle = motions @ frame[0], motions @ frame[2]
    east = np.cross([0.0, 0.0, 1.0], middle)
    north = np.cross(middle, east)
    return np.sign(np.linalg.det(motions)), np.arctan2((axis * north).sum(axis=1), (axis * east).sum(axis=1))


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


class _Slide:
    """A cloud slid over the coarsest map in one heading after another."""

    def __init__(self, x: FloatArray, density: PopulationDensity) -> None:
        self.density, self.blur_km = density, BLURS[0] * density.scatter_km
        self.stride = max(1, round(self.blur_km / 4 / density.cell_km))
        cell_km = self.stride * density.cell_km
        # Every `stride`-th cell counted from the centre, so that the centre stays one.
        self.first = (density.side // 2) % self.stride
        grid = density.log_density(BLURS[0])[self.first :: self.stride, self.first :: self.stride] - density.outside
        self.frame = _own_frame(x)
        self.flat = RADIUS_KM * x @ self.frame[:2].T / cell_km
        self.side = grid.shape[0]
        self.reach = min(int(np.ceil(np.abs(self.flat).max() * np.sqrt(2))) + 2, self.side)
        self.size = fft.next_fast_len(self.side + self.reach, real=True)
        self.spectrum = fft.rfft2(grid, (self.size, self.size))

    def scores(self, mirrored: float, heading: float) -> FloatArray:
        """Return the score of every shift in one heading."""
        plane = self.flat @ _turned(heading, mirrored)[:2, :2].T
        cloud = fft.rfft2(_counted(plane, self.reach, self.size), (self.size, self.size))
        return fft.irfft2(self.spectrum * cloud.conj(), (self.size, self.size))[: self.side, : self.side]

    def best(self, mirrored: float, heading: float) -> FloatArray:
        """Return the row (score, mirror, heading, shift, shift) of the best shift in one heading."""
        score = self.scores(mirrored, heading)
        return np.array([score.max(), mirrored, heading, *np.unravel_index(score.argmax(), score.shape)])

    def motions(self, table: FloatArray) -> FloatArray:
        """Return the motions, shape (k, 3, 3), of rows (score, mirror, heading, shift, shift)."""
        density = self.density
        centre = table[:, 3:] * self.stride + self.first - density.side // 2
        up = density.vectors(centre + (density.side - 1) / 2)
        east = density.axes[0] - (up @ density.axes[0])[:, None] * up
        east /= np.linalg.norm(east, axis=1, keepdims=True)
        axes = np.stack([east, np.cross(up, east), up], axis=2)
        turned = np.stack([_turned(heading, mirrored) for mirrored, heading in table[:, 1:3]])
        return np.ascontiguousarray(axes @ turned @ self.frame)


def _starts(x: FloatArray, density: PopulationDensity, n_starts: int) -> FloatArray:
    """Return motions from the peaks of the correlation of the cloud, in all headings, with the coarsest map."""
    slide = _Slide(x, density)
    headings = np.arange(0, 2 * np.pi, min(0.15, 0.8 * slide.blur_km / 2 / (RADIUS_KM * max(_radius(x), 1e-6))))
    poses = [(mirrored, heading) for mirrored in (1.0, -1.0) for heading in headings]
    table = np.concatenate([_peaks(slide.scores(*pose), *pose) for pose in poses])
    table = table[np.argsort(-table[:, 0], kind="stable")[:_LISTED]]
    chosen = _distinct(x, slide.motions(table), table[:, 0], _SAME_START * density.scatter_km, n_starts)
    return np.stack([motion for _, motion in chosen])


def _own_frame(x: FloatArray) -> FloatArray:
    """Return two axes and the middle of a cloud, a rotation."""
    middle = x.mean(axis=0)
    frame = np.linalg.svd(middle[None])[2]
    frame[0] = middle / np.linalg.norm(middle)
    frame = np.stack([frame[1], frame[2], frame[0]])
    return frame if np.linalg.det(frame) > 0 else frame * np.array([[-1.0], [1.0], [1.0]])


def _turned(heading: float, mirrored: float) -> FloatArray:
    cosine, sine = np.cos(heading), np.sin(heading)
    return np.array([[mirrored * cosine, -sine, 0], [mirrored * sine, cosine, 0], [0, 0, 1]])


def _counted(plane: FloatArray, reach: int, size: int) -> FloatArray:
    """Count points in the cells of a periodic grid around its corner, up to `reach` cells away."""
    cells = np.rint(plane).astype(np.int64)
    cells = cells[(np.abs(cells) <= reach).all(axis=1)] % size
    return np.bincount(cells[:, 0] * size + cells[:, 1], minlength=size * size).reshape(size, size).astype(float)


def _peaks(score: FloatArray, mirrored: float, heading: float) -> FloatArray:
    """Return rows (score, mirror, heading, shift, shift): the best shift of each block of cells."""
    side = score.shape[0] // _BLOCK
    whole = score[: side * _BLOCK, : side * _BLOCK].reshape(side, _BLOCK, side, _BLOCK)
    blocks = whole.swapaxes(1, 2).reshape(side * side, _BLOCK * _BLOCK)
    best = blocks.argmax(axis=1)
    height = blocks[np.arange(side * side), best]
    top = np.argsort(-height, kind="stable")[:_PEAKS]
    rows, columns = (top // side) * _BLOCK + best[top] // _BLOCK, (top % side) * _BLOCK + best[top] % _BLOCK
    same = np.ones(len(top))
    return np.column_stack([height[top], mirrored * same, heading * same, rows, columns])
