"""Chapters 5, 6 and 7.4: Laplace noise, private k-means, the exponential mechanism, pan-private density, degrees."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from scipy import stats

from reident import (
    PanPrivateDensity,
    choice_probabilities,
    discrete_laplace,
    exponential_mechanism,
    laplace_histogram,
    privacy_loss_bound,
    private_degree_sequence,
    private_kmeans,
    randomised_response,
    simulation_laplace,
)
from reident.base import DataError, FloatArray, IntArray, Parameters
from reident.data.datasets import load_adult, load_graph
from reident.queries.kmeans import STEPS, cluster_queries, nearest_centre
from reident.queries.pan_private import density_error_bound, pan_privacy_loss
from reident.studies._seeded import seeded_noise

# -- Laplace noise (5.5) ------------------------------------------------------------------------------------------


def noise_curves(epsilon: float = math.log(2)) -> dict[str, pd.DataFrame]:
    """Return figures 5.1 and 5.2 as numbers: densities of the noise and of two neighbouring answers."""
    y = np.linspace(-6, 6, 481)
    whole = np.arange(-6, 7)
    one = (1 - math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    noise = pd.DataFrame({"noise": y, "density": epsilon / 2 * np.exp(-epsilon * np.abs(y))})
    grid = pd.DataFrame({"noise": whole, "probability": one * np.exp(-epsilon * np.abs(whole))})
    answer = np.linspace(94, 107, 521)
    densities = {f"density_{true}": epsilon / 2 * np.exp(-epsilon * np.abs(answer - true)) for true in (100, 101)}
    neighbours = pd.DataFrame({"answer": answer, **densities})
    neighbours["ratio"] = neighbours["density_100"] / neighbours["density_101"]
    return {"noise": noise.assign(epsilon=epsilon), "grid_noise": grid, "neighbours": neighbours}


#: How many candidates the exponential mechanism is tested with: more come nearer to epsilon, and take more answers.
CANDIDATES = 8


def loss_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Sample a mechanism on two neighbouring inputs and bound its privacy loss from below.

    Parameters: ``mechanism``, ``epsilon``, ``n`` (answers to each input).
    """
    epsilon, n = params["epsilon"], params["n"]
    with seeded_noise():
        left, right, promised = _neighbouring_answers(params["mechanism"], epsilon, n, rng)
    return {"promised": promised, "shown": privacy_loss_bound(left, right, level=0.99)}


def _neighbouring_answers(
    mechanism: str, epsilon: float, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, float]:
    if mechanism == "count":
        return *_counts(1 / epsilon, n, rng), epsilon
    if mechanism == "count, half the noise":
        return *_counts(0.5 / epsilon, n, rng), epsilon
    if mechanism == "randomised response":
        made = [randomised_response(np.full(n, true), epsilon=epsilon, rng=rng).responses for true in (False, True)]
        return made[0].to_numpy(np.float64), made[1].to_numpy(np.float64), epsilon
    if mechanism == "exponential mechanism":
        # One candidate's score falls by 1 and all others rise by 1: with many of them the loss of choosing the first
        # comes near epsilon (with two it is half of it). Whether it is the first is all that is looked at.
        scores = np.arange(CANDIDATES) == 0
        chosen = [
            np.array([exponential_mechanism(range(CANDIDATES), values, epsilon=epsilon, rng=rng).position == 0
                      for _ in range(n)], float)
            for values in (scores.astype(float), 1.0 - scores)
        ]  # fmt: skip
        return chosen[0], chosen[1], epsilon
    variant = "printed" if mechanism == "density as printed" else "corrected"
    seen = [_intrusion(epsilon, variant, events, n, rng) for events in ([], [0])]
    return seen[0], seen[1], 2 * epsilon


def _counts(scale: float, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Tell of noisy counts of 100 and 101 whether they exceed 100: of all events the one with the largest loss."""
    one, other = ((true + discrete_laplace(scale, 1.0, n, rng=rng) > 100).astype(float) for true in (100, 101))
    return one, other


def _intrusion(epsilon: float, variant: str, events: list[int], n: int, rng: np.random.Generator) -> FloatArray:
    """Return what is seen of one item: its bit between two batches of events, and whether the noisy count exceeds 0.

    The probabilities of any two counts on the same side of that line have the same ratio: nothing is lost.
    """
    seen = np.empty(n)
    for place in range(n):
        density = PanPrivateDensity(1, epsilon=epsilon, variant=variant, rng=rng)
        density.update(events)
        bit = int(density.state().bits[0])
        density.update(events)
        seen[place] = 2 * bit + (round(density.result().value * epsilon / 4 + 0.5) > 0)
    return seen


# -- the mechanisms' risk-utility map -------------------------------------------------------------------------------


@cache
def education() -> pd.Series:
    """Return the education of the people of Adult."""
    return load_adult()["education"]


def game_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Release the distribution of education and let an intruder guess one person's value among two.

    The intruder knows everybody else's value, and that the target's is one of two. Parameters: ``mechanism``,
    ``epsilon``, ``n`` (people), ``games`` (guesses).
    """
    people = education()
    categories = sorted(people.unique())
    sample = people.iloc[rng.choice(len(people), params["n"], replace=False)]
    truth = sample.value_counts(normalize=True).reindex(categories, fill_value=0.0)
    epsilon, m = params["epsilon"], len(categories)
    with seeded_noise():
        if params["mechanism"] == "randomised response":
            estimate = randomised_response(sample, epsilon=epsilon, categories=categories, rng=rng).estimate()["share"]
            risk = _guess_reports(epsilon, m, params["games"], rng)
        else:
            each = epsilon if params["mechanism"] == "histogram" else 2 * epsilon / m
            # Replacing one person's value moves two counts by 1; as m separate queries each gets a share of epsilon.
            answer = laplace_histogram(sample, categories=categories, epsilon=each, adjacency="replace", rng=rng)
            estimate = answer.counts / params["n"]
            risk = _guess_counts(answer.scale, params["games"], rng)
    shares = estimate.clip(lower=0)
    shares = shares / shares.sum() if shares.sum() > 0 else shares
    return {
        "guessed": risk,
        "bound": math.exp(epsilon) / (1 + math.exp(epsilon)),
        "utility": 1 - 0.5 * float((shares - truth).abs().sum()),
        "utility_nothing": 1 - 0.5 * float((1 / m - truth).abs().sum()),
    }


def _guess_counts(scale: float, games: int, rng: np.random.Generator) -> float:
    """Return how often the likelihoods of two noisy counts tell in which of them the target is."""
    noise = discrete_laplace(scale, 1.0, 2 * games, rng=rng).reshape(2, games)
    inside, outside = 1 + noise[0], noise[1]
    evidence = np.abs(inside) - np.abs(inside - 1) + np.abs(outside - 1) - np.abs(outside)
    return float((evidence > 0).mean() + 0.5 * (evidence == 0).mean())


def _guess_reports(epsilon: float, m: int, games: int, rng: np.random.Generator) -> float:
    """Return how often a report tells which of two answers was the true one."""
    reports = randomised_response(np.zeros(games, int), epsilon=epsilon, categories=list(range(m)), rng=rng).responses
    return float((reports == 0).mean() + 0.5 * (reports > 1).mean())


# -- k-means (5.6) --------------------------------------------------------------------------------------------------

KMEANS_VARIANTS: dict[str, Parameters] = {
    "as printed: random start": {"start": "random", "empty": "keep"},
    "spread start": {"empty": "keep"},
    "spread start, empty clusters split": {},
    "the same, centred sums": {"centred": True},
    "halving schedule": {"schedule": "halving", "n_iterations": 5},
}


def kmeans_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Cluster four blobs in the unit square. Parameters: ``variant``, ``epsilon``, ``n``."""
    middles = rng.uniform(0.15, 0.85, (4, 2))
    points = np.clip(middles[rng.integers(0, 4, params["n"])] + rng.normal(0, 0.06, (params["n"], 2)), 0, 1)
    with seeded_noise():
        found = private_kmeans(
            points, 4, bounds=(0, 1), epsilon=params["epsilon"], rng=rng, **KMEANS_VARIANTS[params["variant"]]
        )
    return {"inertia": found.inertia(points), "inertia_without_noise": _lloyd(points, middles)}


def _lloyd(points: FloatArray, centres: FloatArray) -> float:
    """Return the inertia of plain k-means started at the true middles."""
    for _ in range(5):
        labels = nearest_centre(points, centres)
        centres = np.array([points[labels == j].mean(axis=0) if (labels == j).any() else centres[j] for j in range(4)])
    return float(((points - centres[nearest_centre(points, centres)]) ** 2).sum(axis=1).mean())


def kmeans_sensitivity(rng: np.random.Generator, d: int = 2) -> float:
    """Return the largest change of sizes and sums by one point that random searches with corner points find."""
    worst = 0.0
    for _ in range(200):
        points = rng.integers(0, STEPS + 1, (5, d))
        corner = rng.integers(0, 2, d) * STEPS
        centres = rng.random((3, d))
        one, other = (cluster_queries(cube, centres) for cube in (points, np.vstack([points, corner])))
        sums = np.abs(one[1] - other[1]).sum() / STEPS
        worst = max(worst, float(np.abs(one[0] - other[0]).sum() + sums))
    return worst


def histogram_sensitivity(rng: np.random.Generator) -> float:
    """Return the largest L1 change of a histogram answer by one more record, the noise being the same."""
    worst = 0.0
    for _ in range(50):
        records, seed = rng.integers(0, 6, 9), int(rng.integers(2**31))
        with seeded_noise():
            answers = [
                laplace_histogram(listed, categories=range(6), epsilon=1, rng=seed).counts
                for listed in (records[:-1], records)
            ]
        worst = max(worst, float((answers[0] - answers[1]).abs().sum()))
    return worst


# -- the exponential mechanism (6.1) --------------------------------------------------------------------------------


@cache
def hyperplane_points(n: int = 60) -> pd.DataFrame:
    """Return points like those of figure 6.1, which the document only describes.

    The vertical axis separates the labels exactly, but all points lie close to it, so that turning it costs many;
    the horizontal axis errs on a few points, and may be turned a little at no cost.
    """
    rng = np.random.default_rng(61)
    side = np.repeat([1, -1], n // 2)
    points = pd.DataFrame({"x": side * rng.uniform(0.02, 0.25, n), "y": side * rng.uniform(0.4, 2.0, n)})
    wrong = np.concatenate([np.arange(0, n // 2, n // 6)[:2], [n - 1, n - 2]])
    points.loc[wrong, "y"] *= -1
    return points.assign(label=np.where(side > 0, "A", "B"))


@cache
def hyperplane_scores(n_candidates: int = 720) -> tuple[FloatArray, IntArray]:
    """Return the normal vectors' angles, rad, and how many points each classifies correctly."""
    points = hyperplane_points()
    angles = np.arange(n_candidates) * 2 * np.pi / n_candidates
    normals = np.stack([np.cos(angles), np.sin(angles)])
    above = points[["x", "y"]].to_numpy() @ normals >= 0
    return angles, (above == (points["label"] == "A").to_numpy()[:, None]).sum(axis=0)


def hyperplane_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Choose a hyperplane by the exponential mechanism, or add noise to the best one's coordinates.

    Parameters: ``method`` ("exponential mechanism", "exponential mechanism, monotone score", "noise on coordinates"),
    ``epsilon``.
    """
    points = hyperplane_points()
    angles, scores = hyperplane_scores()
    if params["method"] == "noise on coordinates":
        best = angles[scores.argmax()]
        # One record can turn the best unit vector into any other: the L1 sensitivity is 2 sqrt(2).
        noisy = np.array([np.cos(best), np.sin(best)]) + simulation_laplace(
            2 * math.sqrt(2) / params["epsilon"], 2, rng=rng
        )
        above = points[["x", "y"]].to_numpy() @ noisy >= 0
        correct = float((above == (points["label"] == "A").to_numpy()).mean())
        return {"accuracy": correct, "expected": math.nan, "best": float(scores.max() / len(points))}
    monotone = params["method"].endswith("monotone score")
    with seeded_noise():
        choice = exponential_mechanism(angles.tolist(), scores, epsilon=params["epsilon"], monotone=monotone, rng=rng)
    expected = choice_probabilities(scores, epsilon=params["epsilon"], monotone=monotone) @ scores / len(points)
    accuracy = float(scores[choice.position] / len(points))
    return {"accuracy": accuracy, "expected": float(expected), "best": float(scores.max() / len(points))}


# -- pan-private density (6.2) --------------------------------------------------------------------------------------


def density_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Estimate the density of a stream. Parameters: ``universe``, ``epsilon``, ``density``, ``variant``."""
    size = params["universe"]
    present = rng.permutation(size)[: round(params["density"] * size)]
    with seeded_noise():
        density = PanPrivateDensity(size, epsilon=params["epsilon"], variant=params["variant"], rng=rng)
    density.update(rng.choice(present, 3 * size) if present.size else present)
    density.update(present)
    answer = density.result()
    error = abs(answer.value - present.size / size)
    # Claim 6.4, which forgets the Laplace noise, at the failure probability .05.
    claimed = math.sqrt(8 * math.log(2 / 0.05) / size) / params["epsilon"]
    bound = density_error_bound(size, epsilon=params["epsilon"], variant=params["variant"])
    return {
        "estimate": answer.value,
        "error": error,
        "bound": bound,
        "within_bound": bool(error <= bound),
        "claimed_bound": claimed,
        "within_claim": bool(error <= claimed),
    }


def claim_failure(universe: int, epsilon: float, density: float, failure: float = 0.05) -> float:
    """Return how often an answer lies outside Claim 6.4's bound for `failure`, exactly, with the corrected noise.

    The number of ones is a sum of two binomial variables, the noise a discrete Laplace variable.
    """
    present = round(density * universe)
    absent = stats.binom.pmf(np.arange(universe - present + 1), universe - present, 0.5)
    ones = np.convolve(absent, stats.binom.pmf(np.arange(present + 1), present, 0.5 + epsilon / 4))
    reach = math.sqrt(8 * math.log(2 / failure) / universe) / epsilon * epsilon * universe / 4
    gap = np.arange(universe + 1) - (universe / 2 + present * epsilon / 4)
    # P(k <= m) of the noise; it is symmetric.
    inside = stats.dlaplace.cdf(np.ceil(reach - gap) - 1, epsilon) - stats.dlaplace.cdf(np.floor(-reach - gap), epsilon)
    return float(1 - ones @ inside)


def density_losses() -> pd.DataFrame:
    """Return the exact loss of memory and answer together against what is promised."""
    rows = [
        {"variant": variant, "epsilon": float(epsilon), "loss": pan_privacy_loss(float(epsilon), variant=variant)}
        for variant in ("corrected", "printed")
        for epsilon in np.round(np.geomspace(0.01, 1.5, 25), 4)
    ]
    return pd.DataFrame(rows).assign(promised=lambda frame: 2 * frame["epsilon"])


# -- degree sequences (7.4) -----------------------------------------------------------------------------------------

GRAPHS = ("karate club", "les miserables", "preferential attachment", "small world", "power grid")


@cache
def graph_degrees(name: str) -> IntArray:
    """Return the degrees of a graph in decreasing order.

    Raises
    ------
    DataError
        For the power grid, if its file is not in the folder named by REIDENT_DATA.
    """
    made = {
        "karate club": nx.karate_club_graph,
        "les miserables": nx.les_miserables_graph,
        "preferential attachment": lambda: nx.barabasi_albert_graph(3000, 3, seed=1),
        "small world": lambda: nx.watts_strogatz_graph(3000, 6, 0.2, seed=1),
        "power grid": lambda: load_graph("powergrid"),
    }[name]()
    return np.sort(np.array([degree for _, degree in made.degree()], dtype=np.int64))[::-1].copy()


def available_graphs() -> list[str]:
    """Return the graphs of the study that are here: the power grid is a file of its own."""
    try:
        graph_degrees("power grid")
    except DataError:
        return list(GRAPHS[:-1])
    return list(GRAPHS)


def degree_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Publish a degree sequence and its histogram. Parameters: ``graph``, ``epsilon``, ``k``."""
    true = graph_degrees(params["graph"])
    with seeded_noise():
        sequence = private_degree_sequence(true, epsilon=params["epsilon"], k=params["k"], rng=rng)
        histogram = private_degree_sequence(true, epsilon=params["epsilon"], k=params["k"], kind="histogram", rng=rng)
    counts = np.bincount(true, minlength=true.size)
    return {
        "n_nodes": int(true.size),
        "error_noisy": float(np.abs(sequence.noisy - true).mean()),
        "error_isotonic": float(np.abs(sequence.released - true).mean()),
        "histogram_error": float(0.5 * np.abs(histogram.released - counts).sum() / true.size),
    }


def degree_sensitivities() -> dict[str, int]:
    """Return by how much one edge changes the sequence and the histogram at most, over all graphs on four nodes."""
    pairs = list(itertools.combinations(range(4), 2))
    worst = {"sequence": 0, "histogram": 0}
    for chosen in itertools.product([0, 1], repeat=len(pairs)):
        for place in range(len(pairs)):
            flipped = [flag ^ (place == position) for position, flag in enumerate(chosen)]
            one, other = (_degrees_of(flags, pairs) for flags in (chosen, flipped))
            worst["sequence"] = max(worst["sequence"], int(np.abs(np.sort(one) - np.sort(other)).sum()))
            counts = [np.bincount(degrees, minlength=4) for degrees in (one, other)]
            worst["histogram"] = max(worst["histogram"], int(np.abs(counts[0] - counts[1]).sum()))
    return worst


def _degrees_of(flags: Any, pairs: list[tuple[int, int]]) -> IntArray:
    degrees = np.zeros(4, dtype=np.int64)
    for flag, (u, v) in zip(flags, pairs, strict=True):
        degrees[u] += flag
        degrees[v] += flag
    return degrees
