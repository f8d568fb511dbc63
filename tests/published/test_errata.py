"""Errata that can be executed: what is printed fails, what is used instead holds."""

import numpy as np
import pandas as pd

from reident import k_anonymise
from reident.queries import min_entropy
from reident.tables import Hierarchy


def test_suppression_removes_whole_classes_and_narrows_none():
    """holohan2017, erratum 7: at one node the classes of k = 60 are the large ones of k = 20, unchanged."""
    rng = np.random.default_rng(7)
    jobs = list("abcdefgh")
    table = pd.DataFrame({"job": rng.choice(jobs, 900, p=[0.4, 0.2, 0.1, 0.1, 0.08, 0.06, 0.04, 0.02])})
    table["height"] = rng.normal(170, 10, 900)
    tree = {"job": Hierarchy([[job, "*"] for job in jobs])}
    found = {}
    for k in (20, 60):
        release = k_anonymise(table, "job", hierarchies=tree, k=k, suppression_limit=0.3)
        assert release.node == (0,)
        found[k] = {frozenset(np.flatnonzero(release.classes == one)) for one in np.unique(release.classes) if one >= 0}
        assert sum(map(len, found[k])) == 900 - release.n_suppressed
    assert found[60] < found[20]
    assert found[60] == {members for members in found[20] if len(members) >= 60}

    def widths(classes):
        """Return the mean width of the records' classes in height, the diameter that the noise is scaled to."""
        spread = {members: np.ptp(table["height"].to_numpy()[list(members)]) for members in classes}
        return sum(len(members) * width for members, width in spread.items()) / sum(map(len, classes))

    # What goes is the small classes, which are the narrow ones: what stays is wider on average, not narrower.
    assert widths(found[60]) > widths(found[20])


def test_a_hard_utility_vector_is_likely():
    """vanhoef2012, errata 28 and 29: the breaches in G have probability 1 - 2^-l at least, by W and not by P."""
    rng = np.random.default_rng(4)
    ell, extra = 2, 1.0
    for _ in range(50):
        joint = rng.dirichlet(np.full(2**9 * 2**ell, 4.0)).reshape(2**9, 2**ell)
        joint[:, 0] = 0
        joint[rng.integers(2**9), 0] = 2 ** -(3 * ell + extra) / 4  # a rare breach that one utility vector goes with
        joint /= joint.sum()
        assert min_entropy(joint.sum(axis=1)) >= 3 * ell + extra
        breaches = joint.sum(axis=0)
        hard = np.array([min_entropy(column / column.sum()) >= ell + extra for column in joint.T])
        assert hard.tolist() == [False, True, True, True]
        assert breaches[hard].sum() > 1 - 2**-ell
        assert breaches[0] < 2 ** (ell + extra) * joint[:, 0].max()
