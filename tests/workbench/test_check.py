import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reident as rd
import samples
from check_cases import QUASI, ROLES, N, coarse, hidden, keyed, people, recoded, unrelated
from commands import call
from commands import checked as run
from office import office
from reident.tables import k_anonymise
from reident.workbench.check.dependence import Features, dependence
from reident.workbench.check.evidence import true_places, turned_back

DOCS = Path(__file__).parents[2] / "docs" / "check.md"
TABLE = people()
ORDER = np.random.default_rng(5).permutation(N)


def judge(cells, table=TABLE, order=ORDER, *, new=(), called=None, attacks="quick", derived=(), **roles):
    shuffled = cells.iloc[order].reset_index(drop=True)
    return rd.check(shuffled, table, order, new=new, called=called, derived=derived, attacks=attacks, **roles)


@pytest.mark.parametrize("name", hidden())
@pytest.mark.slow
def test_a_hidden_column_is_refused_undeclared_and_declared_new(name):
    columns, roles = hidden()[name]
    cells = coarse(TABLE).assign(**columns)
    for new in ((), list(columns)):
        verdict = judge(cells, new=new, attacks=["exact_join"], **ROLES, **roles)
        assert verdict.exit_code == 3
        assert verdict.share_above_limit == 0
        assert any(any(column in finding.subject for column in columns) for finding in verdict.findings)


@pytest.mark.parametrize("name", unrelated())
@pytest.mark.slow
def test_a_column_that_is_new_passes_once_declared(name):
    values = unrelated()[name]
    word = "random" if pd.Series(values).nunique() > N / 2 - 1 else ""
    cells = coarse(TABLE).assign(x=values)
    verdict = judge(cells, new={"x": word}, attacks=["exact_join"], **ROLES)
    assert verdict.passed, verdict.sentence
    assert verdict.declared == {"x": "new: random" if word else "new"}
    assert verdict.to_dict()["declared"] == verdict.declared
    assert not judge(cells, attacks=["exact_join"], **ROLES).passed  # undeclared


def test_no_test_sees_a_hash_of_unique_values_modulo_a_small_number():
    """The limit of every test, said in docs/check.md: the verdict repeats that the custodian declared it new."""
    h = [int(k, 16) % 64 for k in keyed(TABLE["nr"])]
    verdict = judge(coarse(TABLE).assign(h=h), new="h", attacks=["exact_join"], **ROLES)
    assert verdict.passed
    assert any(note.startswith("h: declared new by the custodian") for note in verdict.notes)


@pytest.mark.slow
def test_false_alarms_and_power_of_the_closed_form_tests():
    """100 columns drawn at random against 100 that say something, some of them with noise."""
    features, rng = Features(TABLE.assign(row=range(N)), tuple(ROLES["quasi"])), np.random.default_rng(99)
    draws = [
        lambda: rng.normal(size=N), lambda: rng.integers(0, 2, N), lambda: rng.integers(0, 300, N),
        lambda: rng.poisson(1, N), lambda: rng.choice(5, N, p=[0.9, 0.06, 0.02, 0.01, 0.01]),
        lambda: rng.permutation(np.arange(N) // 2), lambda: rng.pareto(1, N).round(1),
        lambda: np.array(keyed(rng.integers(0, 500, N))),
    ]  # fmt: skip
    income, born = TABLE["income"].to_numpy(), pd.to_datetime(TABLE["born"]).dt
    score = (np.log(income) - 10) / 0.5
    told = [
        lambda: np.log(income) + rng.normal(0, 0.1, N), lambda: 0.5 * score + rng.normal(0, 1, N),
        lambda: recoded(TABLE["plz"], rng), lambda: (income + born.year.to_numpy()) % 10,
        lambda: np.where(rng.random(N) < 0.5, rng.integers(0, 12, N), born.month),
        lambda: TABLE["lat"] * np.cos(rng.random()) + TABLE["lon"] * np.sin(0.5),
        lambda: pd.qcut(income, 8, labels=False) ^ (TABLE["sex"] == "f").to_numpy(),
        lambda: np.array(keyed(TABLE["born"].str[:4])),
    ]  # fmt: skip
    alarms, hits = 0, 0
    for number in range(104):
        kind = number % 8
        alarms += bool(dependence(features, pd.Series(draws[kind](), name="x"), learned=False))
        hits += bool(dependence(features, pd.Series(np.asarray(told[kind]()), name="x"), learned=False))
    assert alarms <= 2  # nominal .001 a column
    assert hits >= 100


@pytest.mark.parametrize("k", [20, 60])
def test_labels_of_classes_that_depend_on_other_columns_are_no_finding(k):
    """A wide label of one column tells the class, which the other columns make: attacks read it."""
    table = office(300)
    quasi = ["Geschlecht", "Alter", "PLZ", "Beruf", "Aufnahme"]
    release = rd.protect(rd.Dataset(table, quasi=quasi), rd.Step("mondrian", k=k), rng=1)
    verdict = rd.check(release, rd.Dataset(table, quasi=quasi), attacks="quick")
    assert verdict.passed, verdict.sentence


def test_without_pairs_nothing_is_judged(tmp_path):
    cells = coarse(TABLE).iloc[ORDER]
    verdict = rd.check(cells, TABLE, **ROLES)
    assert verdict.status == "not judged"
    assert verdict.exit_code == 4
    assert verdict.classes.sum() == N
    TABLE.to_csv(tmp_path / "o.csv", index=False)
    cells.to_csv(tmp_path / "r.csv", index=False)
    said = run(tmp_path / "r.csv", "--against", tmp_path / "o.csv", "--quasi", "sex,born,plz,income")
    assert said.exit_code == 4
    assert "--pairs FILE" in said.stdout


def test_columns_permuted_independently_pass_along_the_pairs():
    alone = TABLE[ROLES["quasi"]].apply(np.random.default_rng(1).permutation)
    verdict = judge(alone, attacks=["exact_join", "nearest_record", "modal_value"], **ROLES)
    assert verdict.passed, verdict.sentence
    assert verdict.share_above_limit == 0
    assert any(note.startswith("No released column agrees") for note in verdict.notes)
    assert not any("No released column" in note for note in judge(coarse(TABLE), attacks=["exact_join"], **ROLES).notes)


def test_pairs_of_rows_that_were_sorted_afterwards_are_not_judged():
    for cells in (TABLE[QUASI], k_anonymise(TABLE, ["sex", "plz"], k=2, method="mondrian").table[QUASI]):
        verdict = rd.check(cells.iloc[ORDER].sort_values(["sex", "income"]), TABLE, ORDER, **ROLES)
        assert (verdict.status, verdict.findings[0].subject) == ("not judged", "pairs")


@pytest.mark.parametrize("rows", ["as they were", "by income"])
def test_rows_that_keep_an_order_are_refused(rows):
    order = np.arange(N) if rows == "as they were" else np.argsort(TABLE["income"].to_numpy(), kind="stable")
    verdict = judge(coarse(TABLE), order=order, attacks=["exact_join"], **ROLES)
    assert [finding.subject for finding in verdict.findings] == ["rows"]
    by_cells = coarse(TABLE)
    by_cells = by_cells.assign(at=ORDER).sort_values([*by_cells.columns, "at"])
    assert judge(coarse(TABLE), order=by_cells.index.to_numpy(), attacks=["exact_join"], **ROLES).passed


def test_a_declared_column_without_a_role_must_not_follow_a_known_one():
    born = pd.to_datetime(TABLE["born"])
    wide = TABLE.assign(year=born.dt.year, remark=np.random.default_rng(2).choice(list("uvw"), N))
    placed = TABLE.assign(east=TABLE["lon"].round(3))
    verdict = judge(coarse(TABLE).assign(east=placed["east"]), placed, places=("lat", "lon"), **ROLES)
    assert any(finding.problem.startswith("follows from the place") for finding in verdict.findings)
    for shown in ({"year": wide["year"]}, {"remark": recoded(TABLE["plz"], np.random.default_rng(0))}):
        verdict = judge(coarse(TABLE).assign(**shown), wide, attacks=["exact_join"], **ROLES)
        assert not verdict.passed
        assert any("follow" in finding.problem for finding in verdict.findings)
    honest = judge(coarse(TABLE).assign(remark=wide["remark"]), wide, attacks=["exact_join"], **ROLES)
    assert honest.passed, honest.sentence
    assert any("remark: released, and assumed unknown" in note for note in honest.notes)


def carriers():
    """Return columns under the name of an original one that hold another one, by name."""
    rng, born = np.random.default_rng(6), pd.to_datetime(TABLE["born"])
    tenth = pd.qcut(TABLE["income"], 10, labels=False)
    return {
        "codes beside an own number": {"plz": recoded(TABLE["plz"] + born.dt.year.astype(str), rng)},
        "a pseudonym of another column": {"income": recoded(TABLE["born"], rng)},
        "the last sign": {"income": TABLE["income"] // 10000 * 10000 + 100 * (born.dt.year % 100)},
        "values of the own column": {"plz": np.sort(TABLE["plz"].unique())[tenth]},
        "a function of its own": {"income": np.sin(TABLE["income"] / 1000)},
        "finer than a sensitive value": {"ill": TABLE["ill"] + recoded(born.dt.year, rng).astype(str)},
        "the spelling of the rarest value": {
            "ill": TABLE["ill"].mask((TABLE["ill"] == "c") & (born.dt.year > 1975), "C")
        },
    }


@pytest.mark.parametrize("name", carriers())
def test_a_column_that_carries_another_one_is_refused(name):
    verdict = judge(coarse(TABLE).assign(**carriers()[name]), attacks=["exact_join"], **ROLES)
    assert verdict.exit_code == 3


def harmless():
    """Return columns in place of those of `coarse` that carry nothing, by name."""
    rng, income = np.random.default_rng(6), TABLE["income"]
    exchanged = income.groupby(TABLE["sex"]).transform(rng.permutation)
    noisy = (income * np.exp(rng.normal(0, 1, N))).round()
    days = pd.Timestamp("1960-01-01") + pd.to_timedelta(rng.integers(-90_000, 90_000, N), unit="D")
    return {
        "none": {},
        "exchanged within a sex": {"income": exchanged},
        "much noise": {"income": noisy},
        "dates with much noise": {"born": days.strftime("%Y-%m-%d")},
        "numbers of households, permuted": {"hh": recoded(rng.permutation(TABLE["hh"]), rng)},
        "sensitive values, permuted": {"ill": rng.permutation(TABLE["ill"])},
    }


@pytest.mark.parametrize("name", harmless())
def test_a_column_that_carries_nothing_passes(name):
    roles = {"household": "hh"} if "households" in name else {}
    attacks = "quick" if name == "none" else ["exact_join", "nearest_record", "modal_value"]
    verdict = judge(coarse(TABLE).assign(**harmless()[name]), attacks=attacks, **ROLES, **roles)
    assert verdict.passed, verdict.sentence


def test_records_that_are_suppressed_whole_are_in_no_class():
    table = TABLE[["sex", "plz"]]
    cells = table.mask(pd.Series(np.arange(N) % 40 == 0), "*")
    verdict = judge(cells, table, attacks=["exact_join"], quasi=["sex", "plz"])
    sizes = cells.groupby(["sex", "plz"])["sex"].transform("size")
    assert verdict.attacks["risk"].item() == pytest.approx((1 / sizes[cells["sex"] != "*"]).sum() / N)


def test_a_renamed_column_is_called_and_a_derived_one_is_known():
    cells = coarse(TABLE).rename(columns={"income": "pay", "sex": "SEX"})
    assert not judge(cells, attacks=["exact_join"], **ROLES).passed
    assert judge(cells, called={"income": "pay"}, attacks=["exact_join"], **ROLES).passed
    score = np.log(TABLE["income"])
    verdict = judge(coarse(TABLE).assign(score=score), derived="score", attacks=["exact_join"], **ROLES)
    assert verdict.share_above_limit > 0.9


def test_respelt_and_partly_coded_labels_are_judged_as_their_exact_twin():
    rng = np.random.default_rng(4)
    towns = np.array(["Köln", "Düren", "Bonn", "Aachen", "Hürth"])
    table = pd.DataFrame({"age": rng.integers(20, 26, 600), "sex": rng.choice(["f", "m"], 600)})
    table["town"] = rng.choice(towns, 600, p=[0.3, 0.3, 0.2, 0.19, 0.01])
    order = rng.permutation(600)
    import unicodedata

    town = table["town"]
    twins = {
        "exact": town,
        "nfd": town.map(lambda text: unicodedata.normalize("NFD", text)),
        "ue": town.str.replace("ü", "ue"),
        "invisible": town.where(town != "Hürth", "Hürth\u200b"),
        "some coded": town.replace({"Düren": "#1", "Hürth": "#2"}),
        "all coded": town.map({name: f"#{i}" for i, name in enumerate(towns)}),
    }
    shares = {
        name: judge(table.assign(town=shown), table, order, quasi=["age", "sex", "town"]).share_above_limit
        for name, shown in twins.items()
    }
    assert set(shares.values()) == {shares["exact"]}
    assert shares["exact"] > 0


def test_the_records_of_a_person_and_of_a_household_are_joined():
    rng = np.random.default_rng(0)
    n = 60
    table = pd.DataFrame({"who": np.repeat(np.arange(n), 4), "month": rng.integers(1, 13, 4 * n)})
    table["ward"] = rng.choice(["a", "b"], 4 * n)
    order = rng.permutation(4 * n)
    shown = table.assign(who=recoded(table["who"], rng))
    person = judge(shown, table, order, quasi=["month", "ward"], person="who")
    assert person.report.attack == "records_of_person"
    assert person.share_above_limit > 0.9
    alone = judge(shown.drop(columns="who"), table, order, quasi=["month", "ward"], person="who")
    assert alone.share_above_limit < 0.1
    unsaid = judge(shown, table, order, quasi=["month", "ward"])
    assert any("holds records together" in finding.problem for finding in unsaid.findings)
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 4 * n), unit="D")
    visits = table.assign(month=dates.strftime("%Y-%m-%d"))
    moved = dates + pd.to_timedelta(rng.integers(-99, 99, n)[table["who"]], unit="D")
    shifted = shown.assign(month=moved.strftime("%Y-%m-%d"), ward="*")
    assert judge(shifted, visits, order, quasi=["month", "ward"], person="who").share_above_limit > 0.9


def test_new_columns_that_tell_a_value_together_refuse():
    """Two shares of a secret, each by itself at random; more pairs than a test reads."""
    rng = np.random.default_rng(0)
    table = samples.drawn(6000, 1, sex=["f", "m"], age=(20, 30), ill=["no", "yes"])
    order = rng.permutation(6000)
    one, other = rng.integers(0, 2, (2, 6000))
    roles = {"quasi": ["sex", "age"], "sensitive": "ill", "new": ["one", "two"], "attacks": ["class_risk"]}
    apart = judge(table.assign(one=one, two=other), table, order, **roles)
    assert not any("together" in finding.problem for finding in apart.findings)
    shares = judge(table.assign(one=one, two=(one + (table["ill"] == "yes")) % 2), table, order, **roles)
    assert any("tell ill together" in finding.problem for finding in shares.findings)


def test_a_synthetic_table_is_judged_against_a_control():
    rng = np.random.default_rng(3)

    def drawn(n):
        return pd.DataFrame({"age": rng.integers(18, 90, n), "town": rng.integers(0, 40, n).astype(str)})

    real, control, synthetic = drawn(300), drawn(300), drawn(300)
    roles = {"quasi": ["age", "town"], "control": control}
    assert rd.check(synthetic, real, quasi=["age", "town"]).exit_code == 4
    assert rd.check(synthetic, real, **roles).exit_code == 0
    gap = {"town": real["town"].where(real["age"] > 25)}
    assert rd.check(synthetic, real.assign(**gap), quasi=["age", "town"], control=control.assign(**gap)).exit_code == 0
    copied = pd.concat([synthetic.iloc[60:], real.iloc[:60]], ignore_index=True)
    assert rd.check(copied, real, **roles).exit_code == 3
    real, control, synthetic = (
        part.assign(lat=rng.uniform(47, 54, 300), lon=rng.uniform(7, 14, 300)) for part in (real, control, synthetic)
    )
    roles |= {"control": control, "lat": "lat", "lon": "lon"}
    assert rd.check(synthetic, real, **roles).exit_code == 0
    few = pd.concat([synthetic.iloc[5:], real.iloc[:5]], ignore_index=True)
    assert rd.check(few, real, **roles).exit_code == 3
    near = pd.concat([synthetic.iloc[30:], real.iloc[:30].assign(age=real["age"] + 1)], ignore_index=True)
    assert rd.check(near, real, **roles).exit_code == 3
    assert rd.check(synthetic.assign(lat=real["lat"], lon=real["lon"]), real, **roles).exit_code == 3
    mixed, twice = (pd.concat([control.iloc[:150], rows]) for rows in (real.iloc[:150], real.iloc[[*range(75)] * 2]))
    for wrong in (control.iloc[:5], real, mixed, twice, control[[]].assign(x=1)):
        with pytest.raises(rd.DataError, match="`control` must"):
            rd.check(synthetic, real, **{**roles, "control": wrong})


def test_true_places_refuse_beyond_chance():
    rng = np.random.default_rng(0)
    true = rng.uniform(47, 54, (500, 2))
    rows = rng.permutation(500)
    assert true_places(true[rows], true, rows)
    assert not true_places(true[rows] + rng.normal(0, 0.01, (500, 2)), true, rows)
    few = true[rows] + 0.1
    few[:20] = true[rows][:20]
    assert true_places(few, true, rows)
    villages = np.round(true, 0)  # of a few villages, exchanged at random: some stay by chance
    assert not true_places(villages[rng.permutation(500)], villages, rows)


def test_a_map_that_was_turned_or_shrunk_as_a_whole_is_turned_back():
    rng = np.random.default_rng(0)
    true, rows = rng.uniform(47, 54, (500, 2)), rng.permutation(500)
    for turn in ([[0, 1], [1, 0]], [[0.8, -0.6], [0.6, 0.8]], [[0.01, 0], [0, 0.01]]):
        shown = true[rows] @ np.array(turn) + 5
        np.testing.assert_allclose(turned_back(shown, true, rows), true[rows])
    assert turned_back(true[rows[::-1]], true, rows) is None
    assert turned_back(np.full((500, 2), 50.0), true, rows) is None
    assert turned_back(true[rows] + rng.normal(0, 0.1, (500, 2)), true, rows) is None


def test_an_undeclared_file_or_sheet_refuses(tmp_path):
    release = rd.protect(rd.Dataset(TABLE, **ROLES), rd.Step("mondrian", k=50), rng=0)
    folder = release.save(tmp_path / "release")
    dataset = rd.Dataset(TABLE, **ROLES)
    clean = rd.check(folder, dataset, attacks=["exact_join"])
    assert clean.passed, clean.sentence
    (folder / "contacts.json").write_text("{}")
    assert [f.subject for f in rd.check(folder, dataset, attacks=["exact_join"]).findings] == ["folder"]
    with pd.ExcelWriter(tmp_path / "two.xlsx") as book:
        release.cells.to_excel(book, sheet_name="Daten", index=False)
        TABLE[["nr"]].to_excel(book, sheet_name="Roh", index=False)
    two = rd.check(tmp_path / "two.xlsx", dataset, release.rows, attacks=["exact_join"])
    assert [f.subject for f in two.findings] == ["file"]
    anew = two.rewrite(tmp_path / "anew.xlsx")
    assert rd.check(anew, dataset, release.rows, attacks=["exact_join"]).passed


def test_the_command_finds_the_pairs_and_says_how_to_repair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.drop(columns=["lat", "lon", "hh"]).to_csv("patients.csv", index=False)
    call(tmp_path, "protect patients.csv --method mondrian --set k=50 --quasi sex,plz --out rel", code=0)
    pairs = tmp_path / "rel.pairs.csv"
    assert pairs.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in (tmp_path / "rel").iterdir()) == ["manifest.json", "release.csv"]
    listed = pd.read_csv(pairs)
    assert sorted(listed["original_row"]) == list(range(N))
    common = ["--against", "patients.csv", "--quasi", "sex,plz", "--quick"]
    good = run("rel", *common, "--out", "verdict")
    assert good.exit_code == 0, good.output
    assert "other attacks do not apply (verdict.json lists them)" in good.stdout
    assert good.stdout.count("not run") < 5
    told = json.loads(Path("verdict/verdict.json").read_text())
    rows = re.findall(r"^\| `(\w+)` \|", DOCS.read_text().partition("## Each attack")[0], re.MULTILINE)
    assert list(told) == rows
    cells = pd.read_csv("rel/release.csv")
    cells.rename(columns={"plz": "area"}).to_csv("renamed.csv", index=False)
    bad = run("renamed.csv", "--pairs", "rel.pairs.csv", *common)
    assert bad.exit_code == 3
    assert "--called plz=area" in bad.stdout
    mended = run("renamed.csv", "--pairs", "rel.pairs.csv", "--called", "plz=area", *common, "--rewrite", "anew.csv")
    assert mended.exit_code == 0, mended.output
    pd.testing.assert_frame_equal(pd.read_csv("anew.csv"), pd.read_csv("renamed.csv"))
    cells.assign(k=np.random.default_rng(0).integers(0, 9, N)).to_csv("more.csv", index=False)
    assert run("more.csv", "--pairs", "rel.pairs.csv", *common).exit_code == 3
    assert run("more.csv", "--pairs", "rel.pairs.csv", "--new", "k", *common).exit_code == 0


def test_the_limit_of_attribute_attacks_is_one_of_its_own():
    table = pd.DataFrame({"age": [30] * 50 + [40] * 50, "ill": ["a"] * 50 + ["b"] * 25 + ["a"] * 25})
    order = np.random.default_rng(0).permutation(100)
    roles = {"quasi": "age", "sensitive": "ill", "attacks": ["modal_value"]}
    assert not judge(table, table, order, **roles).passed
    shuffled = table.iloc[order].reset_index(drop=True)
    assert rd.check(shuffled, table, order, limit_attribute=1.0, **roles).passed
