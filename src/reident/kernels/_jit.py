"""The ways in which kernels are compiled, and how independent pieces of one task share the processors."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numba
from numba.core import event, types

Item = TypeVar("Item")
Result = TypeVar("Result")


def _compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Give a decorator; it leaves out the ways in that nobody takes, a seventh of the time that compiling takes.

    C calls no kernel, and only kernels call one whose name begins with an underscore.
    """

    def decorated(function: Callable[..., Any]) -> Any:
        inner = function.__name__.startswith("_")
        ways: dict[str, Any] = {"no_cfunc_wrapper": True, "no_cpython_wrapper": inner, **options}
        return _by_kind(numba.njit(cache=True, error_model="numpy", **ways)(function))

    return decorated


def _by_kind(kernel: Any) -> Any:
    """Compile a kernel that kernels call for the kinds of its arguments only: another tenth of the time.

    By itself numba compiles one more for every constant in a call, and for 32 bits where others give 64.
    """

    def kind(one: Any) -> Any:
        one = types.unliteral(one)
        return types.int64 if isinstance(one, types.Integer) and one.signed else one  # type: ignore[attr-defined]

    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        template = kernel.get_call_template
        kernel.get_call_template = lambda args, kws: template(
            tuple(map(kind, args)), {name: kind(one) for name, one in kws.items()}
        )
    return kernel


class _Uncollected(event.Listener):
    """Keep Python from looking for garbage while numba compiles: it finds none, which takes a seventh of the time."""

    def __init__(self) -> None:
        self._depth, self._was_on = 0, False

    def on_start(self, _event: Any) -> None:
        """Switch the search off; numba holds one lock for all threads, so that one count is enough."""
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, _event: Any) -> None:
        """Switch it on again behind the outermost kernel, if it was."""
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


event.register("numba:compile", _Uncollected())

#: One thread. Division by zero gives what numpy gives; no fastmath, so that results do not depend on the machine.
jit = _compiled(nogil=True)

#: Several threads over independent rows only: the result is the same for any number of threads.
parallel_jit = _compiled(parallel=True)

#: As `jit`, where a product and a sum may be rounded once instead of twice, which halves the time of a long polynomial.
#: The last bit may then differ between processors, and no more than that. Only for polynomials: in a sum of several
#: products compilers choose which is rounded, by what stands around the call, and a run would hang on its caller.
fused_jit = _compiled(nogil=True, fastmath={"contract"})


#: Distances that take less time than waking a second thread; on a busy machine that takes milliseconds.
_FEW = 20_000


@contextmanager
def threads_for(n_distances: int) -> Iterator[None]:
    """Let a parallel kernel run in this thread alone where its work is small."""
    before = numba.get_num_threads()
    numba.set_num_threads(1 if n_distances < _FEW else before)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def in_threads(task: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Do a task for each item, at once where kernels may use several threads; the results in the items' order.

    For tasks that spend their time in kernels, which compile far faster for one thread than for several.
    """
    items = list(items)
    n_threads = min(len(items), numba.get_num_threads())
    if n_threads <= 1:
        return [task(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(task, items))
