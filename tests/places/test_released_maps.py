"""What the note and the notebook say about the certificate, on the runs that are kept."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks._map_trials import FAILING, PATTERNS, RELEASES, overlap_trial
from benchmarks._protection import CANDIDATES, Candidate, protect
from benchmarks._released_maps import TABLES

import reference_runs as example
from reident import great_circle_km
from reident.data.datasets import embedded_file
from reident.experiments.released_maps import FITTING, LEVELS, WRONG_KM, load_country, people
from reident.location import locate_by_reference_sets
from research_note import NOTE, exact_now, measured, note


def test_the_certificate_keeps_its_level_on_failing_runs():
    runs = measured()
    failing = runs[runs["median_km"] > WRONG_KM]
    assert len(failing) >= 200
    assert set(failing["kind"]) == set(FAILING)
    for level in LEVELS:
        assert failing[f"wrong_{level:g}"].sum() <= level * failing["n_wrong"].sum()


def test_the_recommended_embedding_is_opened_on_twenty_fresh_data_sets():
    exact = exact_now().query("n == 500")
    for d, k in ((20, 30), (20, 10), (100, 30)):
        runs = exact[(exact["d"] == d) & (exact["k"] == k)]
        assert runs["seed"].nunique() == len(runs) == 20
        assert (runs["located"] >= 0.95 * 500).sum() >= 18
    assert (exact_now()["wrong"] == 0).all()


def test_small_files_lack_search_at_200_records_and_information_at_50():
    runs, said = exact_now(), note()
    fixed = runs.groupby(["n", "k"])["determined"].agg(["min", "max", "count"])
    assert (fixed.loc[[50, 200], "count"] == 5).all()
    least = int(fixed.loc[200, "min"].min())
    assert f"With 200 records at least {least} are determined, in all ten files" in said
    ten, thirty = (" to ".join(f"{end:g}" for end in fixed.loc[(50, k), ["min", "max"]]) for k in (10, 30))
    assert f"With 50 records and 10 places a set {ten} are" in said
    assert f"With 30 places a set {thirty} are: there the information ends" in said
    assert fixed.loc[(50, 10), "min"] > 40 > 20 > fixed.loc[(50, 30), "max"]
    assert (runs["located"] + runs["in_other_islands"] <= runs["determined"].fillna(np.inf)).all()
    known = runs.loc[runs["n"] == 50, "coordinates_known"]
    assert (runs.loc[runs["n"] == 50, "located"] == 0).all()
    assert f"between {100 * known.min():.0f} and {100 * known.max():.0f} % of the coordinates come back" in said
    split = runs[(runs["n"] == 200) & (runs["k"] == 30)]
    assert (
        f"of the five files {split['located'].sum()} records lie in the largest and {split['in_other_islands'].sum()} "
        "in others, all right"
    ) in said
    found = runs[runs["n"] == 100].groupby("k")["located"].agg(["min", "max"])
    assert (
        f"20 sets of 10 holds {found.loc[10, 'min']} to {found.loc[10, 'max']} records, that of 20 sets of 30 at most "
        f"{found.loc[30, 'max']};"
    ) in said


def test_the_border_and_a_file_fix_the_motion_of_an_opened_embedding():
    runs, said = pd.read_csv(embedded_file("measured/reference_frames.csv")), note()
    assert len(runs) == 10
    near, far = runs["border_median_km"].min(), runs["border_median_km"].max()
    border = f"half of the records within {near:.1f} to {far:.1f} km of home"
    assert f"{border}, and all within {runs['border_largest_km'].max():.1f} km" in said
    assert (runs["file_median_km"] < 1e-6).all()
    wrong = (runs["links"] - runs["right"]).sum()
    assert f"links {runs['right'].sum()} of {runs['common'].sum()} common records, {wrong} wrongly" in said
    assert wrong == 0


def test_candidates_do_to_distances_what_they_say():
    rng = np.random.default_rng(0)
    places, area = load_country("germany")
    homes = people(places, area, 60, rng)
    true = great_circle_km(homes["lat_deg"], homes["lon_deg"])
    for name, made in CANDIDATES.items():
        released = protect(homes, area, made, np.random.default_rng(1))
        given = released[~np.isnan(released)]
        np.testing.assert_array_equal(released, released.T)
        assert (np.diag(released) == 0).all(), name
        if made.step_km:
            assert np.abs(given / made.step_km - np.round(given / made.step_km)).max() < 1e-9
        if made.block:
            assert (~np.isnan(released)).sum(axis=1).max() == made.block
        assert given.max() <= made.longest_km
        assert (
            np.isnan(released).mean() == pytest.approx(made.left_out, abs=0.06) or made.block or made.longest_km < 100
        )
        if made == Candidate():
            assert (released <= true + 1e-6).all()


@pytest.mark.slow
def test_parts_that_no_chain_connects_are_registered_one_by_one():
    # Three regions with empty gaps: as a whole the shape is far off, region by region it is right.
    setting = {"pattern": "towns with gaps", "release": "100 sets of 10", "n": 200, "dataset": 7}
    shared = overlap_trial(np.random.default_rng(0), **setting, n_common=100)
    assert shared["within_5_km"] > 0.9
    assert shared["certified"] > 0.5 > shared["certified_wrong"]


def note_rows():
    """The rows of the note's table of the opened embedding, from the runs."""
    for row in example.summary().to_dict("records"):
        kind = "exact" if not row["noise_km"] else f"noise of {row['noise_km']:g} km"
        kind = f"rounded to {row['rounding_km']:g} km" if row["rounding_km"] else kind
        kind = f"exact, {row['missing']:.0%} missing" if row["missing"] else kind
        error = "-" if np.isnan(row["median error, km"]) else f"{row['median error, km']:.1g} km"
        located = f"{row['located, median share']:.0%} ({row['located, lowest share']:.0%})"
        cells = f"{row['d']}, {row['k']} | {row['n']} | {kind} | {row['data sets']}"
        yield f"| {cells} | {located} | {row['wrong records']} | {error} |"


def overlap_rows():
    """The rows of the note's table of shared records, from the runs."""
    runs = pd.read_csv(embedded_file("measured/overlap.csv"))
    for (pattern, release), part in runs.groupby(["pattern", "release"], sort=False):
        found = part.groupby("n_common")["within_5_km"].mean()
        shares = " | ".join(f"{found[n_common]:.0%}" for n_common in (50, 20, 5, 0, -1))
        yield f"| {pattern} | {release} | {part['dataset'].nunique()} | {shares} |"


def town_rows():
    """The rows of the note's table of people laid on their towns, from the runs."""
    runs = pd.read_csv(embedded_file("measured/towns.csv"))
    said = {"20 km of noise": "20 km of noise on each distance", "100 sets of 10": "Lipschitz, 100 sets of 10"}
    for release, part in runs.groupby("release", sort=False):
        median, worst = part["median_km"].median(), part["median_km"].max()
        yield f"| {said.get(release, release)} ({len(part)} data sets) | {median:.1f} km | {worst:.1f} km |"


def size_rows():
    """The rows of the note's table of km against the size of the file, from the runs."""
    runs = pd.read_csv(embedded_file("measured/km_against_n.csv")).query("sigma_km == 0 and step_km == 0")
    for knowledge, said in {"towns": "towns and outline", "outline": "outline alone"}.items():
        km = runs[runs["knowledge"] == knowledge].groupby("n")["median_km"].median()
        yield f"| {said} | {' | '.join(f'{each:.1f} km' for each in km)} |"


def certificate_rows():
    """The rows of the note's table of the certificate of `locate_by_population`, from the runs."""
    runs = measured()
    failing, fitting = runs[runs["median_km"] > WRONG_KM], runs[runs["kind"].isin(FITTING)]
    for level in LEVELS:
        wrong, n_wrong = failing[f"wrong_{level:g}"], failing["n_wrong"].sum()
        power = fitting[f"certified_{level:g}"].sum() / fitting["n"].sum()
        share = f"{wrong.sum() / n_wrong:.2%} ({wrong.sum()} of {n_wrong})".replace("%", " %")
        shown = f"{power:.0%}".replace("%", " %")
        yield f"| {level:g} | {share} | {(wrong > 0).sum()} of {len(failing)} | {shown} |"


def level_rows():
    """The rows of the note's tables of the records that reference sets place and certify, from the runs."""
    for row in example.by_level().to_dict("records"):
        cells = f"{row['level']:g} | {row['certified']:,} | {row['of these wrong']} | {row['in files']}"
        yield f"| {cells} | {row['placed wrong']} |"
    for row in example.by_release().to_dict("records"):
        cells = f"{row['d']}, {row['k']} | {row['n']} | {row['release']} | {row['files']} | {row['maps']}"
        found = f"{row['located']:,} | {row['wrong']} | {row['certified_0.01']:,} | {row['wrong_0.01']}"
        yield f"| {cells} | {found} |"


def nowhere():
    """The note's sentence on releases that no map can be right about, from the runs."""
    runs = example.levels_measured().query("kind != 'people'")
    placed = runs["placed"] + runs["placed_elsewhere"]
    return (
        f"Of {len(runs)} releases that no map can be right about (coordinates given to other records at random, points "
        f"in space; 300 records, 20 sets of 10) {(placed > 0).sum()} placed anybody, {placed.sum()} records in all; "
        f"{runs['certified_0.05'].sum()} were certified at the level .05."
    )


def value_rows():
    """The rows of the note's table of recovered coordinates, over all sizes of files and sets, from the runs."""
    runs = example.hidden_values()
    for release, part in runs.groupby("release", sort=False):
        share = f"{part['wrong'].sum() / part['values'].sum():.1%} | {part['worst_file'].max():.1%}".replace("%", " %")
        yield f"| {release} | {part['files'].sum()} | {part['values'].sum():,} | {share} |"


def test_the_note_says_what_was_measured():
    note = NOTE.read_text(encoding="utf-8")
    runs = measured()
    said = " ".join(note.split())
    assert f"The certificate, on {len(runs)} runs of which {(runs['median_km'] > WRONG_KM).sum()} failed" in said
    assert runs["dataset"].min() >= 500
    rows = [
        *note_rows(),
        *overlap_rows(),
        *town_rows(),
        *size_rows(),
        *certificate_rows(),
        *level_rows(),
        *value_rows(),
    ]
    for row in rows:
        assert row in note, row
    by_file = pd.read_csv(embedded_file("measured/overlap.csv")).query("n_common >= 0")
    worst = by_file.groupby(["pattern", "release", "n_common"])["certified_wrong"].mean().max()
    assert f"Of embedded records up to {worst:.0%} lie more than 25 km off" in said
    sums = rough_sums()
    assert nowhere() in said
    assert (
        f"On {sums['files']} files with rounding or noise (seeds 9171 to 9183) {sums['located']:,} records were "
        f"located and {sums['wrong']} placed wrong, on one file"
    ) in said
    coarse = example.measured().query("noise_km >= 5 and seed >= 9171")
    assert len(coarse) >= 18
    assert (coarse["islands"] == 0).all()
    assert "with noise of 5 or 20 km nobody is placed" in said


def test_certified_records_of_rounded_and_noisy_embeddings_are_right():
    runs = example.levels_measured()
    assert runs["seed"].min() >= 20000
    levels = example.by_level().set_index("level")
    assert levels.loc[0.01, "certified"] > 10_000
    assert (levels["of these wrong"] <= 0.001 * levels["certified"]).all()
    assert levels.loc[0.001, "of these wrong"] == 0
    assert levels.loc[0.05, "placed wrong"] <= 0.001 * levels.loc[0.05, "certified"]
    told = " ".join((locate_by_reference_sets.__doc__ or "").split())
    certified, wrong, files = levels.loc[0.05, ["certified", "of these wrong", "in files"]].astype(int)
    assert files == 2
    assert (
        f"Of {certified:,} records of rounded and noisy releases certified at .05, on fresh files, {wrong} lay" in told
    )
    for kind in ("shuffled", "in space"):
        assert (runs["kind"] == kind).sum() >= 4, kind
    assert runs.loc[runs["kind"] != "people", "placed"].sum() == 0
    assert (runs["p_value"][runs["placed"] == 0] == 1).all()
    # Below two minutes, always.
    assert runs["cpu_seconds"].max() < 120


def test_rounding_by_a_millimetre_places_nearly_as_many_as_exact_numbers():
    runs = example.levels_measured().query("kind == 'people' and n == 200")
    runs = runs.assign(located=runs["placed"] + runs["placed_elsewhere"])
    located = runs.groupby(["release", "k"])["located"].sum()
    assert (located["rounded to 1 mm"] >= 0.95 * located["exact"]).all()


def test_recovered_values_are_right_as_the_docstring_says():
    runs = example.hidden_values()
    found = runs.groupby("release")[["values", "wrong"]].sum().assign(worst=runs.groupby("release")["worst_file"].max())
    share = found["wrong"] / found["values"]
    assert share["exact"] == share["rounded to 1 mm"] == 0
    fine = ["rounded to 1 m", "rounded to 0.1 km", "rounded to 0.5 km", "rounded to 1 km"]
    assert share[fine].max() < 0.035
    assert found.loc[fine, "worst"].max() < 1 / 9
    runs = runs[runs["release"].isin(fine)]
    assert runs.loc[runs["worst_file"].idxmax(), "n"] < 500
    assert share["rounded to 3 km"] == pytest.approx(1 / 8, abs=0.01)


def rough_sums():
    """What earlier code placed of rounded and noisy files, since no map is begun from numbers too coarse for one."""
    runs = example.measured()
    runs = runs[((runs["rounding_km"] > 0) | (runs["noise_km"] > 0)) & (runs["seed"] >= 9171) & runs["commit"].isna()]
    assert runs["seed"].max() == 9183
    assert (runs["wrong"] > 0).sum() == 1
    return {"files": len(runs), "located": int(runs["located"].sum()), "wrong": int(runs["wrong"].sum())}


def test_the_size_of_noise_that_nobody_tells_is_estimated_as_the_note_says():
    runs = pd.read_csv(embedded_file("measured/noise_size.csv"))
    assert runs["seed"].min() > 23000
    quiet, far = runs["noise_km"] == 0, runs["noise_km"] == 5
    np.testing.assert_allclose(runs.loc[quiet, "estimated_rounding_km"], runs.loc[quiet, "rounding_km"], rtol=1e-5)
    assert (runs.loc[quiet, "estimated_noise_km"] == 0).all()
    assert (runs.loc[~quiet, "estimated_rounding_km"] == 0).all()
    ratio = (runs["estimated_noise_km"] / runs["noise_km"])[~quiet & ~far]
    assert len(ratio) == 48
    said = note()
    assert f"all {quiet.sum()} exact and rounded ones were told as what they are" in said
    assert (
        f"on {len(ratio)} files was estimated at {ratio.min():.2f} to {ratio.max():.2f} of its size, median "
        f"{ratio.median():.2f}"
    ) in said
    unseen = runs.loc[far, "estimated_noise_km"].isna()
    assert f"not seen in {unseen.sum()} of {len(unseen)} files and underestimated in the others" in said
    assert (runs.loc[far, "estimated_noise_km"].dropna() < 5).all()


def test_towns_certify_and_a_file_that_shares_none_places_none():
    runs = pd.read_csv(embedded_file("measured/overlap.csv"))
    assert [*runs["pattern"].unique()] == [*PATTERNS]
    assert [*runs["release"].unique()] == [*RELEASES]
    # A file that shares none of many people all over a country places nobody.
    nobody = runs[(runs["pattern"] == PATTERNS[0]) & (runs["n_common"] == 0)]
    assert nobody["within_5_km"].mean() < 0.01
    # Towns certify each record: hardly one is wrong.
    assert runs.loc[runs["n_common"] == -1, "certified_wrong"].mean() < 0.01


def test_the_published_embedding_is_opened_and_each_candidate_is_known():
    judged = pd.read_csv(embedded_file("measured/protection.csv"))
    assert set(judged["candidate"]) <= set(CANDIDATES)
    assert judged.set_index("candidate").loc["as published", "located"].mean() > 0.9


@pytest.mark.parametrize("table", TABLES)
def test_scripts_make_the_settings_of_the_measured_tables(table):
    """The settings of the table, each on as many data sets."""
    _, settings, first = TABLES[table]
    runs = pd.read_csv(embedded_file(f"measured/{table}.csv"))
    names = [name for name in settings[0] if name in runs]
    made = pd.DataFrame(settings)[names].drop_duplicates()
    held = runs[names].drop_duplicates()
    assert runs["dataset"].min() == first
    assert len(made.merge(held)) == len(held)


def test_more_records_are_placed_nearer():
    runs = pd.read_csv(embedded_file("measured/km_against_n.csv"))
    assert runs["dataset"].nunique() == 12
    towns = runs[(runs["sigma_km"] == 0) & (runs["step_km"] == 0) & (runs["knowledge"] == "towns")]
    km = towns.groupby("n")["median_km"].median()
    assert km.index.max() == 2000
    assert km.iloc[-1] < km.iloc[0]
