"""Randomness: one way to accept a generator, one way to derive a trial's stream."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from reident.base.errors import ParameterError
from reident.base.types import RNGLike


def check_rng(rng: RNGLike, *, name: str = "rng") -> np.random.Generator:
    """Return a generator for `rng`: a Generator as it is, a seed made into one, None for fresh entropy."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or isinstance(rng, np.random.SeedSequence):
        return np.random.default_rng(rng)
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer):
        raise ParameterError(f"`{name}` must be a numpy Generator, a whole number or None, got {rng!r}")
    if rng < 0:
        raise ParameterError(f"`{name}` must be at least 0 when it is a number, got {rng}: a seed has no sign")
    return np.random.default_rng(int(rng))


def stable_hash(value: Any) -> int:
    """Hash plain JSON values to 128 bits, alike in every process and on every machine."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def trial_seed(seed: int, stem: str, params: Mapping[str, Any], repetition: int | None) -> np.random.SeedSequence:
    """Derive the stream of one trial from what the trial is, not from when or where it runs.

    A further setting or repetition changes no other trial's stream. Give the parameters that should vary the
    stream: leaving one out makes trials that differ only there share their random numbers.
    """
    return np.random.SeedSequence([seed, stable_hash([stem, dict(params), repetition])])


class _System:
    """What numpy asks of a source of bits, answered by the operating system's cryptographic generator."""

    _BYTES = 1 << 16

    def __init__(self) -> None:
        import ctypes
        import threading

        self._words: Iterator[int] = iter(())
        self._process = os.getpid()
        self.lock = threading.Lock()
        pointer, word, half, real = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_double
        calls = (
            ctypes.CFUNCTYPE(word, pointer)(lambda _: self._next()),
            ctypes.CFUNCTYPE(half, pointer)(lambda _: self._next() & 0xFFFFFFFF),
            ctypes.CFUNCTYPE(real, pointer)(lambda _: (self._next() >> 11) * 2.0**-53),
            ctypes.CFUNCTYPE(word, pointer)(lambda _: self._next()),
        )
        # The C struct bitgen_t: a state and four functions.
        fields = [("state", pointer), *((f"call_{i}", type(call)) for i, call in enumerate(calls))]
        self._struct = type("bitgen_t", (ctypes.Structure,), {"_fields_": fields})(None, *calls)
        # Where kernels look for the same functions; each takes the interpreter's lock when it is called.
        self.ctypes = SimpleNamespace(
            state_address=0, state=ctypes.c_size_t(0), next_uint64=calls[0], next_uint32=calls[1], next_double=calls[2]
        )
        self._name = ctypes.c_char_p(b"BitGenerator")
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (pointer, ctypes.c_char_p, pointer)
        self.capsule = make(ctypes.addressof(self._struct), self._name, None)

    def _next(self) -> int:
        if self._process == os.getpid():  # a forked process must not repeat its parent's noise
            for value in self._words:
                return value
        import array

        self._process = os.getpid()
        self._words = iter(array.array("Q", os.urandom(self._BYTES)))
        return next(self._words)


def system_rng() -> np.random.Generator:
    """Return a generator whose every draw comes from the operating system's cryptographic generator.

    For releases: nobody who sees some of the noise can work out the rest. It cannot be repeated, and costs about a
    microsecond a draw.
    """
    return np.random.Generator(_System())  # type: ignore[arg-type]
