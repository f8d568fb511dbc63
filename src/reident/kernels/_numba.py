"""The options with which kernels are compiled, and a split of independent rows over threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numba

from reident.kernels._cache import remove_damaged

Item = TypeVar("Item")
Result = TypeVar("Result")

# Parts of rows per thread, so that one interrupted thread does not delay the others.
_PARTS_PER_THREAD = 4


def _compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator: compiled at the first call, kept on disk, other threads run meanwhile."""

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(cache=True, error_model="numpy", nogil=True, **options)(function)
        if hasattr(kernel, "stats"):  # with NUMBA_DISABLE_JIT it is the function itself
            remove_damaged(Path(kernel.stats.cache_path))
        return kernel

    return decorate


#: Division by zero gives numpy's result; no fastmath, so that results do not depend on the processor.
jit = _compiled()

#: As `jit`, but a product and a sum may be rounded once. Only for polynomials: in a sum of several products the
#: compiler chooses which one is fused, and the last bit would depend on the caller.
fused = _compiled(fastmath={"contract"})


def in_threads(task: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Apply a task to each item, in threads if numba may use several; return the results in the items' order."""
    items = list(items)
    n_threads = min(len(items), numba.get_num_threads())
    if n_threads <= 1:
        return [task(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(task, items))


def in_parts(task: Callable[[slice], Result], n: int, smallest: int = 1) -> list[Result]:
    """Apply a task to slices of n independent rows, as `in_threads`.

    All slices but the last hold a multiple of `least` rows. Without rows the task is applied to one empty slice.
    """
    smallest = max(1, smallest)
    n_threads = numba.get_num_threads()
    n_parts = 1 if n_threads == 1 else _PARTS_PER_THREAD * n_threads
    length = smallest * max(1, -(-n // (smallest * n_parts)))
    return in_threads(task, [slice(first, min(n, first + length)) for first in range(0, max(1, n), length)])
