"""Rivals that need libraries older than ours: run by another interpreter, which REIDENT_RIVALS names.

    $REIDENT_RIVALS benchmarks/_table_rivals.py TASK TABLE.csv HIERARCHY_FOLDER

prints the processor's seconds of one task as its last line.
"""

import importlib.util
import sys
import time

QUASI = ["age", "education", "marital-status", "occupation", "sex", "native-country"]
FILES = ["age", "education", "marital", "occupation", "sex", "country"]


def read(table, folder):
    import pandas as pd

    frame = pd.read_csv(table, keep_default_na=False)
    hierarchies = {
        name: pd.read_csv(f"{folder}/{file}.csv", header=None, dtype=str, keep_default_na=False)
        for name, file in zip(QUASI, FILES, strict=True)
    }
    return frame, hierarchies


def anjana(table, folder):
    from anjana.anonymity import k_anonymity

    frame, hierarchies = read(table, folder)
    frame["age"] = frame["age"].astype(str)
    levels = {name: dict(rows) for name, rows in hierarchies.items()}
    started = time.process_time()
    k_anonymity(frame[[*QUASI, "income"]], [], QUASI, 10, 5, levels)
    return time.process_time() - started


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
    return time.process_time() - started


def anonypy(table, folder):
    import anonypy as rival

    frame, _ = read(table, folder)
    for name in QUASI[1:]:
        frame[name] = frame[name].astype("category")
    started = time.process_time()
    rival.Preserver(frame, QUASI, "income").anonymize_k_anonymity(10)
    return time.process_time() - started


def diffprivlib(*_):
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=1.0, sensitivity=1.0)
    started = time.process_time()
    for _ in range(30_000):
        mechanism.randomise(0.0)
    return time.process_time() - started


if __name__ == "__main__":
    task = sys.argv[1]
    if importlib.util.find_spec(task) is None:
        print("not installed")
    else:
        print({"anjana": anjana, "crowds": crowds, "anonypy": anonypy, "diffprivlib": diffprivlib}[task](*sys.argv[2:]))
