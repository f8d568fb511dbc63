"""Generated inputs for every kernel, each outcome compared with a naive twin's.

A case names the kernels that it calls, draws a small input, and has two routes to one outcome: the kernel's, and plain
Python by the definition. Where many outcomes are right (random edits, heuristics) the outcome compared is what must
hold of any of them. Inputs have at most a handful of records or nodes, so that the run without JIT is feasible, too.

    python -m fuzz [--inputs N] [--kernel NAME ...] [--seed S] [--index I]     (in the folder `tests`)

An input follows from the seed, the case's name and its index alone: a failure is replayed by `--index`.
"""

from __future__ import annotations

import importlib
import inspect
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import reident

#: What each kernel takes, as compiled for the first inputs of its case; written by `python -m fuzz --page`.
PAGE = Path(__file__).resolve().parents[2] / "docs" / "kernels.md"
#: Inputs of each case from which the page is made.
FIRST = 3


@dataclass(frozen=True)
class Case:
    """Kernels, an input for them, and two routes to the outcome."""

    kernels: tuple[str, ...]
    draw: Callable[[np.random.Generator], tuple[Any, ...]]
    comp: Callable[..., Any]
    ref: Callable[..., Any]

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
    """Tell whether two outcomes are equal, floats up to rounding."""
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
    """Return every case by its name."""
    from fuzz import cells, cliques, graphs, links, networks, places, reference_map, reference_sets, rounded, tables

    found: dict[str, Case] = {}
    for module in (cells, cliques, graphs, links, networks, places, reference_map, reference_sets, rounded, tables):
        for case in module.CASES:
            assert case.name not in found, case.name
            found[case.name] = case
    return found


def kernel(name: str) -> Any:
    """Return a kernel, ``module.function``, as it is compiled."""
    module, _, function = name.partition(".")
    (path,) = (Path(reident.__file__).parent / "kernels").glob(f"*/{module}.py")
    return getattr(importlib.import_module(f"reident.kernels.{path.parent.name}.{module}"), function)


def arguments(name: str) -> dict[str, list[str]]:
    """Return the types with which a kernel was compiled so far, by argument: ``float64[:, :]`` for two dimensions."""
    names = list(inspect.signature(kernel(name).py_func).parameters)
    return {one: sorted({_told(found[place]) for found in kernel(name).signatures}) for place, one in enumerate(names)}


def _told(kind: Any) -> str:
    if hasattr(kind, "ndim"):
        return f"{kind.dtype}[{', '.join(':' * kind.ndim)}]"
    if hasattr(kind, "types"):
        return f"({', '.join(map(_told, kind.types))})"
    text = re.sub(r"^Literal\[(\w+)\]\(.*\)$", r"\1", str(kind))
    return {"int": "int64", "NumPyRandomGeneratorType": "Generator"}.get(text, text)


def page() -> str:
    """Run the first inputs of every case, and return the page of all kernels with what they take."""
    lines = [
        "# Kernels",
        "",
        "What each kernel takes, as it is compiled for the inputs of its test: the type, a colon for each dimension of",
        "an array. Angles are in radians, lengths in kilometres, points on the sphere unit vectors of three columns,",
        "categories codes from 0. A test compares this page with what is compiled.",
    ]
    for case in cases().values():
        for index in range(FIRST):
            case.failure(0, index)
        for name in case.kernels:
            told = ", ".join(f"{one}: {' | '.join(kinds)}" for one, kinds in arguments(name).items())
            summary = (inspect.getdoc(kernel(name).py_func) or "").split("\n\n")[0].replace("\n", " ")
            lines += ["", f"`{name}({told})`", "", f": {summary}"]
    return "\n".join([*lines, ""])
