"""Errata that can be executed: what is printed fails, what is used instead holds."""

from math import comb

import numpy as np
import pandas as pd

from reident import k_anonymise


def test_suppression_removes_whole_classes_and_narrows_none():
    """holohan2017, erratum 7: at one node the classes of k = 100 are those of k = 50 that are large enough."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame({"job": rng.choice(list("abcdefgh"), 900, p=[0.4, 0.2, 0.1, 0.1, 0.08, 0.06, 0.04, 0.02])})
    table["height"] = rng.normal(170, 10, 900)
    widths = {}
    for k in (20, 60):
        release = k_anonymise(table, "job", k=k, method="mondrian")
        assert release.class_sizes.min() >= k
        kept = table[table.groupby("job")["job"].transform("size") >= k]
        widths[k] = kept.groupby("job")["height"].agg(lambda values: values.max() - values.min())
    assert set(widths[60].index) < set(widths[20].index)
    assert (widths[60] == widths[20][widths[60].index]).all()


def test_the_pairs_that_a_path_leaves_free():
    """vanhoef2012, erratum 22: all pairs less the k - 1 of the path are (k - 1 over 2), not (k - 2 over 2)."""
    for k in range(3, 30):
        assert comb(k, 2) - (k - 1) == comb(k - 1, 2) != comb(k - 2, 2)


def test_shares_of_shares():
    """vanhoef2012, erratum 25: 41 % of the 12.1 % that were wrongly re-identified are 5.0 % of all."""
    assert round(100 * 0.41 * 0.121, 1) == 5.0
