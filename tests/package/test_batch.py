import json
import os
import signal
import time
from pathlib import Path

import pandas as pd
import pytest

from reident import DataError, ParameterError
from reident.base import record_files
from reident.experiments.results import declare
from reident.runner import check_parameters, keys_of
from reident.runner._parameters import digest_of_inputs
from reident.runner.batch import batch, collect, read_sweep, write_table
from small_notebooks import write_notebook

PARAMETERS = "x = 1\nname = 'a'\nseed = 0"


@pytest.fixture
def sweep(tmp_path):
    """Give a function that writes a sweep's file beside its notebook."""
    write_notebook(tmp_path / "n.ipynb", "print('x is', x, 'seed is', seed)", parameters=PARAMETERS)

    def write(text):
        (tmp_path / "sweep.yaml").write_text(text)
        return tmp_path / "sweep.yaml"

    return write


def test_runs_are_settings_times_repetitions(sweep):
    runs = read_sweep(sweep("notebook: n.ipynb\nparameters: {name: b}\ngrid: {x: [1, 2]}\nrepetitions: 2\nseed: 5"))
    assert [run.parameters["x"] for run in runs] == [1, 1, 2, 2]
    assert {run.parameters["name"] for run in runs} == {"b"}
    assert len({run.parameters["seed"] for run in runs}) == 4
    assert len({run.name for run in runs}) == 4
    larger = read_sweep(
        sweep("notebook: n.ipynb\nparameters: {name: b}\ngrid: {x: [3, 1, 2]}\nrepetitions: 3\nseed: 5")
    )
    assert {run.name for run in runs} < {run.name for run in larger}
    seeds = {run.name: run.parameters["seed"] for run in larger}
    assert all(seeds[run.name] == run.parameters["seed"] for run in runs)


def test_a_grid_may_list_settings_or_be_absent(sweep):
    runs = read_sweep(sweep("notebook: n.ipynb\ngrid: [{x: 1}, {x: 2, name: c}]"))
    assert [run.parameters for run in runs] == [{"x": 1}, {"x": 2, "name": "c"}]
    (run,) = read_sweep(sweep("notebook: n.ipynb"))
    assert run.parameters == {}
    (run,) = read_sweep(sweep("notebook: 00-tour\npages: false"))
    assert run.notebook.stem == "00-tour"
    assert not run.page


def test_names_of_runs_are_safe_folders(sweep):
    runs = read_sweep(sweep("notebook: n.ipynb\ngrid: {name: ['../../etc', 'a b', '', 'ü']}"))
    for run in runs:
        assert Path(run.name).name == run.name
        assert not run.name.startswith(".")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("[1]", DataError, "must hold entries"),
        ("notebook: !!python/object/apply:os.abort []", DataError, "a YAML file of plain values"),
        ("grid: {x: [1]}", ParameterError, "`notebook` must name a notebook"),
        ("notebook: n.ipynb\ngrid: {x: [1]}\ngrid: {x: [2]}", DataError, "'grid' stands twice"),
        ("notebook: absent", ParameterError, "`notebook` must be a path"),
        ("notebook: n.ipynb\ngird: {x: [1]}", ParameterError, "`gird` must be one of the entries"),
        ("notebook: n.ipynb\ngrid: {x: 1}", ParameterError, "`grid` must be a mapping of names to lists"),
        ("notebook: n.ipynb\nrepetitions: 0", ParameterError, "`repetitions` must be at least 1"),
        ("notebook: n.ipynb\nseed: a", ParameterError, "`seed` must be a whole number"),
        ("notebook: n.ipynb\npages: 3", ParameterError, "`pages` must be True or False"),
        ("notebook: n.ipynb\nparameters: [x]", ParameterError, "`parameters` must be a mapping"),
        ("notebook: n.ipynb\nparameters: {x: 1}\ngrid: {x: [2]}", ParameterError, "`x` must stand either"),
        ("notebook: n.ipynb\ngrid: {out: [a, b]}", ParameterError, "`out` must not be a parameter of a sweep"),
        ("notebook: n.ipynb\nparameters: {seed: 1}\nrepetitions: 2", ParameterError, "`seed` must not be a parameter"),
    ],
)
def test_a_bad_sweep_is_refused(sweep, text, error, message):
    with pytest.raises(error, match=message):
        read_sweep(sweep(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid: {y: [1]}", "`y` must be a parameter of"),
        ("grid: {x: [a]}", "`x`"),
        ("grid: {x: [1, 1]}", "different names"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_runs(sweep, tmp_path, text, message):
    with pytest.raises(ParameterError, match=message):
        batch(sweep(f"notebook: n.ipynb\n{text}"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_study_sweeps_over_its_own_parameters_and_its_rules_hold(sweep):
    runs = read_sweep(sweep("notebook: 01-kroll2015\ngrid: {sigmas_deg: [[0.01], [0.02]], alphas: [[0.5]]}"))
    assert [run.parameters for run in runs] == [{"sigmas_deg": [s], "alphas": [0.5]} for s in (0.01, 0.02)]
    for wrong, message in (
        ("sigma_deg: 0.1", "`sigma_deg` must be a parameter of 01-kroll2015.ipynb"),
        ("sigmas_deg: 0.1", "`sigmas_deg` must be of type list"),
        ("n_common: many", "`n_common` must be of type int"),
        ("sigmas_deg: [-1]", "`sigmas_deg` must lie in"),
        ("n_common: 501", "`n_common` must be at most"),
    ):
        file = sweep(f"notebook: 01-kroll2015\nparameters: {{{wrong}}}")
        with pytest.raises(ParameterError, match=message):
            batch(file, file.parent / "out")
    file = sweep("notebook: 01-kroll2015\ngrid: {sigmas_deg: [[0.01], [-1]], alphas: [[0.5]]}")
    message = r"must lie in .*in the run with {'sigmas_deg': \[-1\], 'alphas': \[0.5\]}"
    with pytest.raises(ParameterError, match=message):
        batch(file, file.parent / "out")
    with pytest.raises(ParameterError, match="or one of 00-tour, 01-kroll2015"):
        read_sweep(sweep("notebook: nothing"))


def records_of(out, rows):
    for name, (parameters, frame) in rows.items():
        declare(frame, out / name)
        yield {"name": name, "status": "ok", "parameters": parameters}


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([[0.1], [0.1, 0.2]], ["[0.1]", "[0.1, 0.2]"]), ([[0.1], None, [0.2]], [0.1, None, 0.2]),
        ([[[1, 2]], [[3]]], ["[1, 2]", "[3]"]), ([[], [1]], ["[]", "[1]"]),
        ([3, "a", True], ["3", "a", "True"]), ([{"a": 1}, "b"], ['{"a": 1}', "b"]),
    ],
)  # fmt: skip
def test_a_column_of_the_results_has_one_form(tmp_path, values, column):
    rows = {f"r{i}": ({"xs": value}, pd.DataFrame({"run": [i]})) for i, value in enumerate(values)}
    results, _ = collect(tmp_path, list(records_of(tmp_path, rows)))
    results.to_parquet(tmp_path / "results.parquet")
    assert results["xs"].astype(object).where(results["xs"].notna(), None).tolist() == column
    assert results["result_run"].tolist() == list(range(len(values)))
    mixed = {"a": ({"k": 1}, pd.DataFrame({"note": ["none"]})), "b": ({"k": 2}, pd.DataFrame({"note": [2.5]}))}
    results, _ = collect(tmp_path, list(records_of(tmp_path, mixed)))
    results.to_parquet(tmp_path / "results.parquet")
    assert results["note"].tolist() == ["none", "2.5"]


def published(file, out, rows, *, changed=False):
    """Leave runs in a folder as they are when they have ended; return the keys of the sweep's runs."""
    runs = read_sweep(file)
    keys = keys_of(runs, out)
    for run in runs:
        declare(rows(run.parameters), out / run.name)
        record = {"name": run.name, "status": "ok", "error": None, "parameters": run.parameters, "seconds": 1.0}
        record["key"] = "another" if changed else keys[run.name]
        (out / run.name / "record.json").write_text(json.dumps(record))
    return keys


def test_the_page_is_of_this_sweep_and_this_code(sweep, tmp_path):
    out = tmp_path / "out"
    published(sweep("notebook: n.ipynb\ngrid: {x: [3, 5]}"), out, lambda given: {"risk": 1 / given["x"]}, changed=True)
    file = sweep("notebook: n.ipynb\ngrid: {x: [5, 7]}")
    write_table(out, keys_of(read_sweep(file), out), title="t")
    assert "2, of other sweeps or of earlier code" in (out / "index.html").read_text()
    assert not (out / "results.parquet").exists()
    write_table(out, published(file, out, lambda given: {"risk": 2 / given["x"]}), title="t")
    results = pd.read_parquet(out / "results.parquet")
    assert results[["x", "risk"]].to_numpy().tolist() == [[5, 2 / 5], [7, 2 / 7]]
    mine, others = (out / "index.html").read_text().split("Other runs in this folder")
    assert "2 runs, " in mine
    assert "x = 3" in others
    assert "x-3" not in mine


@pytest.mark.parametrize(
    ("values", "read"),
    [
        ("[DE, NO, SE]", ["DE", "NO", "SE"]),
        ("[01067, 01069, 08056]", ["01067", "01069", "08056"]),
        ("[12:30, 2024-02-29, yes]", ["12:30", "2024-02-29", "yes"]),
        ("[1, 01067]", r"`listed` must be of type list\[str\].*: in quotes it is text"),
        ("[true]", r"`listed` must be of type list\[str\]"),
        ("{a: 1}", "`listed` must be of type list"),
    ],
)
def test_what_a_list_of_a_sweep_holds_is_of_the_type_that_the_notebook_says(tmp_path, values, read):
    write_notebook(tmp_path / "n.ipynb", "pass", parameters='listed = ["DE"]\nnumbers = [1]\nflag = False')
    (tmp_path / "s.yaml").write_text(f"notebook: n.ipynb\ngrid: {{listed: [{values}]}}")
    (run,) = read_sweep(tmp_path / "s.yaml")
    if isinstance(read, list):
        assert check_parameters(run.notebook, run.parameters) == {"listed": read}
        return
    with pytest.raises(ParameterError, match=read):
        check_parameters(run.notebook, run.parameters)


def test_files_beside_a_notebook_count(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "x = 1", parameters=PARAMETERS)
    (tmp_path / "helper.py").write_text("VALUE = 1")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "input.csv").write_text("a")
    digests = [digest_of_inputs(tmp_path)]
    for name, text in (("helper.py", "VALUE = 2"), ("data/input.csv", "b"), ("other.csv", ""), ("read.yaml", "a: 1")):
        (tmp_path / name).write_text(text)
        digests.append(digest_of_inputs(tmp_path))
    assert len(set(digests)) == len(digests)
    (tmp_path / "sweep.yaml").write_text("grid: {x: [1]}\nnotebook: n.ipynb")
    (tmp_path / "o.ipynb").touch()
    (tmp_path / ".hidden").touch()
    for place in (tmp_path, tmp_path / "results" / "run"):  # outputs of ours, here and in a folder
        place.mkdir(parents=True, exist_ok=True)
        (place / "index.html").write_text("x")
        record_files(place, ["index.html"])
    assert digest_of_inputs(tmp_path) == digests[-1]


@pytest.mark.slow
def test_a_batch_is_run_again_where_a_helper_changed(tmp_path, capfd):
    cells = [
        "import helper\nfrom reident.sweep.result import declare  # as version 0.2 had it",
        "declare({'v': helper.VALUE, 'n': len(pair), 'a': a}, out)",
    ]
    path = write_notebook(tmp_path / "n.ipynb", *cells, parameters="out: str | None = None\npair = (1, 2)\na = 1")
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        cell.pop("id")  # as older programs write notebooks
    path.write_text(json.dumps(notebook))
    (tmp_path / "s.yaml").write_text("notebook: n.ipynb\ngrid: {a: [5]}\nparameters: {pair: [1, 2, 3]}")
    started = []
    for value in (1, 1, 2):
        (tmp_path / "helper.py").write_text(f"VALUE = {value}")
        (record,) = batch(tmp_path / "s.yaml", tmp_path / "o", progress=False)
        assert record["status"] == "ok", record
        started.append(record["started"])
        row = pd.read_parquet(tmp_path / "o" / "results.parquet").iloc[0]
        assert (row["v"], row["n"], row["a"]) == (value, 3, 5)
    assert started[0] == started[1] != started[2]
    assert capfd.readouterr() == ("", "")


def test_a_run_ends_at_its_time_limit(tmp_path, capfd):
    write_notebook(tmp_path / "n.ipynb", "import time\ntime.sleep(1000)", parameters="x = 1")
    (tmp_path / "s.yaml").write_text("notebook: n.ipynb\ntimeout: 1\npages: false")
    (record,) = batch(tmp_path / "s.yaml", tmp_path / "o", progress=False)
    assert record["error"] == {"type": "TimeoutError", "message": "not done after 1 s", "traceback": ""}
    assert capfd.readouterr().err == ""
    (tmp_path / "s.yaml").write_text("notebook: n.ipynb\ntimeout: 0")
    with pytest.raises(ParameterError, match="`timeout` must lie in"):
        read_sweep(tmp_path / "s.yaml")


def workers_of(cluster):
    return [worker.process.pid for worker in cluster.workers.values() if worker.process]


@pytest.mark.notebook
@pytest.mark.slow
def test_a_batch_on_a_cluster_survives_a_killed_worker(tmp_path):
    """Each notebook holds a sweep of its own on the same cluster; a worker is killed in the middle."""
    from distributed import LocalCluster

    ledger = tmp_path / ".ledger"
    ledger.mkdir()
    write_notebook(
        tmp_path / "n.ipynb",
        "import time\nfrom pathlib import Path\nimport reident as rd\n"
        "def trial(rng, *, i):\n    return {'draw': rng.random()}",
        "frame = rd.sweep(trial, {'i': [1, 2, 3]}, repetitions=4, seed=x)\n"
        "time.sleep(1.0)\nframe.to_csv(Path(out, 'rows.csv'), index=False)\n"
        f"Path({str(ledger)!r}, f'{{x}}-{{time.time_ns()}}').touch()",
        parameters="x = 1\nout = ''",
    )
    (tmp_path / "sweep.yaml").write_text("notebook: n.ipynb\ngrid: {x: [1, 2]}\npages: false")
    out = tmp_path / "out"
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with LocalCluster(**options) as cluster:
        import threading

        def kill_one():
            deadline = time.monotonic() + 90
            while not list(ledger.iterdir()) and time.monotonic() < deadline:
                time.sleep(0.05)
            os.kill(workers_of(cluster)[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        records = batch(tmp_path / "sweep.yaml", out, jobs=2, scheduler=cluster.scheduler_address, progress=False)
        killer.join()
    assert [record["status"] for record in records] == ["ok"] * 2, records
    assert [record["parameters"]["x"] for record in records] == [1, 2]
    assert len(list(out.glob("*/rows.csv"))) == len(list(out.glob("*/record.json"))) == 2
    for record in records:
        rows = (out / record["name"] / "rows.csv").read_text().splitlines()
        assert len(rows) == 13
    written = json.loads((out / records[0]["name"] / "record.json").read_text())
    assert written["parameters"] == {"x": 1}
    done = len(list(ledger.iterdir()))
    assert batch(tmp_path / "sweep.yaml", out, progress=False) == records
    assert len(list(ledger.iterdir())) == done, "a finished run was executed again"
    assert (out / "index.html").read_text().count("notebook.ipynb") == 2
