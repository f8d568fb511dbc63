"""Methods for records with places."""

from __future__ import annotations

from reident.methods._entry import Entry

PLACES: tuple[Entry, ...] = (
    Entry(
        "coordinate_noise", "anonymiser", "places", "places.noise:perturb_coordinates", "points",
        source="Kroll (2015), section 5", label="noise on coordinates",
        start={"sigma_deg": 0.02}, grid={"sigma_deg": (0.01, 0.05, 0.2, 0.6)}, law="normal degrees",
    ),
    Entry(
        "disc", "anonymiser", "places", "places.masks:mask_disc", "points",
        source="the uniform mask of geography", label="disc",
        start={"radius_m": 2000.0}, grid={"radius_m": (2000.0, 20000.0, 80000.0)}, law="ring",
    ),
    Entry(
        "donut", "anonymiser", "places", "places.masks:mask_donut", "points",
        source="Hampton et al. (2010), with fixed radii", label="donut",
        start={"inner_m": 500.0, "outer_m": 2000.0}, grid={"outer_m": (5000.0, 30000.0, 100000.0)}, law="ring",
    ),
    Entry(
        "population_donut", "anonymiser", "places", "places.masks:mask_population_donut", "points",
        source="Hampton et al. (2010)", label="donut by population",
        start={"k_min": 5, "k_max": 50}, grid={"k_max": (50, 500, 5000)},
    ),
    Entry(
        "grid", "anonymiser", "places", "places.masks:mask_grid", "points",
        source="official statistics' grid cells", label="grid cells",
        start={"cell_m": 5000.0}, grid={"cell_m": (5000.0, 40000.0, 120000.0)}, law="cell",
    ),
    Entry(
        "swap", "anonymiser", "places", "places.masks:swap_locations", "points",
        source="location swapping with public addresses", label="swapped places",
        start={"outer_m": 10000.0}, grid={"outer_m": (10000.0, 60000.0)}, law="ring",
    ),
    Entry(
        "planar_laplace", "anonymiser", "places", "places.displacement:mask_planar_laplace", "points",
        source="Andrés et al. (2013), geo-indistinguishability", label="planar Laplace",
        start={"epsilon_per_km": 0.5}, grid={"epsilon_per_km": (1.0, 0.1, 0.02)},
        guarantee=(
            "a place is at most exp({epsilon_per_km:g} d) times likelier from one true place than from another "
            "d km away, for one release of one person"
        ),
    ),
    Entry(
        "dhs", "anonymiser", "places", "places.displacement:mask_dhs", "points",
        source="Burgert et al. (2013)", label="survey clusters",
    ),
    Entry(
        "areal_elimination", "anonymiser", "places", "places.displacement:mask_areal_elimination", "points",
        source="Kounadi and Leitner (2016)", label="merged areas", fixed={"population": "population"},
        start={"k": 100}, grid={"k": (20, 200, 2000)},
    ),
    Entry(
        "voronoi", "anonymiser", "places", "places.displacement:mask_voronoi", "points",
        source="Seidl et al. (2015); here to be broken", label="Voronoi edges",
    ),
    Entry(
        "rigid_motion", "anonymiser", "places", "places.masks:move_rigidly", "points",
        source="a motion that keeps all distances", label="rigid motion", grid={"shift_m": (100_000.0,)}, scaled=False,
    ),
    Entry(
        "distance_noise", "anonymiser", "places", "places.noise:perturb_distances", "distances",
        source="Kroll (2015), end of section 5", label="noise on distances",
        start={"sigma_km": 5.0}, grid={"sigma_km": (2.0, 20.0, 100.0)},
    ),
    Entry(
        "lipschitz_embedding", "anonymiser", "places", "places.lipschitz_embedding:embed_distances", "distances",
        source="Kroll and Schnell (2016)", label="Lipschitz embedding", tolerance="intervals",
        start={"n_reference_sets": 20, "reference_set_size": 10}, grid={"n_reference_sets": (40, 10, 3)},
    ),
    Entry(
        "grid_sets", "anonymiser", "places", "places.grid_sets:mask_by_grid_sets", "distances",
        source="Schnell et al. (2021), after the abstract", label="sets of grid points",
        start={"radius_km": 50.0, "spacing_km": 5.0}, grid={"radius_km": (200.0, 50.0, 20.0)}, costly=True,
    ),
)  # fmt: skip
