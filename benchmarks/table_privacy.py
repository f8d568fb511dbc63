"""Noise, private k-means, the intersection attack and the pan-private stream, against diffprivlib where installed."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from reident import PanPrivateDensity, discrete_laplace, intersection_attack, k_anonymise, private_kmeans
from reident.datasets import load_adult

QUASI = ["age", "workclass", "education", "marital-status", "race", "sex"]


def _seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _row(task: str, ours_s: float, rival: str = "", rival_s: float | None = None, note: str = "") -> dict[str, Any]:
    ratio = None if rival_s is None else rival_s / ours_s
    return {"task": task, "ours_s": ours_s, "rival": rival, "rival_s": rival_s, "ratio": ratio, "note": note}


def _noise() -> list[dict[str, Any]]:
    values = np.random.default_rng(0).normal(175, 10, 30_000)
    tasks: list[tuple[str, Callable[[], Any]]] = [
        ("Laplace noise, secure, 30,000 values", lambda: discrete_laplace(5.0, 2.0**-8, 30_000)),
        ("the same, a scale of its own each", lambda: discrete_laplace(np.linspace(1, 9, 30_000), 2.0**-8)),
    ]
    ours = [(task, float(np.median([_seconds(call) for _ in range(7)]))) for task, call in tasks]
    try:
        from diffprivlib.mechanisms import Laplace
    except ImportError as error:
        return [_row(task, seconds, "diffprivlib", note=f"not timed: {error}") for task, seconds in ours]
    mechanism = Laplace(epsilon=0.2, sensitivity=1.0)
    theirs = float(np.median([_seconds(lambda: [mechanism.randomise(value) for value in values]) for _ in range(3)]))
    return [_row(task, seconds, "diffprivlib", theirs) for task, seconds in ours]


def _blobs(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    middles = rng.uniform(0.15, 0.85, (4, 2))
    return np.clip(middles[rng.integers(0, 4, 10_000)] + rng.normal(0, 0.06, (10_000, 2)), 0, 1)


def _kmeans() -> list[dict[str, Any]]:
    """Time one clustering, and compare the inertia over 40 data sets at equal epsilon."""
    out = []
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        found = [private_kmeans(_blobs(seed), 4, bounds=(0, 1), epsilon=epsilon) for seed in range(40)]
        inertia = float(np.mean([one.inertia(_blobs(seed)) for seed, one in enumerate(found)]))
        points = _blobs(0)
        seconds = _seconds(lambda e=epsilon, p=points: private_kmeans(p, 4, bounds=(0, 1), epsilon=e))  # type: ignore[misc]
        task = f"private k-means, 10,000 points, epsilon {epsilon:g}"
        try:
            from diffprivlib.models import KMeans
        except ImportError as error:
            out.append(_row(task, seconds, "diffprivlib", note=f"inertia {inertia:.4f}; rival not run: {error}"))
            continue
        bounds = (np.zeros(2), np.ones(2))

        def fit(seed: int, e: float = epsilon, b: Any = bounds, model: Any = KMeans) -> float:
            return float(model(n_clusters=4, epsilon=e, bounds=b, random_state=seed).fit(_blobs(seed)).inertia_)

        theirs_s = _seconds(lambda: fit(0))
        theirs = float(np.mean([fit(seed) / 10_000 for seed in range(40)]))
        out.append(_row(task, seconds, "diffprivlib", theirs_s, f"inertia {inertia:.4f}, rival's {theirs:.4f}"))
    return out


def _intersection() -> list[dict[str, Any]]:
    people = load_adult()
    releases = [
        k_anonymise(people.sample(30_000, random_state=seed), QUASI, k=10, method="mondrian") for seed in range(5)
    ]
    population: pd.DataFrame = people.iloc[:30_000][QUASI]

    def attack() -> Any:
        return intersection_attack(releases, population, quasi=QUASI, sensitive="occupation")

    attack()
    seconds = float(np.median([_seconds(attack) for _ in range(5)]))
    return [_row("intersection attack, 30,000 people x 5 releases", seconds, note="no rival known; goal: under 2 s")]


def _stream() -> list[dict[str, Any]]:
    events = np.random.default_rng(0).integers(0, 400_000, 10_000_000)
    out = []
    for n_batches in (1, 1000):
        density = PanPrivateDensity(1_000_000, epsilon=1)
        batches = np.array_split(events, n_batches)
        seconds = _seconds(lambda d=density, b=batches: [d.update(batch) for batch in b])  # type: ignore[misc]
        task = f"pan-private density, 10,000,000 events in {n_batches:,} batches"
        out.append(_row(task, seconds, note="no rival known; goal: under 5 s"))
    return out


def rows() -> list[dict[str, Any]]:
    """Time every task of this file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*_noise(), *_kmeans(), *_intersection(), *_stream()]
