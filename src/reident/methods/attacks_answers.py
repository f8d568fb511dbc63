"""Attack. The attacks on answers of query systems by name: each takes a release and the intruder's knowledge."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from reident.base import FloatArray, IntArray, Whole
from reident.methods.outcome import Knowledge, NotApplicable, Outcome, claims_about
from reident.methods.reading import Cells
from reident.methods.release import Release
from reident.queries.query_failures import averaging_attack

__all__ = ["query_differences", "repeated_queries", "table_from_answers"]


def _answered(release: Release, knowledge: Knowledge) -> tuple[Cells, FloatArray]:
    """Return the cells of the release's queries and its answers."""
    if "cells" not in release.answers:
        raise NotApplicable("no answers to counting queries are released")
    cells: Cells = release.answers["cells"]
    if knowledge.sensitive is None or knowledge.sensitive not in cells.columns:
        raise NotApplicable("the queries are not about a sensitive column")
    return cells, np.asarray(release.answers["counts"], np.float64)


def _candidates(cells: Cells, knowledge: Knowledge, persons: IntArray) -> tuple[IntArray, IntArray]:
    """Return the cell of each person for each sensitive value, and the true value's place, -1 if it is not known."""
    assert knowledge.sensitive is not None
    place = cells.columns.index(knowledge.sensitive)
    known = knowledge.known.iloc[persons]
    of_each = cells.candidates(known, place)
    true = np.full(len(persons), -1)
    if knowledge.secrets is not None:
        secret = cells.bins_of(knowledge.secrets.iloc[persons].to_frame(knowledge.sensitive), place)
        true = np.where(knowledge.secrets.iloc[persons].notna(), secret, -1)
    return of_each, true


def _claimed(
    cells: Cells, knowledge: Knowledge, persons: IntArray, weights: FloatArray, true: IntArray, prior: FloatArray,
    description: str,
) -> Outcome:  # fmt: skip
    """Claim the likeliest sensitive value of each person; `weights` are of the values."""
    total = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, total, out=np.full(weights.shape, 1 / weights.shape[1]), where=total > 0)
    best = shares.argmax(axis=1)
    tied = shares >= shares.max(axis=1, keepdims=True) * (1 - 1e-9)
    right = np.full(len(persons), np.nan)
    if knowledge.secrets is not None:
        rows = np.arange(len(persons))
        right = np.where(true >= 0, tied[rows, np.maximum(true, 0)] / tied.sum(axis=1), 0.0)
    assert knowledge.sensitive is not None
    bin_labels = cells.bins[cells.columns.index(knowledge.sensitive)].labels
    claims = claims_about(
        knowledge,
        persons,
        [bin_labels[code] for code in best],
        shares.max(axis=1),
        right,
        float(prior.max(initial=0.0)),
    )
    return Outcome(claims, "attribute", description)


def _prior(cells: Cells, knowledge: Knowledge) -> FloatArray:
    """Return the frequency of each sensitive value among the persons that the intruder knows completely."""
    assert knowledge.sensitive is not None
    if knowledge.file is None:
        return np.zeros(0)
    place = cells.columns.index(knowledge.sensitive)
    return np.bincount(cells.bins_of(knowledge.file, place), minlength=cells.shape[place]) / max(1, len(knowledge.file))


def _differences(cells: Cells, knowledge: Knowledge, answers: FloatArray, how: str) -> Outcome:
    if knowledge.file is None or knowledge.truth is None:
        raise NotApplicable("it needs the records of everybody but the person attacked")
    persons = np.flatnonzero(knowledge.present)
    if not persons.size:
        raise NotApplicable("none of the known persons is in the release")
    of_each, true = _candidates(cells, knowledge, persons)
    answered = np.isfinite(answers)
    queries = cells.queries[answered].astype(np.float64)
    everybody = queries @ cells.count(knowledge.file)
    rows = np.arange(len(persons))
    # Without the person's own record: what the queries say of all others.
    residuals = answers[answered] - everybody + queries[:, of_each[rows, np.maximum(true, 0)]].T
    gaps = np.stack(
        [np.abs(residuals - queries[:, of_each[:, code]].T).sum(axis=1) for code in range(of_each.shape[1])], axis=1
    )
    noise = float(np.abs(answers[answered] - everybody).mean()) if answered.any() else 1.0
    prior = _prior(cells, knowledge)
    weights = np.exp(-(gaps - gaps.min(axis=1, keepdims=True)) / max(noise, 1e-6)) * prior
    description = f"the intruder knows {', '.join(map(str, cells.columns))} of everybody but the person attacked"
    return _claimed(cells, knowledge, persons, weights, true, prior, f"{description}, and {how}")


def query_differences(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Subtract the contribution of all others from the answers; take the sensitive value that explains the rest best.

    Notes
    -----
    Vanhoef (2012), section 3.2: the difference of two large queries is about one person. The intruder is that of
    differential privacy: everybody's record is known but the sensitive value of the person attacked.
    """
    del rng
    cells, answers = _answered(release, knowledge)
    return _differences(cells, knowledge, answers, "subtracts them from the answers")


def repeated_queries(
    release: Release,
    knowledge: Knowledge,
    *,
    n_repeats: Annotated[int, Whole(2, unit="answers")] = 10,
    rng: np.random.Generator,
) -> Outcome:
    """Ask all queries again and again, average the answers, and go on as `query_differences`.

    Notes
    -----
    Vanhoef (2012), section 3.2; see `reident.averaging_attack`. A budget stops it: who answers once has not to fear it.
    """
    cells, answers = _answered(release, knowledge)
    if knowledge.again is None:
        raise NotApplicable("queries are asked again, and the system is not at hand")
    draws = [answers, *(np.asarray(knowledge.again(rng).answers["counts"]) for _ in range(n_repeats - 1))]
    stream = [iter(np.stack(draws)[:, place]) for place in range(len(answers))]
    mean = np.array([averaging_attack(lambda source=source: next(source), n_repeats).learned for source in stream])  # type: ignore[misc]
    return _differences(cells, knowledge, mean, f"asks every query {n_repeats} times")


def table_from_answers(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Find a table that explains the answers, and take the sensitive value most frequent in the person's cells of it.

    Notes
    -----
    Dinur and Nissim (2003), here by least squares from the table of equal cells, without counts below 0. Nobody's
    record is known: it is what the answers say of persons of a kind.
    """
    del rng
    cells, answers = _answered(release, knowledge)
    answered = np.isfinite(answers)
    queries = cells.queries[answered].astype(np.float64)
    if not answered.any():
        raise NotApplicable("no query was answered")
    table = np.full(cells.n_cells, max(float(answers[answered].sum()), 0.0) / max(1.0, float(queries.sum())))
    # Projections (Kaczmarz) stay near the start where the answers leave cells open.
    sizes = queries.sum(axis=1)
    for _ in range(50):
        for row in np.flatnonzero(sizes):
            table += queries[row] * (answers[answered][row] - queries[row] @ table) / sizes[row]
        table = np.maximum(table, 0.0)
    persons = np.arange(len(knowledge.known))
    of_each, true = _candidates(cells, knowledge, persons)
    prior = table @ cells.indicator(cells.columns.index(str(knowledge.sensitive)))
    weights = table[of_each] + 1e-9 * prior
    description = f"the intruder knows {', '.join(c for c in cells.columns if c != knowledge.sensitive)} of each person"
    return _claimed(
        cells,
        knowledge,
        persons,
        weights,
        true,
        prior / max(float(prior.sum()), 1e-300),
        f"{description} and all answers",
    )
