import contextlib
import json
import logging
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import url2pathname, urlopen

import pandas as pd
import pytest

import grid_trials
import reident as rd
from reident.base import isolated_environment, local_cluster


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
    line, environment = [sys.executable, "-m", "reident.cli", "list"], isolated_environment()
    done = subprocess.run(line, cwd=hostile(tmp_path), env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "kroll2015" in done.stdout
    assert untouched(tmp_path)


def test_workers_import_nothing_from_the_working_directory_and_serve_nobody_else(tmp_path, monkeypatch, capfd):
    from distributed import Client, Security

    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)  # dask leaves it here when it replaces a killed worker
    monkeypatch.chdir(hostile(tmp_path))
    with local_cluster(1) as cluster, Client(cluster, set_as_default=False) as client:
        assert client.submit(sum, [1, 2]).result(timeout=30) == 3
        client.run(lambda: logging.getLogger("distributed.worker").error("lost heartbeat"))
        assert "lost heartbeat" not in capfd.readouterr().err  # as it ends, after all was done
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
    rd.risk_utility(people, ["rounding"], None, None, cache=tmp_path, **made)
    assert untouched(tmp_path)


CLIENT = """
import sys
import grid_trials, reident as rd
address, began, secret = sys.argv[1:]
rd.sweep(grid_trials.reads_its_context, {"began": [began], "seconds": [0.5]}, repetitions=3, scheduler=address,
         progress=False, context=secret)
"""


@pytest.mark.slow
def test_a_killed_client_leaves_no_data_in_scheduler_and_workers(tmp_path):
    from distributed import Client, LocalCluster

    secret, began = "the-confidential-latitude", tmp_path / "began"
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        path = os.pathsep.join([*map(str, [Path(grid_trials.__file__).parent]), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            [sys.executable, "-c", CLIENT, cluster.scheduler_address, str(began), secret],
            env={**os.environ, "PYTHONPATH": path},
        )
        wait_for(began.exists)
        assert cluster.scheduler.tasks
        process.kill()
        process.wait()
        wait_for(lambda: not cluster.scheduler.tasks)
        address = cluster.workers[0].worker_address
        wait_for(lambda: client.run(lambda dask_worker: len(dask_worker.data)) == {address: 0})
        assert secret not in repr(cluster.scheduler.worker_plugins)


SERVE = """
import sys
from reident.workbench import serving
serving._CULL_SECONDS = 1
serving.serve(port=int(sys.argv[1]), profile="smoke", jobs=1)
"""


@pytest.mark.slow
def test_the_app_reads_no_configuration_of_the_folder_opens_its_page_and_ends_with_it(tmp_path):
    pytest.importorskip("voila")
    folder = hostile(tmp_path)
    secret, opened = folder / "patients.csv", folder / "opened"
    secret.write_text("name,age\nAnna,33\n")
    (folder / "voila.json").write_text(
        json.dumps({"VoilaConfiguration": {"file_allowlist": [".*"]}, "Voila": {"root_dir": "/"}})
    )
    browser = folder / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}~ && mv {opened}~ {opened}\n')
    browser.chmod(0o700)
    temporary = folder / ("long-name-of-a-temporary-folder-" * 2)  # as long as on macOS
    temporary.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "TMPDIR": str(temporary),
        "BROWSER": str(browser),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    with (folder / "log").open("w") as log:
        app = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVE, str(port)], cwd=folder, env=environment, stdout=log, stderr=log
        )
    try:
        wait_for(opened.exists, 60)
        leading = Path(url2pathname(urlsplit(opened.read_text()).path))
        assert leading.stat().st_mode & 0o077 == 0
        address = re.search(r"url=([^\"]+)", leading.read_text())[1]
        for place in (f"files{secret}", "files/patients.csv", "files/reident.ipynb", "static/../patients.csv"):
            with pytest.raises(HTTPError, match=r"40[34]"):
                urlopen(f"http://127.0.0.1:{port}/voila/{place}", timeout=10)
        with urlopen(address, timeout=120) as answer:
            assert b"The same on the command line" not in answer.read(100)  # a page, and no form for a token
            assert "login" not in answer.url
            assert kernels_of(app.pid)
        wait_for(lambda: not kernels_of(app.pid), 60)  # the page was closed: its kernel ends
        assert untouched(folder), (folder / "PWNED").read_text()
    finally:
        app.send_signal(signal.SIGTERM)
        app.wait(30)
    assert not leading.parent.exists()


def kernels_of(pid):
    """List the kernels that a process has started and that run."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            told = (place / "stat").read_text().rpartition(")")[2].split()
            if int(told[1]) == pid and told[0] != "Z" and b"ipykernel" in (place / "cmdline").read_bytes():
                found.append(place.name)
    return found


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, condition
        time.sleep(0.02)
