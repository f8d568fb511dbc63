"""Study kroll2015: linking two files by noisy distances (M. Kroll, Trans. Data Privacy 8, 2015).

Files, noise and attack follow section 5 of the paper. Three things that the paper does not state are choices of this
study, and the notebook says so:

- *Point pattern.* The addresses of the paper were never published. Homes are drawn here from German places by
  population, with a normal jitter of `JITTER_KM` around the place's centre. The jitter decides how hard the
  attack is and was calibrated to the printed precision at alpha >= .3: over 18 cells the mean difference from print
  was -.009 at 10 km and +.029 at 12 km. Uniform points are far too easy to attack.
- *Window rule.* One sample of 1000 pairs a setting and data set gives the window for all repetitions, as in the paper.
- *Tie rule.* Of all maximum cliques the attack claims one at random, each equally likely. For small alpha that decides
  the outcome.

The paper attacked one data set whose points are unknown. Repetitions here are spread over several data sets, and a
printed number agrees if it lies in the interval that the next data set's average would fall in with 95 % probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from reident.data.papers import PAPERS
from reident.errors import ParameterError
from reident.options import Choice, Real, Whole
from reident.studies.parameters import Listed
from reident.studies.study import Study

__all__ = ["JITTER_KM", "PROFILES", "STUDY", "Profile", "run"]

#: Standard deviation, km, of homes around their place's centre: calibrated to the printed precision.
JITTER_KM = 11.0


@dataclass(frozen=True)
class Profile:
    """How much of the grid a profile covers, and the paper's conditions.

    `gamma` is the share of agreeing distances that a quasi-clique asks of each match; `jitter_km` the standard
    deviation of homes around their place's centre.
    """

    sigmas_deg: Annotated[list[float], Listed(Real(0, 10, unit="degrees", open_low=True))]
    alphas: Annotated[list[float], Listed(Real(0, 1, open_low=True, open_high=True))]
    n_datasets: Annotated[int, Whole(2, why="an interval is drawn from the differences between data sets")]
    repetitions: Annotated[int, Whole(1)]
    distance_sigmas_km: list[float]
    variant_repetitions: int
    n_original: Annotated[int, Whole(2, 5000, unit="records")] = 500
    n_known: Annotated[int, Whole(2, 5000, unit="records")] = 500
    n_common: Annotated[int, Whole(1, unit="records")] = 50
    ties: Annotated[str, Choice("random", "first")] = "random"
    gamma: Annotated[float, Real(0, 1, open_low=True)] = 0.9
    jitter_km: Annotated[float, Real(0, 1000, unit="km")] = JITTER_KM

    def __post_init__(self) -> None:
        """Check what no parameter alone can break."""
        if self.n_common > min(self.n_original, self.n_known):
            raise ParameterError(
                f"`n_common` must be at most the records of the smaller file ({min(self.n_original, self.n_known)}), "
                f"got {self.n_common}: common records are in both"
            )


_SIGMAS_DEG = [0.005, 0.010, 0.015, 0.020, 0.025, 0.030, 0.035, 0.040, 0.045, 0.050]
_ALPHAS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

#: Full is the paper's: 10 sigmas, 9 alphas, 100 repetitions.
PROFILES = {
    "smoke": Profile([0.01], [0.1, 0.5], 2, 1, [5.0], 1),
    "quick": Profile([0.005, 0.020, 0.035, 0.050], [0.1, 0.3, 0.5, 0.7, 0.9], 3, 2, [1.0, 3.0, 7.0], 2),
    "full": Profile(_SIGMAS_DEG, _ALPHAS, 10, 10, [0.7, 1.4, 2.1, 3.4, 4.9, 7.0, 10.0], 10),
}

STUDY = Study(
    name="kroll2015",
    document=PAPERS["kroll2015"],
    title="Graph linkage attack on distances",
    notebook="01-kroll2015-graph-linkage",
    seed=2015,
    profiles=PROFILES,
    conditions=("n_original", "n_known", "n_common", "ties", "jitter_km"),
    figures=(
        "figure-1-graph-model",
        "figure-2-poets",
        "figure-3-product-graph",
        "figure-4-files",
        "figure-5-against-sigma",
        "figure-6-against-alpha",
        "figure-7-matches",
        "figure-8-ru-map",
        "ties",
        "ru-map-variants",
    ),
    module=__name__,
    result="summary",
)
run = STUDY.run
