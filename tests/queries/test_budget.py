import copy
import multiprocessing
import pickle
import sys
import threading
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import grid_trials
import reident
from reident import DataError, ParameterError
from reident.queries import Budget


def test_a_hundred_hundredths_are_one():
    budget = Budget(1)
    for _ in range(100):
        budget.spend(0.01)
    assert budget.remaining == 0
    assert budget.spent == 1
    with pytest.raises(ParameterError, match=r"at most what remains of the budget \(0 of 1\), got 0.01"):
        budget.spend(0.01)
    assert len(budget.ledger) == 100


@given(st.lists(st.fractions(min_value=Fraction(1, 100), max_value=1), min_size=1, max_size=20))
def test_remaining_is_the_total_less_the_sum(parts):
    budget = Budget(sum(parts))
    for position, part in enumerate(parts):
        assert budget.remaining == sum(parts[position:])
        budget.spend(part, f"query {position}")
    assert budget.remaining == 0


QUERIES = {
    "count": lambda **kws: reident.queries.laplace_count([True, False], **kws),
    "sum": lambda **kws: reident.queries.laplace_sum([1, 2], bounds=(0, 2), **kws),
    "histogram": lambda **kws: reident.laplace_histogram(["a"], categories=["a", "b"], **kws),
    "k-means": lambda **kws: reident.queries.private_kmeans([[0.5, 0.5]], 1, bounds=(0, 1), **kws),
    "exponential mechanism": lambda **kws: reident.queries.exponential_mechanism("ab", [1, 2], **kws),
    "degree sequence": lambda **kws: reident.queries.private_degree_sequence([1, 1], **kws),
}


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_spends_and_stops_before_it_answers(name):
    budget = Budget(1)
    answer = QUERIES[name](epsilon=0.75, budget=budget)
    assert budget.spent == Fraction(3, 4)
    assert budget.ledger[0].purpose == name
    assert answer.epsilon == 0.75
    assert answer.private
    with pytest.raises(ParameterError, match=f"no answer was computed for {name}"):
        QUERIES[name](epsilon=0.5, budget=budget)
    assert budget.remaining == Fraction(1, 4)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 1e3, 1e7, 1e12, 2.0**40, 1e18, 1e40, 1e300])
@pytest.mark.parametrize("name", QUERIES)
def test_every_query_answers_at_once_at_every_epsilon(name, epsilon):
    QUERIES[name](epsilon=epsilon)  # a fraction with epsilon's digits would take hours


@pytest.fixture(params=["memory", "file"])
def budget(request, tmp_path):
    return Budget(1, file=None if request.param == "memory" else tmp_path / "ledger.jsonl")


def test_a_copy_is_the_budget_itself_and_the_total_stays(budget):
    for twin in (copy.copy(budget), copy.deepcopy({"budget": budget})["budget"]):
        assert twin is budget
    with pytest.raises(AttributeError):
        budget.total = 5


def test_threads_together_spend_no_more_than_the_total(budget):
    granted = []

    def work():
        for _ in range(20):
            try:
                granted.append(budget.spend("1/10"))
            except ParameterError:
                return

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert sum(granted) == budget.spent == sum(one.epsilon for one in budget.ledger) == 1


def test_a_budget_in_memory_stays_in_its_process():
    with pytest.raises(ParameterError, match="stays in its process"):
        pickle.dumps(Budget(1))
    budget = Budget(1)
    budget._process -= 1  # as after a fork
    with pytest.raises(ParameterError, match=r"Budget\(total, file=...\)"):
        budget.spend("1/2")


def test_processes_share_a_ledger_on_disk(tmp_path):
    budget = Budget(1, file=tmp_path / "ledger.jsonl")
    context = multiprocessing.get_context("spawn")
    granted = context.Queue()
    workers = [context.Process(target=grid_trials.spend_all, args=(budget, granted)) for _ in range(2)]
    for worker in workers:
        worker.start()
    grid_trials.spend_all(pickle.loads(pickle.dumps(budget)), granted)
    assert sum(granted.get(timeout=60) for _ in range(3)) == 50
    for worker in workers:
        worker.join()
    again = Budget("1", file=tmp_path / "ledger.jsonl")
    assert again.remaining == budget.remaining == 0
    assert len(again.ledger) == 50
    with pytest.raises(ParameterError, match=r"`total` must be that of the ledger .* \(1\), got 2"):
        Budget(2, file=tmp_path / "ledger.jsonl")


@pytest.mark.parametrize("damage", ["shorter", "changed", "earlier", "gone"])
def test_a_ledger_that_was_tampered_with_is_refused(tmp_path, damage):
    file = tmp_path / "ledger.jsonl"
    budget = Budget(1, file=file)
    for _ in range(3):
        budget.spend("1/4", "count")
    lines = file.read_bytes().splitlines(keepends=True)
    changed = {
        "shorter": lines[:-1],
        "changed": [*lines[:2], lines[2].replace(b"1/4", b"1/9"), lines[3]],
        "earlier": [],
    }
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(b"".join(changed[damage]))
    with pytest.raises(DataError, match="`file`"):
        budget.spend("1/8")


def test_a_line_that_was_not_finished_was_not_spent(tmp_path):
    file = tmp_path / "ledger.jsonl"
    Budget(1, file=file).spend("1/4")
    whole = file.read_bytes()
    file.write_bytes(whole + whole.splitlines()[-1][:20])
    again = Budget(1, file=file)
    assert again.remaining == Fraction(3, 4)
    assert file.read_bytes() == whole
    for content in (b"{}\n", b"text\n"):
        file.write_bytes(content)
        with pytest.raises(DataError, match="must be the ledger of a budget"):
            Budget(1, file=file)
    with pytest.raises(DataError, match="can be read and written"):
        Budget(1, file=tmp_path / "no" / "ledger")
