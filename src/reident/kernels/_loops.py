"""Loops that kernels share: what numba writes for an array put into a part of another takes seconds to compile."""

from __future__ import annotations

from reident.kernels._jit import jit


@jit
def put(out, values):
    """Write the values into a vector of the same length."""
    for i in range(values.shape[0]):
        out[i] = values[i]


@jit
def fill(out, value):
    """Write one value into every place of a vector."""
    for i in range(out.shape[0]):
        out[i] = value
