import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident import DataError
from reident.tables import Hierarchy, individual_risk, special_uniques
from reident.tables.disclosure import equivalence_classes, k_anonymity, l_diversity, t_closeness


def naive_classes(table, quasi, sensitive):
    groups = {}
    for key, value in zip(table[quasi].itertuples(index=False, name=None), table[sensitive], strict=True):
        groups.setdefault(key, []).append(value)
    return list(groups.values())


def naive_recursive_l(values, c):
    counts = sorted(Counter(values).values(), reverse=True)
    return max((ell for ell in range(1, len(counts) + 1) if counts[0] < c * sum(counts[ell - 1 :])), default=0)


def naive_t(groups, everything, distance):
    ranked = sorted(set(everything))
    worst = 0.0
    for group in groups:
        gaps = [group.count(v) / len(group) - everything.count(v) / len(everything) for v in ranked]
        if distance == "equal":
            worst = max(worst, sum(abs(gap) for gap in gaps) / 2)
        elif len(ranked) > 1:
            worst = max(worst, sum(abs(sum(gaps[: i + 1])) for i in range(len(gaps))) / (len(ranked) - 1))
    return worst


TABLES = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 4)), min_size=1, max_size=30).map(
    lambda rows: pd.DataFrame(rows, columns=["age", "sex", "ill"])
)


@given(TABLES, st.sampled_from([0.5, 1.0, 2.0, 3.0]))
def test_all_measures_against_plain_loops(table, c):
    quasi = ["age", "sex"]
    groups = naive_classes(table, quasi, "ill")
    everything = table["ill"].tolist()
    assert k_anonymity(table, quasi) == min(len(group) for group in groups)
    assert l_diversity(table, quasi, "ill") == min(len(set(group)) for group in groups)
    entropies = [-sum(n / len(g) * math.log(n / len(g)) for n in Counter(g).values()) for g in groups]
    assert l_diversity(table, quasi, "ill", kind="entropy") == pytest.approx(math.exp(min(entropies)), abs=1e-12)
    ref = min(naive_recursive_l(group, c) for group in groups)
    assert l_diversity(table, quasi, "ill", kind="recursive", c=c) == ref
    for distance in ("equal", "ordered"):
        comp = t_closeness(table, quasi, "ill", distance=distance)
        assert comp == pytest.approx(naive_t(groups, everything, distance), abs=1e-12)


def test_suppressed_records_are_no_class_but_a_fully_generalised_table_is_one():
    table = pd.DataFrame({"age": ["1", "1", "*"], "sex": ["f", "f", "*"], "ill": ["x", "y", "x"]})
    assert k_anonymity(table, ["age", "sex"]) == 2
    assert k_anonymity(table, ["age", "sex"], suppressed_label=None) == 1
    assert l_diversity(table, ["age", "sex"], "ill") == 2
    assert t_closeness(table, ["age", "sex"], "ill") == 0
    assert equivalence_classes(table, ["age", "sex"]).tolist() == [0, 0, -1]
    assert k_anonymity(table.iloc[2:], ["age", "sex"]) == 1
    assert k_anonymity(table, "sex") == 2


def test_a_missing_value_follows_the_rule():
    table = pd.DataFrame({"age": [1, 1, np.nan, np.nan, 2, 2], "ill": list("abcabc")})
    assert k_anonymity(table, "age") == 2
    assert k_anonymity(table.iloc[:5], "age") == 1
    assert k_anonymity(table.iloc[:3], "age", missing="drop") == 2
    assert k_anonymity(table.iloc[2:4], "age", missing="drop") == 0
    with pytest.raises(DataError, match="'age': 2"):
        k_anonymity(table, "age", missing="raise")
    table.loc[0, "ill"] = None
    assert l_diversity(table, "age", "ill") == 2
    assert l_diversity(table, "age", "ill", missing="drop") == 1
    with pytest.raises(DataError, match="no place in the order"):
        t_closeness(table, "age", "ill", distance="ordered")


@pytest.mark.parametrize("cell", [[1], {"a": 1}, {1}])
def test_cells_of_several_values_are_refused_by_their_column(cell):
    table = pd.DataFrame({"q": [cell, cell], "s": [1, 2]})
    for call in (lambda: k_anonymity(table, ["q"]), lambda: l_diversity(table, ["q"], "s")):
        with pytest.raises(DataError, match=f"one value a cell, got a {type(cell).__name__} in column 'q'"):
            call()


def test_an_ordered_categorical_keeps_its_order():
    grades = pd.Categorical(list("LLHHMM"), categories=["L", "M", "H"], ordered=True)
    table = pd.DataFrame({"zip": list("aabbcc"), "grade": grades})
    assert t_closeness(table, "zip", "grade", distance="ordered") == pytest.approx(0.5)


def test_several_sensitive_attributes_give_the_worst():
    table = pd.DataFrame({"zip": list("aabb"), "ill": list("xyxy"), "job": list("uuvw")})
    assert l_diversity(table, "zip", ["ill", "job"]) == 1
    assert t_closeness(table, "zip", ["ill", "job"]) == t_closeness(table, "zip", "job")


def hierarchical_by_nodes(table, classes, sensitive, rows):
    """Li et al. (2007), 4.3, as printed: at every inner node the smaller of too much and too little below."""
    height = len(rows[0]) - 1
    worst = 0.0
    for _, part in table.groupby(classes):
        extra = {
            row[0]: (part[sensitive] == row[0]).mean() - (table[sensitive] == row[0]).mean() for row in rows
        }  # fmt: skip
        cost = 0.0
        for level in range(1, height + 1):
            for node in {row[level] for row in rows}:
                children = {row[level - 1] for row in rows if row[level] == node}
                gaps = [sum(extra[row[0]] for row in rows if row[level - 1] == child and row[level] == node)
                        for child in children]  # fmt: skip
                cost += level / height * min(sum(max(gap, 0) for gap in gaps), -sum(min(gap, 0) for gap in gaps))
        worst = max(worst, cost)
    return worst


@pytest.mark.parametrize("seed", range(8))
def test_hierarchical_distance_is_the_sum_over_inner_nodes(seed):
    rng = np.random.default_rng(seed)
    rows = [[f"v{i}", f"a{i // 2}", f"b{i // 4}", "*"] for i in range(8)]
    table = pd.DataFrame(
        {
            "zip": rng.choice(list("xyz"), 40),
            "ill": rng.choice([row[0] for row in rows], 40, p=rng.dirichlet(np.ones(8))),
        }
    )
    tree = Hierarchy(rows)
    found = t_closeness(table, "zip", "ill", distance="hierarchical", hierarchies={"ill": tree})
    assert found == pytest.approx(hierarchical_by_nodes(table, "zip", "ill", rows))
    flat = Hierarchy([[row[0], "*"] for row in rows])
    assert t_closeness(table, "zip", "ill", distance="hierarchical", hierarchies={"ill": flat}) == pytest.approx(
        t_closeness(table, "zip", "ill")
    )


ROWS = st.lists(st.tuples(*[st.sampled_from([1.0, 2.0, np.nan])] * 3), min_size=1, max_size=9)


@given(ROWS)
def test_a_gap_agrees_with_every_value(rows):
    table = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(w=np.arange(1.0, len(rows) + 1))

    def agree(x, y):
        return all(math.isnan(p) or math.isnan(q) or p == q for p, q in zip(x, y, strict=True))

    found = individual_risk(table, ["a", "b", "c"], "w", missing="wildcard")
    ref = [[agree(x, y) for y in rows] for x in rows]
    assert found["sample"].tolist() == [sum(row) for row in ref]
    assert found["population"].tolist() == [sum(i + 1 for i, yes in enumerate(row) if yes) for row in ref]
    assert k_anonymity(table, ["a", "b", "c"], missing="wildcard") == found["sample"].min()


@pytest.mark.parametrize(("f", "total"), [(1, 17.0), (2, 40.0), (4, 9.5), (3, 3.0)])
def test_the_risk_is_the_mean_of_one_over_the_population_class(f, total):
    """Summed over the negative binomial: F = f + failures before the f-th success."""
    p = f / total
    ref = sum(math.comb(j - 1, f - 1) * p**f * (1 - p) ** (j - f) / j for j in range(f, 6000))
    table = pd.DataFrame({"q": ["x"] * f, "w": [total / f] * f})
    assert individual_risk(table, "q", "w")["risk"].to_numpy() == pytest.approx(ref)


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=10))
def test_special_uniques_against_every_subset(rows):
    table = pd.DataFrame(rows, columns=list("abcd"))
    subsets = [s for size in range(1, 5) for s in itertools.combinations(range(4), size)]

    def unique(row, columns):
        return sum(all(row[c] == other[c] for c in columns) for other in rows) == 1

    scores, shares = [], dict.fromkeys("abcd", 0)
    for row in rows:
        minimal = [
            s for s in subsets if unique(row, s) and not any(set(t) < set(s) and unique(row, t) for t in subsets)
        ]
        scores.append(sum(math.factorial(4 - len(s)) for s in minimal))
        for s in minimal:
            for c in s:
                shares["abcd"[c]] += math.factorial(4 - len(s))
    found, contributions = special_uniques(table)
    assert found.tolist() == scores
    if sum(scores):
        assert contributions.to_dict() == pytest.approx({c: 100 * v / sum(scores) for c, v in shares.items()})
    else:
        assert contributions.isna().all()


def test_scores_beyond_64_bits_are_exact():
    """A record unique in the first of 24 columns alone: 23!, more than an int64 holds; the second in two at once."""
    table = pd.DataFrame(0, index=range(6), columns=range(24))
    table.loc[0, 0] = 1
    table.loc[[1, 2], 1] = 1
    table.loc[[1, 3], 2] = 1
    scores, contributions = special_uniques(table, max_size=2)
    pairs = math.factorial(22)
    assert scores.tolist() == [math.factorial(23), *[pairs] * 3, 0, 0]
    assert contributions[0] > contributions[1] == contributions[2] > contributions[3] == 0
