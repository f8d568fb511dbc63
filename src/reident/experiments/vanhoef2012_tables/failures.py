"""Vanhoef (2012), chapter 3: known searches or ratings that name a person, and older defences of query systems.

The files of AOL and Netflix (3.1) cannot be had: ratings and searches are simulated, so that directions alone are
judged. Query systems (3.2) answer about persons of Adult.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from numpy.random import Generator

from reident.base import IntArray, Row
from reident.data.datasets import load_adult
from reident.queries import (
    MaxAuditor,
    auditing_attack,
    averaging_attack,
    laplace_count,
    query_set_attack,
    randomised_response,
    sampling_exposure,
)
from reident.queries.randomisation import response_variance
from reident.tables import Ratings, scoreboard_attack, simulate_ratings

#: Protections of ratings. The shares altered are those that two subscribers of Netflix reported.
DEFENCES = (
    "as they are",
    "1 of 306 altered",
    "5 of 229 altered",
    "dates by month",
    "dates by year",
    "no dates",
    "titles of few left out",
    "no dates, titles of few left out",
)
#: A title is of few if fewer than this share of all users rated it.
_FEW = 0.02

#: Days for which a person keeps a number.
_NEW_NUMBER = {"another number each year": 365, "another number each month": 30, "another number each day": 1}
SEARCH_DEFENCES = ("one number a person", *_NEW_NUMBER, "terms of few left out")
#: A term is of few if fewer than this share of all people searched for it.
_RARE = 0.005

_Known = tuple[int, float | None, float | None]


@lru_cache(maxsize=1)
def _simulated(n_users: int, n_items: int, n_ratings: int) -> tuple[Ratings, IntArray, IntArray]:
    """Return the ratings, and their places ordered by user with pointers."""
    ratings = simulate_ratings(n_users, n_items, n_ratings, rng=2012)
    by_user = np.argsort(ratings.users, kind="stable")
    pointers = np.searchsorted(ratings.users[by_user], np.arange(n_users + 1))
    return ratings, by_user, pointers


def netflix_trial(
    rng: Generator, *, defence: str, n_known: int, attacks: int, n_users: int, n_items: int, n_ratings: int
) -> Row:
    """Release ratings under a defence of `DEFENCES` and attack users with `n_known` roughly known ratings.

    Stars are known up to one, days up to 14, and one rating in eight is false. `attacks` users are attacked: returns
    the shares of them that are named, and rightly.
    """
    sizes = n_users, n_items, n_ratings
    ratings = _simulated(*sizes)[0]
    released, owners = _released(defence, sizes)
    if defence.endswith("altered"):
        released = _altered(ratings, 1 / 306 if defence.startswith("1 ") else 5 / 229, rng)

    def known(chosen: IntArray, items: IntArray) -> list[_Known]:
        stars = np.clip(ratings.stars[chosen] + rng.integers(-1, 2, len(chosen)), 1, 5).astype(float)
        days = ratings.days[chosen] + rng.integers(-14, 15, len(chosen)).astype(float)
        given = [None] * len(chosen) if defence.startswith("no dates") else days.tolist()
        return list(zip(items.tolist(), stars.tolist(), given, strict=True))

    return _attacked(released, owners, sizes, known, n_known, attacks, rng)


def search_trial(
    rng: Generator, *, defence: str, n_known: int, attacks: int, n_users: int, n_items: int, n_ratings: int
) -> Row:
    """Release search histories under a defence of `SEARCH_DEFENCES` and attack persons with some known terms.

    Days are unknown, and one term in eight is false. Parameters and result as of `netflix_trial`.
    """
    sizes = n_users, n_items, n_ratings

    def known(_: IntArray, items: IntArray) -> list[_Known]:
        return [(item, None, None) for item in items.tolist()]

    return _attacked(*_released(defence, sizes), sizes, known, n_known, attacks, rng)


def _attacked(
    released: Ratings, owners: IntArray, sizes: tuple[int, int, int],
    known: Callable[[IntArray, IntArray], list[_Known]], n_known: int, attacks: int, rng: Generator,
) -> Row:  # fmt: skip
    """Return the shares of persons that are named, and rightly; `owners` has the person behind each number."""
    ratings, by_user, pointers = _simulated(*sizes)
    active = np.flatnonzero(np.diff(pointers) >= 20)
    n_named, right = 0, 0
    for user in rng.choice(active, attacks):
        chosen = rng.choice(by_user[pointers[user] : pointers[user + 1]], n_known, replace=False)
        wrong = np.flatnonzero(rng.random(n_known) < 1 / 8)
        chosen[wrong] = rng.integers(0, len(ratings.users), len(wrong))
        items = np.searchsorted(ratings.indptr, chosen, side="right") - 1
        match = scoreboard_attack(released, known(chosen, items))
        n_named += match.user is not None
        right += match.user is not None and owners[match.user] == user
    return {"named": n_named / attacks, "right": right / attacks}


def renumbered(searches: Ratings, days: int) -> tuple[Ratings, IntArray]:
    """Give each person another number every so many days; return the release and the person behind each number."""
    periods = int(searches.days.max()) // days + 1
    keys = searches.users.astype(np.int64) * periods + searches.days // days
    numbers, users = np.unique(keys, return_inverse=True)
    return replace(searches, users=users.astype(np.int32), n_users=len(numbers)), numbers // periods


@lru_cache(maxsize=1)
def _released(defence: str, sizes: tuple[int, int, int]) -> tuple[Ratings, IntArray]:
    """Return the histories under a defence that draws nothing, and the person behind each number."""
    histories = _simulated(*sizes)[0]
    if defence in _NEW_NUMBER:
        return renumbered(histories, _NEW_NUMBER[defence])
    if defence.startswith("dates by"):
        width = 30 if defence.endswith("month") else 365
        histories = replace(histories, days=histories.days // width * width + width // 2)
    elif defence.endswith("left out"):
        histories = _without_rare(histories, _RARE if defence.startswith("terms") else _FEW)
    return histories, np.arange(sizes[0])


def _altered(ratings: Ratings, share: float, rng: Generator) -> Ratings:
    """Draw stars and day of a share of the ratings anew."""
    n = len(ratings.stars)
    altered = rng.random(n) < share
    stars, days = rng.integers(1, 6, n), rng.integers(0, 2191, n)
    return replace(ratings, stars=np.where(altered, stars, ratings.stars), days=np.where(altered, days, ratings.days))


def _without_rare(ratings: Ratings, share: float) -> Ratings:
    """Leave out the items that fewer than a share of all users have."""
    support = np.diff(ratings.indptr)
    few = support < share * ratings.n_users
    is_kept = np.repeat(~few, support)
    indptr = np.concatenate([[0], np.cumsum(np.where(few, 0, support))])
    return replace(
        ratings, indptr=indptr, users=ratings.users[is_kept], stars=ratings.stars[is_kept], days=ratings.days[is_kept]
    )


#: Columns by which the intruder knows a person.
KNOWN = ("age", "education", "marital-status", "occupation", "race", "sex", "native-country")


_people = cache(load_adult)


def query_set_trial(rng: Generator) -> Row:
    """Learn the income of a random person of 2,000 from queries over at least 1,000."""
    people = _people().head(2000)
    target = int(rng.integers(len(people)))
    attack = query_set_attack(people, target, lambda row: row["income"] == ">50K", min_set_size=1000)
    truth = int(people["income"].iloc[target] == ">50K")
    return {"is_learned": attack.learned == truth, "smallest_set": attack.queries["n_in_set"].min()}


def auditing_trial(rng: Generator, *, group_size: int) -> Row:
    """Ask an auditor of 600 records for maxima of groups; a refusal, since a value would be disclosed, discloses it."""
    auditor = MaxAuditor(rng.permutation(600).astype(float))
    attack = auditing_attack(auditor, group_size=group_size, rng=rng)
    return {"learned_share": len(attack.learned) / (600 // group_size), "expected_share": 1 / group_size}


def sampling_trial(rng: Generator, *, rate: float) -> Row:
    """Publish a random sample of Adult and count the sampled persons that are unique in the whole table."""
    return {"exposed_share": sampling_exposure(_people(), quasi=list(KNOWN), rate=rate, rng=rng).exposed_share}


def averaging_trial(rng: Generator) -> list[Row]:
    """Average 1,000 answers to a count of 100 with independent noise; a row for each of 30 numbers of answers."""
    averaged = averaging_attack(lambda: laplace_count(100, epsilon=0.1, rng=rng), 1000)
    counts = np.unique(np.geomspace(1, 1000, 30).round().astype(int))
    return [{"n": n, "off": abs(averaged.estimates[n - 1] - 100)} for n in counts]


def response_trial(rng: Generator, *, truth_probability: float) -> Row:
    """Randomise 1,000 answers, 300 of them yes and the others no, and estimate the share of yes."""
    truth = np.arange(1000) < 300
    response = randomised_response(truth, truth_probability=truth_probability, rng=rng)
    error = response.estimate().loc[True, "share"] - truth.mean()
    formula = response_variance(truth.mean(), truth.size, truth_probability, 2)
    return {"error": error, "z": error / np.sqrt(formula), "variance_formula": formula}
