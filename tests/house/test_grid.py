"""The sweep engine: the same rows however it runs, nothing lost, nothing done twice, clear errors."""

import errno
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sweep_trials
from reident import DataError, ParameterError, TrialError
from reident._old_sweep import _parts, _workers, grid
from reident._old_sweep._planning import prepare_sweep
from reident.base import trial_seed

GRID = {"mu": [0.0, 1.0, 2.5], "kind": ["a", None]}


@pytest.fixture(autouse=True, scope="module")
def _no_workers_left():
    yield
    grid.close_workers()


def sweep(settings=GRID, trial=sweep_trials.noisy, **kws):
    return grid.run(settings, trial, **{"repetitions": 4, "stem": "test", "progress": False, **kws})


def test_rows_are_settings_times_repetitions_in_order():
    frame = sweep()
    assert frame.columns.tolist() == ["mu", "kind", "repetition", "seed_key", "mean_km", "largest_km", "n", "large"]
    expected = [(mu, kind, rep) for mu in (0.0, 1.0, 2.5) for kind in ("a", None) for rep in range(4)]
    kinds = [None if pd.isna(kind) else kind for kind in frame["kind"]]
    found = list(zip(frame["mu"], kinds, frame["repetition"], strict=True))
    assert found == expected
    assert frame["n"].dtype == np.int64
    assert frame["large"].dtype == bool


def test_the_stream_of_a_trial_follows_from_what_it_is():
    frame = sweep(seed=11)
    small = sweep({"mu": [2.5], "kind": ["a"]}, repetitions=2, seed=11)
    both = frame[(frame["mu"] == 2.5) & (frame["kind"] == "a") & (frame["repetition"] < 2)]
    pd.testing.assert_frame_equal(both.reset_index(drop=True), small)
    rng = np.random.default_rng(trial_seed(11, "test", {"mu": 2.5, "kind": "a"}, 1))
    assert small["mean_km"][1] == rng.normal(2.5, 1.0, size=50).mean()
    again = grid.trial_rng(11, small["seed_key"][1])
    assert small["mean_km"][1] == again.normal(2.5, 1.0, size=50).mean()
    assert frame["seed_key"].is_unique
    assert not sweep(seed=12)["mean_km"].isin(frame["mean_km"]).any()


def test_shared_parameters_share_their_random_numbers():
    frame = sweep({"mu": [0.0, 1.0]}, shared=["mu"])
    one, two = frame[frame["mu"] == 0.0], frame[frame["mu"] == 1.0]
    assert one["seed_key"].tolist() == two["seed_key"].tolist()
    np.testing.assert_allclose(two["mean_km"].to_numpy() - one["mean_km"].to_numpy(), 1.0)


def test_settings_may_be_listed():
    frame = sweep([{"mu": 1.0}, {"mu": 2.0, "extra": "x"}], repetitions=1)
    assert frame.columns.tolist()[:2] == ["mu", "extra"]
    assert frame["extra"].isna().tolist() == [True, False]


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_rows():
    alone = sweep(repetitions=30)
    for jobs in (2, 8):
        pd.testing.assert_frame_equal(sweep(repetitions=30, jobs=jobs), alone, check_exact=True)


def test_a_worker_ends_the_group_that_it_began():
    settings = {"mu": [0.0, 1.0], "kind": ["a", "b"]}

    def ran(seconds, together):
        plan = prepare_sweep(settings, sweep_trials.noisy, 2, 0, "test", (), None, together).plan
        tasks = [planned.task for planned in plan]
        outcomes, times = _workers.run_batch(sweep_trials.noisy, tasks, seconds, grid._code.IMPORTED_DIGEST)
        assert [outcome.task for outcome in outcomes] == tasks[: len(times)]
        return len(outcomes)

    assert ran(0.0, ()) == 1
    assert ran(0.0, ["kind"]) == 4
    assert ran(0.0, "mu") == 2  # the settings of a mu stand apart, so that only repetitions follow one another
    assert ran(60.0, ["kind"]) == 8


@pytest.mark.slow
def test_groups_stay_with_one_worker_and_give_the_same_rows():
    settings = {"mu": list(range(12)), "kind": ["a", "b", "c"]}
    frame = sweep(settings, sweep_trials.whose, together=["kind"], jobs=2)
    assert frame.groupby("mu")["pid"].nunique().eq(1).all()
    assert frame["pid"].nunique() == 2
    alone = sweep(settings, sweep_trials.whose)
    pd.testing.assert_frame_equal(frame.drop(columns="pid"), alone.drop(columns="pid"))


def count(ledger):
    return len(list(Path(ledger).iterdir()))


def test_a_second_run_computes_nothing_and_a_larger_one_only_what_is_new(tmp_path):
    ledger = tmp_path / "ledger"
    ledger.mkdir()
    settings = {"mu": [0, 1], "ledger": [str(ledger)]}

    def again(settings=settings, repetitions=3, **kws):
        return sweep(settings, sweep_trials.counted, repetitions=repetitions, folder=tmp_path / "parts", **kws)

    first = again()
    assert count(ledger) == 6
    pd.testing.assert_frame_equal(again(), first)
    assert count(ledger) == 6
    more = again(repetitions=5)
    assert count(ledger) == 10
    wider = again({"mu": [0, 1, 2], "ledger": [str(ledger)]}, repetitions=5)
    assert count(ledger) == 15
    assert set(first["name"]) < set(more["name"]) < set(wider["name"])
    again(seed=1)
    assert count(ledger) == 21
    again(stem="other")
    assert count(ledger) == 27


def test_rows_read_back_are_exactly_those_computed(tmp_path):
    def trial(params, rng):
        return {
            "nothing": None,
            "nan": float("nan"),
            "inf": -np.inf,
            "tiny": 5e-324 if params["i"] else 0.1 + 0.2,
            "text": "ü\n" if params["i"] else None,
            "count": np.int64(2**62) if params["i"] else None,
            "flag": np.bool_(True),
        }

    settings = {"i": [0, 1, 2], "what": [[1, 2.0, "x"], {"a": None}]}
    fresh = sweep(settings, trial, repetitions=1)
    sweep(settings, trial, repetitions=1, folder=tmp_path)
    read = sweep(settings, trial, repetitions=1, folder=tmp_path)
    pd.testing.assert_frame_equal(read, fresh, check_exact=True)
    for name in fresh:
        left, right = fresh[name].tolist(), read[name].tolist()
        assert [repr(value) for value in left] == [repr(value) for value in right]


def test_changed_code_is_computed_again(tmp_path, monkeypatch):
    first = sweep(folder=tmp_path)
    parts = len(list(tmp_path.rglob("part-*.parquet")))
    monkeypatch.setattr(grid._code, "package_digest", lambda **_: "other")
    monkeypatch.setattr(grid._code, "IMPORTED_DIGEST", "other")
    pd.testing.assert_frame_equal(sweep(folder=tmp_path), first)
    assert len(list(tmp_path.rglob("part-*.parquet"))) == 2 * parts


def test_what_only_draws_changes_no_digest_of_trials(tmp_path, monkeypatch):
    monkeypatch.setattr(grid._code, "_PACKAGE", tmp_path)
    study = tmp_path / "studies" / "some"
    study.mkdir(parents=True)
    digests = []
    for name in ("trials.py", "figures.py", "figures_more.py", "graphs.py"):
        (study / name).write_text("")
        digests.append(grid._code.package_digest(trials_only=True))
    assert digests[0] == digests[1] == digests[2] != digests[3]


def test_sources_edited_while_running_are_matched_with_nothing(tmp_path, monkeypatch, caplog):
    ledger = tmp_path / "ledger"
    ledger.mkdir()
    settings = {"mu": [0], "ledger": [str(ledger)]}
    monkeypatch.setattr(grid._code, "package_digest", lambda **_: "edited")
    for runs in (1, 2):
        sweep(settings, sweep_trials.counted, repetitions=2, folder=tmp_path / "parts")
        assert count(ledger) == 2 * runs
    assert "changed since they were imported" in caplog.text


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "nonsense", "foreign"])
def test_a_damaged_part_is_set_aside_and_its_trials_run_again(tmp_path, damage, caplog, monkeypatch):
    monkeypatch.setattr(_parts, "FLUSH_SECONDS", 0.0)
    first = sweep(folder=tmp_path)
    part = sorted(tmp_path.rglob("part-*.parquet"))[5]
    content = part.read_bytes()
    if damage == "foreign":
        part.with_name("part-0123.parquet").write_bytes(content)
    else:
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        part.write_bytes({"truncate": content[:-9], "flip": flipped, "empty": b"", "nonsense": b"PAR1"}[damage])
    pd.testing.assert_frame_equal(sweep(folder=tmp_path), first)
    assert "set aside" in caplog.text
    assert len(list(tmp_path.rglob("*.damaged"))) == 1
    caplog.clear()
    pd.testing.assert_frame_equal(sweep(folder=tmp_path), first)
    assert not caplog.text


@pytest.mark.slow
def test_a_killed_workers_trials_are_redone(tmp_path):
    settings = {"mu": list(range(8)), "marker": [str(tmp_path / "marker")]}
    frame = sweep(settings, sweep_trials.kills_its_worker_once, jobs=2)
    (tmp_path / "marker").touch()
    pd.testing.assert_frame_equal(frame, sweep(settings, sweep_trials.kills_its_worker_once))


@pytest.mark.slow
def test_a_trial_that_kills_every_worker_is_named_and_the_rest_is_kept(tmp_path):
    settings = {"mu": [0, 1, 3]}
    with pytest.raises(TrialError, match=r'\{"mu": 3\}, repetition 0, failed: .*its worker died every time'):
        sweep(settings, sweep_trials.kills_every_worker, repetitions=1, jobs=2, folder=tmp_path)
    rows = pd.concat([pd.read_parquet(part) for part in tmp_path.rglob("part-*.parquet")])
    assert {json.loads(text)["mu"] for text in rows["_parameters"]} == {0, 1}


@pytest.mark.slow
def test_workers_compute_with_one_thread_and_ours_keeps_its_own():
    before = dict(os.environ)
    frame = sweep({"mu": [0, 1]}, sweep_trials.threads, jobs=2)
    assert (frame["numba"] == 1).all()
    assert set(frame["omp_num_threads"]) | set(frame["openblas_num_threads"]) == {"1"}
    assert dict(os.environ) == before


@pytest.mark.slow
def test_the_same_code_runs_on_a_scheduler_that_is_there():
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        frame = sweep(scheduler=cluster.scheduler_address)
    pd.testing.assert_frame_equal(frame, sweep())


def test_an_address_without_a_scheduler_is_an_error():
    with pytest.raises(ParameterError, match="`scheduler` must be the address of a running dask scheduler"):
        sweep(scheduler="nonsense://1")


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_trial_that_raises_is_named_and_the_rest_is_kept(tmp_path, jobs):
    with pytest.raises(TrialError, match=r'\{"mu": 2\}, repetition \d, failed: .*no such place') as caught:
        sweep({"mu": [0, 1, 2, 3]}, sweep_trials.raises_at_two, jobs=jobs, folder=tmp_path)
    assert "raise ValueError" in "".join(caught.value.__notes__)
    rows = pd.concat([pd.read_parquet(part) for part in tmp_path.rglob("part-*.parquet")])
    assert set(rows["_key"].value_counts()) == {1}
    assert len(rows) >= 8 / jobs  # a second worker may have had good trials in its hands


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda i: None, "must return a mapping of measures"),
        (lambda i: {}, "must return a mapping of measures"),
        (lambda i: {"x": [1]}, r"must return scalars, got \[1\] for 'x'"),
        (lambda i: {"x": np.zeros(2)}, "must return scalars"),
        (lambda i: {"x": 2**64}, "must return scalars"),
        (lambda i: {"i": 1}, "other than a parameter's, got 'i'"),
        (lambda i: {"seed_key": 1}, "got 'seed_key'"),
        (lambda i: {3: 1}, "got 3"),
        (lambda i: {"x": 1} if i < 2 else {"y": 1}, r'\{"i": 2\}.* must return the measures that the others return'),
        (lambda i: {"x": 1} if i < 2 else {"x": "1"}, r'\{"i": 2\}.* must return a number for \'x\''),
        (lambda i: {"x": None} if i < 1 else {"x": i if i < 2 else True}, "must return a number"),
    ],
)
def test_measures_that_do_not_fit_are_named(returned, message):
    with pytest.raises(TrialError, match=message):
        sweep({"i": [0, 1, 2]}, lambda params, rng: returned(params["i"]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "at least one parameter"),
        ([], "at least one setting"),
        ({"a": []}, "at least one value for 'a'"),
        ({"a": "text"}, "a list of values for 'a'"),
        ({"a": 3}, "a list of values for 'a'"),
        ({"a": [1, 2, 1]}, "each setting once"),
        ({"a": [1, 1.0]}, "each setting once"),
        ([{"a": 1}, {"a": 1}], "each setting once"),
        ({"a": [np.float64(1)]}, r"`a` must be a plain JSON value .*\.tolist"),
        ({"a": [(1, 2)]}, "`a` must be a plain JSON value"),
        ({"a": [{1: 2}]}, "`a` must have text keys"),
        ({"a": [float("nan")]}, "`a` must be finite"),
        ({"a": [[1, [float("inf")]]]}, "`a` must be finite"),
        ({"a": [b"x"]}, "`a` must be a plain JSON value"),
        ({"repetition": [1]}, "'repetition'"),
        ({1: [1]}, "name its parameters by text"),
        ([1], "a list of mappings"),
        (7, "a mapping of lists or a list of mappings"),
    ],
)
def test_a_bad_grid_is_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        sweep(settings)


@pytest.mark.parametrize(
    ("kws", "message"),
    [
        ({"repetitions": 0}, "`repetitions` must be at least 1"),
        ({"seed": -1}, "`seed` must be at least 0"),
        ({"seed": 1.5}, "`seed` must be a whole number"),
        ({"jobs": 0}, "`jobs` must be at least 1"),
        ({"jobs": True}, "`jobs` must be a whole number"),
        ({"shared": ["nu"]}, "`shared` must name parameters of the grid"),
        ({"together": ["nu"]}, "`together` must name parameters of the grid"),
        ({"stem": ""}, "`stem` must be a name"),
        ({"scheduler": 8786}, "`scheduler` must be an address"),
        ({"trial": 3}, "`trial` must be a function"),
    ],
)
def test_bad_arguments_are_refused_before_any_work(kws, message):
    with pytest.raises(ParameterError, match=message):
        sweep(**kws)


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="`folder` must be a folder that can be written"):
        sweep(trial=sweep_trials.raises_at_two, folder=tmp_path / "file")


def test_a_full_disk_is_a_clear_error_and_earlier_rows_are_safe(tmp_path, monkeypatch):
    monkeypatch.setattr(_parts, "FLUSH_SECONDS", 0.0)
    write, written = _parts.pq.write_table, []

    def full_after_five(table, where):
        if len(written) == 5:
            Path(where).write_bytes(b"half a pa")
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(where)
        write(table, where)

    monkeypatch.setattr(_parts.pq, "write_table", full_after_five)
    with pytest.raises(DataError, match=r"No space left on device.*rows finished earlier are safe"):
        sweep(folder=tmp_path)
    assert len(list(tmp_path.rglob("part-*.parquet"))) == 5
    assert not list(tmp_path.rglob("*.tmp"))
    monkeypatch.setattr(_parts.pq, "write_table", write)
    pd.testing.assert_frame_equal(sweep(folder=tmp_path), sweep())


def test_one_process_at_a_time_computes_a_sweep_in_a_folder_and_others_read(tmp_path, monkeypatch):
    monkeypatch.setattr(_parts, "FLUSH_SECONDS", 0.0)
    read = []

    def looks(params, rng):
        read.append(len(grid.finished({"mu": [0, 1]}, sweep_trials.noisy, folder=tmp_path, stem="test")))
        other = {"grid": {"mu": [0, 1, 2]}, "trial": sweep_trials.noisy, "stem": "test"}
        for again in (lambda: grid.run(**other, folder=tmp_path), lambda: grid.forecast([other], folder=tmp_path)):
            with pytest.raises(DataError, match=rf"`folder` must be .* another reident \(pid {os.getpid()}, since 20"):
                again()
        return sweep_trials.noisy(params, rng)

    sweep({"mu": [0, 1]}, looks, repetitions=1, folder=tmp_path)
    assert read == [0, 0]  # rows of another trial's code
    assert len(sweep({"mu": [0, 1]}, folder=tmp_path)) == 8


def test_summary_is_that_of_scipy():
    frame = sweep(repetitions=12)
    frame.loc[3, "mean_km"] = np.nan
    tidy = grid.summarise(frame, ["mu", "kind"], level=0.9)
    assert tidy.columns.tolist() == ["mu", "kind", "measure", "n", "mean", "se", "low", "high"]
    assert tidy["measure"].tolist()[:4] == ["mean_km", "largest_km", "n", "large"]
    for row in tidy.itertuples():
        same = (frame["mu"] == row.mu) & (frame["kind"].isna() if pd.isna(row.kind) else frame["kind"] == row.kind)
        values = frame.loc[same, row.measure].astype(float).dropna()
        assert row.n == len(values)
        if values.std() > 0:
            low, high = stats.t.interval(0.9, len(values) - 1, values.mean(), stats.sem(values))
            np.testing.assert_allclose([row.mean, row.low, row.high], [values.mean(), low, high])


def test_a_single_repetition_has_no_interval():
    tidy = grid.summarise(sweep(repetitions=1), "mu", measures=["mean_km"])
    assert (tidy["n"] == 2).all()
    tidy = grid.summarise(sweep(repetitions=1), ["mu", "kind"], measures=["mean_km"])
    assert tidy[["se", "low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("kws", "message"),
    [({"by": "nu"}, "`by` must name columns"), ({"by": []}, "at least 1"), ({"level": 1.0}, "`level` must lie in")],
)
def test_a_bad_summary_is_refused(kws, message):
    with pytest.raises(ParameterError, match=message):
        grid.summarise(sweep(), **{"by": "mu", **kws})


def test_a_forecast_keeps_its_trials_and_counts_what_is_left(tmp_path, capsys):
    ledger = tmp_path / "ledger"
    ledger.mkdir()
    settings = {"mu": [0, 1, 2], "ledger": [str(ledger)], "sleep_s": [0.02]}
    one = {"grid": settings, "trial": sweep_trials.counted, "repetitions": 10, "stem": "test"}
    seconds = grid.forecast([one], samples=2, folder=tmp_path, jobs=2)
    assert len(list(ledger.iterdir())) == 4
    # 26 trials of .02 s on two workers; a busy machine only makes them longer.
    assert seconds >= 26 * 0.02 / 2
    assert "about " in capsys.readouterr().err
    frame = grid.run(**one, folder=tmp_path, progress=False)
    assert len(frame) == len(list(ledger.iterdir())) == 30
    pd.testing.assert_frame_equal(frame, grid.run(**one, progress=False))
    assert grid.forecast([one], folder=tmp_path, progress=False) == 0.0


def test_a_forecast_of_a_single_trial(tmp_path):
    one = {"grid": {"mu": [0.0]}, "trial": sweep_trials.noisy, "stem": "test"}
    assert grid.forecast([one], progress=False) == 0.0
    with pytest.raises(ParameterError, match="`samples`"):
        grid.forecast([one], samples=0)
