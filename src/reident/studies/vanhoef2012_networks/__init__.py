"""Study vanhoef2012_networks: networks anonymised and attacked (M. Vanhoef, Privacy in Databases, 2012, chapters 7-10).

The thesis used graphs that cannot be passed on (Facebook100) or found (DBLP, LiveJournal). By default the study runs
on generated graphs and one that networkx carries; profile `full` is table 9.2 on the thesis's graphs where the user has
them (REIDENT_DATA), else the generated ones, and chapter 9's statements are not comparable. Choices of this study:

- *Limits.* The literal probing schemes may need any number of probes; they run under a limit of PROBES, not of time,
so that
  a run gives the same rows on every machine. Where a scheme reaches it, the row says `finished = False`.
- *Attacker.* The passive attacker has a copy of the network that keeps each edge with the stated probability, and knows
  50 people in the release (at most a tenth), or none.
- *Repetitions.* Every random step is repeated; figures show mean and spread, as the thesis asks (9.6.2).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from reident.base import Choice, Real, Whole
from reident.data.papers import PAPERS
from reident.studies.parameters import Listed
from reident.studies.study import Study

__all__ = ["ATTACKS", "GENERATED", "METHODS", "N_SEEDS", "PROBING", "PROFILES", "REAL", "STUDY", "Profile", "run"]

#: Graphs that need no download.
GENERATED = ("les_miserables", "power_law_cluster", "communities", "chung_lu", "small_world")

#: The thesis's schemes, and as many raises at once as stubs are missing.
PROBING = ("1", "2", "3", "4", "batch")

#: The thesis's graphs, used where the user has them.
REAL = ("enron", "powergrid", "caltech36", "bowdoin47")

#: Name in the study -> options of `degree_anonymise`.
METHODS: dict[str, dict[str, Any]] = {
    "supergraph": {"method": "supergraph"},
    "relaxed": {"method": "relaxed"},
    "simultaneous": {"method": "simultaneous"},
    "direct": {"method": "direct"},
    "relaxed, literal swaps": {"method": "relaxed", "patience": 1},
    "simultaneous, literal swaps": {"method": "simultaneous", "patience": 1},
    "simultaneous, patient swaps": {"method": "simultaneous", "patience": 1000},
    "relaxed, links bounded": {"method": "relaxed", "certainty": 0.9},
}

#: Attacks on anonymised releases: with people known and with nobody known, and by degrees alone, on people and links.
ATTACKS = ("people known", "nobody known", "degrees", "links")

#: Seeds that the seeded attacker knows, at most a tenth of the nodes.
N_SEEDS = 50


@dataclass(frozen=True)
class Profile:
    """How much of the grids a profile covers.

    `ks` are those of the releases that are measured, `attack_ks` of those attacked; `copy_share` is the share of links
    in the attacker's copy. `swaps` is how many edges GreedySwap samples without an improving swap before it stops;
    None: as the method's name says. `n_seeds` people are known, at most a tenth; None: `N_SEEDS`, and in the passive
    attack on naive releases `seeds`.
    """

    graphs: Annotated[list[str], Listed(Choice(*GENERATED, *REAL))]
    ks: Annotated[list[int], Listed(Whole(2, unit="nodes"))]
    cost_ks: list[int]
    probing_graphs: list[str]
    probing_ks: list[int]
    max_probes: int
    repetitions: Annotated[int, Whole(1)]
    probing_repetitions: int
    attack_ks: Annotated[list[int], Listed(Whole(2, unit="nodes"))]
    copy_share: Annotated[list[float], Listed(Real(0, 1, open_low=True))]
    methods: Annotated[list[str], Listed(Choice(*METHODS))]
    attack_methods: Annotated[list[str], Listed(Choice(*METHODS))]
    attack_repetitions: int
    attacked: list[str]
    seeds: list[int]
    active_graph: str
    active_ks: list[int]
    active_repetitions: int
    link_graphs: list[str]
    link_ks: list[int]
    #: People of the simulated networks that are crawled (10.5), a half of those of which two networks are members.
    crawl_size: int
    #: Where these are at hand they are run in place of the generated ones, as table 9.2 says.
    real: list[str] = field(default_factory=list)
    probing: Annotated[tuple[str, ...], Listed(Choice(*PROBING))] = PROBING
    attacks: Annotated[tuple[str, ...], Listed(Choice(*ATTACKS))] = ATTACKS
    swaps: Annotated[int | None, Whole(1)] = None
    n_seeds: Annotated[int | None, Whole(1, unit="people")] = None
    #: Which of `ks` and `attack_ks` go up to all nodes of a network: those that are given; a profile's go to half.
    to_all_nodes: tuple[str, ...] = ()

    def following(self, given: Collection[str]) -> Profile:
        """Let each k that is given be as large as a network, and methods that are given be attacked, too."""
        attacked = self.methods if "methods" in given and "attack_methods" not in given else self.attack_methods
        largest = tuple(name for name in ("ks", "attack_ks") if name in given)
        return replace(self, attack_methods=attacked, to_all_nodes=largest)


_QUICK = ["supergraph", "relaxed", "simultaneous", "direct", "simultaneous, literal swaps"]

PROFILES = {
    "smoke": Profile(
        graphs=["les_miserables"],
        ks=[5],
        cost_ks=[2, 5],
        probing_graphs=["les_miserables"],
        probing_ks=[2, 5],
        max_probes=200,
        repetitions=2,
        probing_repetitions=2,
        attack_ks=[5],
        copy_share=[1.0],
        methods=["direct", "supergraph"],
        attack_methods=["direct", "supergraph"],
        attack_repetitions=2,
        attacked=["small_world"],
        seeds=[20],
        active_graph="preferential_attachment_1000",
        active_ks=[4, 7],
        active_repetitions=2,
        link_graphs=["communities"],
        link_ks=[10],
        crawl_size=800,
    ),
    "quick": Profile(
        graphs=["les_miserables", "power_law_cluster", "communities"],
        ks=[2, 10, 50],
        cost_ks=[2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 98],
        probing_graphs=["les_miserables", "power_law_cluster", "small_world"],
        probing_ks=[2, 5, 10, 20, 30],
        max_probes=1000,
        repetitions=3,
        probing_repetitions=5,
        attack_ks=[2, 10, 50],
        copy_share=[0.9, 0.5],
        methods=_QUICK,
        attack_methods=[*_QUICK, "relaxed, links bounded"],
        attack_repetitions=2,
        attacked=["power_law_cluster", "chung_lu"],
        seeds=[5, 15, 50],
        active_graph="preferential_attachment_10000",
        active_ks=[3, 4, 5, 6, 7, 8],
        active_repetitions=30,
        link_graphs=["communities", "power_law_cluster"],
        link_ks=[10, 50],
        crawl_size=5000,
    ),
    "full": Profile(
        graphs=[*GENERATED],
        ks=[2, 5, 10, 20, 35, 50, 75, 98],
        cost_ks=list(range(2, 99)),
        probing_graphs=[*GENERATED],
        probing_ks=[2, 3, 5, 10, 18, 26, 34, 50, 66, 82, 98],
        max_probes=5000,
        repetitions=5,
        probing_repetitions=5,
        attack_ks=[2, 10, 50, 98],
        copy_share=[0.9, 0.7, 0.5],
        methods=["supergraph", "relaxed", "simultaneous", "relaxed, literal swaps", "simultaneous, literal swaps"],
        attack_methods=[*_QUICK, "relaxed, links bounded"],
        attack_repetitions=30,
        attacked=["power_law_cluster", "communities"],
        seeds=[5, 15, 50],
        active_graph="preferential_attachment_10000",
        active_ks=[3, 4, 5, 6, 7, 8, 9, 10],
        active_repetitions=200,
        link_graphs=["communities", "power_law_cluster"],
        link_ks=[10, 50, 98],
        crawl_size=10_000,
        real=list(REAL),
    ),
}

_WORDS = {
    "les_miserables": "Les Misérables",
    "enron": "Enron e-mail",
    "powergrid": "power grid",
    "caltech36": "Caltech (Facebook)",
    "bowdoin47": "Bowdoin (Facebook)",
    "american75": "American University (Facebook)",
    "communities": "communities (generated)",
    "power_law_cluster": "power law with triangles (generated)",
    "chung_lu": "power law without triangles (generated)",
    "small_world": "small world (generated)",
}

STUDY = Study(
    name="vanhoef2012_networks",
    document=PAPERS["vanhoef2012"],
    title="Networks anonymised and attacked",
    notebook="06-vanhoef2012-networks",
    seed=2012,
    profiles=PROFILES,
    words=_WORDS,
    figures=(
        "definitions",
        "figure-8-2-active-attack",
        "section-8-4-cut-attack",
        "active-attack-after-anonymity",
        "figure-9-6-cost",
        "figure-9-8-to-9-13-probing",
        "probes",
        "figure-9-14-diameter",
        "figure-9-15-path-length",
        "figure-9-16-density",
        "figure-9-17-exponent",
        "figure-9-18-clustering",
        "passive-attack",
        "section-10-3-seeds-by-clique",
        "section-10-5-crawls",
        "passive-attack-on-releases",
        "passive-attack-on-releases-seedless",
        "passive-attack-by-spectra",
        "edge-disclosure",
        "ru-map-networks",
        "ru-map-networks-clustering",
        "link-prediction",
    ),
    module=__name__,
    quick_minutes=2.8,
    result="attacks",
)
run = STUDY.run
