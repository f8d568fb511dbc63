import itertools
import time
import warnings
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_linkage import (
    as_measure,
    choquet,
    conflicts_of,
    corner_rows,
    files,
    least_hitting_set,
    random_measure,
    sets,
    squares,
    together,
)
from reident import DataError, ParameterError, SearchLimitWarning, learn_linkage, link_records
from reident.tables import FuzzyMeasure
from reident.tables.choquet import _benders
from reident.tables.choquet._benders import cover_bound, solve_cover
from reident.tables.choquet._learning_problem import Clock, build_problem
from reident.tables.choquet._weight_cells import divide_weights
from reident.tables.choquet.fuzzy_measure import monotone_closure, zeta_transform


def linked(distances):
    others = distances + np.where(np.eye(len(distances), dtype=bool), np.inf, 0)
    return int((np.diag(distances) < others.min(axis=1)).sum())


def measures_on_a_grid(n, steps):
    """All fuzzy measures with values in multiples of 1 / steps."""
    inner = [s for s in sets(n) if 0 < len(s) < n]
    for levels in product(range(steps + 1), repeat=len(inner)):
        measure = dict(zip(inner, levels, strict=True)) | {frozenset(): 0, frozenset(range(n)): steps}
        if all(measure[s] <= measure[t] for s in measure for t in measure if s < t):
            yield {s: level / steps for s, level in measure.items()}


@pytest.mark.parametrize(
    ("n", "p", "seed", "steps"),
    [*((7, 2, seed, 20) for seed in range(4)), pytest.param(6, 3, 11, 3, marks=pytest.mark.slow)],
)
def test_no_measure_on_a_grid_links_more(n, p, seed, steps):
    release, original = files(n, p, seed)
    d = squares(release, original)
    for model in ("weighted_mean", "choquet"):
        learned = learn_linkage(release, original, model=model)
        assert learned.is_optimal
        best = 0
        for measure in measures_on_a_grid(p, steps):
            single = sum(measure[frozenset({column})] for column in range(p))
            if model == "weighted_mean" and (p > 2 or abs(single - 1) > 1e-9):
                continue
            best = max(best, linked(np.array([[choquet(list(pair), measure) for pair in row] for row in d])))
        assert learned.ratio * n >= best


@pytest.mark.parametrize(
    ("model", "n", "p", "seed"),
    [
        ("weighted_mean", 14, 3, 1),
        ("weighted_mean", 14, 3, 2),
        ("choquet", 14, 3, 3),
        pytest.param("bilinear", 12, 2, 0, marks=pytest.mark.slow),
    ],
)
def test_certificate_proves_the_bound(model, n, p, seed):
    release, original = files(n, p, seed, noise=0.9 + 0.1 * (model == "bilinear"))
    learned = learn_linkage(release, original, model=model)
    assert learned.is_optimal
    conflicts, rows = conflicts_of(learned, original), corner_rows(release, original, model)
    assert model == "choquet" or max(map(len, conflicts)) > 1
    for conflict in conflicts:
        assert not together(rows, conflict)
        for block in conflict if model != "bilinear" else ():
            assert len(conflict) == 1 or together(rows, conflict - {block})
    least = least_hitting_set(conflicts, n)
    assert round(learned.upper_bound * n) == n - least == round(learned.ratio * n)


@pytest.mark.parametrize(("model", "method"), [("choquet", "benders"), ("choquet", "milp"), ("bilinear", "benders")])
@pytest.mark.parametrize("limit", [{"time_limit_s": 1e-3}, {"step_limit": 3}])
def test_a_limit_returns_the_best_so_far_with_bounds_and_one_of_steps_whatever_the_clock_says(
    monkeypatch, model, method, limit
):
    rng = np.random.default_rng(0)
    original = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    release = original + 1.5 * rng.normal(size=(120, 5))
    if (method, "step_limit") == ("milp", *limit):
        with pytest.raises(ParameterError, match="step_limit"):
            learn_linkage(release, original, model=model, method=method, **limit)
        return
    with pytest.warns(SearchLimitWarning, match="limit"):
        learned = learn_linkage(release, original, model=model, method=method, **limit)
    assert not learned.is_optimal
    assert learned.lower_bound <= learned.ratio <= learned.upper_bound
    assert learned.ratio >= link_records(release, original).ratio - 1e-12
    if "step_limit" in limit:
        seconds = itertools.count(0, 1000)
        monkeypatch.setattr(time, "perf_counter", lambda: float(next(seconds)))
        with pytest.warns(SearchLimitWarning, match="limit"):
            again = learn_linkage(release, original, model=model, method=method, **limit)
        assert (again.ratio, again.certificate) == (learned.ratio, learned.certificate)


def draw_cover(rng):
    """Return conflicts of ten records, and the fewest records that hit all of them, by trying every choice."""
    conflicts = [
        tuple(rng.choice(10, rng.integers(1 + (rng.random() < 0.9), 4), replace=False))
        for _ in range(rng.integers(1, 40))
    ]
    picks = np.arange(1024)[:, None] >> np.arange(10) & 1
    hit = np.all([picks[:, list(conflict)].any(1) for conflict in conflicts], axis=0)
    return conflicts, int(picks.sum(axis=1)[hit].min())


def test_the_covering_problem_is_solved_exactly_and_its_bounds_hold_whenever_it_is_stopped():
    rng = np.random.default_rng(8)
    searched = 0
    for _ in range(100):
        conflicts, least = draw_cover(rng)
        assert cover_bound(conflicts) <= least
        assert solve_cover(10, conflicts, least, Clock(), np.inf) == (least, None)
        stopped, none = solve_cover(10, conflicts, least, Clock(), -np.inf)
        assert none is None
        assert stopped <= least
        searched += stopped < least
        bound, pick = solve_cover(10, conflicts, least + 1, Clock(), np.inf)
        assert pick.sum() == least >= bound
        assert all(pick[list(conflict)].any() for conflict in conflicts)
    assert searched > 5
    # one of every two of three has to be given up: half of each, which makes two in whole numbers
    assert cover_bound([(0, 1), (1, 2), (0, 2)]) == 2


@pytest.mark.whole
@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 9),
    p=st.integers(1, 3),
    model=st.sampled_from(["weighted_mean", "choquet"]),
)
def test_both_formulations_agree(seed, n, p, model):
    release, original = files(n, p, seed, noise=1.0)
    fast = learn_linkage(release, original, model=model)
    plain = learn_linkage(release, original, model=model, method="milp")
    assert fast.is_optimal
    assert plain.is_optimal
    assert fast.ratio == plain.ratio
    assert fast.upper_bound == pytest.approx(plain.upper_bound)
    assert plain.certificate == []


@pytest.mark.whole
@pytest.mark.parametrize("model", ["weighted_mean", "choquet"])
def test_climbing_links_no_fewer_than_the_simple_mean_and_no_more_than_is_possible(model):
    reached = []
    for seed in range(6):
        release, original = files(25, 3, seed, noise=1.0)
        found = learn_linkage(release, original, model=model, method="climb")
        best = learn_linkage(release, original, model=model)
        assert best.is_optimal
        assert link_records(release, original).ratio <= found.ratio <= best.ratio
        assert found.lower_bound == found.ratio <= best.upper_bound <= found.upper_bound
        assert found.is_optimal == (found.ratio == found.upper_bound)
        assert found.measure == learn_linkage(release, original, model=model, method="climb", time_limit_s=1e-9).measure
        assert {len(conflict) for conflict in found.certificate} <= {1}
        reached.append(found.ratio >= best.ratio - 1.5 / 25)
    assert sum(reached) >= 5


@pytest.mark.whole
@pytest.mark.parametrize("model", ["weighted_mean", "choquet"])
def test_many_records_are_bounded_in_parts(monkeypatch, model):
    closed = 0
    for seed in range(3):
        release, original = files(24, 3, seed, noise=0.9)
        best = learn_linkage(release, original, model=model)
        assert best.is_optimal
        with monkeypatch.context() as patch, warnings.catch_warnings():
            patch.setattr(_benders, "_MANY", 10)
            patch.setattr(_benders, "_PART", 8)
            warnings.simplefilter("ignore", SearchLimitWarning)
            found = learn_linkage(release, original, model=model)
        assert found.lower_bound <= best.ratio <= found.upper_bound
        assert found.ratio >= best.ratio - 0.1
        rows = corner_rows(release, original, model)
        assert not any(together(rows, conflict) for conflict in conflicts_of(found, original)[:8])
        closed += found.upper_bound < 1
    assert closed == 3


@pytest.mark.whole
def test_constant_column_gets_no_weight_and_the_ratio_is_that_of_linking():
    release, original = files(20, 2, 1)
    for model in ("weighted_mean", "choquet"):
        learned = learn_linkage(release.assign(c=1.0), original.assign(c=3.0), model=model)
        assert learned.ignored == ["c"]
        assert learned.ratio == learn_linkage(release, original, model=model).ratio
        assert learned.measure.shapley()["c"] == pytest.approx(0)
        assert (learned.weights is None) == (model == "choquet")
        for distance in (learned, learned.measure):
            found = link_records(release.assign(c=1.0), original.assign(c=3.0), distance=distance)
            assert found.ratio == learned.ratio


def test_duplicates_can_never_be_linked():
    release, original = files(12, 2, 4)
    original = original.copy()
    original.iloc[3] = original.iloc[7]
    learned = learn_linkage(release, original, model="choquet")
    assert {("r3",), ("r7",)} <= set(learned.certificate)


@pytest.mark.whole
@pytest.mark.parametrize(
    "model",
    [
        "weighted_mean",
        pytest.param("choquet", marks=pytest.mark.slow),
        pytest.param("bilinear", marks=pytest.mark.slow),
    ],
)
def test_weights_learned_on_some_pairs_among_all_records_carry_over_to_others(model):
    # Two columns tell much, two nearly nothing; the known persons are no random part, so that the files' means differ.
    rng = np.random.default_rng(5)
    original = pd.DataFrame(rng.lognormal(size=(900, 4)), columns=list("abcd"))
    original = original.sort_values("a", ignore_index=True)
    release = original * np.exp(rng.normal(size=(900, 4)) * [0.02, 0.05, 1.5, 1.5])
    known = original.iloc[::-1].iloc[:500]
    taught, others = known.iloc[::5], known.drop(known.index[::5])
    learned = learn_linkage(
        taught, release, model=model, scaling="dbrl2", method="benders" if model == "weighted_mean" else "climb"
    )
    assert learned.n_records == 100
    assert learned.lower_bound <= learned.ratio
    plain = link_records(others, release, distance="dbrl2").ratio
    by_file = link_records(others, release, distance="dbrl1").ratio
    assert link_records(others, release, distance=learned).ratio > max(plain, by_file) + 0.2


def test_records_of_the_original_alone_are_rivals():
    release = pd.DataFrame({"a": [0.0, 1.0, 5.0], "b": [0.0, 2.0, 1.0]}, index=["x", "y", "z"])
    original = release + 0.1
    alone = learn_linkage(release, original, scaling="dbrl2")
    assert alone.ratio == 1.0
    # A stranger who equals x's released record is nearer to it than x, whatever the weights.
    stranger = pd.DataFrame({"a": [0.0], "b": [0.0]}, index=["w"])
    among = pd.concat([stranger, original])
    for method in ("benders", "milp", "climb"):
        found = learn_linkage(release, among, scaling="dbrl2", method=method)
        assert (found.ratio, found.n_records) == (2 / 3, 3)
        assert found.upper_bound == pytest.approx(2 / 3) or method == "climb"
    assert ("x",) in learn_linkage(release, among, scaling="dbrl2").certificate
    with pytest.raises(DataError, match="'q' in `release` only"):
        learn_linkage(release.rename(index={"x": "q"}), among)


def problem_of(n, p, seed):
    rng = np.random.default_rng(seed)
    known = rng.lognormal(size=(n, p))
    return build_problem(known * np.exp(rng.normal(size=(n, p))), known, "weighted_mean", 1e-7)


class Best:
    """The fewest blocks given up by any weights tried."""

    def __init__(self, problem):
        self.problem, self.least = problem, problem.blocks.size + 1

    def __call__(self, x):
        assert x.min() >= 0
        assert x.sum() == pytest.approx(1)
        self.least = min(self.least, int((self.problem.margins(x)[0] < self.problem.eps).sum()))
        return self.least


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 14), p=st.integers(1, 4))
def test_cells_and_conflicts_agree(seed, n, p):
    problem = problem_of(n, p, seed)
    best = Best(problem)
    bound = divide_weights(problem, best, Clock(), np.inf)
    found = _benders.solve_benders(problem, Clock(), time.perf_counter() + 60, np.random.default_rng(seed))
    assert found.lower_bound == found.given_up
    assert bound == best.least == found.given_up


@pytest.mark.whole
def test_a_search_that_is_stopped_has_a_bound_below_the_optimum(monkeypatch):
    problem = problem_of(40, 4, 1)
    optimum = divide_weights(problem, Best(problem), Clock(), np.inf)
    bounds = []
    for cells in (0, 5, 50, 10**6):
        looks = itertools.count()
        monkeypatch.setattr(time, "perf_counter", lambda looks=looks: next(looks))
        best = Best(problem)
        bounds.append(divide_weights(problem, best, Clock(), cells))
        assert bounds[-1] <= optimum <= best.least
    assert bounds[0] == 0
    assert bounds[-1] == optimum


def test_every_record_left_unlinked_gets_a_reason(monkeypatch):
    monkeypatch.setattr(_benders, "_ROUNDS_BEFORE_CELLS", 0)
    rng = np.random.default_rng(3)
    original = pd.DataFrame(rng.lognormal(size=(30, 3)), columns=["pay", "tax", "rent"])
    release = original * np.exp(rng.normal(size=(30, 3)))
    learned = learn_linkage(release, original)
    assert learned.is_optimal
    assert learned.ratio == learn_linkage(release, original, method="milp", time_limit_s=120).ratio
    linked = link_records(release, original, distance=learned).links["outcome"] == "correct"
    left = set(original.index[~linked.to_numpy()])
    assert left
    for record in left:
        assert any(set(reason) & left == {record} for reason in learned.certificate)


def some_measure(seed, n):
    return FuzzyMeasure(random_measure(np.random.default_rng(seed), n), [f"v{i}" for i in range(n)])


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6))
def test_moebius_round_trip_and_definition(seed, n):
    measure = some_measure(seed, n)
    np.testing.assert_allclose(zeta_transform(measure.moebius(), 1.0), measure.values, atol=1e-12)
    values = as_measure(measure.values, n)
    for s in sets(min(n, 4)):
        ref = sum((-1) ** (len(s) - len(t)) * values[t] for t in sets(min(n, 4)) if t <= s)
        assert measure.moebius()[sum(1 << i for i in s)] == pytest.approx(ref, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_shapley_is_the_mean_over_all_orders(n):
    measure = some_measure(n, n)
    values = as_measure(measure.values, n)
    gains = np.zeros(n)
    orders = list(permutations(range(n)))
    for order in orders:
        for place, i in enumerate(order):
            gains[i] += values[frozenset(order[: place + 1])] - values[frozenset(order[:place])]
    np.testing.assert_allclose(measure.shapley(), gains / len(orders), atol=1e-12)
    assert measure.shapley().sum() == pytest.approx(1)


def test_interaction_tells_complements_from_substitutes():
    both = FuzzyMeasure([0, 0, 0, 1], ["a", "b"]).interaction()
    either = FuzzyMeasure([0, 1, 1, 1], ["a", "b"]).interaction()
    assert both.loc["a", "b"] == 1
    assert either.loc["a", "b"] == -1
    additive = FuzzyMeasure.from_weights({"a": 1, "b": 2, "c": 3})
    assert np.nanmax(np.abs(additive.interaction())) < 1e-12
    pd.testing.assert_series_equal(
        additive.shapley().reset_index(drop=True), pd.Series([1 / 6, 1 / 3, 1 / 2]), check_names=False
    )


def test_printed_measure_of_m4_28():
    """Abril et al. (2012), table 3: the first variable alone has measure .999168."""
    printed = {"1000": 0.999168, "0100": 0.039292, "0010": 0.003651, "0001": 0.154253, "0011": 0.207612}
    names = ["AFNLWGT", "AGI", "EMCONTRB", "FEDTAX"]
    values = np.zeros(16)
    values[[*(int(code[::-1], 2) for code in printed), 15]] = [*printed.values(), 1]
    measure = FuzzyMeasure(monotone_closure(values), names)
    table = measure.table().set_index("code")["measure"]
    for code, value in printed.items():
        assert table[code] == value
    assert table["1111"] == 1
    assert measure[["AFNLWGT"]] == 0.999168
    assert measure["FEDTAX"] == 0.154253
