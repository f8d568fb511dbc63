"""The rule that decides published tables and sentences keeps its level and loses "agrees" when cells are moved."""

import dataclasses

import numpy as np
import pytest

from reident.experiments import decide

CELLS, BETWEEN, WITHIN = 24, 0.01, 0.04


def draw(rng, n_datasets, repetitions, mean):
    """Return values[data set, repetition, cell]: effects of data sets correlate between cells by a half."""
    effects = np.sqrt(0.5) * (rng.normal(size=(n_datasets, 1)) + rng.normal(size=(n_datasets, CELLS)))
    noise = rng.normal(0, WITHIN, (n_datasets, repetitions, CELLS))
    return mean + BETWEEN * effects[:, None, :] + noise


def paper(rng, off=0.0):
    """Return trials of ours and the table of a paper whose expectations differ by `off`, both random draws."""
    mean = np.linspace(0.2, 0.9, CELLS)
    printed = draw(rng, 1, 100, mean - off).mean(axis=(0, 1))
    return draw(rng, 18, 10, mean), decide.PublishedTable(printed, np.full(CELLS, 0.05))


def test_levels_of_repeated_looks_keep_five_percent_together():
    rng, schedule = np.random.default_rng(1), (5, 8, 12, 18)
    level, papers = decide.nominal_level(schedule), 4_000
    ours = rng.normal(size=(papers, 18))
    from scipy import stats

    wrong = np.zeros(papers, dtype=bool)
    for n in schedule:
        wrong |= stats.ttest_1samp(ours[:, :n], 0, axis=1, alternative="greater").pvalue <= level
    assert wrong.mean() == pytest.approx(0.05, abs=0.012)  # three standard errors


def verdicts(off, papers=40):
    found = [decide.decide_table(*paper(np.random.default_rng([3, k]), off))[0].verdict for k in range(papers)]
    return {name: np.mean([verdict == name for verdict in found]) for name in ("agrees", "differs", "open")}


def test_equal_papers_agree_and_distant_ones_differ():
    assert verdicts(0.0)["agrees"] >= 0.9
    assert verdicts(0.0)["differs"] == 0
    assert verdicts(0.1)["differs"] >= 0.9


def test_papers_that_are_off_by_the_margin_rarely_agree():
    """At most .05 of them: with 40 papers up to five may (probability .99)."""
    assert verdicts(0.05)["agrees"] <= 5 / 40


def test_moving_one_published_cell_by_three_margins_loses_agrees():
    lost = []
    for k in range(20):
        values, table = paper(np.random.default_rng([4, k]))
        decision = decide.decide_table(values, table)
        if decision[0].verdict != "agrees":
            continue
        moved = table.published + 3 * decision[0].margin * (np.arange(CELLS) == k)
        lost.append(decide.decide_table(values, dataclasses.replace(table, published=moved))[0].verdict != "agrees")
    assert len(lost) >= 15
    assert np.mean(lost) >= 0.9


@pytest.mark.parametrize("factor", [0, 2])
def test_a_table_of_other_numbers_differs(factor):
    values, table = paper(np.random.default_rng(5))
    other = dataclasses.replace(table, published=factor * table.published)
    assert decide.decide_table(values, other)[0].verdict == "differs"


def test_the_verdict_does_not_use_later_data_sets():
    values, table = paper(np.random.default_rng(6))
    verdict, look = decide.decide_table(values, table)
    later = values.copy()
    later[look:] += 1
    assert decide.decide_table(later, table)[1] == look
    assert decide.decide_table(later, table)[0].rms == verdict.rms
    assert decide.decide_table(values[:4], table) is None


def test_a_paper_of_few_repetitions_is_undecidable_and_as_printed_it_is_not():
    values, table = paper(np.random.default_rng(7))
    vague = dataclasses.replace(table, repetitions=1, margin=np.full(CELLS, 0.02))
    assert decide.verdict_of(decide.components(values), vague).verdict == "undecidable"
    needed = decide.datasets_needed(float(decide.published_error(decide.components(values), vague)[0]), 0.02)
    assert 20 < needed < 70  # (2.93 x .041 / .02)^2
    as_printed = decide.verdict_of(decide.components(values), dataclasses.replace(vague, n_datasets=np.inf))
    assert as_printed.verdict != "undecidable"


def test_cells_that_never_vary_are_judged():
    table = decide.PublishedTable(np.array([1.0, 0.5]), np.array([0.05, 0.05]))
    verdict, look = decide.decide_table(np.tile([1.0, 0.5], (5, 3, 1)), table)
    assert (verdict.verdict, look) == ("agrees", 5)


def test_holm_rejects_in_steps():
    assert decide.holm(np.array([0.01, 0.04, 0.03, 0.005]), 0.05).tolist() == [True, False, False, True]


@pytest.mark.parametrize(("mean", "verdict"), [(0.3, "agrees"), (-0.3, "differs"), (0.0, "open")])
def test_a_sentence_is_decided_by_its_limits(mean, verdict):
    effects = np.random.default_rng(8).normal(mean, 0.05, (18, 3)) - (0 if mean else [0.0, 0.0, 0.0])
    if mean == 0:
        effects -= effects.mean(axis=0)
    low, high = np.zeros(3), np.full(3, np.inf)
    assert decide.decide_sentence(effects, low, high)[0] == verdict
