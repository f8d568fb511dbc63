"""Generated inputs for every kernel, each outcome compared with a naive twin's.

A case names the kernels that it calls, draws a small input, and has two routes to one outcome: the kernel's, and plain
Python by the definition. Where many outcomes are right (random edits, heuristics) the outcome compared is what must
hold of any of them. Inputs have at most a handful of records or nodes, so that the run without JIT is feasible, too.

An input follows from the seed, the case's name and its index alone: `cases()[name].failure(seed, index)` replays it.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """Kernels, an input for them, and two routes to the outcome."""

    kernels: tuple[str, ...]
    draw: Callable[[np.random.Generator], tuple[Any, ...]]
    comp: Callable[..., Any]
    ref: Callable[..., Any] = lambda *_: True  # the outcome tells itself, part by part, whether it is right

    @property
    def name(self) -> str:
        return self.kernels[0]

    def input(self, seed: int, index: int) -> tuple[Any, ...]:
        return self.draw(np.random.default_rng([seed, zlib.crc32(self.name.encode()), index]))

    def failure(self, seed: int, index: int) -> str:
        """Return what is wrong with one input, "" if nothing is."""
        given = self.input(seed, index)
        ref = self.ref(*given)  # before the kernel, which may change its arrays
        comp = self.comp(*given)
        if agree(comp, ref):
            return ""
        given = self.input(seed, index)
        return f"seed {seed}, index {index}\n  input {given!r}\n  kernel {comp!r}\n  naive  {ref!r}"


def agree(comp: Any, ref: Any) -> bool:
    if ref is True:
        return bool(np.all(comp))
    if isinstance(ref, dict | set | frozenset | str | bool):
        return bool(comp == ref)
    if isinstance(ref, Sequence) and any(isinstance(part, np.ndarray | Sequence) for part in ref):
        return len(comp) == len(ref) and all(map(agree, comp, ref))
    left, right = np.asarray(comp), np.asarray(ref)
    if left.shape != right.shape:
        return False
    if left.dtype.kind == "f" or right.dtype.kind == "f":
        return bool(np.allclose(left, right, rtol=1e-8, atol=1e-9, equal_nan=True))
    return bool((left == right).all())


def cases() -> dict[str, Case]:
    from fuzz import cells, cliques, graphs, links, networks, places, reference_map, reference_sets, rounded, tables

    found: dict[str, Case] = {}
    for module in (cells, cliques, graphs, links, networks, places, reference_map, reference_sets, rounded, tables):
        for case in module.CASES:
            assert case.name not in found, case.name
            found[case.name] = case
    return found
