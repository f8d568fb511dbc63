"""Rivals that pin libraries older than ours: run by another interpreter, which REIDENT_RIVALS names.

    $REIDENT_RIVALS benchmarks/_rivals.py TASK [ARGUMENT ...]

prints one JSON object as its last line: the seconds of one task, and what else it tells. Everything here also runs with
the libraries that the rivals pin, so that nothing of ours is imported.
"""

import json
import os
import re
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

QUASI = ["age", "education", "marital-status", "occupation", "sex", "native-country"]
FILES = ["age", "education", "marital", "occupation", "sex", "country"]
TIMEOUT_S = 400


def ask(task, *arguments, timeout_s=TIMEOUT_S):
    """Run a task in the other interpreter; return what it told, with `seconds`, `stopped` and `note` for a `Row`."""

    def read(done):
        return None if done.returncode else json.loads(done.stdout.strip().splitlines()[-1])

    return _run("REIDENT_RIVALS", ["-I", __file__, task, *map(str, arguments)], read, timeout_s)


def incmaxclq(graph, timeout_s=TIMEOUT_S):
    """Search a graph, a DIMACS file, by the authors' program of IncMaxCLQ, as `ask` runs a task: its processor time."""

    def read(done):
        # It ends with 1 where all went well, and tells smaller cliques on its way.
        told = re.search(r"Max Clique Size: (\d+)\n.*\nProgram terminated", done.stdout)
        return told and {"size": int(told[1])}

    return _run("REIDENT_INCMAXCLQ", [str(graph)], read, timeout_s, folder=Path(graph).parent)


def _run(variable, arguments, read, timeout_s, folder=None):
    """Run what an environment variable names; `read` returns what the ended process told, or None if it failed."""
    program = os.environ.get(variable)
    if not program:
        return {"seconds": None, "stopped": "", "note": f"not run: {variable} is not set"}
    # A path is told from the folder that the user stands in, not from that in which the program runs.
    program = Path(program).absolute() if Path(program).exists() else program
    before = os.times().children_user
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, timeout=timeout_s, cwd=folder, check=False
        )
    except subprocess.TimeoutExpired:
        return {"seconds": float(timeout_s), "stopped": "rival", "note": f"rival stopped after {timeout_s} s"}
    except OSError as error:
        return {"seconds": None, "stopped": "", "note": f"not run: {variable}: {error}"}
    told = read(done)
    if told is None:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or [f"{variable}: ended by {done.returncode}"]
        return {"seconds": None, "stopped": "", "note": "not run: " + lines[-1]}
    return {"seconds": os.times().children_user - before, "stopped": "", "note": "", **told}


def versions(names=("anjana", "anonypy", "crowds", "diffprivlib", "passagemath-mcqd", "recordlinkage")):
    """Tell which of some libraries are here, and their versions."""
    there = {}
    for name in names:
        try:
            there[name.removeprefix("passagemath-")] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {"seconds": None, "versions": there}


def read(table, folder):
    import pandas as pd

    frame = pd.read_csv(table, keep_default_na=False)
    hierarchies = {
        name: pd.read_csv(f"{folder}/{file}.csv", header=None, dtype=str, keep_default_na=False)
        for name, file in zip(QUASI, FILES, strict=True)
        if folder
    }
    return frame, hierarchies


def anjana(table, folder):
    from anjana.anonymity import k_anonymity

    frame, hierarchies = read(table, folder)
    frame["age"] = frame["age"].astype(str)
    levels = {name: dict(rows) for name, rows in hierarchies.items()}
    started = time.process_time()
    k_anonymity(frame[[*QUASI, "income"]], [], QUASI, 10, 5, levels)
    return {"seconds": time.process_time() - started}


def crowds(table, folder):
    from crowds.kanonymity.generalizations import GenRule
    from crowds.kanonymity.ola import anonymize

    frame, hierarchies = read(table, folder)
    frame["age"] = frame["age"].astype(str)
    rules = {
        name: GenRule([dict(zip(rows[0], rows[level], strict=True)).get for level in range(1, rows.shape[1] - 1)])
        for name, rows in hierarchies.items()
    }
    started = time.process_time()
    anonymize(frame[QUASI], rules, k=10, max_sup=5)
    return {"seconds": time.process_time() - started}


def anonypy(table):
    import anonypy as rival

    frame, _ = read(table, "")
    for name in QUASI[1:]:
        frame[name] = frame[name].astype("category")
    started = time.process_time()
    rival.Preserver(frame, QUASI, "income").anonymize_k_anonymity(10)
    return {"seconds": time.process_time() - started}


def noise():
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=0.2, sensitivity=1.0)
    started = time.perf_counter()
    for _ in range(30_000):
        mechanism.randomise(0.0)
    return {"seconds": time.perf_counter() - started}


def blobs(seed):
    """Draw the points that private k-means clusters, here and there the same."""
    import numpy as np

    rng = np.random.default_rng(seed)
    middles = rng.uniform(0.15, 0.85, (4, 2))
    return np.clip(middles[rng.integers(0, 4, 10_000)] + rng.normal(0, 0.06, (10_000, 2)), 0, 1)


def kmeans(epsilon, n_sets):
    import numpy as np
    from diffprivlib.models import KMeans

    bounds, inertia, spent = (np.zeros(2), np.ones(2)), [], []
    for seed in range(int(n_sets)):
        points = blobs(seed)
        started = time.perf_counter()
        model = KMeans(n_clusters=4, epsilon=float(epsilon), bounds=bounds, random_state=seed).fit(points)
        spent.append(time.perf_counter() - started)
        inertia.append(model.inertia_ / len(points))
    return {"seconds": float(np.median(spent)), "inertia": float(np.mean(inertia))}


def recordlinkage():
    import numpy as np
    import pandas as pd
    import recordlinkage as rival

    rng = np.random.default_rng(1)
    known = pd.DataFrame(rng.lognormal(size=(1000, 4)), columns=list("abcd"))
    release = known * np.exp(rng.normal(size=(1000, 4)) * 0.1)
    began = time.perf_counter()
    index = rival.Index()
    index.full()
    compare = rival.Compare()
    for name in "abcd":
        compare.numeric(name, name, method="gauss", scale=float(known[name].std()), label=name)
    scores = compare.compute(index.index(release, known), release, known).sum(axis=1)
    scores.groupby(level=0).idxmax()
    return {"seconds": time.perf_counter() - began}


def mcqd(edges):
    """Search a graph, a file of two whole numbers a line, for its maximum clique by MaxCliqueDyn."""
    from sage.graphs.mcqd import mcqd as search

    neighbours = {}
    for line in Path(edges).read_text(encoding="utf-8").splitlines():
        u, v = map(int, line.split())
        neighbours.setdefault(u, []).append(v)
        neighbours.setdefault(v, []).append(u)

    class Graph(dict):
        """What the rival asks of a graph."""

        order = dict.__len__
        neighbors = dict.__getitem__

        def vertices(self, sort):  # noqa: ARG002
            return list(self)

    started = time.process_time()
    clique = search(Graph(neighbours))
    return {"seconds": time.process_time() - started, "size": len(clique)}


if __name__ == "__main__":
    tasks = (anjana, crowds, anonypy, noise, kmeans, mcqd, recordlinkage, versions)
    chosen = {task.__name__: task for task in tasks}[sys.argv[1]]
    print(json.dumps(chosen(*sys.argv[2:])))
