"""One trial of a map: draw two files, protect one, attack the release, measure what it is still good for.

The intruder knows the method and its parameters, not its random numbers (Kerckhoffs' principle): for places they mask
their own file many times to learn by how much distances deviate; a table's generalised labels they read as the middle
of what each label covers.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reident._typing import FloatArray
from reident.attacks.labels import LabelReader
from reident.attacks.tolerance_intervals import tolerance_intervals
from reident.errors import DataError, ParameterError, PrivacyWarning, SearchLimitWarning
from reident.experiments.microdata import LAT, LON, Intruder, Microdata, draw_files, load_microdata, places_of
from reident.metrics.distances import great_circle_km
from reident.metrics.linkage import linkage_quality
from reident.registry import Entry, find

__all__ = ["NONE", "Release", "attack", "fits", "numbers_of", "protect", "release_trial", "utility"]

#: The method that releases the data as they are: the anchor of every map.
NONE = "original"

# Distances closer than this are one: the rounding of great circles, km.
_ROUNDING_KM = 1e-6


@dataclass(frozen=True, eq=False)
class Release:
    """A release in the form in which attacks and utilities read it.

    Attributes
    ----------
    table : DataFrame
        The released records, in the original's order; some may be left out.
    distances_km : ndarray or None
        Distances between them, for places.
    form : str
        How it was made, a form of the registry or ``"original"``.
    n_original : int
        Records before some were left out.
    """

    table: pd.DataFrame
    distances_km: FloatArray | None
    form: str
    n_original: int


def fits(method: str, entry: Entry) -> bool:
    """Tell whether an attack or a metric says something about the releases of a method.

    Risks inside classes are about releases that have classes: generalised or microaggregated ones.
    """
    if entry.form in ("class risk", "class disclosure"):
        return method == NONE or find(method).form == "classes" or method == "microaggregation"
    return entry.form != "other"


def protect(
    data: Microdata, method: str, options: Mapping[str, Any], original: pd.DataFrame, rng: np.random.Generator
) -> Release:
    """Release `original` by a method of the registry."""
    form = NONE if method == NONE else find(method, "anonymiser").form
    if data.kind == "places":
        table, distances = _protect_places(data, method, options, original, rng)
        return Release(table, distances, form, len(original))
    if form == NONE:
        return Release(original, None, form, len(original))
    entry = find(method, "anonymiser")
    arguments = entry.arguments(options)
    if form == "columns":
        if not data.numeric:
            raise DataError(f"`{method}` must have numeric quasi-identifiers, got none among {data.quasi!r}")
        if "rng" in _signature(entry.function):
            arguments["rng"] = rng
        masked = entry.function(original, data.numeric, **arguments)
        return Release(masked.table, None, form, len(original))
    if form == "classes and noise":
        return Release(_with_noise(data, entry, arguments, original, rng), None, form, len(original))
    if form != "classes":
        raise ParameterError(f"`methods` must be for tables here, got {method!r}, which is for {entry.data}")
    if arguments.get("ell") is not None or arguments.get("t") is not None:
        arguments["sensitive"] = data.sensitive
    made = entry.function(original, data.quasi, hierarchies=data.hierarchies, **arguments)
    return Release(made.table, None, form, len(original))


def _with_noise(
    data: Microdata, entry: Entry, arguments: Mapping[str, Any], original: pd.DataFrame, rng: np.random.Generator
) -> pd.DataFrame:
    if not data.epsilon_quasi:
        raise ParameterError(f"`epsilon_quasi` must name a column for the method {entry.name!r}, got none")
    classes = [column for column in data.quasi if column not in data.epsilon_quasi]
    with warnings.catch_warnings():
        # A trial's random numbers come from its seed and its ranges from the data: it is no release.
        warnings.simplefilter("ignore", PrivacyWarning)
        made = entry.function(
            original, k_quasi=classes, epsilon_quasi=list(data.epsilon_quasi), hierarchies=data.hierarchies, rng=rng,
            **arguments,
        )  # fmt: skip
    return made.table.set_axis(original.index[made.source]).sort_index()


def _signature(function: Callable[..., Any]) -> Mapping[str, Any]:
    import inspect

    return inspect.signature(function).parameters


def _protect_places(
    data: Microdata, method: str, options: Mapping[str, Any], original: pd.DataFrame, rng: np.random.Generator
) -> tuple[pd.DataFrame, FloatArray]:
    if method == NONE:
        return original, great_circle_km(*places_of(original))
    entry = find(method, "anonymiser")
    function, arguments = entry.function, entry.arguments(options)
    if entry.form == "coordinates":
        lat, lon = function(*places_of(original), **arguments, rng=rng)
        moved = original.assign(**{LAT: lat, LON: lon})
    elif entry.form in ("points", "candidates"):
        if "rng" in _signature(function):
            arguments["rng"] = rng
        moved = function(original, *([original] if entry.form == "candidates" else []), **arguments)
    elif entry.form == "distances":
        return original, function(great_circle_km(*places_of(original)), **arguments, rng=rng)
    elif entry.form == "embedding":
        return original, function(*places_of(original), area=_area(data), **arguments, rng=rng)
    else:
        raise ParameterError(f"`methods` must be for places here, got {method!r}, which is for {entry.data}")
    return moved, great_circle_km(*places_of(moved))


def _area(data: Microdata) -> Any:
    import shapely

    return shapely.from_wkt(data.area_wkt)


def _tolerated(
    data: Microdata,
    method: str,
    options: Mapping[str, Any],
    known: pd.DataFrame,
    alpha: float,
    n_simulations: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return which deviations of distances the intruder tolerates, learned by masking their own file."""
    if method == NONE:
        return {"window_km": (-_ROUNDING_KM, _ROUNDING_KM)}
    entry = find(method, "anonymiser")
    if entry.form == "embedding":
        intervals = tolerance_intervals(
            *places_of(known), area=_area(data), alpha=alpha, n_simulations=n_simulations, rng=rng,
            **entry.arguments(options),
        )  # fmt: skip
        return {"intervals_km": tuple(intervals)}
    true = great_circle_km(*places_of(known))
    where = pd.Series(np.arange(len(known)), index=known.index)
    deviations = []
    # As many simulated releases as give about 20,000 distances: quantiles need no more.
    for _ in range(int(np.clip(20_000 // max(1, len(known) * (len(known) - 1) // 2), 1, n_simulations))):
        masked, distances = _protect_places(data, method, options, known, rng)
        rows = where[masked.index].to_numpy()
        upper = np.triu_indices(len(rows), 1)
        deviations.append((true[np.ix_(rows, rows)] - distances)[upper])
    pooled = np.concatenate(deviations)
    if not pooled.size:
        return {"window_km": (-_ROUNDING_KM, _ROUNDING_KM)}
    low, high = np.quantile(pooled, [(1 - alpha) / 2, (1 + alpha) / 2])
    return {"window_km": (float(low) - _ROUNDING_KM, float(high) + _ROUNDING_KM)}


def attack(
    data: Microdata,
    entry: Entry,
    settings: Mapping[str, Any],
    release: Release,
    known: pd.DataFrame,
    truth: pd.DataFrame,
    rng: np.random.Generator,
    method: str = NONE,
    options: Mapping[str, Any] | None = None,
) -> tuple[dict[str, float | None], pd.DataFrame]:
    """Attack a release; return precision, recall, the risk, claims and completeness, and the claimed links."""
    arguments, checked = entry.arguments(settings), entry.check(settings)
    if entry.form == "class disclosure":
        if data.sensitive is None:
            raise ParameterError(f"`sensitive` must name a column for the attack {entry.name!r}, got None")
        found = entry.function(release.table, quasi=data.quasi, sensitive=data.sensitive, **arguments)
        return _told(found.share, None, found.n_breached, True), found.records
    if entry.form == "class risk":
        found = entry.function(release.table, data.quasi, **arguments)
        return _told(found.marketer, None, found.n_records, True), pd.DataFrame()
    if entry.form == "record linkage":
        return _link_records(data, entry, arguments, checked["measure"], release, known, truth)
    complete = True
    if entry.form == "metric linkage":
        tolerated = _tolerated(data, method, options or {}, known, checked["alpha"], checked["n_simulations"], rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SearchLimitWarning)
            made = entry.function(*_possible(data, release, known), quasi=data.quasi, rng=rng, **tolerated, **arguments)
        links, complete = made.links, made.is_optimal
    else:
        links = entry.function(release.table, known, quasi=data.quasi, rng=rng, **arguments).links
    quality = linkage_quality(links, truth)
    return _told(quality.precision, quality.recall, len(links), complete, checked["measure"]), _judged(links, truth)


def _possible(data: Microdata, release: Release, known: pd.DataFrame) -> tuple[Any, Any]:
    """Return both files as the attack takes them, without released records that share no label with a known one."""
    assert release.distances_km is not None
    if data.quasi:
        shared = pd.MultiIndex.from_frame(release.table[data.quasi]).isin(pd.MultiIndex.from_frame(known[data.quasi]))
    else:
        shared = np.ones(len(release.table), dtype=bool)
    rows = np.flatnonzero(shared)
    return (
        (release.table[data.quasi].iloc[rows], release.distances_km[np.ix_(rows, rows)]),
        (known[data.quasi], great_circle_km(*places_of(known))),
    )


def _told(
    precision: float, recall: float | None, n_claims: int, complete: bool, measure: str = "precision"
) -> dict[str, float | None]:
    """Return the measures of an attack. Nothing claimed: no claim harms, so the risk is 0."""
    shown = precision if measure == "precision" else recall
    return {
        "risk": 0.0 if shown is None or math.isnan(shown) else float(shown),
        "precision": None if math.isnan(precision) else float(precision),
        "recall": None if recall is None or math.isnan(recall) else float(recall),
        "claims": float(n_claims),
        "complete": float(complete),
    }


def _judged(links: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    true = set(zip(truth["release"], truth["known"], strict=True))
    right = [pair in true for pair in zip(links["release"], links["known"], strict=True)]
    return links.assign(right=right)


def _link_records(
    data: Microdata,
    entry: Entry,
    arguments: Mapping[str, Any],
    measure: str,
    release: Release,
    known: pd.DataFrame,
    truth: pd.DataFrame,
) -> tuple[dict[str, float | None], pd.DataFrame]:
    """Claim for each known person the released record that is nearest in all quasi-identifiers, read as numbers."""
    mine, theirs = known_numbers(data, known), numbers_of(data, release)
    columns = [c for c in mine.columns if np.ptp(mine[c].to_numpy()) > 0 and np.ptp(theirs[c].to_numpy()) > 0]
    if not columns:
        return _told(math.nan, 0.0, 0, True, measure), pd.DataFrame(columns=["release", "known", "right"])
    partner = truth.set_index("known")["release"]
    found = entry.function(mine, theirs, columns=columns, truth=partner, **arguments)
    links = found.links.rename(columns={"release": "known", "known": "release"})
    links = links[["release", "known", "distance", "n_nearest", "credit"]].assign(right=links["credit"])
    right = float(links["credit"].sum())
    return _told(right / len(links), right / max(1, len(truth)), len(links), True, measure), links


def known_numbers(data: Microdata, known: pd.DataFrame) -> pd.DataFrame:
    """Return a file of exact values as numbers: the numeric columns, and one column of 0 and 1 a category."""
    return numbers_of(data, Release(known, None, NONE, len(known)))


def numbers_of(data: Microdata, release: Release) -> pd.DataFrame:
    """Return released quasi-identifiers as numbers.

    A generalised number becomes the mean of the values of the original domain that its label covers; a category becomes
    one column for each of its values (the 30 most frequent): the share that it has among the values covered. Who
    reads labels in this way assumes no more about a class than that its values are equally likely.
    """
    parts: dict[str, Any] = {}
    for column in data.quasi:
        values = release.table[column]
        domain = pd.Index(data.table[column].unique())
        if column in data.numeric and pd.api.types.is_numeric_dtype(values):
            parts[column] = values.to_numpy(np.float64)
            continue
        codes, labels = pd.factorize(values)
        covered = LabelReader(domain, pd.Index(labels), data.hierarchies.get(column)).cover().astype(float)
        shares = covered / np.maximum(covered.sum(axis=0), 1.0)
        if column in data.numeric:
            parts[column] = (shares * domain.to_numpy(np.float64)[:, None]).sum(axis=0)[codes]
        else:
            frequent = data.table[column].value_counts().index[:30]
            for value in frequent:
                parts[f"{column}={value}"] = shares[domain.get_loc(value)][codes]
    return pd.DataFrame(parts, index=release.table.index)


def utility(
    data: Microdata, entry: Entry, settings: Mapping[str, Any], original: pd.DataFrame, release: Release
) -> float:
    """Measure what a release is still good for; records left out lose their share."""
    arguments = entry.arguments(settings)
    if entry.form == "distance utility":
        assert release.distances_km is not None
        kept = original.loc[release.table.index]
        if len(kept) < 3:
            return 0.0
        value = float(entry.function(great_circle_km(*places_of(kept)), release.distances_km, **arguments))
        return value * (len(kept) / release.n_original if math.isfinite(value) else 1.0)
    if entry.form != "value utility":
        raise ParameterError(
            f"`utilities` must be measures of utility, got {entry.name!r}, whose form is {entry.form!r}"
        )
    before, after = known_numbers(data, original), numbers_of(data, release)
    return float(entry.function(before, after, columns=list(before.columns), **arguments))


def release_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Run one trial with the parameters that `reident.workbench.mapping.Plan.run` gives.

    Attacks and utilities are lists of ``[name, settings]``. Where an attack says nothing about the releases of a method
    its measures are None.
    """
    data = load_microdata(params["folder"], params["data"])
    measures, _ = run_release(data, params, rng)
    return measures


def run_release(
    data: Microdata, params: Mapping[str, Any], rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, pd.DataFrame]]:
    """Run one trial and return its measures and each attack's links (or breached records)."""
    files_rng, release_rng, *attack_rngs = rng.spawn(2 + len(params["attacks"]))
    original, known, truth = draw_files(data, Intruder(**params["intruder"]), files_rng)
    method, options = params["method"], params["options"]
    release = protect(data, method, options, original, release_rng)
    measures: dict[str, Any] = {"released_share": len(release.table) / len(original)}
    links: dict[str, pd.DataFrame] = {}
    for (name, settings), own in zip(params["attacks"], attack_rngs, strict=True):
        entry = find(name, "attack")
        if fits(method, entry):
            told, links[name] = attack(data, entry, settings, release, known, truth, own, method, options)
        else:
            told = dict.fromkeys(("risk", "precision", "recall", "claims", "complete"))
        measures |= {f"{name}_{key}": value for key, value in told.items()}
    for name, settings in params["utilities"]:
        measures[name] = utility(data, find(name, "metric"), settings, original, release)
    return measures, links
