"""Every anonymiser by name: for places, distances, tables, networks, and answers to queries about a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reident.methods._entry import Entry

_K_ANONYMOUS = "every released record shares its quasi-identifiers with at least {others} others"
_PRIVATE = "{{epsilon:g}}-differential privacy of all answers together, for one record {change}"
_GRID = {"epsilon": (4.0, 1.0, 0.25, 0.05)}


def _of(data: str, form: str, folder: str) -> Callable[..., Entry]:
    """Return a maker of entries for a kind of data and a form of release, from the modules of a folder."""

    def entry(name: str, label: str, source: str, function: str, **fields: Any) -> Entry:
        return Entry(name, "anonymiser", data, f"{folder}.{function}", form, source=source, label=label, **fields)

    return entry


_points, _distances = _of("places", "points", "places"), _of("places", "distances", "places")
_located = _of("places", "distances", "location")
_table, _network = _of("table", "table", "tables"), _of("network", "network", "networks")
_answers = _of("queries", "answers", "queries")

#: In the order in which they are listed.
ANONYMISERS: tuple[Entry, ...] = (
    _points(
        "coordinate_noise", "noise on coordinates", "Kroll (2015), section 5", "noise:perturb_coordinates",
        start={"sigma_deg": 0.02}, grid={"sigma_deg": (0.01, 0.05, 0.2, 0.6)}, law="normal degrees",
    ),
    _points(
        "disc", "disc", "the uniform mask of geography", "masks:mask_disc",
        start={"radius_m": 2000.0}, grid={"radius_m": (2000.0, 20000.0, 80000.0)}, law="ring",
    ),
    _points(
        "donut", "donut", "Hampton et al. (2010), with fixed radii", "masks:mask_donut",
        start={"inner_m": 500.0, "outer_m": 2000.0}, grid={"outer_m": (5000.0, 30000.0, 100000.0)}, law="ring",
    ),
    _points(
        "population_donut", "donut by population", "Hampton et al. (2010)", "masks:mask_population_donut",
        start={"k_min": 5, "k_max": 50}, grid={"k_max": (50, 500, 5000)},
    ),
    _points(
        "grid", "grid cells", "official statistics' grid cells", "masks:mask_grid",
        start={"cell_m": 5000.0}, grid={"cell_m": (5000.0, 40000.0, 120000.0)}, law="cell",
    ),
    _points(
        "swap", "swapped places", "location swapping with public addresses", "masks:swap_locations",
        start={"outer_m": 10000.0}, grid={"outer_m": (10000.0, 60000.0)}, law="ring",
    ),
    _points(
        "planar_laplace", "planar Laplace", "Andrés et al. (2013), geo-indistinguishability",
        "displacement:mask_planar_laplace", start={"epsilon_per_km": 0.5}, grid={"epsilon_per_km": (1.0, 0.1, 0.02)},
        guarantee=(
            "a place is at most exp({epsilon_per_km:g} d) times likelier from one true place than from another "
            "d km away, for one release of one person"
        ),
    ),
    _points("dhs", "survey clusters", "Burgert et al. (2013)", "displacement:mask_dhs"),
    _points(
        "areal_elimination", "merged areas", "Kounadi and Leitner (2016)", "displacement:mask_areal_elimination",
        fixed={"population": "population"}, start={"k": 100}, grid={"k": (20, 200, 2000)},
    ),
    _points(
        "rigid_motion", "rigid motion", "a motion that keeps all distances", "displacement:move_rigidly",
        grid={"shift_m": (100_000.0,)}, scaled=False,
    ),
    _distances(
        "distance_noise", "noise on distances", "Kroll (2015), end of section 5", "noise:perturb_distances",
        start={"sigma_km": 5.0}, grid={"sigma_km": (2.0, 20.0, 100.0)},
    ),
    _distances(
        "lipschitz_embedding", "Lipschitz embedding", "Kroll and Schnell (2016)", "lipschitz_embedding:embed_distances",
        start={"n_reference_sets": 20, "reference_set_size": 10}, grid={"n_reference_sets": (40, 10, 3)},
        tolerance="intervals",
    ),
    _located(
        "grid_sets", "sets of grid points", "Schnell et al. (2021), after the abstract", "grid_sets:mask_by_grid_sets",
        start={"radius_km": 50.0, "spacing_km": 5.0}, grid={"radius_km": (200.0, 50.0, 20.0)}, costly=True,
    ),
    _table(
        "k_anonymity_lattice", "k-anonymity, one level a column", "El Emam et al. (2009)", "k_anonymity:k_anonymise",
        fixed={"method": "ola"}, start={"k": 5}, grid={"k": (2, 5, 10, 25)},
        guarantee=_K_ANONYMOUS, classes=True,
    ),
    _table(
        "mondrian", "k-anonymity, Mondrian", "LeFevre et al. (2006)", "k_anonymity:k_anonymise",
        fixed={"method": "mondrian"}, takes="suppression_limit charge_suppressed", start={"k": 5},
        grid={"k": (2, 5, 10, 25)}, guarantee=_K_ANONYMOUS, classes=True, law="minimal",
    ),
    _table(
        "k_epsilon", "(k, epsilon)-anonymity", "Holohan et al. (2017), Algorithm 1", "k_epsilon:k_epsilon_anonymise",
        takes="bounds options", start={"k": 5, "epsilon": 1.0},
        grid={"k": (2, 5, 10, 25), "epsilon": (2.0, 0.5)}, exact=True,
        guarantee=(
            "{k}-anonymous in the columns generalised; the noise is scaled to ranges from the data and is not "
            "differential privacy"
        ),
    ),
    _table(
        "microaggregation", "microaggregation", "Domingo-Ferrer and Torra (2005)", "microaggregation:microaggregate",
        start={"k": 5, "scale": "std"}, grid={"k": (3, 10, 25, 50)}, classes=True,
        guarantee="every combination of released numbers occurs at least {k} times; other columns are as they were",
    ),
    _table(
        "additive_noise", "additive noise", "Kim (1986)", "perturbation:add_noise",
        start={"amount": 0.2}, grid={"amount": (0.05, 0.2, 0.5, 1.0)},
    ),
    _table(
        "rank_swapping", "rank swapping", "Moore (1996)", "perturbation:swap_ranks",
        start={"percent": 5.0}, grid={"percent": (1.0, 5.0, 15.0)},
    ),
    _table(
        "rounding", "rounding", "official statistics' rounding", "perturbation:round_values",
        start={"base": 5.0}, grid={"base": (2.0, 10.0)},
    ),
    _network(
        "degree_anonymity", "k-degree anonymity", "Vanhoef (2012), chapter 9; Liu and Terzi (2008)",
        "degree_anonymity:degree_anonymise", start={"k": 5}, grid={"k": (2, 5, 10, 25)},
        guarantee="every node shares its degree with at least {others} others; nothing is promised about neighbours",
    ),
    _network("naive", "other names only", "Vanhoef (2012), Definition 8.1", "perturbation:naive_anonymise"),
    _network(
        "swap_edges", "edges exchanged", "Ying and Wu (2008)", "perturbation:swap_edges",
        grid={"share": (0.05, 0.2, 0.6)},
    ),
    _network(
        "rewire_edges", "edges moved at random", "Hay et al. (2007)", "perturbation:rewire_edges",
        grid={"share": (0.02, 0.1, 0.4)},
    ),
    _answers(
        "laplace_queries", "Laplace noise on each answer", "Vanhoef (2012), Property 5.1", "counting:laplace_queries",
        grid=_GRID, exact=True, guarantee=_PRIVATE.format(change="more or less"),
    ),
    _answers(
        "laplace_cells", "Laplace noise on each cell", "Vanhoef (2012), section 5.5.4", "counting:laplace_cells",
        grid=_GRID, exact=True, guarantee=_PRIVATE.format(change="more or less"),
    ),
    _answers(
        "randomised_response", "randomised response", "Warner (1965)", "counting:randomised_cells",
        grid=_GRID, exact=True,
        guarantee="{epsilon:g}-differential privacy of each person, also against who collects the answers",
    ),
    _answers(
        "restricted_queries", "no small answers", "Vanhoef (2012), section 3.2; here to be broken",
        "counting:restricted_queries", grid={"least": (5, 20)},
    ),
)  # fmt: skip
