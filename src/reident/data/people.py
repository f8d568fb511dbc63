"""Persons for studies of tables: Adult with a sampled height, and simulated voter lists with height or weight.

No real voter list is used: they name living people. The lists here are drawn; their sizes are those of the lists of
Holohan et al. (2017), everything else about them is an assumption stated below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    FloatArray,
    IntArray,
    RNGLike,
    afford,
    check_choice,
    check_integer,
    check_mapping,
    check_real,
    check_rng,
)
from reident.data.datasets import load_adult, load_body_measures

#: What is assumed of each list. Sizes: Holohan et al. (2017), Table III. ZIP codes: drawn from the state's range, as
#: many as it has roughly, their sizes log-normal. Races: round shares.
STATES: dict[str, dict[str, Any]] = {
    "florida": {
        "n": 134_791,
        "zip_codes": (32_003, 34_997, 980),
        "races": {"White": 0.64, "Hispanic": 0.16, "Black": 0.13, "Asian": 0.02, "Other": 0.05},
        "measure": "height_cm",
    },
    "michigan": {"n": 72_825, "zip_codes": (48_001, 49_971, 980), "races": None, "measure": "weight_kg"},
}

_LIST_YEAR = 2017
_CENSUS_YEAR = 1994
#: Adult's persons of this age and above are left out: see `adult_with_height`.
_ADULT_BELOW_YEARS = 80
#: Age groups (first, last, share), round; uniform inside a group.
_AGES = ((18, 29, 0.17), (30, 39, 0.15), (40, 49, 0.16), (50, 59, 0.18), (60, 69, 0.17), (70, 79, 0.11), (80, 95, 0.06))
_SHARE_OF_WOMEN = 0.53
_SPREAD_OF_ZIP_CODES = 1.0


def sample_measure(measure: str, age_years: Any, sex: Any, *, spread: float = 1.0, rng: RNGLike = None) -> FloatArray:
    """Draw a ``"height_cm"`` (normal) or a ``"weight_kg"`` (log-normal) for each person by age and sex, not rounded.

    Means and deviations are those of `load_body_measures`; `spread` multiplies the deviations.
    """
    ages, sexes = np.asarray(age_years, float), np.asarray(sex, object)
    centre, scale = np.full((2, ages.size), np.nan)
    name = measure if measure == "height_cm" else "ln_weight"
    for row in load_body_measures().itertuples(index=False):
        in_row = (sexes == row.sex) & (ages >= row.age_low) & (ages <= row.age_high)
        centre[in_row], scale[in_row] = getattr(row, f"{name}_mean"), getattr(row, f"{name}_sd")
    if np.isnan(centre).any():
        place = int(np.isnan(centre).argmax())
        raise DataError(
            f"`age_years` and `sex` must be 17 to 120 and 'female' or 'male', got {ages[place]:g} and "
            f"{sexes[place]!r} at position {place}"
        )
    generator = check_rng(rng)
    draw = generator.normal if measure == "height_cm" else generator.lognormal
    return np.asarray(draw(centre, spread * scale), dtype=np.float64)


def adult_with_height(*, spread: float = 1.0, rng: RNGLike = None) -> pd.DataFrame:
    """Return Adult as Holohan et al. (2017) use it: year of birth, sex, race, marital status, and a drawn height.

    Parameters
    ----------
    spread : float, default 1
        Multiplies the survey's standard deviations of height.
    rng : Generator, int or None
        Draws the heights.

    Returns
    -------
    DataFrame
        patient_id, year_of_birth (1994 - age), sex, race, marital_status, height_cm (drawn), income; 32,440 rows, with
        the index of `load_adult`.

    Raises
    ------
    ParameterError
        If `spread` is negative.

    Notes
    -----
    The training set has 32,561 persons, the paper prints 32,440 and does not say whom it left out. We infer: the 121
    who are 80 or older. They are as many as it lacks, and without them Adult's row of Table IV is met to the digit.
    """
    spread = check_real(spread, "spread", low=0)
    adult = load_adult()
    adult = adult[adult["age"] < _ADULT_BELOW_YEARS]
    return pd.DataFrame(
        {
            "patient_id": np.arange(1, len(adult) + 1),
            "year_of_birth": _CENSUS_YEAR - adult["age"],
            "sex": adult["sex"].str.lower(),
            "race": adult["race"],
            "marital_status": adult["marital-status"],
            "height_cm": sample_measure("height_cm", adult["age"], adult["sex"].str.lower(), spread=spread, rng=rng),
            "income": adult["income"],
        }
    )


def voter_list(
    state: str,
    n: int | None = None,
    *,
    spread: float = 1.0,
    clustered: Mapping[str, float] | None = None,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Draw a voter list of the size of Florida's or Michigan's sample: simulated, no real person is in it.

    Parameters
    ----------
    state : {"florida", "michigan"}
    n : int, optional
        Number of records; default as in Holohan et al. (2017).
    spread : float, default 1
        Multiplies the survey's standard deviations of height or of the logarithm of weight.
    clustered : mapping of str to float, optional
        The correlation, in [0, 1), of two persons of one ZIP code in "race", "age" and "sex": each ZIP code draws its
        shares from a Dirichlet distribution about the state's. By default all have those of the state.
    rng : Generator, int or None

    Returns
    -------
    DataFrame
        voter_id, zip_code (text of five digits), sex, year_of_birth, and for Florida race and height_cm, for Michigan
        weight_kg.

    Raises
    ------
    DataError, ParameterError
        If there is no such state, or a number is out of range.
    """
    assumed = STATES[check_choice(state, "state", sorted(STATES))]
    spread = check_real(spread, "spread", low=0)
    n = check_integer(assumed["n"] if n is None else n, "n", low=1)
    alike = check_mapping(clustered, "clustered", optional=True)
    for name, value in alike.items():
        check_choice(name, "clustered", ["race", "age", "sex"])
        check_real(value, f"clustered[{name!r}]", low=0, high=1, open_high=True)
    afford(300 * n, "n", f"{n:,} records", "draw fewer")
    rng = check_rng(rng)
    first, last, n_codes = assumed["zip_codes"]
    codes = np.sort(rng.choice(np.arange(first, last + 1), n_codes, replace=False))
    sizes = rng.lognormal(0.0, _SPREAD_OF_ZIP_CODES, n_codes)
    place = rng.choice(n_codes, n, p=sizes / sizes.sum()) if alike else None
    group = _shared([share for *_, share in _AGES], n, place, alike.get("age", 0.0), rng)
    low, high = (np.array([ages[end] for ages in _AGES])[group] for end in (0, 1))
    age = rng.integers(low, high + 1)
    sexes, shares = np.array(["female", "male"]), [_SHARE_OF_WOMEN, 1 - _SHARE_OF_WOMEN]
    sex = sexes[_shared(shares, n, place, alike.get("sex", 0.0), rng)]
    table = pd.DataFrame(
        {
            "voter_id": np.arange(1, n + 1),
            "zip_code": (rng.choice(codes, n, p=sizes / sizes.sum()) if place is None else codes[place]).astype(str),
            "sex": sex,
            "year_of_birth": _LIST_YEAR - age,
        }
    )
    if assumed["races"] is not None:
        race = _shared(list(assumed["races"].values()), n, place, alike.get("race", 0.0), rng)
        table["race"] = np.array(list(assumed["races"]))[race]
    measure = assumed["measure"]
    return table.assign(**{measure: sample_measure(measure, age, sex, spread=spread, rng=rng)})


def _shared(
    shares: list[float], n: int, place: IntArray | None, correlation: float, rng: np.random.Generator
) -> IntArray:
    """Draw each person's category: by the state's shares, or by those of the person's place.

    Shares of places follow a Dirichlet distribution about the state's: two persons of one place agree as if they were
    one draw with the probability `correlation`.
    """
    if place is None or correlation == 0:
        return np.asarray(rng.choice(len(shares), n, p=shares), np.int64)
    local_shares = rng.dirichlet(np.array(shares) * (1 - correlation) / correlation, place.max() + 1)
    ends = local_shares.cumsum(axis=1)[place, :-1]
    return np.asarray((rng.random(n)[:, None] > ends).sum(axis=1), np.int64)
