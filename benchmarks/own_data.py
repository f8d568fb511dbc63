"""Own data at size: the German patient file of the tests, opened, assessed, protected and checked; a census table.

Each task runs in a process of its own: its processor seconds, with those of its workers, and its own peak memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks._rows import ALLOWED, Row

_FOLDERS = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("", "tests")]

#: What is common: the files, a recipe, and what is told at the end.
_HEAD = """
import dataclasses, json, resource, sys, time
sys.path[:0] = {folders!r}
import numpy as np, pandas as pd, reident as rd
from benchmarks._rows import peak_gib
from office import office
from reident.workbench.recipe import recipe_of

def patients(n):
    office(n).to_csv({folder!r} + "/p.csv", sep=";", index=False, encoding="utf-8-sig")
    return rd.workbench.open_file({folder!r} + "/p.csv")

def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)

def assess(opened):
    quasi, sensitive = (opened.schema.named(role) for role in ("quasi-identifier", "sensitive"))
    return rd.assess(
        opened.data, quasi=quasi, sensitive=sensitive, lat="Breite", lon="Länge",
        progress=False,
    ).sentence

def protect(opened):
    chain = [
        {{"method": "mondrian", "parameters": {{"k": 10}}}},
        {{"method": "donut", "parameters": {{"inner_m": 500.0, "outer_m": 3000.0}}}},
    ]
    recipe = dataclasses.replace(recipe_of(opened, "p.csv"), chain=chain)
    rd.protect(rd.Dataset.of(opened, recipe=recipe), recipe).save({folder!r} + "/release")
    return ""

def census(n):
    rng = np.random.default_rng(0)
    return pd.DataFrame({{
        "age": rng.integers(0, 99, n), "sex": rng.choice(["f", "m"], n), "town": rng.integers(0, 300, n).astype(str),
        "job": rng.choice(list("abcdefghij"), n), "ill": rng.choice(["flu", "gout", "none"], n, p=[.1, .1, .8]),
    }})

def table_only(table):
    return rd.assess(table, quasi=["age", "sex", "town", "job"], sensitive="ill", progress=False).sentence

given = {given}
began = spent()
said = {task}(given)
print(json.dumps([spent() - began, peak_gib() * 2**30 / 1e9, said]))
"""

#: Task, what it is given, what runs, seconds allowed, and gigabytes wanted.
_TASKS = (
    ("assess 5,000 patients with places", "patients(5000)", "assess", 60, 2.0),
    ("assess 200,000 patients with places, by a sample", "patients(200_000)", "assess", 180, 4.0),
    ("protect 200,000 patients with places", "patients(200_000)", "protect", 60, 2.0),
    ("assess 1,000,000 records, table alone, by a sample", "census(1_000_000)", "table_only", 180, 4.0),
)


def sizes() -> list[Row]:
    """Run each task once."""
    return [_row(*task) for task in _TASKS]


def _row(name: str, given: str, task: str, allowed_s: float, allowed_gb: float) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        code = _HEAD.format(folders=_FOLDERS, folder=folder, given=given, task=task)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        return Row(name, None, note=f"failed: {done.stderr.strip().splitlines()[-1:]}"[:120])
    seconds, peak, said = json.loads(done.stdout.splitlines()[-1])
    note = f"{peak:.1f} GB at most of {allowed_gb:g} wanted; processor seconds. {said}"
    return Row(name, seconds, ALLOWED, allowed_s, 1.0, note=note[:200])


GROUPS = {"sizes": sizes}
