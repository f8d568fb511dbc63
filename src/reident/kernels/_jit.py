"""The ways in which kernels are compiled, and how independent pieces of one task share the processors."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba._dynfunc import make_function
from numba.core import event, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from reident.base.lock import hold
from reident.kernels._lower import KernelLower
from reident.kernels._thrift import instead, thrift

Item = TypeVar("Item")
Result = TypeVar("Result")

# Parts of rows a thread, so that one that is interrupted does not keep the others waiting.
_SHARES = 4


def _compiled(whole: type[Compiler], **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Give a decorator that compiles a kernel for Python, and apart from that as a piece of the kernels that call it.

    A function that calls others is optimised and translated with all of them in it. Numba by itself does that for each
    of them, too, which takes a third of the time that compiling takes.
    """

    def decorated(function: Callable[..., Any]) -> Any:
        def compiled(**more: Any) -> Any:
            # These are the settings of numba's own functions, which are then compiled once for all that call them.
            ways: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, **options, **more}
            return numba.njit(**ways)(function)

        kernel = compiled(cache=True, pipeline_class=whole)
        if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            piece = _by_kind(compiled(pipeline_class=_Pieces))
            kernel.get_call_template, kernel.get_overload = piece.get_call_template, piece.get_overload
            kernel.compile = _once(kernel)
        return kernel

    return decorated


def _once(kernel: Any) -> Callable[[Any], Any]:
    """Compile a kernel in one process at a time: those that waited find it on the disk."""
    compile_it = kernel.compile

    def once(signature: Any) -> Any:
        path = Path(kernel.stats.cache_path, f"{kernel.__module__}.{kernel.__qualname__}.lock")
        with ExitStack() as held:
            with suppress(OSError):  # a disk that is full or must not be written: nothing is kept there either
                path.parent.mkdir(parents=True, exist_ok=True)
                held.enter_context(hold(held.enter_context(path.open("ab"))))
            return compile_it(signature)

    return once


class _Piece(JITCodeLibrary):
    """A kernel as it was lowered. What calls it is optimised and translated with it in it, and it alone never."""

    def finalize(self) -> None:
        """Take in the pieces that this one calls, and leave all as they are."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


class _Lowering(NativeLowering):
    @property
    def lowering_class(self) -> type[Lower]:
        """The class that lowers."""
        return KernelLower


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerWhole(_Lowering):
    _name: Any = "lower_whole"

    def run_pass(self, state: Any) -> bool:
        """Lower with a way in from Python, which lets other threads work; C calls no kernel."""
        state.flags.no_cpython_wrapper, state.flags.release_gil, state.flags.no_cfunc_wrapper = False, True, True
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPiece(_Lowering):
    _name: Any = "lower_piece"

    def run_pass(self, state: Any) -> bool:
        """Lower into a library that is a piece."""
        state.library = _Piece(state.targetctx.codegen(), state.func_id.func_qualname)
        inner, state.flags.no_compile, state.flags.no_cfunc_wrapper = state.flags.no_compile, True, True
        super().run_pass(state)
        if not inner:
            lowered = state["cr"]
            # Numba knows a kernel by the function that Python would call; this one does nothing.
            key = make_function(lowered.fndesc.lookup_module(), lowered.fndesc.qualname, "", 0, lowered.env, ())
            state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
            state["cr"] = lowered._replace(cfunc=key)
        return True


def _steps(state: Any, lowering: type[NativeLowering]) -> list[Any]:
    """Give numba's own steps of compiling, with another way to lower."""
    passes = DefaultPassBuilder.define_nopython_pipeline(state)
    passes.passes = [(lowering if one is NativeLowering else one, told) for one, told in passes.passes]
    passes.finalize()
    return [passes]


class _Pieces(Compiler):
    """Numba's way to compile, up to the kernel as it was lowered."""

    def define_pipelines(self) -> list[Any]:
        """Give the steps."""
        return _steps(self.state, _LowerPiece)


class _Whole(Compiler):
    """Numba's way to compile; what it compiles on the way, of its own functions, is pieces, too."""

    _unrolled = False

    def compile_extra(self, func: Any) -> Any:
        """Compile a function, while numba holds one lock for all threads."""
        with thrift(self._unrolled), instead(Compiler, define_pipelines=_Pieces.define_pipelines):
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        """Give the steps."""
        return _steps(self.state, _LowerWhole)


class _Unrolled(_Whole):
    """The same, with rounds of loops written out."""

    _unrolled = True


def _by_kind(kernel: Any) -> Any:
    """Compile a kernel that kernels call for the kinds of its arguments only: another tenth of the time.

    By itself numba compiles one more for every constant in a call, and for 32 bits where others give 64.
    """

    def kind(one: Any) -> Any:
        one = types.unliteral(one)
        return types.int64 if isinstance(one, types.Integer) and one.signed else one  # type: ignore[attr-defined]

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
jit = _compiled(_Whole)

#: As `jit`, with several rounds of a loop written out where LLVM thinks that it pays. A kernel whose inner loops do a
#: few sums on numbers that lie side by side may take a third of the time then; others gain nothing, and to compile them
#: takes a tenth more.
unrolled_jit = _compiled(_Unrolled)

#: As `jit`, where a product and a sum may be rounded once instead of twice, which halves the time of a long polynomial.
#: The last bit may then differ between processors, and no more than that. Only for polynomials: in a sum of several
#: products compilers choose which is rounded, by what stands around the call, and a run would hang on its caller.
fused_jit = _compiled(_Whole, fastmath={"contract"})


def in_threads(task: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Do a task for each item, at once where kernels may use several threads; the results in the items' order.

    For tasks that spend their time in kernels. These run on one thread: for several they compile far more slowly.
    """
    items = list(items)
    n_threads = min(len(items), numba.get_num_threads())
    if n_threads <= 1:
        return [task(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(task, items))


def in_parts(task: Callable[[slice], Result], n: int, least: int = 1) -> list[Result]:
    """Do a task for parts of n independent rows, as `in_threads` does; all but the last hold multiples of `least` rows.

    Without rows the task is done for none.
    """
    least = max(1, least)
    shares = 1 if (n_threads := numba.get_num_threads()) == 1 else _SHARES * n_threads
    length = least * max(1, -(-n // (least * shares)))
    return in_threads(task, [slice(first, min(n, first + length)) for first in range(0, max(1, n), length)])
