"""Vanhoef (2012), chapters 2 to 7: sensitivities, bounds and theorems, each computed exactly on small inputs."""

import itertools
import math
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import stats

from reident import laplace_histogram
from reident.base import PrivacyWarning, quiet
from reident.queries import choice_probabilities, min_entropy, statistical_distance
from reident.queries.kmeans import STEPS, cluster_queries


def laplace_ratio(scale: float) -> float:
    """Return the largest log ratio of Lap(scale) at two places, over their distance / scale (chapter 2)."""
    y = np.linspace(-8, 8, 65)
    here, other = (axis[~np.eye(len(y), dtype=bool)] for axis in np.meshgrid(y, y))
    ratio = stats.laplace.logpdf(here, scale=scale) - stats.laplace.logpdf(other, scale=scale)
    return float((ratio / (np.abs(here - other) / scale)).max())


def largest_event_difference(first: Any, second: Any) -> float:
    """Return the largest difference of the probabilities of one event, over all events (chapter 2)."""
    events = np.array(list(itertools.product([0, 1], repeat=len(first))))
    return float((events @ (np.asarray(first) - np.asarray(second))).max())


def processing_excess(rng: Generator, n_draws: int = 200) -> float:
    """Return by how much a randomised function raises the statistical distance of two variables at most (2)."""
    worst = -math.inf
    for _ in range(n_draws):
        first, second = rng.dirichlet(np.full(6, 0.3), 2)
        function = rng.dirichlet(np.full(4, 0.3), 6)  # the distribution of f(s) for each s
        if rng.random() < 0.5:
            function = np.eye(4)[rng.integers(0, 4, 6)]  # deterministic
        images = statistical_distance(*(p @ function / (p @ function).sum() for p in (first, second)))
        worst = max(worst, images - statistical_distance(first, second))
    return worst


def guessable_breaches(rng: Generator, *, n_draws: int = 200) -> float:
    """Return the largest probability of breaches that leave the utility vector easier to guess than Claim 4.2 says.

    W has min-entropy 3 length + 1 or more; a breach is a function of the database, of length = 2 bits. Claim 4.2: at
    most 2 ** -length of the breaches y leave W a min-entropy below length + 1.
    """
    length, spare = 2, 1
    n_words = 2 ** (3 * length + spare + 1)
    worst = 0.0
    for _ in range(n_draws):
        p = rng.dirichlet(np.full(n_words, rng.choice([0.1, 1.0, 10.0])))
        cap = 2.0 ** -(3 * length + spare)
        while p.max() > cap * (1 + 1e-9):  # move the mass above the cap to the other words
            over = np.clip(p - cap, 0, None).sum()
            p = np.minimum(p, cap)
            room = cap - p
            p += over * room / room.sum()
        # Breaches of very different probability: rare ones name the word.
        breach = np.minimum(rng.geometric(0.6, n_words) - 1, 2**length - 1)
        mass = np.bincount(breach, p, minlength=2**length)
        low = [
            y for y in range(2**length)
            if mass[y] > 0 and min_entropy(p[breach == y] / mass[y]) < length + spare - 1e-9
        ]  # fmt: skip
        worst = max(worst, float(mass[low].sum()))
    return worst


def vector_loss() -> float:
    """Return the largest loss of a vector of counts with noise of scale (sensitivity / epsilon), in units of epsilon.

    Over all tables of up to three records of three kinds, their neighbours by one record, and a grid of answers. The
    vector counts each kind and all records: its sensitivity is 2.
    """
    answers = np.array(list(itertools.product(range(-1, 5), repeat=4)), float)
    gaps = []
    for counts, one_more in itertools.product(itertools.product(range(4), repeat=3), np.eye(3, dtype=int)):
        sums, other = (np.abs(answers - [*t, t.sum()]).sum(axis=1) for t in (np.array(counts), counts + one_more))
        gaps.append(np.abs(other - sums).max())
    return float(max(gaps)) / 2


def adaptive_loss() -> float:
    """Return the largest loss of two queries, the second chosen by the first answer, in units of epsilon.

    The first counts the records. After an answer above 1 the second is twice the count of a kind, else the count: the
    total sensitivity is 3, and each answer has noise of scale 3 / epsilon on the whole numbers.
    """
    first, second = np.meshgrid(np.arange(-3, 8), np.arange(-3, 11))
    factor, gaps = np.where(first > 1, 2, 1), []
    for others, kind in itertools.product(range(3), repeat=2):
        sums, other = (np.abs(first - others - n) + np.abs(second - factor * n) for n in (kind, kind + 1))
        gaps.append(np.abs(other - sums).max())
    return float(max(gaps)) / 3


def kmeans_sensitivity(rng: Generator) -> float:
    """Return the largest change of sizes and sums by one point of two dimensions, by a search with corner points."""
    changes = []
    for _ in range(200):
        points = rng.integers(0, STEPS + 1, (5, 2))
        corner = rng.integers(0, 2, 2) * STEPS
        centres = rng.random((3, 2))
        first, other = (cluster_queries(cube, centres) for cube in (points, np.vstack([points, corner])))
        changes.append(np.abs(first[0] - other[0]).sum() + np.abs(first[1] - other[1]).sum() / STEPS)
    return float(max(changes))


def histogram_sensitivity(rng: Generator) -> float:
    """Return the largest L1 change of a histogram answer by one more record, the noise being the same."""
    changes = []
    for _ in range(50):
        records, seed = rng.integers(0, 6, 9), int(rng.integers(2**31))
        with quiet(PrivacyWarning):  # the noise is repeated on purpose
            fewer, all_of_them = (
                laplace_histogram(listed, categories=range(6), epsilon=1, rng=seed).counts
                for listed in (records[:-1], records)
            )
        changes.append((fewer - all_of_them).abs().sum())
    return float(max(changes))


def choice_loss(epsilon: float = 0.7) -> float:
    """Return the largest loss of the exponential mechanism, in units of epsilon.

    Over all scores from 0 to 2 of four candidates, and neighbours that move each score by -1, 0 or 1.
    """
    losses = []
    for scores in itertools.product(range(3), repeat=4):
        probabilities = choice_probabilities(np.array(scores, float), epsilon=epsilon)
        for move in itertools.product((-1, 1), repeat=4):
            other = choice_probabilities(np.array(scores, float) + move, epsilon=epsilon)
            losses.append(np.abs(np.log(probabilities / other)).max())
    return float(max(losses)) / epsilon


def claim_failure(universe: int, epsilon: float, density: float) -> float:
    """Return the probability that an answer lies outside Claim 6.4's bound for .05, with the corrected noise.

    The number of ones is a sum of two binomial variables, the noise a discrete Laplace variable.
    """
    present = round(density * universe)
    absent = stats.binom.pmf(np.arange(universe - present + 1), universe - present, 0.5)
    ones = np.convolve(absent, stats.binom.pmf(np.arange(present + 1), present, 0.5 + epsilon / 4))
    reach = math.sqrt(8 * math.log(2 / 0.05) / universe) / epsilon * epsilon * universe / 4
    gap = np.arange(universe + 1) - (universe / 2 + present * epsilon / 4)
    # P(k <= m) of the noise; it is symmetric.
    inside = stats.dlaplace.cdf(np.ceil(reach - gap) - 1, epsilon) - stats.dlaplace.cdf(np.floor(-reach - gap), epsilon)
    return float(1 - ones @ inside)


def degree_sensitivities() -> dict[str, int]:
    """Return the largest change of sequence and histogram by one edge, over all graphs on four nodes."""
    pairs = np.array(list(itertools.combinations(range(4), 2)))
    ends = np.eye(4, dtype=int)[pairs].sum(axis=1)  # which nodes an edge joins
    worst = {"sequence": 0, "histogram": 0}
    for edges, place in itertools.product(itertools.product([0, 1], repeat=len(pairs)), range(len(pairs))):
        flipped = np.array(edges) ^ (np.arange(len(pairs)) == place)
        before, after = np.array(edges) @ ends, flipped @ ends
        worst["sequence"] = max(worst["sequence"], int(np.abs(np.sort(before) - np.sort(after)).sum()))
        counts = [np.bincount(degrees, minlength=4) for degrees in (before, after)]
        worst["histogram"] = max(worst["histogram"], int(np.abs(counts[0] - counts[1]).sum()))
    return worst
