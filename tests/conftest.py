"""Settings for the whole suite, and the one run of each study's smallest profile that its tests share."""

import os
import pickle
from pathlib import Path

import pytest
from hypothesis import settings

from reident._lock import hold
from reident.studies.catalogue import STUDIES

# The first call of a kernel compiles it, so a deadline would fail at random. Every run has the same inputs; the
# fuzzing profile looks for new ones.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("fuzz", deadline=None, max_examples=100_000)
settings.load_profile(os.environ.get("REIDENT_HYPOTHESIS", "suite"))


#: Inputs of a property where nothing is compiled: a kernel then takes a hundred times as long, and what it is run for,
#: a read out of range, shows in a few.
FEW = 10


def pytest_itemcollected(item):
    asked = getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", None)
    if asked is not None and os.environ.get("NUMBA_DISABLE_JIT") == "1" and "REIDENT_HYPOTHESIS" not in os.environ:
        item.obj._hypothesis_internal_use_settings = settings(asked, max_examples=min(FEW, asked.max_examples))


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """Give a function that returns a study's smoke run on data that come with the package, and the run's folder.

    The first test to ask runs it, the others, also those of other worker processes, wait and read it.
    """
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "smoke"
    home.mkdir(exist_ok=True)

    def of(name):
        folder, kept = home / name, home / f"{name}.pickle"
        with (home / f"{name}.lock").open("ab") as file, hold(file), pytest.MonkeyPatch.context() as patch:
            patch.delenv("REIDENT_DATA", raising=False)
            if not kept.exists():
                kept.write_bytes(pickle.dumps(STUDIES[name].run("smoke", folder=folder, progress=False)))
            return pickle.loads(kept.read_bytes()), Path(folder)

    return of
