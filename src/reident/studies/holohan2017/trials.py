"""The trials of the study: one release each, attacked and measured."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from reident import (
    confidence_suppression,
    expected_relative_error,
    k_anonymise,
    minimality_attack,
    nearest_record_attack,
    noise_entropy_loss,
    relative_error,
)
from reident.base import FloatArray, IntArray
from reident.data.datasets import load_adult
from reident.studies.holohan2017 import CONFIDENCES
from reident.studies.holohan2017.cases import CHOICE, anonymous, case, choice_of, hierarchies_of, rounded
from reident.tables.k_epsilon import class_noise_scales, simulate_class_noise

__all__ = [
    "CONDITIONS",
    "PUBLIC_BOUNDS_CM",
    "classes_trial",
    "data_of",
    "minimality_trial",
    "modes_trial",
    "noise_trial",
    "published_trial",
    "released",
    "time_trial",
]

#: A public range for height: no adult is expected outside; used by the mode "public bounds".
PUBLIC_BOUNDS_CM = (120.0, 220.0)


#: The same for all settings of a run; a trial without them takes the paper's.
CONDITIONS = ("spread", "loss", "suppression_limit")

_Data = tuple[int, bool, float]


def data_of(params: dict[str, Any]) -> _Data:
    """Return what makes the data: seed, whether it is cut, spread."""
    return params["data_seed"], params["small"], params.get("spread", 1.0)


def _setting(params: dict[str, Any]) -> tuple[str, str, int, _Data, dict[str, Any]]:
    """Return data set, method, k, what makes the data, and how OLA chooses."""
    return params["dataset"], params["method"], params["k"], data_of(params), choice_of(params)


class _Released(NamedTuple):
    """The released records of a k-anonymous version: values and classes, in the order of classes and values."""

    values: FloatArray
    classes: IntArray


@lru_cache(maxsize=64)
def released(
    dataset: str,
    method: str,
    k: int,
    data: _Data,
    loss: str = CHOICE["loss"],
    suppression_limit: float = CHOICE["suppression_limit"],
) -> _Released:
    """Return the values and classes of a k-anonymous version that the noise is added to."""
    chosen = case(dataset, *data)
    classes = anonymous(dataset, method, k, *data, loss=loss, suppression_limit=suppression_limit).classes
    values = chosen.table[chosen.epsilon_quasi].to_numpy(dtype=np.float64)
    # Sorted once here, the sorts inside the measures meet sorted records and cost next to nothing.
    order = np.lexsort((values, classes))[int((classes < 0).sum()) :]
    return _Released(values[order], classes[order])


def classes_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Measure one k-anonymous version, before any noise; `rng` is not needed."""
    del rng
    dataset, method, k, data, choice = _setting(params)
    chosen = case(dataset, *data)
    loss, limit = choice["loss"], choice["suppression_limit"]
    release = anonymous(dataset, method, k, *data, loss=loss, suppression_limit=limit)
    values, classes = released(dataset, method, k, data, loss, limit)
    quasi = list(chosen.k_quasi)
    with_epsilon = k_anonymise(
        rounded(chosen)[[*quasi, chosen.epsilon_quasi]],
        [*quasi, chosen.epsilon_quasi],
        hierarchies=hierarchies_of(dataset, *data) if method == "ola" else None,
        k=k,
        method=method,
        **choice,
    )
    return {
        "n_records": len(chosen.table),
        "node": "" if release.node is None else " ".join(str(level) for level in release.node),
        "n_classes": release.n_classes,
        "suppressed_share": release.n_suppressed / len(chosen.table),
        "error_at_epsilon_1": expected_relative_error(values, classes, epsilon=1.0),
        "loss_quasi_alone": float(np.mean([release.column_losses[name] for name in quasi])),
        "loss_quasi_with_epsilon_quasi": float(np.mean([with_epsilon.column_losses[name] for name in quasi])),
        "loss_epsilon_quasi": with_epsilon.column_losses[chosen.epsilon_quasi],
        "suppressed_share_with_epsilon_quasi": with_epsilon.n_suppressed / len(chosen.table),
    }


def noise_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Release once with the paper's noise; measure error, linking risk and further suppression."""
    dataset, method, k, data, choice = _setting(params)
    values, classes = released(dataset, method, k, data, choice["loss"], choice["suppression_limit"])
    scales = class_noise_scales(values, classes, epsilon=params["epsilon"])
    noisy = simulate_class_noise(values, classes, scales, rng=rng)
    attack = nearest_record_attack(values, noisy, classes)
    measures = {
        "error_expected": float((scales[classes] / np.abs(values)).mean()),
        "error_realised": relative_error(values, noisy),
        "linking_risk": attack.risk,
        "linking_baseline": attack.baseline,
    }
    for confidence in params.get("confidences", CONFIDENCES):
        found = confidence_suppression(values, noisy, classes, scales=scales, k=k, confidence=confidence)
        measures[f"suppressed_{confidence:g}"] = found.share
    found = confidence_suppression(values, noisy, classes, scales=scales, k=k, confidence=0.99, centre="original")
    measures["suppressed_0.99_formula"] = found.share
    return measures


def modes_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Release Adult's height once, with noise scaled to the class's range or to a public one."""
    values, classes = released("adult", params["method"], params["k"], data_of(params))
    low, high = PUBLIC_BOUNDS_CM
    public = params["mode"] == "public bounds"
    scales = class_noise_scales(values, classes, epsilon=params["epsilon"], width=high - low if public else None)
    noisy = simulate_class_noise(values, classes, scales, rng=rng)
    whole_cm = np.rint(values)
    return {
        "error_realised": relative_error(values, noisy),
        "bits_lost": noise_entropy_loss(whole_cm, noisy, scales[classes]),
        "linking_risk": nearest_record_attack(values, noisy, classes).risk,
        "linking_baseline": (int(classes.max()) + 1) / classes.size,
    }


def time_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Time k-anonymity with the epsilon-quasi-identifier as a quasi-identifier against (k, epsilon)-anonymity.

    In seconds of the processor: both run in one thread, and what else the machine does counts little.
    """
    return _timed(params, rng, params["method"])


def published_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Time the same with the textbook algorithms."""
    return _timed(params, rng, "published")


def _timed(params: dict[str, Any], rng: np.random.Generator, algorithm: str) -> dict[str, Any]:
    dataset, method, k, data, choice = _setting(params)
    chosen = case(dataset, *data)
    hierarchies = hierarchies_of(dataset, *data) if method == "ola" else None
    table = rounded(chosen)
    _warm(dataset, method, data[0])
    values = chosen.table[chosen.epsilon_quasi].to_numpy(dtype=np.float64)
    asked: dict[str, Any] = {"hierarchies": hierarchies, "k": k, "method": algorithm, **choice}
    started = time.process_time()
    everything = k_anonymise(table, [*chosen.k_quasi, chosen.epsilon_quasi], **asked)
    with_all = time.process_time()
    alone = k_anonymise(table, list(chosen.k_quasi), **asked)
    anonymous_at = time.process_time()
    simulate_class_noise(values, alone.classes, class_noise_scales(values, alone.classes, epsilon=1.0), rng=rng)
    finished = time.process_time()
    return {
        "k_anonymity_s": with_all - started,
        "k_quasi_only_s": anonymous_at - with_all,
        "noise_s": finished - anonymous_at,
        "k_epsilon_s": finished - with_all,
        "n_checked": alone.n_checked,
        "n_checked_k_anonymity": everything.n_checked,
        "n_classes_k_anonymity": everything.n_classes,
    }


@lru_cache(maxsize=8)
def _warm(dataset: str, method: str, seed: int) -> None:
    """Let this process compile or load its kernels before anything is timed."""
    chosen = case(dataset, seed, True)
    hierarchies = hierarchies_of(dataset, seed, True) if method == "ola" else None
    few = rounded(chosen).head(300)
    k_anonymise(few, list(chosen.k_quasi), hierarchies=hierarchies, k=2, method=method, **CHOICE)


# -- the minimality attack against our own Mondrian: beyond the paper --------------------------------------------------

_SENSITIVE = "occupation"


def minimality_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Anonymise Adult with l-diverse occupations, and attack the release by its refused cuts."""
    chosen = case("adult", *data_of(params))
    quasi = list(chosen.k_quasi)
    known = chosen.table[quasi].assign(**{_SENSITIVE: load_adult().loc[chosen.table.index, _SENSITIVE]})
    k, ell = params["k"], params["ell"]
    release = k_anonymise(known, quasi, k=k, method="mondrian", sensitive=_SENSITIVE, ell=ell)
    breach = minimality_attack(
        known, release.classes, quasi=quasi, sensitive=_SENSITIVE, k=k, ell=ell, n_draws=params["n_draws"], rng=rng
    )
    gain = breach.posterior - breach.prior
    return {
        "n_classes": breach.n_classes,
        "n_attacked": breach.n_attacked,
        "n_unresolved": breach.n_unresolved,
        "attacked_share": float(breach.attacked.mean()),
        "mean_gain": breach.mean_gain,
        "largest_gain": breach.largest_gain,
        "gain_above_10_points_share": float((gain > 0.1).mean()),
        "above_one_over_ell_share": float((breach.surest > 1 / ell + 1e-9).mean()),
        "above_one_over_ell_by_class_share": float(_class_confidence(breach.prior, release.classes, ell)),
    }


def _class_confidence(prior: np.ndarray, classes: np.ndarray, ell: int) -> float:
    """Return the share of records whose class alone makes some value likelier than 1 / ell."""
    surest = np.zeros(int(classes.max()) + 1)
    np.maximum.at(surest, classes, prior)
    return float((surest[classes] > 1 / ell + 1e-9).mean())
