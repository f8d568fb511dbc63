"""What a user waits for before anything is computed: importing a study, and the first call, which compiles."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks._rows import Row, within

#: Seconds that importing a study may take.
IMPORT_S = 1.0

_TOLD = "; import time; print(time.process_time())"

_FIRST = """
import time
import numpy as np
import reident as rd
from reident.workbench.examples import example_places
people = example_places(60, rng=1)
began = time.process_time()
d = rd.great_circle_km(people["lat_deg"], people["lon_deg"])
files = rd.MetricMicrodata(people[["sex", "age_class"]], d)
rd.common_subgraph_attack(files, files, quasi=["sex", "age_class"], window_km=(-0.1, 0.1), progress=False, rng=1)
print(time.process_time() - began)
"""


def _seconds(code: str, cache: str) -> float:
    """Return the seconds of a processor that a new interpreter tells of itself."""
    env = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    return float(done.stdout.split()[-1])


def imports() -> list[Row]:
    """Time the import of the trials of each document, the interpreter's start included."""
    with tempfile.TemporaryDirectory() as cache:
        return [
            within(f"import {module}", _seconds(f"import {module}{_TOLD}", cache), IMPORT_S)
            for module in [
                f"reident.experiments.{name.partition('_')[0]}"
                for name in ("kroll2015", "kroll2016", "abril2012", "holohan2017")
            ]
        ]


def first_call() -> list[Row]:
    """Time the first graph attack on a machine, which compiles its kernels, against the second."""
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (_seconds(_FIRST, cache) for _ in range(2))
    return [Row("second graph attack on a machine", warm, "the first, which compiles", cold, note="60 records")]


def studies() -> list[Row]:
    """Time the smoke profile with nothing compiled, against the second time."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        spent = []
        for out in ("cold", "warm"):
            before = os.times()
            command = [sys.executable, "-m", "reident", "reproduce", "--profile", "smoke", "--out", f"{folder}/{out}"]
            subprocess.run(command, check=True, env=environment, capture_output=True)
            after = os.times()
            spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
    note = f"{spent[0] - spent[1]:.0f} s of a processor for compiling and what else the first time takes"
    return [Row("all experiments (smoke), second time", spent[1], "the first, which compiles", spent[0], note=note)]


GROUPS = {"imports": imports, "first_call": first_call, "studies": studies}
