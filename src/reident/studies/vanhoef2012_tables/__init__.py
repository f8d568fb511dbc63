"""Vanhoef (2012), chapters 3, 5, 6 and 7.4: tables, composition of releases, and differential privacy.

Embedded data: tables 3.1 and 3.2, UCI Adult. The power grid is used where its file is at hand (`datasets.load_graph`);
without it the degree sequences are those of networkx's own and of generated graphs. Noise is seeded throughout: what
runs here is a simulation and releases nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from reident.base import Choice, ParameterError, Real, Whole
from reident.data.papers import PAPERS
from reident.studies.parameters import Listed
from reident.studies.study import Study

__all__ = ["ATTRIBUTES", "PROFILES", "STUDY", "Profile", "run"]


#: Sensitive attributes of very different entropy, none of them known to the intruder.
ATTRIBUTES = ("income", "workclass", "relationship", "education", "occupation")


@dataclass(frozen=True)
class Profile:
    """How much of the grids a profile covers; l and t are asked on top of the first k.

    `releases` counts the releases after which the intersection attack is looked at, `attributes` are the sensitive ones
    of which the entropy is compared.
    """

    ks: Annotated[list[int], Listed(Whole(2, unit="records"))]
    ell: Annotated[list[int], Listed(Whole(2))]
    t: Annotated[list[float], Listed(Real(0, 1, open_low=True))]
    epsilons: Annotated[list[float], Listed(Real(0, 100, open_low=True))]
    repetitions: Annotated[int, Whole(1)]
    n_common: int  # people in all releases
    n_own: int  # people of each release alone
    simulations: int
    loss_answers: int
    points: int
    query_repeats: int = 20
    rated: tuple[int, int, int] = (20_000, 4_000, 1_000_000)  # users, titles and ratings of 3.1
    rating_attacks: int = 50
    releases: Annotated[tuple[int, ...], Listed(Whole(1, 20))] = (1, 2, 3, 5)
    attributes: Annotated[tuple[str, ...], Listed(Choice(*ATTRIBUTES))] = ATTRIBUTES

    def __post_init__(self) -> None:
        """Check what no parameter alone can break."""
        if max(self.ks) > self.n_common + self.n_own:
            raise ParameterError(
                f"`ks` must be at most the people of a release ({self.n_common + self.n_own}), got {max(self.ks)}"
            )
        if len(self.attributes) < 2:
            raise ParameterError(f"`attributes` must be at least two, got {self.attributes!r}: they are compared")


#: What values are called that do not tell it, by their code.
_WORDS = {
    "karate club": "karate club",
    "les miserables": "Les Misérables",
    "preferential attachment": "preferential attachment (generated)",
    "small world": "small world (generated)",
    "power grid": "power grid",
    "workclass": "kind of employer",
}

PROFILES = {
    "smoke": Profile(
        [5, 25],
        [3],
        [0.4],
        [0.1, 1.0],
        2,
        150,
        150,
        5,
        300,
        500,
        query_repeats=3,
        rated=(500, 200, 10_000),
        rating_attacks=10,
    ),
    "quick": Profile(
        ks=[3, 5, 10, 25],
        ell=[2, 3, 4, 6],
        t=[0.6, 0.5, 0.4, 0.3],
        epsilons=[0.05, 0.1, 0.2, 0.5, 1.0, 2.0],
        repetitions=5,
        n_common=1200,
        n_own=1200,
        simulations=40,
        loss_answers=5000,
        points=10_000,
    ),
    "full": Profile(
        ks=[2, 3, 5, 10, 25, 50, 100],
        ell=[2, 3, 4, 5, 6, 8],
        t=[0.7, 0.6, 0.5, 0.4, 0.3, 0.2],
        epsilons=[0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4],
        repetitions=30,
        n_common=10_000,
        n_own=6_000,
        simulations=300,
        loss_answers=20_000,
        points=10_000,
        rated=(50_000, 8_000, 5_000_000),
        rating_attacks=200,
    ),
}

STUDY = Study(
    name="vanhoef2012_tables",
    document=PAPERS["vanhoef2012"],
    title="Tables and differential privacy",
    notebook="05-vanhoef2012-tables",
    seed=2012,
    profiles=PROFILES,
    figures=(
        "section-3-1-searches",
        "section-3-1-netflix",
        "section-3-2-query-systems",
        "section-3-2-randomised-response",
        "section-3-3-class-attacks",
        "section-3-4-intersection-releases",
        "section-3-4-intersection-entropy",
        "section-1-6-releases-and-queries",
        "ru-map-k-anonymity",
        "figure-5-1-laplace-noise",
        "figure-5-2-neighbouring-counts",
        "section-5-2-privacy-loss",
        "section-5-6-k-means",
        "figure-6-1-hyperplane",
        "section-6-2-density-loss",
        "section-6-2-density-error",
        "section-7-4-degrees",
        "section-7-4-node-privacy",
        "ru-map-mechanisms",
    ),
    module=__name__,
    words=_WORDS,
    quick_minutes=1.1,
    result="intersection",
)
run = STUDY.run
