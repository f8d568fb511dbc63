import os
import re
import signal

from reident.kernels._cache import cache_folder

# Worker processes of the tests share the processors among them: a second thread of each, which waits for its turn by
# spinning, would take from the others what a small input takes a hundred times over. Set before numba is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    for threads in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")

# A kernel is compiled again when one that it calls has changed.
if not os.environ.get("NUMBA_CACHE_DIR"):
    os.environ["NUMBA_CACHE_DIR"] = str(cache_folder())

import pytest
from hypothesis import settings

# The first call of a kernel compiles it, so a deadline would fail at random. Every run has the same inputs; the
# fuzzing profile looks for new ones.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("fuzz", deadline=None, max_examples=100_000)
settings.load_profile(os.environ.get("REIDENT_HYPOTHESIS", "suite"))


#: Inputs of a property where nothing is compiled: a kernel then takes a hundred times as long, and what it is run for,
#: a read out of range, shows in a few.
FEW = 10


def pytest_itemcollected(item):
    asked = getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", None)
    if asked is not None and os.environ.get("NUMBA_DISABLE_JIT") == "1" and "REIDENT_HYPOTHESIS" not in os.environ:
        item.obj._hypothesis_internal_use_settings = settings(asked, max_examples=min(FEW, asked.max_examples))


#: What compiles every kernel, and what needs hardly one, by the beginning of its place.
COMPILING = re.compile("tests/(kernels/|package/test_bad_inputs)")
NEEDING_FEW = re.compile("tests/package/test_(grid|faults|batch|runner|cli|base|layers|maps)")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Put what compiles every kernel first, for one worker, and what needs few where the second of two begins.

    What the second then comes to is compiled, and not compiled by both at the same time.
    """
    first, few, rest = [], [], []
    for item in items:
        (first if COMPILING.match(item.nodeid) else few if NEEDING_FEW.match(item.nodeid) else rest).append(item)
    middle = max(0, len(items) // 2 - len(first))
    items[:] = [*first, *rest[:middle], *few, *rest[middle:]]


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the suite in the background switches Ctrl-C off for all processes of it; tests press it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
