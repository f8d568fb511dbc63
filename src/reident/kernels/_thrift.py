"""What numba works out again and again while it compiles, worked out once: a quarter of the time that compiling takes.

The shortcuts give what numba itself gives, but for rounds of loops, which are written out only where a kernel asks for
it; the numbers are the same. They hold only while a kernel of ours is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite.binding import create_pass_builder, create_pipeline_tuning_options
from numba.core import config, event
from numba.core.codegen import CPUCodegen, CPUCodeLibrary
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.transforms import canonicalize_cfg
from numba.core.types.functions import BaseFunction

_equal, _resolve, _process = TargetConfig.__eq__, BaseFunction.get_call_type, PostProcessor.run
_build = CPUCodegen._pass_builder
_start, _end = event.start_event, event.end_event
_resolved: dict[Any, tuple[Any, Any]] = {}


@contextmanager
def instead(of: Any, **others: Any) -> Iterator[None]:
    """Let a class or a module have other functions for a while. Numba compiles in one thread at a time."""
    usual = {name: getattr(of, name) for name in others}
    try:
        for name, other in others.items():
            setattr(of, name, other)
        yield
    finally:
        for name, own in usual.items():
            setattr(of, name, own)


@contextmanager
def thrift(unrolled: bool) -> Iterator[None]:
    """Take the shortcuts; loops are written out where that pays, as numba does it, or nowhere."""
    with (
        instead(TargetConfig, __eq__=_same_options, __hash__=_hash_of_options),
        instead(BaseFunction, get_call_type=_resolve_once),
        instead(PostProcessor, run=_process_on_demand),
        instead(CPUCodeLibrary, _optimize_functions=_optimize_bodies),
        instead(CPUCodegen, _pass_builder=_build if unrolled else _without_unrolling),
        instead(event, start_event=_start_if_heard, end_event=_end_if_heard),
    ):
        yield


@cache
def _defaults(options: Any) -> tuple[dict[str, Any], int]:
    """Return what options are where nobody sets them, and the hash that numba gives all of a class."""
    given = {name: option.default for name, option in options.options.items()}
    return given, hash(tuple(sorted(given)))


def _hash_of_options(self: Any) -> int:
    """Options are part of the key of every call that is resolved; numba reads the thirty of them each time."""
    kind: Any = type(self)
    return _defaults(kind)[1]


def _same_options(self: Any, other: Any) -> Any:
    if self is other:
        return True
    if not isinstance(other, TargetConfig):
        return _equal(self, other)
    kinds: Any = type(self), type(other)
    first, second = ({**_defaults(kind)[0], **one._values} for kind, one in zip(kinds, (self, other), strict=True))
    return first == second


def _resolve_once(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Resolve the call of a numba function: numba tries one implementation after the other, at each call anew."""
    key = self, context, tuple(args), tuple(kws.items()), ConfigStack.top_or_none()
    if (known := _resolved.get(key)) is None:
        signature = _resolve(self, context, args, kws)
        if signature is None:
            return None
        known = _resolved[key] = signature, self._impl_keys[signature.args]
    signature, implementation = known
    self._impl_keys[signature.args] = implementation
    return signature.replace()  # a caller may change its own


def _process_on_demand(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Leave where variables live until somebody asks: numba finds it after each step, and needs it at the end."""
    code = self.func_ir
    if emit_dels or code.is_generator:
        _process(self, emit_dels, extend_lifetimes)
        return
    code.blocks = canonicalize_cfg(code.blocks)
    code.variable_lifetime = VariableLifetime(code.blocks)
    code.generator_info = None


def _optimize_bodies(self: Any, module: Any) -> None:
    """Run the passes over functions where there is one: numba builds them for each that is only called, too."""
    module.data_layout = self._codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            passes, builder = self._codegen._function_pass_manager()
            passes.run(function, builder)


def _without_unrolling(self: Any, opt: int | None = None, **ways: Any) -> Any:
    """Tell how code is optimised: as numba does, and loops are not written out."""
    options: Any = config
    told = create_pipeline_tuning_options(options.OPT if opt is None else opt)
    told.loop_vectorization = ways.get("loop_vectorize", options.LOOP_VECTORIZE)
    told.slp_vectorization = ways.get("slp_vectorize", options.SLP_VECTORIZE)
    told.loop_unrolling = False
    return create_pass_builder(self._tm, told)


def _start_if_heard(kind: Any, data: Any = None) -> None:
    """Tell of a start where somebody listens: numba tells of five hundred calls of LLVM for a kernel of three lines."""
    if event._registered.get(kind):
        _start(kind, data)


def _end_if_heard(kind: Any, data: Any = None, exc_details: Any = None) -> None:
    if event._registered.get(kind):
        _end(kind, data, exc_details)
