"""Randomness: one way to accept a generator, one way to derive a trial's stream."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import secrets
import weakref
from collections.abc import Callable, Mapping
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
    """Derive the stream of one trial from its parameters, not from the time or machine of its run.

    A further setting or repetition changes no other trial's stream. Give the parameters that should vary the
    stream: leaving one out makes trials that differ only there share their random numbers.
    """
    return np.random.SeedSequence([seed, stable_hash([stem, dict(params), repetition])])


def system_rng() -> np.random.Generator:
    """Return a generator for releases: ChaCha20 under a key from the operating system that is not stored.

    Somebody who sees some of the noise cannot compute the rest, which numpy's own generators do not promise. A forked
    process gets a key of its own, or its noise would be that of its parent.
    """
    return np.random.Generator(_system_bits()())


@functools.cache
def _system_bits() -> Callable[[], Any]:
    """Return a constructor of ChaCha20 bit generators under new keys."""
    from randomgen import ChaCha

    class SystemBits(ChaCha):  # type: ignore[misc]
        """ChaCha20 that can be held by a weak reference."""

    alive: weakref.WeakSet[Any] = weakref.WeakSet()

    def make() -> Any:
        alive.add(created := SystemBits(key=secrets.randbits(256), rounds=20))
        return created

    def draw_new_keys() -> None:
        for bits in list(alive):
            bits.state = SystemBits(key=secrets.randbits(256), rounds=20).state

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=draw_new_keys)
    return make
