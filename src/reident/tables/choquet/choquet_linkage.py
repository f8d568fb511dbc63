"""Attack. Record linkage with learned weights: the weighted mean or Choquet integral that links the most records."""

from __future__ import annotations

import time
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
import pandas as pd

from reident.base import (
    BoolArray,
    Choice,
    DataError,
    FloatArray,
    ParameterError,
    Real,
    RNGLike,
    SearchLimitWarning,
    Whole,
    afford,
    check_integer,
    check_numeric,
    check_positive,
    check_rng,
    check_table,
    checked,
)
from reident.tables.choquet._benders import Solution, solve_benders
from reident.tables.choquet._climb import climb
from reident.tables.choquet._learning_problem import (
    MODELS,
    Clock,
    LearningProblem,
    as_square,
    build_problem,
    tidy_solution,
)
from reident.tables.choquet._linkage_milp import solve_milp
from reident.tables.choquet._ranges import LinkageRanges, find_ranges
from reident.tables.choquet.fuzzy_measure import FuzzyMeasure
from reident.tables.record_linkage import (
    check_unique,
    common_columns,
    informative,
    link_records,
    spread_of,
    standardised,
)

_MOST_VARIABLES = 8


@dataclass(frozen=True)
class LearnedLinkage:
    """The weights or measure that link the most records, and how far that is proven.

    Attributes
    ----------
    model : {"weighted_mean", "choquet", "bilinear"}
        The aggregation learned. A `LearnedLinkage` is a `distance` of `link_records`.
    measure : FuzzyMeasure or None
        The measure on all columns compared; additive for the weighted mean, None for the bilinear form.
    weights : Series or None
        The weights, for the weighted mean.
    matrix : DataFrame or None
        The matrix, for the bilinear form: positive semidefinite, of trace 1, 0 for columns that are ignored.
    ratio : float
        Share of records that `link_records` links strictly with it: counted on the data, not taken from the solver.
    lower_bound, upper_bound : float
        The greatest ratio lies between them, where "linked" means by a relative margin of at least `eps`.
    is_optimal : bool
        Whether the bounds meet.
    certificate : list of tuple
        Irreducible sets of records (index labels) that cannot all be linked, whatever the weights; a single record can
        never be linked. No choice that leaves fewer records unlinked than it takes to hit every set exists:
        that is the upper bound. Except for a weighted mean of at most 5 columns that they do not prove soon: it is
        proven by search of its weights cell by cell, and every record left unlinked is in a set whose others are
        linked. Empty for ``method="milp"``, which gives no such reasons; for "climb" single records only.
    seconds : float
        Wall-clock time of learning.
    columns, ignored : list of str
        Columns compared, and those among them that were constant and so got no weight.
    method : {"benders", "milp", "climb"}
        How it was found.
    eps : float
        The relative margin.
    spread : Series or None
        The divisor of each column, in learning and in linking; None: "dbrl1", columns standardised in each file.
    n_records : int
        Number of records learned from.
    """

    model: str
    measure: FuzzyMeasure | None
    weights: pd.Series | None
    matrix: pd.DataFrame | None
    ratio: float
    lower_bound: float
    upper_bound: float
    is_optimal: bool
    certificate: list[tuple[Hashable, ...]]
    seconds: float
    columns: list[str]
    ignored: list[str]
    method: str
    eps: float
    spread: pd.Series | None
    n_records: int
    _learned: tuple[LearningProblem, Solution, BoolArray] = field(repr=False, compare=False)

    def ranges(self, *, max_sets: int = 20, time_limit_s: float = 30.0, step_limit: int | None = None) -> LinkageRanges:
        """Return the smallest and largest values over all measures that link as many records.

        The measure learned is one point of a polytope; a ranking of columns holds only where it holds on all of it.

        Parameters
        ----------
        max_sets : int, default 20
            Most sets of linked records whose measures are covered; others may link as many.
        time_limit_s : float, default 30
            Seconds for finding such sets; the ranges of those found are then computed to the end.
        step_limit : int, optional
            Steps for it, in place of seconds: see `learn_linkage`.

        Returns
        -------
        LinkageRanges
            Frames `measure`, `shapley` and `interaction` with `low` and `high`; `is_complete` is whether every optimal
            set is covered, which needs a proven optimum.

        Raises
        ------
        ParameterError
            If a limit is out of range, or the model is "bilinear".

        Notes
        -----
        Every value between the two ends of one set is attained: the functions are linear and the polytope convex. Time
        is that of two linear programmes a value, most of which an earlier answer settles: below a second for 4
        columns, for 8 up to minutes: lower `max_sets` there.
        """
        check_integer(max_sets, "max_sets", low=1)
        check_positive(time_limit_s, "time_limit_s")
        clock, deadline = _clock(time_limit_s, step_limit)
        problem, solution, used = self._learned
        if self.model == "bilinear":
            raise ParameterError("`model` must be 'weighted_mean' or 'choquet' for ranges: a matrix is no measure")
        return find_ranges(
            problem, solution.x, solution.conflicts, self.columns, used, enumerate_sets=self.is_optimal,
            max_sets=max_sets, clock=clock, deadline=deadline,
        )  # fmt: skip


@checked
def learn_linkage(
    release: pd.DataFrame,
    original: pd.DataFrame,
    *,
    columns: str | Sequence[str] | None = None,
    model: Annotated[str, Choice(*MODELS)] = "weighted_mean",
    method: Annotated[str, Choice("benders", "milp", "climb")] = "benders",
    time_limit_s: Annotated[float, Real(0, unit="s", open_low=True)] = 60.0,
    step_limit: Annotated[int | None, Whole(1, unit="steps")] = None,
    eps: Annotated[float, Real(1e-8, 1e-2, why="below is the solver's rounding, above a real distance")] = 1e-7,
    scaling: Annotated[str, Choice("dbrl1", "dbrl2")] = "dbrl1",
    rng: RNGLike = 0,
) -> LearnedLinkage:
    """Learn the weights or fuzzy measure under which nearest-record linkage identifies the most records.

    The worst case over a family of distances: an intruder who happens to use the best weights. He cannot compute them,
    because learning needs the true pairs; the data's custodian can. The ratio on the records learned from is too high:
    link a disjoint sample with the result to see how it generalises.

    Parameters
    ----------
    release, original : DataFrame
        The protected table and the original: paired by index label, in any order. Records that only `original` has are
        rivals: they count against a link where they are nearer, and have none themselves.
    columns : list of str, optional
        Numeric columns to compare; all columns that both tables have for None. At most 8 but for "weighted_mean".
    model : {"weighted_mean", "choquet", "bilinear"}
        Weights of single columns, of all sets of columns, or of all products of two columns' differences.
    method : {"benders", "milp", "climb"}
        Conflicts and covering (fast, with a certificate), the paper's mixed integer programme, or a search
        of 1,000 lines: a good result in a moment, with no proof, and the same one on every machine.
    time_limit_s : float
        Seconds after which the best result so far is returned with its bounds; "climb" needs no limit.
    step_limit : int, optional
        Steps after which it is returned, in place of seconds: the result then is the same in every run and on every
        machine. A step is a linear programme or as much work, about half a millisecond for 400 records. Not for "milp".
    eps : float
        Margin by which a linked record's true partner must be nearer than every rival, relative to the row's range
        over all weights; between 1e-8 and 1e-2. It stands for the strict inequality.
    scaling : {"dbrl1", "dbrl2"}
        Whether columns are standardised in each file, or divided by the standard deviation of all differences: where
        the files hold different persons their means differ, and "dbrl1" takes that for a difference of every record.
    rng : Generator, int or None
        Order of the search; a different order may find another of several equally good results.

    Returns
    -------
    LearnedLinkage

    Raises
    ------
    ParameterError
        If a column is absent, the model unknown, or there are more than 8 columns but for "weighted_mean"; if method
        "milp" is asked for a bilinear form.
    DataError
        If `original` lacks an index label of `release`, or a column is not numeric or incomplete.

    Warns
    -----
    SearchLimitWarning
        If the limit was reached before the result was proven.

    Notes
    -----
    Abril et al. (2012), section 3. A block is one released record against all originals, as in their definition of the
    files; their sentence on blocks says the reverse (erratum 1), under which records of one cluster tie and cannot be
    linked.
    "bilinear" is d' M d with any positive semidefinite matrix M (Abril, Torra, Navarro-Arribas, 2015): a diagonal one
    is a weighted mean, the inverse of a covariance matrix Mahalanobis' distance. The search is the same, with cutting
    planes for matrices that are not semidefinite, so that bounds are proven; "climb" is its heuristic. All rivals
    count: files of some dozens of records are proven, of hundreds seldom.
    Columns are standardised in each file (DBRL1) as printed, or by "dbrl2".
    Optimal measures are rarely unique: among those that link the same
    records the widest margin is taken, and sets that no inequality involves keep arbitrary values. The worst-case time
    is exponential in the number of records; microaggregated files of 400 records take seconds, of 1,000 up to minutes.
    More than 2,000 are not solved as one: the result of "climb" is bounded by the least loss in parts of 400 records.
    Other maskings are often harder: few of their records exclude one another in pairs. "climb" goes from line to line
    through the polytope and takes the best point of each, found exactly by where every record is linked on it.

    Examples
    --------
    >>> import pandas as pd
    >>> original = pd.DataFrame({"pay": [1.0, 2, 3, 4, 9, 7], "tax": [5.0, 1, 4, 2, 6, 3]})
    >>> release = original.assign(tax=[2.0, 3, 3, 3, 4, 5])
    >>> learned = learn_linkage(release, original)
    >>> learned.ratio, learned.is_optimal
    (1.0, True)
    """
    started = time.perf_counter()
    if (model, method) == ("bilinear", "milp"):
        raise ParameterError(
            "`method` must be 'benders' or 'climb' for `model` = 'bilinear': its matrices are no polytope"
        )
    if step_limit is not None and method == "milp":
        raise ParameterError(
            f"`step_limit` must be None for `method` = 'milp', got {step_limit}: its first node may take hours; "
            "`time_limit_s` ends it"
        )
    generator = check_rng(rng)
    release, original, listed = _aligned(release, original, columns, model)
    a, b = check_numeric(release, listed, "release"), check_numeric(original, listed, "original")
    used = informative(a, b)
    if not used.any():
        raise DataError(f"every column of {listed!r} is constant in a table: no weights separate records")
    a, b, spread = a[:, used], b[:, used], None
    if scaling == "dbrl2":
        spread = pd.Series(1.0, index=listed)
        spread[used] = spread_of(a, b)
        a, b = (np.ascontiguousarray(x / spread_of(a, b)) for x in (a, b))
    else:
        a, b = standardised(a), standardised(b)
    clock, deadline = _clock(time_limit_s, step_limit)
    if model == "bilinear":
        description = f"{len(a):,} records compared by {a.shape[1]} columns"
        afford(
            8 * len(a) * len(b) * a.shape[1] * (a.shape[1] + 1), "original", description, "a sample of the records does"
        )
    problem = build_problem(a, b, model, eps)
    certificate: list[tuple[Hashable, ...]] = []
    if method == "milp":
        solution, impossible = solve_milp(a, b, problem, deadline), 0
    else:
        if method == "benders":
            solution = solve_benders(problem, clock, deadline, generator)
        else:
            x = climb(problem, generator)
            solution = Solution(x, int((problem.margins(x)[0] < problem.eps).sum()), 0, [])
        impossible, names = problem.impossible.size, original.index[problem.blocks]
        certificate += [(label,) for label in original.index[problem.impossible]]
        certificate += [tuple(names[list(conflict)]) for conflict in solution.conflicts]
    return _result(
        release, original, listed, (problem, solution, used), method, spread, impossible, certificate, started
    )


def _clock(time_limit_s: float, step_limit: int | None) -> tuple[Clock, float]:
    """Return a clock of steps if they are limited, else of seconds, and its time at which the limit is reached."""
    if step_limit is not None:
        return Clock(counts_steps=True), check_integer(step_limit, "step_limit", low=1)
    clock = Clock()
    return clock, clock.now() + time_limit_s


def _result(
    release: pd.DataFrame,
    original: pd.DataFrame,
    columns: list[str],
    learned: tuple[LearningProblem, Solution, BoolArray],
    method: str,
    spread: pd.Series | None,
    impossible: int,
    certificate: list[tuple[Hashable, ...]],
    started: float,
) -> LearnedLinkage:
    """Tidy the solver's x, count its links on the data, and state the proven bound."""
    problem, solution, used = learned
    n, model = len(release), problem.model
    x = tidy_solution(solution.x.copy(), model)
    weights, measure, matrix = _on_all_columns(x, columns, used, model)
    lower = (n - impossible - solution.given_up) / n
    upper = (n - impossible - solution.lower_bound) / n
    proven = solution.lower_bound >= solution.given_up
    result = LearnedLinkage(
        model=model,
        measure=measure,
        weights=weights,
        matrix=matrix,
        ratio=lower,
        lower_bound=lower,
        upper_bound=upper,
        is_optimal=proven,
        certificate=certificate,
        seconds=0.0,
        columns=columns,
        ignored=[column for column, keep in zip(columns, used, strict=True) if not keep],
        method=method,
        eps=problem.eps,
        spread=spread,
        n_records=n,
        _learned=learned,
    )
    ratio = link_records(release, original, columns=columns, distance=result).ratio
    if not proven and method != "climb":
        warnings.warn(
            f"the limit was reached: a ratio of {ratio:.4f} was found, at most {upper:.4f} is possible",
            SearchLimitWarning,
            stacklevel=4,
        )
    return replace(result, ratio=ratio, upper_bound=max(upper, ratio), seconds=time.perf_counter() - started)


def _aligned(
    release: pd.DataFrame, original: pd.DataFrame, columns: str | Sequence[str] | None, model: str
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return both files in the original's order, records that only it has last, and the columns compared."""
    check_table(release, "release", min_records=2)
    check_table(original, "original", min_records=2)
    check_unique(release, "release")
    check_unique(original, "original")
    if not release.index.equals(original.index):
        strange = release.index.difference(original.index)
        if len(strange):
            raise DataError(
                f"`original` must have the index labels of `release`, got {strange[0]!r} in `release` only: "
                "the true partner of a record is unknown without them"
            )
        is_paired = original.index.isin(release.index)
        original = pd.concat([original[is_paired], original[~is_paired]])
        release = release.loc[original.index[: len(release)]]
    listed = common_columns(release, original, columns, known_name="original")
    if model != "weighted_mean" and len(listed) > _MOST_VARIABLES:
        why = "sets of columns" if model == "choquet" else "pairs of columns"
        raise ParameterError(
            f"`columns` must be at most {_MOST_VARIABLES} for `model` = {model!r}, got {len(listed)}: "
            f"there is one value for each of the {'2**n ' if model == 'choquet' else ''}{why}"
        )
    return release, original, listed


def _on_all_columns(
    x: FloatArray, columns: list[str], used: BoolArray, model: str
) -> tuple[pd.Series | None, FuzzyMeasure | None, pd.DataFrame | None]:
    """Return weights, measure and matrix on all columns from x on the used ones, None where the model has none."""
    places, index = np.flatnonzero(used), pd.Index(columns, name="variable")
    if model == "bilinear":
        square = np.zeros((len(columns), len(columns)))
        square[np.ix_(places, places)] = as_square(x)
        return None, None, pd.DataFrame(square, index=index, columns=columns)
    if model == "weighted_mean":
        weights = pd.Series(0.0, index=index, name="weight")
        weights.iloc[places] = x
        return weights, FuzzyMeasure.from_weights(weights), None
    masks = np.arange(2 ** len(columns))
    inner = np.zeros(masks.size, np.int64)
    for bit, place in enumerate(places):
        inner |= ((masks >> place) & 1) << bit
    return None, FuzzyMeasure(x[inner], columns), None
