"""The two ways in which kernels are compiled."""

from __future__ import annotations

import numba

#: One thread. Division by zero gives what numpy gives; no fastmath, so that results do not depend on the machine.
jit = numba.njit(cache=True, error_model="numpy")

#: Several threads over independent rows only: the result is the same for any number of threads.
parallel_jit = numba.njit(cache=True, error_model="numpy", parallel=True)
