"""What numba works out again and again while it compiles, worked out once: a quarter of the time that compiling takes.

The shortcuts give what numba itself gives, and hold only while a kernel of ours is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.transforms import canonicalize_cfg
from numba.core.types.functions import BaseFunction

_equal, _resolve, _process = TargetConfig.__eq__, BaseFunction.get_call_type, PostProcessor.run
_resolved: dict[Any, tuple[Any, Any]] = {}


@contextmanager
def instead(of: Any, **others: Any) -> Iterator[None]:
    """Let a class have other methods for a while. Numba holds one lock for all threads while it compiles."""
    usual = {name: getattr(of, name) for name in others}
    try:
        for name, other in others.items():
            setattr(of, name, other)
        yield
    finally:
        for name, own in usual.items():
            setattr(of, name, own)


@contextmanager
def thrift() -> Iterator[None]:
    """Take the shortcuts."""
    with (
        instead(TargetConfig, __eq__=_same_options, __hash__=_hash_of_options),
        instead(BaseFunction, get_call_type=_resolve_once),
        instead(PostProcessor, run=_process_on_demand),
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
