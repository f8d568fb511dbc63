"""`reident.sweep`: the same rows however it runs, nothing lost, nothing done twice, clear errors."""

import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import grid_trials
import reident as rd
from reident.base import Choice, Real
from reident.experiments import code_key
from reident.experiments.parameters import ExistingFile
from reident.experiments.sweep import settings_of

GRID = {"mu": [0, 1.5], "sigma": [1.0, 2.0]}


def run(trial=grid_trials.noisy, grid=GRID, **options):
    return rd.sweep(trial, grid, **{"repetitions": 3, "seed": 7, "progress": False} | options)


@pytest.mark.parametrize("jobs", [2])
@pytest.mark.slow
def test_workers_give_the_rows_of_one_process(jobs):
    pd.testing.assert_frame_equal(run(jobs=jobs), run())


def test_a_running_cluster_gives_the_rows_of_one_process():
    from dask.distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        pd.testing.assert_frame_equal(run(scheduler=client), run())


def test_other_values_repetitions_and_new_parameters_change_no_row():
    frame, larger = run(), run(grid={"mu": [1.5, 3, 0], "sigma": [2, 1], "kind": [None]}, repetitions=4)
    both = frame.merge(larger, on=["mu", "sigma", "repetition"])
    assert len(both) == len(frame) == frame["mean_km"].nunique() == 12
    assert (both["mean_km_x"] == both["mean_km_y"]).all()


def test_shared_parameters_draw_the_same_numbers():
    frame = run(grid={"mu": [0, 1], "sigma": [2.0]}, shared=["mu"]).pivot_table("mean_km", "repetition", "mu")
    assert np.allclose(frame[1] - frame[0], 1)
    with pytest.raises(rd.ParameterError, match="shared"):
        run(shared=["nu"])


def test_stored_trials_are_read_and_only_missing_ones_run(tmp_path):
    options = {"trial": grid_trials.counted, "cache": tmp_path / "trials", "repetitions": 2}
    folder = tmp_path / "ledger"
    folder.mkdir()
    first = run(grid={"mu": [1, 2], "folder": [str(folder)]}, **options)
    second = run(grid={"mu": [1, 2, 3], "folder": [str(folder)]}, **options)
    assert len(list(folder.iterdir())) == 6
    assert (second.attrs["n_run"], second.attrs["n_read"]) == (2, 4)
    pd.testing.assert_frame_equal(second.iloc[:8], first)


def test_a_torn_line_costs_one_trial(tmp_path):
    first = run(cache=tmp_path)
    (file,) = tmp_path.glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-20])
    second, third = run(cache=tmp_path), run(cache=tmp_path)
    assert (second.attrs["n_run"], third.attrs["n_run"]) == (1, 0)
    pd.testing.assert_frame_equal(second, first)


# The socket of a worker that killed itself is closed when it is collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("trial", "jobs"), [(grid_trials.failing, 1), (grid_trials.deadly, 2)])
@pytest.mark.slow
def test_a_failed_trial_is_named_and_the_others_are_stored(tmp_path, trial, jobs):
    grid = {"mu": [1, 2, 3]}
    with pytest.raises(rd.TrialError, match=r"1 of 3 trials failed(.|\n)*mu=2") as caught:
        rd.sweep(trial, grid, cache=tmp_path, jobs=jobs, progress=False)
    assert caught.value.args[1]["mu"].tolist() == [1, 3]
    assert rd.sweep(trial, {"mu": [1, 3]}, cache=tmp_path, progress=False).attrs["n_run"] == 0


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"mu": [1], "nu": [1]}, "`nu` is no parameter"), ({"sigma": [1]}, "must give `mu`"),
        ({"mu": []}, "at least one setting"), ({"mu": [float("nan")]}, "finite"), ({"mu": [{}]}, "must hold"),
    ],
)  # fmt: skip
def test_a_grid_that_does_not_fit_is_refused(grid, message):
    with pytest.raises(rd.ParameterError, match=message):
        run(grid=grid)


def test_whole_floats_are_whole_numbers():
    assert settings_of(grid_trials.noisy, {"mu": [1.0, np.float64(2), np.int64(3)]}) == [{"mu": k} for k in (1, 2, 3)]


def test_statements_change_the_key_and_comments_do_not(tmp_path):
    text = "from reident.queries import discrete_laplace\ndef trial(rng):\n    {}return {{'a': 1}}\n"
    keys = []
    guarded = ("{0}\n    try:\n        {1}\n    except ValueError:\n        pass\n    ", "abs(1)", "int('a')")
    inside = [guarded[0].format(*order) for order in (("abs(1)", "int('a')"), ("pass", "abs(1); int('a')"))]
    for number, before in enumerate(("", "'''Text.'''\n    # why\n    ", "b = 1; ", *inside)):
        file = tmp_path / f"own_trial_{number}.py"
        file.write_text(text.format(before))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        keys.append(code_key.code_key(module.trial))
    assert keys[0] == keys[1]
    assert len(set(keys)) == 4  # what a `try` guards counts


def test_trials_typed_into_a_notebook_are_not_stored_and_a_script_without_a_guard_gets_no_workers(
    tmp_path, monkeypatch
):
    def trial(rng):
        return {"a": rng.random()}

    trial.__module__ = "__main__"
    with pytest.raises(rd.ParameterError, match="module"):
        rd.sweep(trial, {}, cache=tmp_path, progress=False)
    assert len(rd.sweep(trial, {}, progress=False)) == 1
    (tmp_path / "script.py").write_text("run()")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(tmp_path / "script.py"), raising=False)
    with pytest.raises(rd.ParameterError, match="`jobs` must be 1, got 2: each worker imports"):
        run(jobs=2)


def test_a_session_older_than_its_source_is_refused(tmp_path, monkeypatch):
    run(cache=tmp_path)
    monkeypatch.setattr(code_key, "_IMPORTED", 0.0)
    monkeypatch.setattr(code_key, "_files_and_key", lambda _: ([Path(code_key.__file__)], "key"))
    with pytest.raises(rd.ParameterError, match="Restart the kernel"):
        run(cache=tmp_path)


RULES = {"sigmas_deg": Real(0, 0.2, open_low=True), "ties": Choice("published", "random"), "table": ExistingFile()}


def namespace(**changes):
    kinds = {"sigmas_deg": list[float], "ties": str, "table": str, "repetitions": int, "gamma": float, "quiet": bool}
    values = {"sigmas_deg": [0.01], "ties": "random", "table": "", "repetitions": 1, "gamma": 1.0, "quiet": False}
    injected = "# Parameters\n" + "".join(f"{name} = {value!r}\n" for name, value in changes.items())
    return {"__annotations__": kinds, **values, **changes, "In": ["", "import reident", injected]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sigma_deg": 1}, "`sigma_deg` is no parameter"), ({"sigmas_deg": [0.01, 5]}, "sigmas_deg"),
        ({"sigmas_deg": 0.01}, "list"), ({"sigmas_deg": []}, "at least one"),
        ({"sigmas_deg": [0.01, 0.01]}, "once"), ({"sigmas_deg": "[0.01"}, "list"), ({"ties": "best"}, "ties"),
        ({"table": "no-such-file.csv"}, "existing"), ({"repetitions": "many"}, "repetitions"),
        ({"repetitions": 0}, "repetitions"), ({"repetitions": 1.5}, "repetitions"), ({"gamma": "x"}, "gamma"),
        ({"quiet": 2}, "quiet"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused(changes, message):
    with pytest.raises(rd.ParameterError, match=message):
        rd.check_parameters(namespace(**changes), RULES)


def test_a_list_as_text_is_read_and_good_values_stay():
    values = namespace(sigmas_deg="[0.01, 0.02]", repetitions=3)
    rd.check_parameters(values, RULES)
    assert (values["sigmas_deg"], values["repetitions"], values["gamma"]) == ([0.01, 0.02], 3, 1.0)


def test_a_rule_without_a_parameter_is_a_mistake_of_the_notebook():
    with pytest.raises(rd.ParameterError, match="`sigma` has a rule"):
        rd.check_parameters(namespace(), {"sigma": Real()})
    values = namespace()
    values["__annotations__"]["gamma"] = "float"
    with pytest.raises(rd.ParameterError, match="annotated"):
        rd.check_parameters(values, {"gamma": Real()})


@pytest.mark.slow
def test_a_killed_sweep_goes_on_where_it_was(tmp_path):
    (tmp_path / "ledger").mkdir()
    script = textwrap.dedent(f"""
        import grid_trials, reident as rd
        grid = {{"mu": range(100), "folder": [{str(tmp_path / "ledger")!r}], "seconds": [0.05]}}
        rd.sweep(grid_trials.counted, grid, cache={str(tmp_path / "trials")!r}, progress=False)
    """)
    path = os.pathsep.join([str(Path(grid_trials.__file__).parent), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path})
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "ledger").iterdir())) < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(list((tmp_path / "ledger").iterdir()))
    grid = {"mu": range(done), "folder": [str(tmp_path / "ledger")], "seconds": [0.05]}
    frame = rd.sweep(grid_trials.counted, grid, cache=tmp_path / "trials", progress=False)
    assert frame.attrs["n_run"] <= 1 < frame.attrs["n_read"]
