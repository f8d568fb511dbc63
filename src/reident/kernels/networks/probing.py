"""The literal probing schemes: noise, degree programme, construction, again."""

from __future__ import annotations

import numpy as np

from reident.kernels._loops import ranked, sum_of
from reident.kernels._numba import jit
from reident.kernels.networks.degrees import anonymise_sequence, is_realisable, may_extend
from reident.kernels.networks.realise import realise


@jit
def add_noise(noisy, scheme, max_delta, rng):
    """Raise one node's degree as probing scheme 1, 2, 3 or 4 does. Modifies `noisy`."""
    n = noisy.shape[0]
    highest = n - 1
    if scheme == 3:
        at = np.argmin(noisy)
        noisy[at] = min(highest, noisy[at] + 1)
        return
    if scheme == 4:
        order = ranked(-noisy)
        at = order[rng.integers(n // 2, n)]
        noisy[at] = min(highest, noisy[at] + 1)
        return
    at = rng.integers(0, n)
    delta = rng.integers(1, max_delta + 1)
    if scheme == 2:
        odd = sum_of(noisy) % 2 == 1
        delta = 1 if odd else 2 * rng.integers(1, max(1, max_delta // 2) + 1)
    noisy[at] = min(highest, noisy[at] + delta)


@jit
def probe_construct(indptr, indices, base, noisy, k, both, scheme, max_delta, fresh, turns, rng):
    """Run up to `turns` probes: Algorithm 9.4 (rows and `base` their degrees), 9.7 or 9.8 (empty rows, zero `base`).

    The first probe of all (`fresh`) is without noise. Modifies `noisy`. Returns whether a graph was found, the probes
    used, and the edges (u, v) to add.
    """
    n = noisy.shape[0]
    none = np.empty(0, np.int32)
    target = np.empty(n, np.int64)
    for turn in range(turns):
        if not fresh or turn > 0:
            add_noise(noisy, scheme, max_delta, rng)
        order = ranked(-noisy)
        sequence, _ = anonymise_sequence(noisy[order], k, both, np.bool_(False), n - 1)
        if sum_of(sequence) % 2 == 1:
            continue
        for i in range(n):
            target[order[i]] = sequence[i]
        if indices.shape[0] > 0:
            if not may_extend(indptr, indices, target - base):
                continue
        elif not is_realisable(sequence):
            continue
        u, v, missing = realise(indptr, indices, target - base, np.bool_(False), np.bool_(True), rng)
        if sum_of(missing) == 0:
            return True, turn + 1, u, v
    return False, turns, none, none
