"""Noise, private k-means, the intersection attack and the pan-private stream, against diffprivlib where installed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks import _rivals
from benchmarks._rows import Row, seconds, timed, within
from reident import k_anonymise
from reident.data.datasets import load_adult
from reident.queries import PanPrivateDensity, discrete_laplace, private_kmeans
from reident.tables import intersection_attack

QUASI = ["age", "workclass", "education", "marital-status", "race", "sex"]
N_SETS = 40


def _noise() -> list[Row]:
    scales = np.linspace(1, 9, 30_000)
    told = _rivals.ask("noise")
    tasks = {
        "secure Laplace noise, 30,000 values": lambda: discrete_laplace(5.0, 2.0**-8, 30_000),
        "the same, a scale of its own each": lambda: discrete_laplace(scales, 2.0**-8),
    }
    return [
        Row(task, seconds(call, 7), "diffprivlib", told["seconds"], 10, told["stopped"], told["note"])
        for task, call in tasks.items()
    ]


def _kmeans() -> list[Row]:
    """Time one clustering, and compare the inertia over the same data sets at equal epsilon."""
    private_kmeans(_rivals.blobs(0), 4, bounds=(0, 1), epsilon=1.0)
    out = []
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        inertia, spent = [], []
        for points in map(_rivals.blobs, range(N_SETS)):
            took, found = timed(lambda p=points, e=epsilon: private_kmeans(p, 4, bounds=(0, 1), epsilon=e))
            inertia.append(found.inertia(points))
            spent.append(took)
        told = _rivals.ask("kmeans", epsilon, N_SETS)
        theirs = told["note"] or f"rival's {told['inertia']:.4f}" if told["seconds"] else told["note"]
        note = f"mean inertia of {N_SETS} data sets {np.mean(inertia):.4f}; {theirs}"
        task = f"private k-means, 10,000 points, epsilon {epsilon:g}"
        out.append(Row(task, float(np.median(spent)), "diffprivlib", told["seconds"], None, told["stopped"], note))
    return out


def _intersection() -> list[Row]:
    people = load_adult()
    releases = [
        k_anonymise(people.sample(30_000, random_state=seed), QUASI, k=10, method="mondrian") for seed in range(5)
    ]
    population: pd.DataFrame = people.iloc[:30_000][QUASI]
    spent = seconds(lambda: intersection_attack(releases, population, quasi=QUASI, sensitive="occupation"), 5)
    return [within("intersection attack, 30,000 people x 5 releases", spent, 2)]


def _stream() -> list[Row]:
    events = np.random.default_rng(0).integers(0, 400_000, 10_000_000)
    PanPrivateDensity(1000, epsilon=1).update(events[:100] % 1000)
    out = []
    for n_batches in (1, 1000):
        density, batches = PanPrivateDensity(1_000_000, epsilon=1), np.array_split(events, n_batches)
        spent, _ = timed(lambda d=density, b=batches: [d.update(batch) for batch in b])
        out.append(within(f"pan-private density, 10,000,000 events in {n_batches:,} batches", spent, 5))
    return out


GROUPS = {"noise": _noise, "kmeans": _kmeans, "intersection": _intersection, "stream": _stream}
