"""Attack. Telling true matches from chance ones once a cloud of records lies on the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from reident._types import BoolArray, FloatArray, IntArray
from reident.places.shape import RADIUS_KM, gaps_km, procrustes

__all__ = ["Fit", "Neighbours"]

# Neighbours among which the density of known places around a released record is counted.
_CROWD = 12
# Standard deviations, km, from which the mixture is fitted; the likeliest outcome is taken.
STARTS_KM = (0.03, 0.3, 1.5, 5.0)


@dataclass(frozen=True, eq=False)
class Fit:
    """A mixture for the gap to the nearest known record of one's label: true matches, and chance ones.

    Attributes
    ----------
    share : float
        Share of the released records whose partner is known.
    sigma_km : float
        Standard deviation of a true match's place, per direction.
    log_evidence : float
        How much better than chance alone the mixture explains the gaps, less what the freedom to choose the motion
        buys: a motion that fits fewer records more closely is worth the same as one that fits more of them loosely.
    probability : ndarray
        Of each gap, that it is a true match's.
    """

    share: float
    sigma_km: float
    log_evidence: float
    probability: FloatArray


class Neighbours:
    """The known places by label, and the released records' labels."""

    def __init__(self, codes: IntArray, y: FloatArray, y_codes: IntArray) -> None:
        self.codes, self.y, self.y_codes = codes, y, y_codes
        self.agree: BoolArray = (codes[:, None] == y_codes[None, :]) & (codes[:, None] >= 0)
        self.label_share = self.agree.mean(axis=1)
        self._tree = cKDTree(y)
        # Half the extent of the known places: the room in which a motion is looked for.
        self.room_km = float(RADIUS_KM * np.linalg.norm(y - y.mean(axis=0), axis=1).max())

    def part(self, rows: IntArray) -> Neighbours:
        """Return the same for some of the released records."""
        return Neighbours(self.codes[rows], self.y, self.y_codes)

    def nearest(self, x: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return each record's gap to the nearest known record of its label, km (inf for none), and which one."""
        agreeing = np.where(self.agree, x @ self.y.T, -2.0)
        which = agreeing.argmax(axis=1)
        gap = gaps_km(x, self.y[which])
        return np.where(agreeing[np.arange(len(x)), which] > -2, gap, np.inf), which

    def density(self, x: FloatArray) -> FloatArray:
        """Return the density, per km^2, of known records of each record's label around it.

        It is that of all known places around the record times the share of its label.
        """
        crowd = min(_CROWD, len(self.y))
        radius, _ = self._tree.query(x, k=[crowd])
        return np.asarray(crowd / (np.pi * np.maximum(RADIUS_KM * radius[:, 0], 0.1) ** 2) * self.label_share)

    def fit(self, nearest: FloatArray, density: FloatArray, starts_km: Sequence[float] = STARTS_KM) -> Fit:
        """Fit the mixture by expectation maximisation from several starts; the likeliest outcome is taken."""
        found = np.isfinite(nearest)
        gap, rate = np.maximum(nearest[found], 1e-6), density[found]
        by_chance = 2 * np.pi * rate * gap * np.exp(-np.pi * rate * gap**2) + 1e-12
        best = Fit(0.0, float("nan"), -np.inf, np.zeros(nearest.size))
        for start in starts_km:
            share, sigma = 0.2, start
            for _ in range(60):
                true = share * gap / sigma**2 * np.exp(-0.5 * (gap / sigma) ** 2)
                belief = true / (true + (1 - share) * by_chance)
                weight = belief.sum() + 1e-9
                before = sigma
                share = float(np.clip(weight / gap.size, 1e-6, 0.999))
                sigma = float(np.clip(np.sqrt((belief * gap**2).sum() / (2 * weight)), 1e-4, self.room_km / 20))
                if abs(sigma - before) < 1e-4 * sigma:
                    break
            likelihood = np.log((true + (1 - share) * by_chance) / by_chance).sum()
            # Three angles of freedom, each fixed to about sigma / sqrt(matches) of the room there is.
            spent = 3 * np.log(max(self.room_km * np.sqrt(share * gap.size + 1) / sigma, 1.0))
            if likelihood - spent > best.log_evidence:
                probability = np.zeros(nearest.size)
                probability[found] = belief
                best = Fit(share, sigma, float(likelihood - spent), probability)
        return best

    def realign(
        self, x: FloatArray, *, rounds: int = 15, starts_km: Sequence[float] = STARTS_KM
    ) -> tuple[FloatArray, FloatArray, Fit]:
        """Alternate between telling true neighbours from chance ones and moving onto the true ones.

        Returns the moved points, the motion, and the fit.
        """
        motion = np.eye(3)
        density = self.density(x)
        for _ in range(rounds):
            nearest, which = self.nearest(x)
            fit = self.fit(nearest, density, starts_km)
            if (fit.probability > 0.1).sum() < 3:
                break
            starts_km = (fit.sigma_km,)
            step = procrustes(x, self.y[which], fit.probability)
            moved = x @ step.T
            motion = step @ motion
            shift = RADIUS_KM * float(np.linalg.norm(moved - x, axis=1).max())
            x = moved
            if shift < 0.02 * fit.sigma_km + 1e-4:
                break
        return x, motion, self.fit(self.nearest(x)[0], self.density(x), starts_km)

    def assign(self, x: FloatArray, fit: Fit) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return one-to-one pairs of equal labels, their gaps, and the probability that each is true."""
        density = self.density(x)
        reach = 8 * fit.sigma_km
        pairs, gaps = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
        for code in np.unique(self.codes[self.codes >= 0]):
            left, right = np.flatnonzero(self.codes == code), np.flatnonzero(self.y_codes == code)
            block = gaps_km(x[left][:, None], self.y[right][None])
            rows, columns = linear_sum_assignment(np.minimum(block, reach) ** 2)
            pairs.append(np.column_stack([left[rows], right[columns]]))
            gaps.append(block[rows, columns])
        pair, apart = np.concatenate(pairs), np.concatenate(gaps)
        true = fit.share / fit.sigma_km**2 * np.exp(-0.5 * (apart / fit.sigma_km) ** 2)
        rate = np.pi * density[pair[:, 0]]
        # A rival partner counts as chance too: the record's own is missing with probability 1 - share.
        chance = (1 - fit.share) * 2 * rate * np.exp(-rate * apart**2)
        return pair, apart, np.asarray(true / (true + chance + 1e-300))

    def certificate(
        self, x: FloatArray, reach_km: float, rng: np.random.Generator, n_permutations: int = 999
    ) -> tuple[float, float]:
        """Return the z-score and permutation p-value of the number of records with a neighbour of their label.

        Valid for records whose labels had no part in finding the motion: under a chance registration those could as
        well be permuted among them.
        """
        labels, which = np.unique(self.codes, return_inverse=True)
        if len(x) < 2 or labels.size < 2:
            return float("nan"), 1.0
        close = x @ self.y.T > np.cos(reach_km / RADIUS_KM)
        near = np.stack([close[:, self.y_codes == label].any(axis=1) & (label >= 0) for label in labels], axis=1)
        rows = np.arange(len(x))
        observed = near[rows, which].sum()
        drawn = np.array([near[rows, rng.permutation(which)].sum() for _ in range(n_permutations)])
        z = (observed - drawn.mean()) / max(float(drawn.std(ddof=1)), 1 / np.sqrt(n_permutations))
        return float(z), float((1 + (drawn >= observed).sum()) / (1 + n_permutations))
