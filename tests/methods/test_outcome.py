"""From claims to the risk of persons: the few who stand out are not averaged away among the many who do not."""

import numpy as np
import pandas as pd
import pytest

from reident.methods.outcome import Outcome, judge_persons


def outcome(confidence, right):
    claims = pd.DataFrame({"confidence": confidence, "right": right.astype(float), "base": 1 / len(right)})
    return Outcome(claims.assign(present=True), "identity", "who is judged")


def test_the_few_most_confident_claims_are_judged_by_themselves_where_they_are_right():
    """Confidence everywhere too high, so that it cannot be kept; ten persons are found, 990 are not."""
    confidence = np.linspace(0.3, 0.99, 1000)
    row, persons = judge_persons(outcome(confidence, np.arange(1000) >= 990), limit=0.25)
    assert not row["calibrated"]
    assert persons["above"].tolist() == [False] * 990 + [True] * 10
    assert row["worst"] == 1


@pytest.mark.parametrize("seed", range(20))
def test_claims_that_are_right_by_chance_are_not_set_apart(seed):
    rng = np.random.default_rng(seed)
    right = rng.permutation(np.arange(1000) < 16)
    row, persons = judge_persons(outcome(rng.uniform(0.3, 0.99, 1000), right), limit=0.25)
    assert not row["calibrated"]
    assert not persons["above"].any()


def test_ties_in_confidence_stay_together():
    confidence = np.repeat([0.9, 0.99], [300, 100])
    row, persons = judge_persons(outcome(confidence, np.arange(400) >= 340), limit=0.25)
    assert persons["risk"].nunique() == 2
    assert row["n_above"] == 100
