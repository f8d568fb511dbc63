"""Vanhoef (2012), chapters 5 to 7: trials of differentially private mechanisms, and of degrees of networks.

Noise is seeded: a simulation releases nothing.
"""

import math
from functools import cache

import networkx as nx
import numpy as np
import pandas as pd
from numpy.random import Generator
from sklearn.cluster import KMeans

from reident import laplace_histogram
from reident.base import DataError, FloatArray, IntArray, Parameters, Row
from reident.data.datasets import load_adult
from reident.data.networks import load_graph
from reident.queries import (
    MedianMechanism,
    PanPrivateDensity,
    discrete_laplace,
    exponential_mechanism,
    privacy_loss_bound,
    private_degree_sequence,
    private_kmeans,
    randomised_response,
    simulation_laplace,
)
from reident.queries.median_mechanism import small_databases
from reident.queries.pan_private import density_error_bound

#: Candidates of the exponential mechanism: the loss of choosing one of them comes near epsilon where they are many.
CANDIDATES = 8


def loss_trial(rng: Generator, *, mechanism: str, epsilon: float, n: int) -> Row:
    """Sample a mechanism `n` times on each of two neighbouring inputs and bound its privacy loss from below (5.2)."""
    first, second = (_answers(mechanism, epsilon, n, side, rng) for side in (0, 1))
    promised = 2 * epsilon if mechanism.startswith("density") else epsilon
    return {"promised": promised, "shown": privacy_loss_bound(first, second, level=0.99)}


def _answers(mechanism: str, epsilon: float, n: int, side: int, rng: Generator) -> FloatArray:
    """Return `n` answers to the first (0) or the second (1) of two neighbouring inputs."""
    if mechanism.startswith("count"):  # whether noisy counts of 100 and 101 exceed 100, the event of the largest loss
        scale = (0.5 if mechanism.endswith("half the noise") else 1) / epsilon
        return np.asarray(100 + side + discrete_laplace(scale, 1.0, n, rng=rng) > 100, float)
    if mechanism == "randomised response":
        return randomised_response(np.full(n, side == 1), epsilon=epsilon, rng=rng).responses.to_numpy(float)
    if mechanism == "exponential mechanism":
        # One candidate's score falls by 1, all others rise by 1; the event is the choice of the first.
        scores = np.where(np.arange(CANDIDATES) == 0, 1.0 - side, float(side))
        choices = (exponential_mechanism(range(CANDIDATES), scores, epsilon=epsilon, rng=rng) for _ in range(n))
        return np.array([choice.position == 0 for choice in choices], float)
    # An item's bit between two batches of events, and whether the noisy count exceeds 0: counts on the same side of
    # that line have the same ratio of probabilities.
    events, views = [0] * side, np.empty(n)
    for place in range(n):
        density = PanPrivateDensity(1, epsilon=epsilon, variant=mechanism.removeprefix("density as "), rng=rng)
        density.update(events)
        bit = int(density.memory()[0])
        density.update(events)
        views[place] = 2 * bit + (round(density.result().value * epsilon / 4 + 0.5) > 0)
    return views


_adult = cache(load_adult)


def game_trial(rng: Generator, *, mechanism: str, epsilon: float, n: int = 2000, games: int = 2000) -> Row:
    """Release the distribution of education of `n` persons; an intruder guesses one value among two (5.5).

    The intruder knows all other values. `mechanism` is "histogram", "a query a category" or "randomised response";
    `games` are the guesses.
    """
    people = _adult()["education"]
    categories = sorted(people.unique())
    sample = people.iloc[rng.choice(len(people), n, replace=False)]
    truth = sample.value_counts(normalize=True).reindex(categories, fill_value=0.0)
    m = len(categories)
    if mechanism == "randomised response":
        estimate = randomised_response(sample, epsilon=epsilon, categories=categories, rng=rng).estimate()["share"]
        risk = _guess_reports(epsilon, m, games, rng)
    else:
        # Replacing a person's value moves two counts by 1; as m separate queries each gets a share of epsilon.
        each = epsilon if mechanism == "histogram" else 2 * epsilon / m
        answer = laplace_histogram(sample, categories=categories, epsilon=each, adjacency="replace", rng=rng)
        estimate = answer.counts / n
        risk = _guess_counts(answer.scale, games, rng)
    shares = estimate.clip(lower=0)
    shares = shares / shares.sum() if shares.sum() > 0 else shares
    utility, nothing = (1 - 0.5 * (guess - truth).abs().sum() for guess in (shares, 1 / m))
    return {"gain": max(0.0, 2 * risk - 1), "utility": utility, "utility_nothing": nothing}


def _guess_counts(scale: float, games: int, rng: Generator) -> float:
    """Return how often the likelier of two noisy counts is the one with the target."""
    noise = discrete_laplace(scale, 1.0, 2 * games, rng=rng).reshape(2, games)
    inside, outside = 1 + noise[0], noise[1]
    evidence = np.abs(inside) - np.abs(inside - 1) + np.abs(outside - 1) - np.abs(outside)
    return float((evidence > 0).mean() + 0.5 * (evidence == 0).mean())


def _guess_reports(epsilon: float, m: int, games: int, rng: Generator) -> float:
    """Return how often a report names the true one of two answers."""
    reports = randomised_response(np.zeros(games, int), epsilon=epsilon, categories=list(range(m)), rng=rng).responses
    return float((reports == 0).mean() + 0.5 * (reports > 1).mean())


KMEANS_VARIANTS: dict[str, Parameters] = {
    "as printed: random start": {"start": "random", "empty": "keep"},
    "spread start": {"empty": "keep"},
    "spread start, empty clusters split": {},
    "spread start, split, centred sums": {"centred": True},
    "halving schedule": {"schedule": "halving", "n_iterations": 5},
}


def kmeans_trial(rng: Generator, *, variant: str, epsilon: float, n: int = 10_000) -> Row:
    """Cluster `n` points of four blobs in the unit square by a variant of `KMEANS_VARIANTS` (5.6)."""
    middles = rng.uniform(0.15, 0.85, (4, 2))
    points = np.clip(middles[rng.integers(0, 4, n)] + rng.normal(0, 0.06, (n, 2)), 0, 1)
    clusters = private_kmeans(points, 4, bounds=(0, 1), epsilon=epsilon, rng=rng, **KMEANS_VARIANTS[variant])
    plain = KMeans(4, init=middles, n_init=1, max_iter=5, tol=0).fit(points)  # started at the true middles
    return {"inertia": clusters.inertia(points), "inertia_without_noise": plain.inertia_ / n}


def median_trial(rng: Generator) -> Row:
    """Answer 200 counts of a small table by the median mechanism and by Laplace noise, at epsilon 5 in all (5.7)."""
    data, unit = np.array([3, 0, 1, 2]), 300
    queries, epsilon = rng.integers(0, 2, (200, 4)), 5
    median = MedianMechanism(
        data * unit, small_databases(4, 6), epsilon=epsilon, max_hard=10, tolerance=140, unit=unit, rng=rng
    )
    answers = [median.answer(query) for query in queries]
    noise = discrete_laplace(len(queries) / epsilon, 1.0, len(queries), rng=rng)
    return {
        "hard_share": np.mean([answer.is_hard for answer in answers]),
        "error": np.abs([answer.value for answer in answers] - queries @ (data * unit)).mean(),
        "laplace_error": np.abs(noise).mean(),
    }


@cache
def hyperplane_points() -> pd.DataFrame:
    """Return points drawn after the description of figure 6.1.

    The vertical axis separates the labels exactly, but all points lie close to it, so that turning it costs many;
    the horizontal axis errs on a few points, and may be turned a little at no cost.
    """
    rng, n = np.random.default_rng(61), 60
    side = np.repeat([1, -1], n // 2)
    points = pd.DataFrame({"x": side * rng.uniform(0.02, 0.25, n), "y": side * rng.uniform(0.4, 2.0, n)})
    wrong = np.concatenate([np.arange(0, n // 2, n // 6)[:2], [n - 1, n - 2]])
    points.loc[wrong, "y"] *= -1
    return points.assign(label=np.where(side > 0, "A", "B"))


@cache
def hyperplane_scores() -> tuple[FloatArray, IntArray]:
    """Return the angles of 720 normal vectors, rad, and how many points each classifies correctly."""
    angles = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    return angles, _classified(np.stack([np.cos(angles), np.sin(angles)]))


def _classified(normals: FloatArray) -> IntArray:
    """Return how many points each normal vector (a column) classifies correctly."""
    points = hyperplane_points()
    above = points[["x", "y"]].to_numpy() @ normals >= 0
    return ((points["label"] == "A").to_numpy() == above.T).sum(axis=-1)


def hyperplane_trial(rng: Generator, *, method: str, epsilon: float) -> Row:
    """Choose a hyperplane by the exponential mechanism (6.1), or add noise to the coordinates of the best one.

    `method` is "exponential mechanism", "exponential mechanism, monotone score" or "noise on coordinates".
    """
    angles, scores = hyperplane_scores()
    if method == "noise on coordinates":
        angle = angles[scores.argmax()]
        # One record can turn the best unit vector into any other: the L1 sensitivity is 2 sqrt(2).
        noisy = np.array([np.cos(angle), np.sin(angle)]) + simulation_laplace(2 * math.sqrt(2) / epsilon, 2, rng=rng)
        return {"accuracy": _classified(noisy) / len(hyperplane_points())}
    monotone = method.endswith("monotone score")
    choice = exponential_mechanism(angles.tolist(), scores, epsilon=epsilon, monotone=monotone, rng=rng)
    return {"accuracy": scores[choice.position] / len(hyperplane_points())}


def density_trial(rng: Generator, *, universe: int, epsilon: float, density: float = 0.3) -> Row:
    """Estimate the density of a stream over a universe of this size (6.2)."""
    present = rng.permutation(universe)[: round(density * universe)]
    counter = PanPrivateDensity(universe, epsilon=epsilon, rng=rng)
    counter.update(rng.choice(present, 3 * universe) if present.size else present)
    counter.update(present)
    answer = counter.result()
    error = abs(answer.value - present.size / universe)
    # Claim 6.4, which forgets the Laplace noise, at the failure probability .05.
    claimed = math.sqrt(8 * math.log(2 / 0.05) / universe) / epsilon
    bound = density_error_bound(universe, epsilon=epsilon)
    return {"error": error, "bound": bound, "claimed_bound": claimed, "within_claim": error <= claimed}


GRAPHS = ["karate club", "les miserables", "preferential attachment", "small world", "power grid"]


@cache
def graph_degrees(name: str) -> IntArray:
    """Return the degrees of a graph in decreasing order; the power grid's file must be in the folder REIDENT_DATA."""
    graph = {
        "karate club": nx.karate_club_graph,
        "les miserables": nx.les_miserables_graph,
        "preferential attachment": lambda: nx.barabasi_albert_graph(3000, 3, seed=1),
        "small world": lambda: nx.watts_strogatz_graph(3000, 6, 0.2, seed=1),
        "power grid": lambda: load_graph("powergrid"),
    }[name]()
    return np.sort(np.array([degree for _, degree in graph.degree()], dtype=np.int64))[::-1].copy()


def available_graphs() -> list[str]:
    """Return the graphs that can be read here: the power grid needs REIDENT_DATA."""
    try:
        graph_degrees("power grid")
    except DataError:
        return GRAPHS[:-1]
    return GRAPHS


def node_trial(rng: Generator, *, graph: str, epsilon: float, hidden: str) -> Row:
    """Publish degrees (7.4) that hide "an edge", "five edges" or "a node"; return errors over the mean degree.

    A node has up to n - 1 edges: hiding it is hiding so many. `blind_error` is that of the median for every degree.
    """
    true = graph_degrees(graph)
    k = {"an edge": 1, "five edges": 5, "a node": true.size - 1}[hidden]
    sequence = private_degree_sequence(true, epsilon=epsilon, k=k, rng=rng)
    answers: Parameters = {"noisy": sequence.noisy, "degrees": sequence.released, "blind": np.median(true)}
    errors = {f"{name}_error": np.abs(answer - true).mean() / true.mean() for name, answer in answers.items()}
    return {"n_nodes": true.size, **errors}
