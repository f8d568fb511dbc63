"""Code that is not ours does not run: modules and configuration in folders of data, pickles, clients of others."""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pandas as pd
import pytest

import reident as rd
import sweep_trials
from reident.base import local_cluster, start_module


def hostile(folder):
    """Plant modules that the standard library, the package and its libraries import."""
    for name in ("typer", "signal", "random", "numpy", "html", "multiprocessing", "distributed", "voila"):
        (folder / f"{name}.py").write_text(f"open({str(folder / 'PWNED')!r}, 'a').write('{name} ')\n")
    (folder / "reident").mkdir()
    (folder / "reident" / "__init__.py").write_text((folder / "typer.py").read_text())
    return folder


def untouched(folder):
    return not (folder / "PWNED").exists()


def test_a_command_of_the_app_imports_nothing_from_the_folder_of_the_data(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", os.environ.get("PYTHONPATH", "")]))  # "" is the folder
    process, tether = start_module("reident.cli", ["list"], hostile(tmp_path))
    with tether:
        out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert "kroll2015" in out
    assert untouched(tmp_path)


def test_workers_import_nothing_from_the_working_directory_and_serve_nobody_else(tmp_path, monkeypatch):
    from distributed import Client, Security

    monkeypatch.chdir(hostile(tmp_path))
    with local_cluster(1) as cluster, Client(cluster, set_as_default=False) as client:
        assert client.submit(sum, [1, 2]).result(timeout=30) == 3
        address = cluster.scheduler_address
        for other in (address.replace("tls", "tcp"), address):
            security = Security.temporary() if other == address else None
            with pytest.raises(OSError, match=r"Timed out|closed|TLS|SSL"):
                Client(other, security=security, timeout=2, set_as_default=False)
        ports = [server.services["dashboard"].port for server in (cluster.scheduler,)]
        ports += client.run(lambda dask_worker: dask_worker.http_server.port).values()
        for port in ports:
            for page in ("status", "info/main/workers.html", "json/counts.json", "metrics", "health"):
                with pytest.raises(HTTPError, match="404"):
                    urlopen(f"http://127.0.0.1:{port}/{page}", timeout=5)
    assert untouched(tmp_path)
    assert "PYTHONSAFEPATH" not in os.environ


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_pickle_in_an_output_folder_is_not_read(tmp_path):
    for name in ("registered.pkl", "registered.pickle"):
        (tmp_path / name).write_bytes(pickle.dumps(Evil(tmp_path / "PWNED")))
    people = pd.DataFrame({"age": [20 + i % 9 for i in range(60)], "sex": list("mf") * 30})
    made = {"n_known": 10, "n_released": 30, "repetitions": 1, "progress": False, "quasi": ["age", "sex"]}
    rd.risk_utility(people, ["rounding"], None, None, folder=tmp_path, **made)
    assert untouched(tmp_path)


CLIENT = """
import sys
from functools import partial
import sweep_trials
from reident.sweep import grid
address, began, secret = sys.argv[1:]
grid.run(
    {"x": [1]}, sweep_trials.reads_what_is_held, repetitions=3, scheduler=address, progress=False,
    folder=None, seed=0, stem="s", prepare=(partial(sweep_trials.hold, "x", secret), sweep_trials.drop),
)
"""


def test_a_killed_client_leaves_no_data_in_scheduler_and_workers(tmp_path):
    from distributed import Client, LocalCluster

    secret, began = "the-confidential-latitude", tmp_path / "began"
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        parameters = {"x": 1, "began": str(began), "sleep_s": 0.5}
        code = CLIENT.replace('{"x": [1]}', repr([parameters]))
        path = os.pathsep.join([*map(str, [Path(sweep_trials.__file__).parent]), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            [sys.executable, "-c", code, cluster.scheduler_address, str(began), secret],
            env={**os.environ, "PYTHONPATH": path},
        )
        wait_for(began.exists)
        assert cluster.scheduler.tasks
        process.kill()
        process.wait()
        wait_for(lambda: not cluster.scheduler.tasks)
        wait_for(lambda: client.run(what_it_holds) == {cluster.workers[0].worker_address: (0, {})})
        assert secret not in repr(cluster.scheduler.worker_plugins)


def what_it_holds(dask_worker):
    return len(dask_worker.data), dict(sweep_trials.HELD)


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, condition
        time.sleep(0.02)
