"""Experiment of Abril, Navarro-Arribas and Torra (2012): record linkage with learned weights.

Records of the file Census are microaggregated and linked to their originals. What the paper leaves open follows from
its own table 1: columns in the order of the file, clusters on columns as they are, a released record is compared with
all originals. The paper's 400 records are not published: each repetition draws records anew.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import BoolArray, FloatArray, IntArray, ParameterError, Parameters, Row, quiet
from reident.data.datasets import load_casc, published
from reident.experiments.parameters import read_own
from reident.tables.choquet.choquet_linkage import LearnedLinkage, learn_linkage
from reident.tables.choquet.fuzzy_measure import FuzzyMeasure
from reident.tables.microaggregation import microaggregate
from reident.tables.record_linkage import TIE, link_records

#: The paper's seven protections (section 4): name -> (number of columns, k) of each group, in file order. For M7-999
#: the text says k = 3 although the other names spell the k: the text is followed.
PROTECTIONS: dict[str, tuple[tuple[int, int], ...]] = {
    "M4-33": ((2, 3), (2, 3)),
    "M4-28": ((2, 2), (2, 8)),
    "M4-82": ((2, 8), (2, 2)),
    "M5-38": ((3, 3), (2, 8)),
    "M6-385": ((2, 3), (2, 8), (2, 5)),
    "M6-853": ((2, 8), (2, 5), (2, 3)),
    "M7-999": ((3, 3), (3, 3), (1, 3)),
}
FILES = tuple(PROTECTIONS)

#: Weights of columns, or of sets of columns.
MODELS = ("weighted_mean", "choquet")

#: Variants of the set-up, one property changed at a time.
SETUPS = (
    "as adopted", "the tool's pairs", "standardised columns", "originals to releases", "digits from the right",
    "columns by name",
)  # fmt: skip


@lru_cache(maxsize=4)
def read_table(table: str = "") -> pd.DataFrame:
    """Return the numeric columns of an own CSV file, or Census for ""; not to be modified."""
    if not table:
        return load_casc("census")
    return read_own(table, "table").select_dtypes("number").dropna(axis="columns").astype(float)


def draw_records(rng: Generator, n_records: int = 400, table: str = "") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw records to learn from and as many others; of all records or more than half there are fewer others."""
    whole = read_table(table)
    chosen = rng.choice(len(whole), min(len(whole), 2 * n_records), replace=False)
    return whole.iloc[chosen[:n_records]], whole.iloc[chosen[n_records:]]


def groups_of(file: str, columns: Sequence[str]) -> tuple[list[list[str]], list[int]]:
    """Return groups of columns and the smallest cluster of each.

    `file` is a name of the paper, or an own protection such as ``"2/3 2/8"``: two columns with k = 3, two with k = 8.
    """
    try:
        sizes = PROTECTIONS.get(file) or [tuple(map(int, group.split("/"))) for group in file.split()]
        ends = np.cumsum([size for size, _ in sizes]).tolist()
    except ValueError:
        raise ParameterError(f"`files` must be names of the paper or such as '2/3 2/8', got {file!r}") from None
    if not sizes or min(min(size, k) for size, k in sizes) < 1 or ends[-1] > min(8, len(columns)):
        raise ParameterError(
            f"`files` must group at most {min(8, len(columns))} columns by k of 1 or more, got {file!r}"
        )
    groups = [list(columns[end - size : end]) for end, (size, _) in zip(ends, sizes, strict=True)]
    return groups, [k for _, k in sizes]


def protect(
    records: pd.DataFrame, file: str, *, scale: str | None = None, method: str = "mdav"
) -> tuple[pd.DataFrame, list[str], float]:
    """Microaggregate; return the release, its protected columns and the information loss (SSE / SST).

    The pairs of the paper's tool need groups of several columns: a group of one is clustered by MDAV.
    """
    release, columns, losses = records, list[str](), list[float]()
    for group, k in zip(*groups_of(file, records.columns), strict=True):
        masked = microaggregate(release, [group], k, scale=scale, method=method if len(group) > 1 else "mdav")
        release = masked.table
        columns += group
        losses += [masked.information_loss] * len(group)
    return release, columns, float(np.mean(losses))


@lru_cache(maxsize=1)
def _compile_learning() -> None:
    """Learn small problems once a process, so that compiling takes no time of a trial's limit."""
    values = np.random.default_rng(0).random((2, 30, 3))
    original, release = (pd.DataFrame(part, columns=list("abc")) for part in (values[0], values.mean(axis=0)))
    for model in MODELS:
        learn_linkage(release, original, model=model).ranges()


def learn(release: pd.DataFrame, original: pd.DataFrame, **options: Any) -> LearnedLinkage:
    """Learn without a warning at the time limit: a column says whether the result is proven."""
    with quiet():
        _compile_learning()
        return learn_linkage(release, original, **options)


def owa(weights: Sequence[float] | FloatArray, columns: Sequence[str]) -> FuzzyMeasure:
    """Return the measure of an ordered weighted average: the weight of the largest difference first."""
    total = np.concatenate([[0.0], np.cumsum(weights) / np.sum(weights)])
    total[-1] = 1.0
    return FuzzyMeasure([total[mask.bit_count()] for mask in range(2 ** len(columns))], columns)


def owa_ratio(release: pd.DataFrame, original: pd.DataFrame, columns: list[str], rng: Generator) -> float:
    """Return the largest linked share of 60 random ordered weighted averages: a lower bound of the optimum."""
    tried = [np.ones(len(columns)), *rng.dirichlet(np.ones(len(columns)), 59)]
    a, b = (((x - x.mean()) / x.std(ddof=0)).to_numpy(float) for x in (release[columns], original[columns]))
    partners, n_right = original.index.get_indexer(release.index), np.zeros(len(tried))
    for rows in np.array_split(np.arange(len(a)), 1 + a.size * len(b) // 2_000_000):
        squares = -np.sort(-((a[rows, None] - b) ** 2))  # the largest difference first
        n_right += [_linked(squares @ (w / w.sum()), partners[rows]).sum() for w in tried]
    return float(n_right.max() / len(a))


def _linked(distance: FloatArray, partners: IntArray) -> BoolArray:
    """Return the records to which none but the partner is as near, up to rounding."""
    true = distance[np.arange(len(distance)), partners]
    return (distance <= true[:, None] * (1 + TIE)).sum(axis=1) == 1


def kernel_ratio(release: pd.DataFrame, original: pd.DataFrame, columns: list[str]) -> float:
    """Return the linked share by the distance K(a, a) - 2 K(a, b) + K(b, b), K(a, b) = (1 + a.b) ** 2."""
    a, b = (((x - x.mean()) / x.std()).to_numpy(float) for x in (release[columns], original[columns]))
    own_a, own_b = ((1 + (x**2).sum(axis=1)) ** 2 for x in (a, b))
    distance = own_a[:, None] - 2 * (1 + a @ b.T) ** 2 + own_b
    return float(_linked(distance, original.index.get_indexer(release.index)).mean())


def trial(
    rng: Generator, *, file: str, learns: bool = False, n_records: int = 400, table: str = "", scale: str = "",
    method: str = "mdav", protects_first: bool = False, step_limit: int = 100_000,
) -> Row:  # fmt: skip
    """Draw records, protect them by `file` (see `groups_of`), link them, and apply learned distances to other records.

    `rng` chooses the records: settings that share a stream have the same ones. With `learns` both models are learned,
    each within `step_limit`, and other distances are tried, too. `table` is an own one in place of Census. Variants:
    `scale` "std" clusters on standardised columns; `method` "pairs" as the paper's tool; `protects_first` protects the
    whole table and draws then.

    Returns linked shares by each distance, on the records learned from and (``outside_``) on others; bounds and whether
    both optima are proven; seconds; gains paired within the draw; the largest Moebius value of the measure over the
    paper's bound n - 1; information loss and utility.
    """
    inside, outside = draw_records(rng, n_records, table)
    options: Parameters = {"scale": scale or None, "method": method}
    release, columns, loss = protect(inside, file, **options)
    if protects_first:
        release = protect(read_table(table), file, **options)[0].loc[inside.index]
    result: Row = {"information_loss": loss, "utility": 1 - loss}
    result["mean"] = link_records(release, inside, columns=columns).ratio
    if not learns:
        return result
    result["mean_reversed"] = link_records(inside, release, columns=columns).ratio
    result["kernel"] = kernel_ratio(release, inside, columns)
    result["probabilistic"] = link_records(release, inside, columns=columns, distance="probabilistic").ratio
    other = protect(outside, file, **options)[0] if len(outside) == len(inside) else None
    result["outside_mean"] = np.nan if other is None else link_records(other, outside, columns=columns).ratio
    for model in MODELS:
        learned = learn(release, inside, columns=columns, model=model, step_limit=step_limit, rng=rng)
        result |= {
            model: learned.ratio, f"bound_{model}": learned.upper_bound, f"proven_{model}": learned.is_optimal,
            f"seconds_{model}": learned.seconds,
            f"outside_{model}": np.nan if other is None else link_records(other, outside, distance=learned).ratio,
        }  # fmt: skip
        if learned.measure is not None and len(columns) > 1:
            result["moebius_to_bound"] = np.abs(learned.measure.moebius()).max() / (len(columns) - 1)
    return result | {
        "owa": owa_ratio(release, inside, columns, rng),
        "is_optimal": all(result[f"proven_{model}"] for model in MODELS),
        "gain_weighted_mean": result["weighted_mean"] - result["mean"],
        "gain_choquet": result["choquet"] - result["weighted_mean"],
    }  # fmt: skip


def printed_measure(table: str, columns: Sequence[str], *, reverse: bool = False) -> FuzzyMeasure:
    """Return a published measure or vector of weights, its first digit the first column, or the last."""
    printed = published("abril2012", table)
    codes = printed["code"].astype(str).str.zfill(len(columns)).str[:: -1 if reverse else 1]
    if "weight" in printed:
        by_place = {code.index("1"): weight for code, weight in zip(codes, printed["weight"], strict=True)}
        return FuzzyMeasure.from_weights({column: by_place[place] for place, column in enumerate(columns)})
    values = np.zeros(2 ** len(columns))
    values[[sum(1 << place for place, bit in enumerate(code) if bit == "1") for code in codes]] = printed["measure"]
    values[-1] = 1.0  # table 3 has .999999
    return FuzzyMeasure(values, columns)


def readings_of_published() -> Row:
    """Return the values, by claim, of statements that the document's own numbers decide."""
    four, six = printed_measure("measure_m4_28", list("abcd")), printed_measure("measure_m6_853", list("abcdef"))
    sets = [set(chosen) for size in range(7) for chosen in combinations("abcdef", size)]
    large = [chosen for chosen in sets if six[chosen] >= 0.1]
    smallest = [chosen for chosen in large if len(chosen) == min(map(len, large))]
    flips = [abs(six[chosen] - six[chosen | {other}]) for chosen in sets for other in "bf"]
    first = [four[{"a", *rest}] for size in range(4) for rest in combinations("bcd", size)]
    return {
        "rows of one kind, N = 400": 400 * 399,
        "monotonicity rows of six columns": sum(len(chosen) for chosen in sets if len(chosen) > 1),
        "M4-28: sets with the first variable have .999 or more, published table": bool(min(first) >= 0.999),
        "Figure 2: every least set has a variable of each block": all(
            chosen & block for chosen in smallest for block in ({"a", "b"}, {"c", "d"}, {"e", "f"})
        ),
        "Table 4: the second or the last variable changes little": bool(max(flips) <= 0.1),
    }


def setup_trial(rng: Generator, *, file: str, measure: str, setup: str, n_records: int = 400) -> Row:
    """Apply a published measure to one draw of Census under one of `SETUPS`."""
    inside, _ = draw_records(rng, n_records)
    if setup == "columns by name":
        inside = inside[sorted(inside.columns)]
    scale = "std" if setup == "standardised columns" else None
    release, columns, _ = protect(inside, file, scale=scale, method="pairs" if setup == "the tool's pairs" else "mdav")
    distance = printed_measure(measure, columns, reverse=setup == "digits from the right")
    pair = (release, inside) if setup != "originals to releases" else (inside, release)
    return {
        "ratio": link_records(*pair, columns=columns, distance=distance).ratio,
        "mean": link_records(*pair, columns=columns).ratio,
    }


def determined_trial(rng: Generator, *, file: str, model: str, n_records: int = 400, step_limit: int = 100_000) -> Row:
    """Return properties of all optimal measures of one draw: range of the first column, leader, best pair."""
    inside, _ = draw_records(rng, n_records)
    release, columns, _ = protect(inside, file)
    learned = learn(release, inside, columns=columns, model=model, step_limit=step_limit)
    ranges = learned.ranges(step_limit=step_limit)
    first = ranges.measure.loc[[(columns[0],)]].iloc[0]
    pairs = ranges.measure[[len(chosen) == 2 for chosen in ranges.measure.index]]
    best = pairs["low"].idxmax()
    is_best = pairs["low"].max() > pairs["high"].drop([best]).max() if len(pairs) > 1 else False
    return {
        "is_optimal": learned.is_optimal, "n_sets": ranges.n_sets, "is_complete": ranges.is_complete,
        "first_low": first["low"], "first_high": first["high"], "leader": ranges.leader or "",
        "leading_place": columns.index(ranges.leader) + 1 if ranges.leader else 0,
        "best_pair": " and ".join(best) if is_best else "",
        "shapley_width": (ranges.shapley["high"] - ranges.shapley["low"]).mean(),
    }  # fmt: skip


def race_trial(rng: Generator, *, method: str, n_records: int, time_limit_s: float = 30.0) -> Row:
    """Learn the Choquet integral by conflicts ("benders") or by the paper's programme ("milp"), on the same records."""
    inside, _ = draw_records(rng)
    few = inside.iloc[:n_records]
    release, columns, _ = protect(few, "M4-33")
    learned = learn(release, few, columns=columns, model="choquet", method=method, time_limit_s=time_limit_s)
    bound = learned.upper_bound
    return {"seconds": learned.seconds, "ratio": learned.ratio, "bound": bound, "is_optimal": learned.is_optimal}
