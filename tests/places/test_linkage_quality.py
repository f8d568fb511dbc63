"""Precision and recall of a linkage."""

import math

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from reident import linkage_quality
from reident.places import LinkageQuality

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@given(pairs, pairs)
def test_by_definition(links, truth):
    comp = linkage_quality(links, truth)
    hits = sum(pair in set(truth) for pair in set(links))
    assert (hits, len(set(links)) - hits, len(set(truth)) - hits) == (comp.TP, comp.FP, comp.FN)
    if links:
        assert comp.precision == hits / len(set(links))
    if truth:
        assert comp.recall == hits / len(set(truth))


def test_forms_of_links():
    ref = LinkageQuality(precision=0.5, recall=1.0, TP=1, FP=1, FN=0)
    frame = pd.DataFrame({"known": ["a", "b"], "release": [1, 2]})
    for links in (frame, [(1, "a"), (2, "b")], {1: "a", 2: "b"}, {(1, "a"), (2, "b")}):
        assert linkage_quality(links, {1: "a"}) == ref


def test_nothing_claimed_and_nothing_true():
    nothing = linkage_quality([], {1: "a"})
    assert math.isnan(nothing.precision)
    assert (nothing.recall, nothing.FN) == (0.0, 1)
    none_true = linkage_quality({1: "a"}, {})
    assert none_true.precision == 0.0
    assert math.isnan(none_true.recall)
