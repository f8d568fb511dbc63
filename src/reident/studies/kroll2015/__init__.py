"""Study kroll2015: linking two files by noisy distances (M. Kroll, Trans. Data Privacy 8, 2015).

Files, noise and attack follow section 5 of the paper. What the paper does not state, and what this study chose:

- *Point pattern.* The addresses of the paper were never published. Homes are drawn here from German places by
  population, with a normal jitter of `JITTER_KM` around the place's centre. The jitter decides how hard the attack is.
  It was calibrated to the printed precision of the cells of alpha >= .5 only (at 11 km the mean difference over these
  50 cells was +.017, and it rises by .019 a km); the cells of alpha < .5 are predicted. The sweep `calibration` shows
  how far print and reproduction differ at other jitters, in both halves.
- *Window rule.* One sample of 1000 pairs a setting and data set gives the window for all repetitions, as in the paper.
- *Tie rule.* The paper's program is that of Konc and Janezic, whose clique is the one that its search ends with:
  ``ties="published"``. Every trial also lists all maximum cliques and draws one at random, in the same product graph.
  For small alpha that decides the outcome.

The paper attacked one data set whose points are unknown. Repetitions here are spread over several data sets, and a
printed number agrees if it lies in the interval that the next data set's average would fall in with 95 % probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated

from reident.base import Choice, ParameterError, Real, Whole
from reident.data.papers import PAPERS
from reident.studies.parameters import Listed
from reident.studies.study import Study

__all__ = ["JITTER_KM", "PROFILES", "SPLIT", "STUDY", "Profile", "run"]

#: Standard deviation, km, of homes around their place's centre: calibrated to the printed precision at alpha >= .5.
JITTER_KM = 10.0

#: Standard deviation, km, of the deviation of a distance for noise of a degree on both ends' coordinates, in Germany.
_DEVIATION_KM = 134.0

#: In wider windows, km, searches end by their limit only; the paper's widest has 21 km.
_WIDEST_KM = 50.0

#: The jitter is calibrated on the cells from this alpha on; the others are predicted.
SPLIT = 0.5


@dataclass(frozen=True)
class Profile:
    """How much of the grid a profile covers, and the paper's conditions.

    Where alpha is below `SPLIT` ties decide and a release takes little time: `narrow_repetitions` of each data set
    there, `repetitions` elsewhere. `gamma` is the share of agreeing distances that a quasi-clique asks of
    each match; `jitter_km` the standard deviation of homes around their place's centre.
    """

    sigmas_deg: Annotated[list[float], Listed(Real(0, 10, unit="degrees", open_low=True))]
    alphas: Annotated[list[float], Listed(Real(0, 1, open_low=True, open_high=True))]
    n_datasets: Annotated[int, Whole(2, 10_000, why="an interval is drawn from the differences between data sets")]
    repetitions: Annotated[int, Whole(1)]
    narrow_repetitions: Annotated[int, Whole(1)]
    distance_sigmas_km: list[float]
    variant_repetitions: int
    calibration: dict[str, list[float]]
    n_original: Annotated[int, Whole(2, 5000, unit="records")] = 500
    n_known: Annotated[int, Whole(2, 5000, unit="records")] = 500
    n_common: Annotated[int, Whole(1, unit="records")] = 50
    ties: Annotated[str, Choice("published", "random", "first")] = "published"
    gamma: Annotated[float, Real(0, 1, open_low=True)] = 0.9
    jitter_km: Annotated[float, Real(0, 1000, unit="km")] = JITTER_KM

    def __post_init__(self) -> None:
        """Check what no parameter alone can break."""
        if self.n_common > min(self.n_original, self.n_known):
            raise ParameterError(
                f"`n_common` must be at most the records of the smaller file ({min(self.n_original, self.n_known)}), "
                f"got {self.n_common}: common records are in both"
            )
        # Quasi-cliques are looked for at alpha .5 whatever the alphas, the jitter at those of the calibration.
        sigma_deg, alpha = max(self.sigmas_deg), max(*self.alphas, *self.calibration["alpha"], 0.5)
        width_km = 2 * _DEVIATION_KM * sigma_deg * NormalDist().inv_cdf((1 + alpha) / 2)
        if width_km > _WIDEST_KM:
            raise ParameterError(
                f"`sigmas_deg` must leave the intruder a window of at most {_WIDEST_KM:g} km, got {sigma_deg:g}, which "
                f"makes it {width_km:.0f} km at alpha {alpha:g}: so many distances agree there that no search ends"
            )


_SIGMAS_DEG = [0.005, 0.010, 0.015, 0.020, 0.025, 0.030, 0.035, 0.040, 0.045, 0.050]
_ALPHAS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

_OWN = {"jitter_km": [JITTER_KM], "alpha": [0.5]}

#: Full is the paper's grid, 10 sigmas and 9 alphas, on ten data sets.
PROFILES = {
    "smoke": Profile([0.01], [0.1, 0.5], 2, 1, 1, [5.0], 1, _OWN),
    "quick": Profile([0.005, 0.020, 0.050], [0.1, 0.5, 0.8], 3, 1, 1, [1.0, 7.0], 3, _OWN),
    "full": Profile(
        sigmas_deg=_SIGMAS_DEG,
        alphas=_ALPHAS,
        n_datasets=10,
        repetitions=1,
        narrow_repetitions=2,
        distance_sigmas_km=[0.7, 1.4, 2.1, 3.4, 4.9, 7.0, 10.0],
        variant_repetitions=5,
        calibration={"jitter_km": [9.0, 11.0], "alpha": [0.1, 0.3, 0.5, 0.9]},
    ),
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
    quick_minutes=0.9,
    result="summary",
)
run = STUDY.run
