"""Section 3.1.3: how many known ratings name a person among a rental firm's users, and what defends against it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from reident._types import IntArray, Parameters
from reident.tables.scoreboard import Ratings, scoreboard_attack, simulate_ratings

__all__ = ["DEFENCES", "netflix_trial"]

#: What is done to the ratings before they are released. The first two shares are those that two subscribers found.
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


@lru_cache(maxsize=1)
def _simulated(n_users: int, n_items: int, n_ratings: int) -> tuple[Ratings, IntArray, IntArray]:
    """Return the ratings, and their places ordered by user with pointers."""
    ratings = simulate_ratings(n_users, n_items, n_ratings, rng=2012)
    by_user = np.argsort(ratings.users, kind="stable")
    pointers = np.searchsorted(ratings.users[by_user], np.arange(n_users + 1))
    return ratings, by_user, pointers


def netflix_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Release ratings under a defence and attack people of whom some ratings are roughly known.

    Stars are known up to one, days up to 14, and one rating in eight is not theirs at all. Parameters: ``n_users``,
    ``n_items``, ``n_ratings``, ``defence``, ``n_known``, ``attacks``.
    """
    ratings, by_user, pointers = _simulated(params["n_users"], params["n_items"], params["n_ratings"])
    released = _defended(ratings, params["defence"], rng)
    n_known, dates = params["n_known"], not params["defence"].startswith("no dates")
    enough = np.flatnonzero(np.diff(pointers) >= 20)
    named, right = 0, 0
    for user in rng.choice(enough, params["attacks"]):
        chosen = rng.choice(by_user[pointers[user] : pointers[user + 1]], n_known, replace=False)
        wrong = np.flatnonzero(rng.random(n_known) < 1 / 8)
        chosen[wrong] = rng.integers(0, len(ratings.users), len(wrong))
        items = np.searchsorted(ratings.indptr, chosen, side="right") - 1
        stars = np.clip(ratings.stars[chosen] + rng.integers(-1, 2, n_known), 1, 5)
        days = ratings.days[chosen] + rng.integers(-14, 15, n_known)
        known = [
            (int(item), float(value), float(day) if dates else None)
            for item, value, day in zip(items, stars, days, strict=True)
        ]
        found = scoreboard_attack(released, known)
        named += found.user is not None
        right += found.user == int(user)
    return {"named": named / params["attacks"], "right": right / params["attacks"], "kept": _kept(released, ratings)}


def _kept(released: Ratings, ratings: Ratings) -> float:
    return len(released.users) / len(ratings.users)


def _defended(ratings: Ratings, defence: str, rng: np.random.Generator) -> Ratings:
    stars, days = ratings.stars, ratings.days
    if defence.endswith("altered"):
        share = 1 / 306 if defence.startswith("1 ") else 5 / 229
        altered = rng.random(len(stars)) < share
        return replace(
            ratings,
            stars=np.where(altered, rng.integers(1, 6, len(stars)), stars),
            days=np.where(altered, rng.integers(0, 2191, len(days)), days),
        )
    if defence.startswith("dates by"):
        width = 30 if defence.endswith("month") else 365
        return replace(ratings, days=days // width * width + width // 2)
    if defence.endswith("left out"):
        support = np.diff(ratings.indptr)
        few = support < _FEW * ratings.n_users
        held = np.repeat(~few, support)
        indptr = np.concatenate([[0], np.cumsum(np.where(few, 0, support))])
        return Ratings(indptr, ratings.users[held], stars[held], days[held], ratings.n_users)
    return ratings
