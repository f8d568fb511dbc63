"""Attack. Separate true matches from chance ones after alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from scipy.spatial import cKDTree

from reident.base import BoolArray, FloatArray, Generator, IntArray
from reident.location.spherical_mds import RADIUS_KM, gaps_km, procrustes

# Neighbours among which the density of known places around a released record is counted.
_CROWD = 12
# Distance of labels on an axis of their own, in radii of the globe: the nearest record is always of the same label.
_APART = 4.0
# Smallest reach of the certificate, km.
_FINEST_KM = 1e-3
# Standard deviations, km, from which the mixture is fitted; the likeliest outcome is taken.
STARTS_KM = (0.03, 0.3, 1.5, 5.0)


class Fit(NamedTuple):
    """Mixture of true and chance matches for the gap to the nearest known record of the same label.

    Attributes
    ----------
    share : float
        Share of the released records whose partner is known.
    sigma_km : float
        Standard deviation of a true match's place, per direction.
    log_evidence : float
        Log-likelihood over that of chance alone, less the gain by the free choice of the motion: few close fits count
        like more loose ones.
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
        counts = np.bincount(y_codes + 1, minlength=int(codes.max(initial=0)) + 2)
        counts[0] = 0
        self.label_share = counts[codes + 1] / len(y)
        self._tree = cKDTree(y)
        # A missing label, -1, agrees with no label and with no missing one.
        self._tree_by_label = cKDTree(_with_labels(y, np.where(y_codes < 0, -2, y_codes)))
        # Half the extent of the known places: the room in which a motion is looked for.
        self.room_km = float(RADIUS_KM * np.linalg.norm(y - y.mean(axis=0), axis=1).max())

    def part(self, rows: IntArray) -> Neighbours:
        """Return the same for some of the released records."""
        return Neighbours(self.codes[rows], self.y, self.y_codes)

    def nearest(self, x: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return each record's gap to the nearest known record of its label, km (inf for none), and which one."""
        _, which = self._tree_by_label.query(_with_labels(x, self.codes))
        return np.where(self.label_share > 0, gaps_km(x, self.y[which]), np.inf), which

    def density(self, x: FloatArray) -> FloatArray:
        """Return the density, per km^2, of known records of each record's label around it.

        It is that of all known places around the record times the share of its label.
        """
        crowd = min(_CROWD, len(self.y))
        radius, _ = self._tree.query(x, k=[crowd])
        return np.asarray(crowd / (np.pi * np.maximum(RADIUS_KM * radius[:, 0], 0.1) ** 2) * self.label_share)

    def fit(self, nearest: FloatArray, density: FloatArray, starts_km: Sequence[float] = STARTS_KM) -> Fit:
        """Fit the mixture by expectation maximisation from several starts; the likeliest outcome is taken."""
        is_finite = np.isfinite(nearest)
        gap, rate = np.maximum(nearest[is_finite], 1e-6), density[is_finite]
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
                probability[is_finite] = belief
                best = Fit(share, sigma, float(likelihood - spent), probability)
        return best

    def realign(
        self, x: FloatArray, *, rounds: int = 15, starts_km: Sequence[float] = STARTS_KM
    ) -> tuple[FloatArray, FloatArray, Fit]:
        """Alternate between fitting the mixture and moving the points onto their likely partners.

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
        """Return one-to-one pairs of equal labels within reach, their gaps, and the probability that each is true."""
        density = self.density(x)
        pair, apart = self._one_to_one(x, 8 * fit.sigma_km)
        true = fit.share / fit.sigma_km**2 * np.exp(-0.5 * (apart / fit.sigma_km) ** 2)
        rate = np.pi * density[pair[:, 0]]
        # A rival partner counts as chance too: the record's own is missing with probability 1 - share.
        chance = (1 - fit.share) * 2 * rate * np.exp(-rate * apart**2)
        return pair, apart, np.asarray(true / (true + chance + 1e-300))

    def _one_to_one(self, x: FloatArray, reach_km: float) -> tuple[IntArray, FloatArray]:
        """Return the pairs of equal labels with the least sum of squared gaps, a lone record counting as the reach.

        A matching of all records in a sparse graph, where each has a partner of its own at the reach.
        """
        n, m = len(x), len(self.y)
        near = _pairs_within(cKDTree(_with_labels(x, self.codes)), self._tree_by_label, reach_km)
        i, j = near["i"], near["j"]
        cost = (gaps_km(x[i], self.y[j]) / reach_km) ** 2
        # One more for each edge changes no matching, and no edge weighs 0, which would be none.
        weight = np.concatenate([1 + cost, np.full(n, 2.0)])
        rows = np.arange(n)
        graph = csr_array((weight, (np.concatenate([i, rows]), np.concatenate([j, m + rows]))), shape=(n, m + n))
        partner = min_weight_full_bipartite_matching(graph)[1]
        pair = np.column_stack([rows, partner])[partner < m].astype(np.int64)
        return pair, gaps_km(x[pair[:, 0]], self.y[pair[:, 1]])

    def certificate(self, x: FloatArray, reach_km: float, rng: Generator, n_permutations: int = 999) -> float:
        """Return the permutation p-value of the number of records with a neighbour of their label within reach.

        Valid for records whose labels had no part in finding the motion: under a chance registration those could as
        well be permuted among them.
        """
        labels, which = np.unique(self.codes, return_inverse=True)
        if len(x) < 2 or labels.size < 2:
            return 1.0
        near = self._near_labels(x, labels, reach_km)
        rows = np.arange(len(x))
        observed = near[rows, which].sum()
        permuted = np.array([near[rows, rng.permutation(which)].sum() for _ in range(n_permutations)])
        return float((1 + (permuted >= observed).sum()) / (1 + n_permutations))

    def _near_labels(self, x: FloatArray, labels: IntArray, reach_km: float) -> BoolArray:
        """Return, for each point and label, whether a known record of the label lies within reach."""
        near = np.zeros((len(x), labels.size), dtype=bool)
        known = np.flatnonzero((self.y_codes >= 0) & np.isin(self.y_codes, labels))
        pairs = _pairs_within(cKDTree(x), cKDTree(self.y[known]), max(reach_km, _FINEST_KM))
        near[pairs["i"], np.searchsorted(labels, self.y_codes[known[pairs["j"]]])] = True
        return near


def _pairs_within(first: cKDTree, second: cKDTree, km: float) -> Any:
    """Return the pairs of points of two trees, i and j, within a distance; none if it is nan."""
    chord = 2 * np.sin(min(km / RADIUS_KM, np.pi) / 2)
    return first.sparse_distance_matrix(second, chord, output_type="ndarray")


def _with_labels(x: FloatArray, codes: IntArray) -> FloatArray:
    return np.column_stack([x, _APART * codes])
