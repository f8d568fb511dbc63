"""Attack. Why old defences of query systems fail: minimum query sets, auditing, sampling, independent noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    ParameterError,
    Real,
    RNGLike,
    Whole,
    afford,
    call_given,
    check_callable,
    check_columns,
    check_integer,
    check_listed,
    check_rng,
    check_table,
    check_vector,
    checked,
    how_many,
    is_key,
)
from reident.tables.classes import class_ids, encode_column


@dataclass(frozen=True)
class QuerySetAttack:
    """Two questions about many (`question`, `n_in_set`, `answer`), and whether the target has the property, learned."""

    queries: pd.DataFrame
    learned: int


def query_set_attack(
    table: pd.DataFrame, target: Any, predicate: Callable[[Any], Any], *, min_set_size: int
) -> QuerySetAttack:
    """Learn one person's property from a system that answers only questions about many.

    Parameters
    ----------
    table : DataFrame
        The records behind the system.
    target : object
        The person, a label of the index; the attacker knows that they are in the table.
    predicate : callable
        The property, of a row.
    min_set_size : int
        The system refuses questions about fewer records.

    Returns
    -------
    QuerySetAttack
        The property, and the questions that gave it away.

    Raises
    ------
    ParameterError
        If the target is absent, or the system refuses: even all records but one are too few.

    Notes
    -----
    Vanhoef (2012), section 3.2: how many have the property, and how many who are not the target have it.
    """
    check_table(table, "table")
    check_callable(predicate, "predicate")
    check_integer(min_set_size, "min_set_size", low=1)
    if not is_key(target) or target not in table.index or (table.index == target).sum() != 1:
        raise ParameterError(f"`target` must be one label of the table's index, got {target!r}")
    others = table.loc[table.index != target]
    if len(others) < min_set_size:
        raise ParameterError(
            f"`min_set_size` must be at most {len(others)}, all records but the target, got {min_set_size}: "
            "the system refuses both questions"
        )
    answers = [how_many(predicate, (row for _, row in query_set.iterrows())) for query_set in (table, others)]
    queries = pd.DataFrame(
        {
            "question": ["how many have the property", "how many, not the target, have it"],
            "n_in_set": [len(table), len(others)],
            "answer": answers,
        }
    )
    return QuerySetAttack(queries, answers[0] - answers[1])


class MaxAuditor:
    """A query system for maxima that refuses an answer from which one record's value would follow.

    It looks at the true answer to decide, as auditing does, and refuses when all answers together would determine
    one record's value. Values must be distinct.

    Parameters
    ----------
    values : array_like of float, shape (n,)
    """

    def __init__(self, values: ArrayLike) -> None:
        self._values = check_vector(values, "values")
        if not self._values.size:
            raise DataError("`values` must have at least one value, got none")
        if np.unique(self._values).size != self._values.size:
            raise DataError("`values` must be distinct: equal maxima do not tell records apart")
        # What follows from the answers: each record is at most its bound, and the record that attains an answer (one,
        # as values are distinct) lies in all sets with this answer.
        self._bound = np.full(self._values.size, np.inf)
        self._holders: dict[float, frozenset[int]] = {}
        self._answers_of: list[set[float]] = [set() for _ in range(self._values.size)]
        self.n_asked = 0
        self.n_refused = 0

    def __len__(self) -> int:
        return self._values.size

    def ask(self, records: Sequence[int]) -> float | None:
        """Return the largest value of some records, or None if the auditor refuses."""
        query_set = frozenset(check_integer(record, "records") for record in check_listed(records, "records"))
        if not query_set or min(query_set) < 0 or max(query_set) >= len(self):
            raise ParameterError(
                f"`records` must be positions from 0 to {len(self) - 1}, at least one, got {records!r}"
            )
        self.n_asked += 1
        answer = float(self._values[list(query_set)].max())
        holders = self._holders.get(answer, query_set) & query_set
        if self._gives_away(query_set, answer, holders):
            self.n_refused += 1
            return None
        self._holders[answer] = holders
        for record in query_set:
            self._bound[record] = min(self._bound[record], answer)
            self._answers_of[record].add(answer)
        return answer

    def _gives_away(self, query_set: frozenset[int], answer: float, holders: frozenset[int]) -> bool:
        """Tell whether with this answer some answer could be attained by one record only."""
        touched = set().union(*(self._answers_of[record] for record in query_set)) - {answer}
        for other, members in [(answer, holders), *((earlier, self._holders[earlier]) for earlier in touched)]:
            bounds = (min(self._bound[r], answer) if r in query_set else self._bound[r] for r in members)
            if sum(bound == other for bound in bounds) == 1:
                return True
        return False


@dataclass(frozen=True)
class AuditingAttack:
    """Exact values learned from refusals alone, by record, and the numbers of questions."""

    learned: dict[int, float]
    n_asked: int
    n_refused: int


def auditing_attack(
    auditor: MaxAuditor, *, group_size: Annotated[int, Whole(3, unit="records")] = 3, rng: RNGLike = None
) -> AuditingAttack:
    """Learn exact values from the refusals of an auditing query system.

    For disjoint groups the largest value is asked, then that of the group without one record. If the largest value
    is smaller without it, an answer would show whose it is, and the auditor refuses: the refusal shows it.

    Parameters
    ----------
    auditor : MaxAuditor
    group_size : int
        At least 3: the auditor must be free to answer the group without a record.
    rng : optional
        Shuffles the records.

    Returns
    -------
    AuditingAttack
        The values learned, and the questions asked.

    Raises
    ------
    ParameterError
        If `auditor` is none, or a group has fewer than three records or more than there are.

    Notes
    -----
    Vanhoef (2012), section 3.2: a refusal can disclose (Kenthapadi, Mishra and Nissim 2005). With m records in a
    group the left-out record is the largest with probability 1 / m.
    """
    if not isinstance(auditor, MaxAuditor):
        raise ParameterError(f"`auditor` must be a MaxAuditor, got {type(auditor).__name__}")
    check_integer(group_size, "group_size", low=3, high=len(auditor))
    order = check_rng(rng).permutation(len(auditor))
    query_set, refused = auditor.n_asked, auditor.n_refused
    learned = {}
    for start in range(0, len(order) - group_size + 1, group_size):
        group = order[start : start + group_size].tolist()
        largest = auditor.ask(group)
        if largest is not None and auditor.ask(group[:-1]) is None:
            learned[group[-1]] = largest
    return AuditingAttack(learned, auditor.n_asked - query_set, auditor.n_refused - refused)


@dataclass(frozen=True)
class SamplingExposure:
    """Uniqueness of the persons in a published random sample.

    Attributes
    ----------
    n, n_sampled : int
    unique_in_sample : float
        Share of the sampled who are alone with their quasi-identifiers in the sample.
    unique_in_table : float
        Share of the sampled who are alone with them in the whole table: an intruder who knows that they are in it
        finds them with certainty.
    exposed_share : float
        Share of all people who are sampled and unique in the table.
    """

    n: int
    n_sampled: int
    unique_in_sample: float
    unique_in_table: float
    exposed_share: float


@checked
def sampling_exposure(
    table: pd.DataFrame,
    *,
    quasi: str | Sequence[str],
    rate: Annotated[float, Real(0, 1, open_low=True)],
    rng: RNGLike = None,
) -> SamplingExposure:
    """Measure the exposure of persons by a published random sample: few, but completely.

    Parameters
    ----------
    table : DataFrame
    quasi : str or sequence of str
        What an intruder knows.
    rate : float in (0, 1]
        Probability of being sampled.
    rng : optional

    Returns
    -------
    SamplingExposure
        The rows drawn that are unique, and the shares.

    Raises
    ------
    DataError, ParameterError
        If a column is absent or `rate` is not in (0, 1].

    Notes
    -----
    Vanhoef (2012), section 3.2. Persons outside the sample are not exposed, so that the average hides the harm.
    """
    quasi = check_columns(check_table(table, "table"), quasi, "quasi")
    ids = class_ids([encode_column(table[column])[0] for column in quasi])[0]
    sampled = check_rng(rng).random(len(table)) < rate
    alone = _alone(ids)
    alone_in_sample = _alone(ids[sampled])
    n = max(1, int(sampled.sum()))
    exposed = alone & sampled
    return SamplingExposure(
        len(table),
        int(sampled.sum()),
        float(alone_in_sample.sum() / n),
        float(exposed.sum() / n),
        float(exposed.mean()),
    )


def _alone(ids: Any) -> BoolArray:
    if not len(ids):
        return np.zeros(0, dtype=np.bool_)
    alone: BoolArray = np.bincount(ids)[ids] == 1
    return alone


@dataclass(frozen=True, eq=False)
class AveragingAttack:
    """The means of the first 1, 2, ... answers, the last of them, and the privacy loss of so many answers."""

    estimates: FloatArray = field(repr=False)
    learned: float
    epsilon_spent: float


@checked
def averaging_attack(query: Callable[[], Any], n_repeats: Annotated[int, Whole(1, unit="queries")]) -> AveragingAttack:
    """Ask a noisy query again and again and average: independent noise of mean 0 goes away.

    Parameters
    ----------
    query : callable
        Returns a fresh answer (anything that float accepts; its `epsilon`, if it has one, is added up).
    n_repeats : int

    Returns
    -------
    AveragingAttack
        The mean after each answer, and the privacy loss added up.

    Raises
    ------
    ParameterError
        If `n_repeats` is below 1.

    Notes
    -----
    Vanhoef (2012), section 3.2. The error falls with the root of the number of answers, and the loss rises with the
    number: a `Budget` stops the attack.
    """
    check_callable(query, "query")
    afford(200 * n_repeats, "n_repeats", f"{n_repeats:,} answers", "a few thousand tell the same")
    answers = call_given(lambda: [query() for _ in range(n_repeats)], "query")
    try:
        values = np.array([float(answer) for answer in answers])
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"`query` must answer with numbers: {error}") from None
    estimates = np.cumsum(values) / np.arange(1, n_repeats + 1)
    spent = sum(float(getattr(answer, "epsilon", 0.0)) for answer in answers)
    return AveragingAttack(estimates, float(estimates[-1]), spent)
