"""How kernels are compiled: once for what they are called with, and without looking for garbage meanwhile."""

from __future__ import annotations

import gc

import numba
import numpy as np
import pytest

from reident.kernels._jit import _by_kind

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled without JIT")


def test_a_kernel_is_compiled_once_for_constants_and_for_all_lengths_of_whole_numbers():
    @_by_kind
    @numba.njit
    def add(out, at, value):
        out[at] += value

    @numba.njit
    def add_everywhere(out, places):
        add(out, 0, 1)
        for i in range(places.shape[0]):
            add(out, i, places[i])
            add(out, places[i], i)

    out = np.zeros(3, np.int64)
    add_everywhere(out, np.array([2, 1], np.int32))
    assert out.tolist() == [3, 2, 0]
    assert len(add.signatures) == 1


def test_garbage_is_looked_for_again_behind_a_compilation_that_ended_and_one_that_failed():
    class Spy(numba.core.event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            pass

    @numba.njit
    def no_sum(values):
        return values + "text"

    @numba.njit
    def double(values):
        return values * 2

    seen = []
    spy = Spy()
    numba.core.event.register("numba:compile", spy)
    try:
        with pytest.raises(numba.TypingError):
            no_sum(np.zeros(2))
        assert gc.isenabled()
        double(np.zeros(2))
        assert gc.isenabled()
        gc.disable()
        double(np.zeros((2, 2)))
        assert not gc.isenabled()
    finally:
        gc.enable()
        numba.core.event.unregister("numba:compile", spy)
    assert seen
    assert not any(seen)
