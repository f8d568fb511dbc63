"""The search of weights cell by cell: the same optimum as conflicts and covering, honest bounds when stopped."""

import itertools
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reident import learn_linkage, link_records
from reident.tables.choquet import _benders
from reident.tables.choquet._learning_problem import build_problem
from reident.tables.choquet._weight_cells import divide_weights


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


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 14), p=st.integers(1, 4))
def test_cells_and_conflicts_agree(seed, n, p):
    problem = problem_of(n, p, seed)
    best = Best(problem)
    bound = divide_weights(problem, best, np.inf)
    found = _benders.solve_benders(problem, time.perf_counter() + 60, np.random.default_rng(seed))
    assert found.lower_bound == found.given_up
    assert bound == best.least == found.given_up


@pytest.mark.whole
def test_a_search_that_is_stopped_has_a_bound_below_the_optimum(monkeypatch):
    problem = problem_of(40, 4, 1)
    optimum = divide_weights(problem, Best(problem), np.inf)
    bounds = []
    for cells in (0, 5, 50, 10**6):
        looks = itertools.count()
        monkeypatch.setattr(time, "perf_counter", lambda looks=looks: next(looks))
        best = Best(problem)
        bounds.append(divide_weights(problem, best, cells))
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
