import math

import numpy as np
import pandas as pd
import pytest

from reident.tables import Ratings, scoreboard_attack, simulate_ratings


def naive(table, known, n_users):
    scores = []
    for user in range(n_users):
        own = table[table["user"] == user].set_index("item")
        score = 0.0
        for item, value, day in known:
            if item in own.index:
                row = own.loc[item]
                fit = math.exp(-abs(row["stars"] - value) / 1.5) if value is not None else 0.5
                fit += math.exp(-abs(row["day"] - day) / 30) if day is not None else 0.5
                score += fit / math.log(max((table["item"] == item).sum(), 2))
        scores.append(score)
    return np.array(scores)


@pytest.mark.parametrize("n_users", [30, 400])
@pytest.mark.parametrize("seed", range(5))
def test_scores_equal_those_of_a_loop(seed, n_users):
    """Also where most users have none of the known items and no score is kept for them."""
    rng = np.random.default_rng(seed)
    pairs = rng.choice(30 * 8, 90, replace=False)
    table = pd.DataFrame(
        {"user": pairs // 8, "item": pairs % 8, "stars": rng.integers(1, 6, 90), "day": rng.integers(0, 500, 90)}
    )
    known = [(0, 3.0, 100.0), (4, None, 20.0), (7, 1.0, None)]
    ref = naive(table, known, n_users)
    found = scoreboard_attack(Ratings.from_table(table, n_users), known)
    ranked = np.sort(ref)
    assert found.score == pytest.approx(ranked[-1])
    assert ref[found.best] == pytest.approx(ranked[-1])
    assert found.eccentricity == pytest.approx((ranked[-1] - ranked[-2]) / ref.std())
    assert (found.user is None) == (found.eccentricity < 1.5)


def attack(ratings, n_known, n_wrong, rng, n=60):
    """Attack users with that many known ratings, values off by at most 1 and days by at most 14; some are wrong."""
    order = np.argsort(ratings.users, kind="stable")
    items = np.repeat(np.arange(len(ratings.indptr) - 1), np.diff(ratings.indptr))
    starts = np.searchsorted(ratings.users[order], np.arange(ratings.n_users + 1))
    rich = np.flatnonzero(np.diff(starts) >= n_known)
    right = wrong = 0
    for user in rng.choice(rich, n, replace=False):
        own = order[rng.choice(np.arange(starts[user], starts[user + 1]), n_known, replace=False)]
        stars, days = (
            ratings.stars[own] + rng.integers(-1, 2, n_known),
            ratings.days[own] + rng.integers(-14, 15, n_known),
        )
        known = list(zip(items[own].tolist(), stars.astype(float).tolist(), days.astype(float).tolist(), strict=True))
        for place in range(n_wrong):
            known[place] = (int(rng.integers(len(ratings.indptr) - 1)), 3.0, float(rng.integers(2000)))
        named = scoreboard_attack(ratings, known).user
        right += named == user
        wrong += named not in (None, user)
    return right / n, wrong / n


def test_eight_ratings_of_which_two_are_wrong_name_a_person():
    """3.1.3: "even if two of eight ratings are wrong"; 60 of 60 fail once in 20 at a rate of .95."""
    ratings = simulate_ratings(20_000, 2000, 400_000, rng=1)
    rng = np.random.default_rng(2)
    right, wrong = attack(ratings, 8, 2, rng)
    assert right >= 0.95
    assert wrong == 0
    few, _ = attack(ratings, 2, 0, rng)
    assert 0.3 < few <= right


def test_of_items_that_few_or_none_have_somebody_is_best_and_nobody_by_none():
    table = pd.DataFrame({"user": [7, 8], "item": [0, 2], "stars": [3, 3], "day": [5, 5]})
    ratings = Ratings.from_table(table, 1000)
    assert scoreboard_attack(ratings, [(0, 3.0, 5.0)]).user == 7
    nothing = scoreboard_attack(ratings, [(1, 3.0, 5.0)])
    assert nothing.user is None
    assert (nothing.score, nothing.eccentricity) == (0, 0)
