import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reident import DataError
from reident.tables import _lattice_nodes
from reident.tables.anonymisation import k_anonymise
from reident.tables.disclosure import k_anonymity, l_diversity, t_closeness
from reident.tables.hierarchy import Hierarchy

QUASI = ["age", "sex", "zip"]
HIERARCHIES = {
    "age": Hierarchy.from_intervals(range(8), [2, 4]),
    "sex": Hierarchy([["f", "*"], ["m", "*"]]),
    "zip": Hierarchy.from_prefixes(["11", "12", "21", "22"]),
}
TABLES = st.lists(
    st.tuples(
        st.integers(0, 7), st.sampled_from("fm"), st.sampled_from(["11", "12", "21", "22"]), st.sampled_from("xyz")
    ),
    min_size=4,
    max_size=24,
).map(lambda rows: pd.DataFrame(rows, columns=[*QUASI, "ill"]))


def naive_generalised(table, node):
    return pd.DataFrame(
        {
            name: [str(HIERARCHIES[name].labels_of(value)[level]) for value in table[name]]
            for name, level in zip(QUASI, node, strict=True)
        },
        index=table.index,
    )


def naive_kept(table, node, k, *, ell=1, entropy=None, t=None):
    """Return the records in classes that pass, found by loops; for t until all that remain pass."""
    general = naive_generalised(table, node)
    kept = pd.Series(data=True, index=table.index)
    while True:
        failing = []
        released = table.loc[kept, "ill"]
        for _, rows in general[kept].groupby(QUASI).groups.items():
            values = table.loc[rows, "ill"]
            shares = values.value_counts() / len(values)
            good = len(rows) >= k and values.nunique() >= ell
            if entropy is not None:
                good &= float(-(shares * np.log(shares)).sum()) >= np.log(entropy) - 1e-9
            if t is not None and len(rows) >= k:
                overall = released.value_counts() / len(released)
                good &= 0.5 * float(shares.reindex(overall.index, fill_value=0).sub(overall).abs().sum()) <= t + 1e-9
            if not good:
                failing.extend(rows)
                if len(rows) < k:
                    continue
        if not failing:
            return kept
        small = [row for _, rows in general[kept].groupby(QUASI).groups.items() if len(rows) < k for row in rows]
        kept.loc[small or failing] = False
        if not kept.any():
            return kept


def naive_search(table, k, limit, **rules):
    """Judge every node; return the satisfying ones with their suppressed records, and the minimal ones."""
    shape = [HIERARCHIES[name].n_levels for name in QUASI]
    satisfying = {}
    for node in itertools.product(*(range(size) for size in shape)):
        n_suppressed = int((~naive_kept(table, node, k, **rules)).sum())
        if n_suppressed <= limit * len(table) + 1e-9 and n_suppressed < len(table):
            satisfying[node] = n_suppressed
    below = lambda a, b: a != b and all(x <= y for x, y in zip(a, b, strict=True))  # noqa: E731
    minimal = {node for node in satisfying if not any(below(other, node) for other in satisfying)}
    return satisfying, minimal


def charged_precision(node, n_suppressed, n):
    tops = [HIERARCHIES[name].n_levels - 1 for name in QUASI]
    base = sum(level / top for level, top in zip(node, tops, strict=True)) / len(tops)
    return ((n - n_suppressed) * base + n_suppressed) / n


def check_against_brute_force(table, k, limit, naive_rules, rules):
    satisfying, minimal = naive_search(table, k, limit, **naive_rules)
    if not satisfying:
        with pytest.raises(DataError, match="no generalisation satisfies"):
            k_anonymise(table, QUASI, hierarchies=HIERARCHIES, k=k, suppression_limit=limit, **rules)
        return
    n = len(table)
    ola = k_anonymise(table, QUASI, hierarchies=HIERARCHIES, k=k, suppression_limit=limit, **rules)
    comp = {tuple(row) for row in ola.lattice.loc[ola.lattice["satisfies"], QUASI].to_numpy().tolist()}
    assert comp == set(satisfying)
    assert {tuple(row) for row in ola.solutions[QUASI].to_numpy().tolist()} == minimal
    assert ola.loss == pytest.approx(min(charged_precision(node, satisfying[node], n) for node in minimal))
    optimal = k_anonymise(
        table, QUASI, hierarchies=HIERARCHIES, k=k, suppression_limit=limit, method="optimal", **rules
    )
    assert optimal.loss == pytest.approx(min(charged_precision(*item, n) for item in satisfying.items()))
    if limit == 0 or not set(rules) & {"t"} | {rules.get("diversity")} - {"distinct", None}:
        textbook = k_anonymise(
            table, QUASI, hierarchies=HIERARCHIES, k=k, suppression_limit=limit, method="published", **rules
        )
        pd.testing.assert_frame_equal(textbook.lattice, ola.lattice)
        pd.testing.assert_frame_equal(textbook.solutions, ola.solutions)
        assert (textbook.node, textbook.classes.tolist()) == (ola.node, ola.classes.tolist())
    for release in (ola, optimal):
        assert release.n_suppressed == satisfying[release.node] == n - len(release.table)
        general = naive_generalised(table, release.node).loc[release.table.index]
        pd.testing.assert_frame_equal(release.table[QUASI].astype(str), general, check_dtype=False)


@settings(max_examples=2)
@given(TABLES, st.integers(1, 4))
def test_nodes_of_too_many_cells_to_number_are_counted_too(table, k):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lattice_nodes, "_MAX_CELLS", 3)
        check_against_brute_force(table, k, 0.3, {}, {})


@pytest.mark.slow
@settings(max_examples=14)
@given(
    TABLES, st.integers(1, 4), st.sampled_from([0.0, 0.1, 0.3, 1.0]), st.sampled_from(["", "distinct", "entropy", "t"])
)
def test_lattice_is_that_of_brute_force(table, k, limit, rule):
    naive_rules, rules = {
        "": ({}, {}),
        "distinct": ({"ell": 2}, {"ell": 2}),
        "entropy": ({"entropy": 1.8}, {"ell": 1.8, "diversity": "entropy"}),
        "t": ({"t": 0.3}, {"t": 0.3}),
    }[rule]
    check_against_brute_force(table, k, limit, naive_rules, {"sensitive": "ill", **rules} if rule else {})


@given(
    TABLES,
    st.integers(1, 4),
    st.sampled_from(["ola", "optimal", "mondrian"]),
    st.sampled_from(["precision", "discernibility", "bits", "column_bits", "ncp"]),
    st.booleans(),
)
def test_what_every_release_keeps(table, k, method, loss, charged):
    options = {"suppression_limit": 0.25, "method": method, "loss": loss if charged else f"released_{loss}"}
    release = k_anonymise(table, QUASI, hierarchies=HIERARCHIES, k=k, **options)
    assert k_anonymity(release.table, QUASI) >= k
    sizes = np.bincount(release.classes[release.classes >= 0])
    assert sizes.min() >= k
    assert sizes.sum() == len(release.table) == len(table) - release.n_suppressed
    assert all(0 <= value <= 1 for value in release.losses.values())
    assert release.loss == release.losses[loss]
    pd.testing.assert_series_equal(release.table["ill"], table["ill"].loc[release.table.index])
    if method.startswith("mondrian"):
        for row, age in table["age"].items():
            ends = release.table.loc[row, "age"].strip("[]").split(", ")
            assert int(ends[0]) <= age <= int(ends[-1])
            for name in ("sex", "zip"):
                assert table.loc[row, name] in release.table.loc[row, name].strip("{}").split(", ")


@given(
    TABLES,
    st.sampled_from([{"ell": 2}, {"ell": 1.5, "diversity": "entropy"}, {"ell": 2, "diversity": 2}]),
    st.sampled_from([None, 0.3]),
)
def test_mondrian_keeps_further_rules(table, rules, t):
    rules = rules if t is None else {"t": t}
    try:
        release = k_anonymise(table, QUASI, k=2, method="mondrian", sensitive="ill", **rules).table
    except DataError as error:
        assert "table as a whole" in str(error)  # noqa: PT017
        return
    assert k_anonymity(release, QUASI) >= 2
    if t is not None:
        assert t_closeness(release, QUASI, "ill") <= t + 1e-9
    else:
        diversity = rules.get("diversity", "distinct")
        kind = {"kind": diversity} if isinstance(diversity, str) else {"kind": "recursive", "c": diversity}
        assert l_diversity(release, QUASI, "ill", **kind) >= rules["ell"] - 1e-9


def naive_textbook_mondrian(rows, columns, k, part):
    """Cut at the median of the widest column that allows it, with plain lists; return the parts."""
    spans = {c: max(r[c] for r in rows) - min(r[c] for r in rows) for c in columns}
    wide = lambda c: max(rows[i][c] for i in part) - min(rows[i][c] for i in part)  # noqa: E731
    for c in sorted(columns, key=lambda c: -wide(c) / (spans[c] or 1)):
        median = sorted(rows[i][c] for i in part)[(len(part) + 1) // 2 - 1]
        cut = median + 0.5 if any(rows[i][c] > median for i in part) else median - 0.5
        halves = [[i for i in part if (rows[i][c] < cut) is side] for side in (True, False)]
        if wide(c) and min(map(len, halves)) >= k:
            return [p for half in halves for p in naive_textbook_mondrian(rows, columns, k, half)]
    return [part]


@given(st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=1, max_size=20), st.integers(1, 4))
def test_textbook_mondrian_is_that_of_plain_loops(rows, k):
    table = pd.DataFrame(rows, columns=list("abc"))
    if k > len(table):
        return
    release = k_anonymise(table, list("abc"), k=k, method="published")
    comp = {frozenset(np.flatnonzero(release.classes == c).tolist()) for c in range(release.n_classes)}
    ref = {frozenset(p) for p in naive_textbook_mondrian(rows, range(3), k, list(range(len(rows))))}
    assert comp == ref
    assert np.bincount(release.classes).min() >= k


def test_a_constant_attribute_loses_nothing():
    table = pd.DataFrame({"age": [1, 1, 1], "sex": ["f", "f", "f"], "zip": ["11", "11", "11"]})
    for method in ("optimal", "mondrian"):
        release = k_anonymise(table, QUASI, hierarchies=HIERARCHIES, k=3, method=method)
        assert set(release.losses.values()) == {0.0, 1.0}  # 1: discernibility of a single class
        assert release.losses["discernibility"] == 1.0


@pytest.mark.parametrize("method", ["ola", "mondrian"])
def test_column_names_and_indices_of_any_kind(method):
    table = pd.DataFrame({0: [0, 1, 2, 3, 7], 1: list("fmfmf"), 2: list("xyzxy")}, index=[5, 5, 6, 6, 7])
    hierarchies = {0: HIERARCHIES["age"], 1: HIERARCHIES["sex"]}
    release = k_anonymise(table, [0, 1], hierarchies=hierarchies, k=2, method=method, suppression_limit=0.25)
    assert release.table.columns.tolist() == [0, 1, 2]
    assert k_anonymity(release.table, [0, 1]) >= 2
    assert release.table.index.tolist() == table.index[release.classes >= 0].tolist()
    assert release.table[2].tolist() == table.loc[release.classes >= 0, 2].tolist()


@pytest.mark.slow
def test_mondrian_cuts_categories_as_their_hierarchy_lists_them():
    places = Hierarchy([["Rome", "south"], ["Oslo", "north"], ["Bari", "south"], ["Bergen", "north"]])
    table = pd.DataFrame({"place": ["Rome", "Oslo", "Bari", "Bergen"] * 2})
    release = k_anonymise(table, "place", hierarchies={"place": places}, k=4, method="mondrian")
    assert sorted(set(release.table["place"])) == ["{Oslo, Bergen}", "{Rome, Bari}"]
    by_text = k_anonymise(table, "place", k=4, method="mondrian")
    assert sorted(set(by_text.table["place"])) == ["{Bari, Bergen}", "{Oslo, Rome}"]


def test_times_of_a_zone_are_cut_as_those_without_one():
    days = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(12) ** 2, unit="D"))
    plain, zoned = (
        k_anonymise(pd.DataFrame({"day": column}), ["day"], k=3, method="mondrian")
        for column in (days, days.dt.tz_localize("Europe/Berlin"))
    )
    assert plain.loss == pytest.approx(zoned.loss, rel=1e-3)  # an hour of summer time
    assert plain.classes.tolist() == zoned.classes.tolist()
