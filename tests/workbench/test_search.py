import pickle
import signal
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reident as rd
from judged import records
from office import households
from reident.workbench import search as module
from reident.workbench.candidates import Evaluator, step_text
from reident.workbench.making import Step
from reident.workbench.ru_map import tried_releases
from reident.workbench.search import search_release, slots_of
from samples import drawn

#: A process that is killed outright before the third candidate of its own.
KILLED = """
import os, signal, sys
sys.path[:0] = [os.getcwd(), os.path.dirname(os.getcwd())]
import pytest, test_search as t
with pytest.MonkeyPatch.context() as patched:
    t.counted(patched, 2, lambda: os.kill(os.getpid(), signal.SIGKILL))
    t.search(t.people(), sys.argv[1])
"""


@pytest.fixture(scope="module")
def persons():
    return people()


def people():
    places = {"lat_deg": (50.0, 51.0), "lon_deg": (8.0, 9.0)}
    return drawn(120, 3, sex=["f", "m"], age=(20, 90), ill=["flu", "gout"], **places)


def search(persons, folder, limit=0.2, radii=(500.0, 5000.0), **options):
    table = [Step("mondrian", k=k) for k in (2, 3, 4, 8)]
    places = [Step("disc", radius_m=r) for r in radii]
    return search_release(
        Evaluator(rd.Dataset(persons, quasi=["sex", "age"]), limit=limit, draws=2),
        [[*table, None], [*places, None]],
        cache=folder,
        **options,
    )


def counted(monkeypatch, stop_after=None, how=None):
    judged, real = [], Evaluator.evaluate_steps

    def judge(self, steps, shown, stage):
        if len(judged) == stop_after:
            how()
        judged.append(("; ".join(map(step_text, steps)), stage))
        return real(self, steps, shown, stage)

    monkeypatch.setattr(Evaluator, "evaluate_steps", judge)
    return judged


@pytest.mark.slow
def test_a_search_that_was_killed_goes_on_and_judges_no_candidate_twice(persons, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        every = counted(patched)
        whole = search(persons, None)
    assert len(every) == len(set(every)) > 5
    # Costly attacks and further draws come where a release has passed the others, with all its parts.
    refused = set(whole.judged.loc[~whole.judged["passed"].astype(bool), "chain"])
    assert {"quick", "full"} <= {stage for _, stage in every}
    for chain, stage in every:
        if stage != "quick":
            assert (chain, "quick") in every[: every.index((chain, stage))]
            assert not (refused - {chain}) & set(chain.split("; "))
    assert "sample" not in whole.sentence
    assert (
        "judged on a sample of 120 of the 1200 records"
        in replace(whole, evaluator=replace(whole.evaluator, scale=10.0)).sentence
    )

    def interrupt():
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        first = counted(patched, 2, interrupt)
        with pytest.raises(KeyboardInterrupt):
            search(persons, tmp_path)
    child = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=Path(__file__).parent, check=False)
    assert child.returncode == -signal.SIGKILL
    with monkeypatch.context() as patched:
        rest = counted(patched)
        resumed = search(persons, tmp_path)
    assert first == every[:2]
    assert rest == every[4:]
    pd.testing.assert_frame_equal(resumed.candidates, whole.candidates)
    assert resumed.chain == whole.chain
    assert resumed.losses == whole.losses
    pd.testing.assert_frame_equal(resumed.after.persons, whole.after.persons)
    with monkeypatch.context() as patched:
        again = counted(patched)
        pd.testing.assert_frame_equal(search(persons, tmp_path).released, whole.released)
        assert again == []
        changed = persons.assign(age=persons["age"] + 1)
        search(changed, tmp_path)
        assert again, "another file must not be answered from what was found of this one"


@pytest.mark.slow
def test_workers_that_run_ahead_change_no_result(persons, monkeypatch):
    options = {"limit": 0.35, "radii": (500.0, 5000.0, 20000.0, 50000.0)}
    with monkeypatch.context() as patched:
        needed, one = counted(patched), search(persons, None, **options)
    alone = module.sweep
    monkeypatch.setattr(module, "_START_S", 0.0)
    monkeypatch.setattr(module, "connected", lambda *_: nullcontext("workers"))
    monkeypatch.setattr(module, "sweep", lambda *args, scheduler, **settings: alone(*args, **settings))
    every, two = counted(monkeypatch), search(persons, None, jobs=2, **options)
    assert set(every) > set(needed)
    two.evaluator.measure(Step("mondrian", k=2))
    assert two.evaluator.made
    assert not pickle.loads(pickle.dumps(two.evaluator)).made  # workers get no releases
    pd.testing.assert_frame_equal(two.candidates, one.candidates)


def test_a_script_without_a_guard_is_refused_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "script.py").write_text("run()")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(tmp_path / "script.py"), raising=False)
    judged = counted(monkeypatch)
    with pytest.raises(rd.ParameterError, match="`jobs` must be 1, got 2"):
        search(people(), None, jobs=2)
    assert judged == []


def test_a_search_that_refuses_all_says_whether_it_was_cut():
    evaluator = Evaluator(rd.Dataset(people(), quasi=["sex", "age"]), limit=0.001)
    steps = [[Step("mondrian", k=k) for k in (2, 3, 4)]]
    for most, is_cut in ((2, True), (3, False), (80, False)):
        found = search_release(evaluator, steps, max_judged=most)
        assert (found.passed, found.is_cut, len(found.judged)) == (False, is_cut, min(most, 3))
        assert ("where the search ended" in found.sentence) == is_cut


def test_records_left_out_are_counted_in_records_where_persons_have_several():
    twice = pd.concat([people().assign(pid=range(120))] * 2, ignore_index=True)[["sex", "age", "ill", "pid"]]
    steps = [[Step("mondrian", k=60)]]
    found = search_release(Evaluator(rd.Dataset(twice, quasi=["sex", "age"], person="pid"), limit=0.2, draws=1), steps)
    assert found.passed
    assert "leaves out" not in found.sentence
    fewer = replace(found, released=found.released.iloc[:200], evaluator=replace(found.evaluator, scale=10.0))
    assert "it leaves out 40 of the records" in fewer.sentence
    assert "a sample of 240 of the 2400 records" in fewer.sentence


def test_a_release_is_judged_as_check_reads_its_cells():
    """Means of groups were numbers with noise to the search, and labels of groups to the check that it printed."""
    table = drawn(300, 0, region=(1, 6), sex=(1, 3), age=(16, 95), ill=lambda rng, n: (rng.random(n) < 0.1).astype(int))
    dataset, step = rd.Dataset(table, quasi=["region", "sex", "age"], sensitive="ill=1"), Step("microaggregation", k=10)
    found = search_release(Evaluator(dataset, ["ill"]), [[step]])
    release = rd.protect(dataset, step)
    verdict = rd.check(release, dataset, release.rows, attacks="quick")
    assert found.candidates["share_above_limit"].tolist() == [verdict.share_above_limit] != [0]


def test_the_key_of_a_verdict_holds_every_row_of_a_public_input():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"lat_deg": rng.uniform(50, 51, 400), "lon_deg": rng.uniform(8, 9, 400)})
    people = table.iloc[:50].reset_index(drop=True)
    other = table.copy()
    other.loc[200, "lat_deg"] += 0.5  # a row that printing leaves out
    digests = [
        Evaluator(rd.Dataset(people, public={"candidates": given}), [], 0.2, 0.0, "label", 1, 0).digest()
        for given in (table, table.copy(), other)
    ]
    assert digests[0] == digests[1] != digests[2]


def test_after_a_refusal_the_column_by_which_most_persons_fail_is_given_up():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], 60), "number": [f"x{i}" for i in rng.permutation(60)]})
    found = rd.assess(
        table, quasi=["sex", "number"], methods=[{"name": "mondrian", "k": [2]}], profile="smoke",
        progress=False, limit=0.2,
    )  # fmt: skip
    assert found.search.candidates["passed"].tolist() == [False, True]
    assert (found.search.withhold, found.search.losses["number"]) == (["number"], 1.0)
    assert found.search.advised["kept"] == 0.5
    assert "it withholds number" in found.advice
    kept = rd.assess(table, quasi=["sex", "number"], must_keep="number", progress=False, limit=0.2,
                     methods=[{"name": "mondrian", "k": [2]}], profile="smoke")  # fmt: skip
    assert (kept.passed, kept.chain(), "nothing is advised" in kept.advice) == (False, [], True)


def test_grids_with_enough_in_every_cell_are_tried_and_what_must_be_kept_is_not_withheld():
    table = households()
    places = {"lat_deg": table["Breite"], "lon_deg": table["Länge"]}
    data = table.assign(**{name: pd.to_numeric(cell.str.replace(",", ".")) for name, cell in places.items()}).dropna()
    plans = {
        kind: tried_releases(records(data, quasi=["PLZ"], kind=kind), methods, len(data))[0]
        for kind, methods in (("table", ["mondrian"]), ("places", [{"name": "grid", "cell_m": 5000.0}]))
    }
    for limit, least in ((0.25, [4, 12, 32]), (0.5, [2, 6, 16]), (0.001, [])):
        slots = slots_of(plans, rd.Dataset(data, quasi="PLZ"), limit)
        assert [one.settings["min_count"] for one in slots[1] if one] == [1, *least]
        assert slots[0][-1] is slots[1][-1] is None
    assert None not in slots_of(plans, rd.Dataset(data, quasi="PLZ", must_keep="place"), 0.25)[1]
    kept = slots_of(plans, rd.Dataset(data, quasi="PLZ", must_keep="PLZ"), 0.25)
    assert None not in kept[0]
    assert None in kept[1]
    assert Step("grid", **kept[1][0].settings) == kept[1][0]
