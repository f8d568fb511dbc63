"""Holohan et al. (2017): (k, epsilon)-anonymity on Adult and on two simulated voter lists.

The voter lists of the paper name living people and are not used: lists of their sizes are drawn
(`reident.data.people`). What the paper prints about them is shown beside what the drawn lists give, never counted as
reproduced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from reident.base import Choice, Real, Whole
from reident.data.papers import PAPERS
from reident.studies.parameters import Listed
from reident.studies.study import Study

__all__ = ["CASES", "CONFIDENCES", "EPSILONS", "METHODS", "PROFILES", "STUDY", "Profile", "run"]

CASES = ("adult", "florida", "michigan")
METHODS = ("ola", "mondrian")

#: The confidences of VII-C.
CONFIDENCES = (0.7, 0.9, 0.99, 0.999, 0.9999, 0.99999)


@dataclass(frozen=True)
class Profile:
    """How much of the paper's grid a profile covers, and the paper's conditions.

    `small` cuts every data set to its first 1,500 records; `spread` multiplies the standard deviations with which
    heights and weights are drawn; `loss` and `suppression_limit` are OLA's.
    """

    ks: Annotated[list[int], Listed(Whole(2, 500, unit="records"))]
    epsilons: Annotated[list[float], Listed(Real(0, 1000, open_low=True))]
    repetitions: Annotated[int, Whole(1)]
    time_ks: list[int]
    time_repetitions: int
    lists: int
    small: bool = False
    datasets: Annotated[tuple[str, ...], Listed(Choice(*CASES))] = CASES
    algorithms: Annotated[tuple[str, ...], Listed(Choice(*METHODS))] = METHODS
    confidences: Annotated[tuple[float, ...], Listed(Real(0, 1, open_low=True, open_high=True))] = CONFIDENCES
    loss: Annotated[str, Choice("discernibility", "precision", "entropy", "ncp")] = "discernibility"
    suppression_limit: Annotated[float, Real(0, 1, open_high=True)] = 0.05
    spread: Annotated[float, Real(0, 10, open_low=True)] = 1.0


_KS = [2, 5, 10, 20, 50, 100]

#: The paper's values, from small noise to large.
EPSILONS = [0.05, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]

#: Full is the paper's grid with its 30 runs; smoke a corner of it.
PROFILES = {
    "smoke": Profile([2, 10], [0.5, 8.0], 2, [10], 1, 2, small=True),
    "quick": Profile(_KS, [0.05, 0.5, 2.0, 8.0], 2, [5, 20, 100], 1, 2),
    "full": Profile(_KS, EPSILONS, 30, _KS, 5, 30),
}

STUDY = Study(
    name="holohan2017",
    document=PAPERS["holohan2017"],
    title="k-anonymity and (k, epsilon)-anonymity",
    notebook="04-holohan2017-k-epsilon",
    seed=2017,
    profiles=PROFILES,
    words={"adult": "Adult", "florida": "Florida", "michigan": "Michigan", "ola": "OLA", "mondrian": "Mondrian"},
    conditions=("loss", "suppression_limit", "spread"),
    figures=(
        "figure-1-curse-of-dimensionality",
        "figure-2-relative-errors",
        "figure-3-error-against-k",
        "figure-4-error-against-epsilon",
        "figure-5-linking-risk",
        "figure-6-additional-suppression",
        "figure-6b-other-confidences",
        "figure-7-time-mondrian",
        "figure-8-time-ola",
        "lattice",
        "minimality-attack",
        "modes",
        "spread-of-heights",
        "what-the-label-hides",
        "ru-map",
    ),
    module=__name__,
    quick_minutes=1.1,
    result="noise",
)
run = STUDY.run
