"""Study kroll2016: Lipschitz embedding of distances (M. Kroll and R. Schnell, Int. J. Health Geogr. 15:1, 2016).

Choices of this study where the paper is silent or its data are gone, all told in the notebook:

- *Hospitals.* The list of 847 is no longer to be had. With the NHS Choices list of 2020 at hand (``REIDENT_DATA``) 847
  of it are drawn; otherwise a stand-in is simulated from English towns and the list's trust prefixes.
- *Persons.* As in kroll2015; the jitter of homes was calibrated there.
- *Data sets.* The paper attacked one of each scenario. Here several are drawn, with a few embeddings each, and every
  interval is over data sets: what print says is one further draw. The intruder's intervals are simulated once a setting
  and data set.
- *Search.* The algorithm that the paper used decides the comparison with print, cut off after fewer steps than the
  paper's 20,000,000; `as_published` shows in some dense graphs what many more steps find. Beside it stands a search as
  strong as we can, which goes on from that clique in the same graph: a tabu search feeds an exact one, which ends at a
  time limit and says whether the clique is proven. Rows that a time limit ended may differ from run to run.
- *Reference area.* The paper's figure 1 draws reference places in the United Kingdom; its text says "from the area from
  which the points are taken". The sweep `areas` judges the cells of England under both, and under shapes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from reident.base import Choice, Real, Whole
from reident.data.papers import PAPERS
from reident.studies.parameters import Listed
from reident.studies.study import Study

__all__ = ["PROFILES", "SCENARIOS", "SHAPES", "STUDY", "Profile", "run"]

SCENARIOS = ("england", "germany")

#: Where reference places may be drawn besides the scenario's country.
SHAPES = ("united_kingdom", "bounding_box", "disc", "population")


@dataclass(frozen=True)
class Profile:
    """How much of the grids a profile covers, and the paper's conditions.

    None leaves to both experiments their own grids. `area` is where reference places are drawn; None: the country of
    the scenario. `datasets` counts the data sets, `releases` those of each setting.
    """

    first: dict[str, list[Any]]
    second: dict[str, list[Any]]
    releases: Annotated[int, Whole(1)]
    n_simulations: int
    time_limit_s: float
    steps: int
    areas: dict[str, list[Any]]
    n_boxes: int
    utility: dict[str, list[int]]
    utility_repetitions: int
    n_embeddings: int
    published: dict[str, list[Any]]
    published_steps: int
    methods: dict[str, list[dict[str, Any]]]
    equalities_datasets: int
    rounding_km: list[float]
    rounded_datasets: int
    n_pairs: int
    n_sweeps: int
    n_starts: int
    scenario: Annotated[list[str] | None, Listed(Choice(*SCENARIOS))] = None
    n_reference_sets: Annotated[list[int] | None, Listed(Whole(1, 5000))] = None
    reference_set_sizes: Annotated[list[int] | None, Listed(Whole(1, 500, unit="places"))] = None
    alphas: Annotated[list[float] | None, Listed(Real(0, 1, open_low=True, open_high=True))] = None
    area: Annotated[str | None, Choice("england", "germany", *SHAPES)] = None
    datasets: Annotated[int, Whole(1, 100)] = 10
    search: Annotated[str, Choice("published", "strong")] = "published"


#: Every way of releasing distances that is compared: method of the registry -> options.
_METHODS: dict[str, list[dict[str, Any]]] = {
    "original": [{}],
    "rigid_motion": [{"shift_m": 100_000.0, "reflect": True}],
    "coordinate_noise": [{"sigma_deg": sigma} for sigma in (0.005, 0.025, 0.05)],
    "distance_noise": [{"sigma_km": sigma} for sigma in (5.0, 20.0)],
    "disc": [{"radius_m": radius} for radius in (2000.0, 10_000.0)],
    "donut": [{"inner_m": inner, "outer_m": 3 * inner} for inner in (1000.0, 5000.0)],
    "grid": [{"cell_m": cell} for cell in (5000.0, 20_000.0)],
    "swap": [{"inner_m": 100.0, "outer_m": outer} for outer in (10_000.0, 30_000.0)],
    "lipschitz_embedding": [
        {"n_reference_sets": d, "reference_set_size": k}
        for d, k in ((500, 1), (100, 10), (100, 30), (20, 10), (20, 30))
    ],
}

_FIGURE_2: dict[str, list[int]] = {"reference_set_size": [5, 20, 35, 50], "n_reference_sets": [5, 10, 15, 20]}

_FIRST: dict[str, list[Any]] = {
    "scenario": list(SCENARIOS),
    "n_reference_sets": [20, 100, 500],
    "reference_set_size": [1, 3, 6, 10],
    "alpha": [0.1, 0.5, 0.9],
}
_SECOND: dict[str, list[Any]] = {
    "scenario": list(SCENARIOS),
    "n_reference_sets": [20, 60, 100],
    "reference_set_size": [10, 20, 30, 50, 100],
    "alpha": [0.1, 0.5, 0.9],
}
# Where the search of the paper meets graphs too dense to finish.
_DENSE: dict[str, list[Any]] = {
    "scenario": ["england"],
    "n_reference_sets": [20],
    "reference_set_size": [10, 30],
    "alpha": [0.5],
}
_AREAS: dict[str, list[Any]] = {
    "area": ["england", *SHAPES],
    "n_reference_sets": [20],
    "reference_set_size": [10, 30],
    "alpha": [0.5],
}
_FULL = Profile(
    first=_FIRST,
    second=_SECOND,
    releases=2,
    n_simulations=100,
    time_limit_s=0.1,
    steps=50_000,
    areas=_AREAS,
    n_boxes=400,
    utility=_FIGURE_2,
    utility_repetitions=2,
    n_embeddings=100,
    published=_DENSE,
    published_steps=5_000_000,
    methods=_METHODS,
    equalities_datasets=10,
    rounding_km=[1.0],
    rounded_datasets=3,
    n_pairs=4000,
    n_sweeps=400,
    n_starts=2,
)
_FEWER = {name: _METHODS[name][:1] for name in ("disc", "donut", "grid", "swap", "distance_noise")}
_EMBEDDINGS = _METHODS["lipschitz_embedding"]

#: What the small profiles do once, or not at all.
_ONCE = replace(_FULL, releases=1, utility_repetitions=1, equalities_datasets=1, rounding_km=[], n_starts=1)

#: Full is both experiments in both scenarios, twenty releases a setting as in the paper, of ten data sets.
PROFILES = {
    "smoke": replace(
        _ONCE,
        first={**_FIRST, "n_reference_sets": [20], "reference_set_size": [1], "alpha": [0.1, 0.5]},
        second={**_SECOND, "n_reference_sets": [20], "reference_set_size": [10], "alpha": [0.1]},
        datasets=1,
        n_simulations=20,
        time_limit_s=0.5,
        steps=1_000,
        areas={**_AREAS, "area": ["england", "disc"], "reference_set_size": [10]},
        n_boxes=5,
        utility={"reference_set_size": [5], "n_reference_sets": [5, 20]},
        n_embeddings=5,
        published={**_DENSE, "reference_set_size": [10]},
        published_steps=1_000,
        methods={"original": [{}], "lipschitz_embedding": _EMBEDDINGS[3:4]},
        n_pairs=200,
        n_sweeps=5,
    ),
    "quick": replace(
        _ONCE,
        first={**_FIRST, "reference_set_size": [1, 10], "n_reference_sets": [20, 100], "alpha": [0.1, 0.5]},
        second={**_SECOND, "reference_set_size": [10, 30], "n_reference_sets": [20], "alpha": [0.5]},
        datasets=3,
        n_simulations=30,
        steps=10_000,
        areas={**_AREAS, "area": ["england", "united_kingdom"], "reference_set_size": [10]},
        n_boxes=30,
        utility={"reference_set_size": [5, 20, 50], "n_reference_sets": [5, 20]},
        n_embeddings=30,
        published={**_DENSE, "reference_set_size": [30]},
        published_steps=100_000,
        methods={
            **_METHODS,
            **_FEWER,
            "coordinate_noise": _METHODS["coordinate_noise"][::2],
            "lipschitz_embedding": [_EMBEDDINGS[i] for i in (1, 4)],
        },
        n_pairs=300,
        n_sweeps=100,
    ),
    "full": _FULL,
}

STUDY = Study(
    name="kroll2016",
    document=PAPERS["kroll2016"],
    title="Lipschitz embedding of distances",
    notebook="02-kroll2016-lipschitz-embedding",
    seed=2016,
    profiles=PROFILES,
    words={"england": "hospitals in England", "germany": "persons in Germany"},
    conditions=("area", "search"),
    figures=(
        "figure-1-one-coordinate",
        "appendix-city-pairs",
        "figure-2-utility",
        "uses",
        "figure-3-england-files",
        "figure-4-germany-files",
        "figure-5-england-first-alpha-0.1",
        "figure-6-england-first-alpha-0.5",
        "figure-7-england-first-alpha-0.9",
        "figure-8-england-second-alpha-0.1",
        "figure-9-england-second-alpha-0.5",
        "figure-10-germany-first-alpha-0.1",
        "figure-11-germany-first-alpha-0.5",
        "figure-12-germany-first-alpha-0.9",
        "figure-13-germany-second-alpha-0.1",
        "figure-14-germany-second-alpha-0.5",
        "reference-areas",
        "locating",
        "ru-map",
    ),
    module=__name__,
    quick_minutes=3.2,
    result="first",
)
run = STUDY.run
