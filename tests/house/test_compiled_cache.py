"""Compiled code that several processes put into one cache is what it says, whichever of them compiled it."""

import os
import subprocess
import sys

import pytest

ORDER = """
import numpy as np
from numba import njit

@njit(cache=True)
def order(x):
    out = np.zeros(x.size, dtype=np.int64)
    for at in np.argsort(x)[:5]:
        out[at] = 1
    return out
"""
ORDERED = """
import numpy as np
from numba import njit

@njit(cache=True)
def ordered(x):
    return np.sort(x)
"""
#: Two functions more in the second process, and both sorting routines would have one name.
COMPILED_BEFORE = "from numba.core.bytecode import FunctionIdentity; [next(FunctionIdentity._unique_ids) for _ in 'ab']"


@pytest.mark.slow
def test_a_process_that_loads_what_two_others_compiled_runs_the_right_code(tmp_path):
    (tmp_path / "of_order.py").write_text(ORDER)
    (tmp_path / "in_order.py").write_text(ORDERED)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}

    def run(code):
        code = f"import sys, reident.kernels; sys.path.insert(0, {str(tmp_path)!r}); import numpy as np; {code}"
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)

    run("import of_order; of_order.order(np.arange(9.0))")
    run(f"{COMPILED_BEFORE}; import in_order; in_order.ordered(np.arange(9.0))")
    run(
        "import of_order, in_order; x = np.random.default_rng(0).random(50); of_order.order(x); "
        "assert (in_order.ordered(x) == np.sort(x)).all()"
    )
