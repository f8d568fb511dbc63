"""Numba kernels: arrays in, arrays out, no validation.

Importing this package settles where numba keeps compiled code, before any decorator runs: numba notices that a
kernel's own file changed, but not that a kernel it calls in another file did, so the folder carries the hash of
all kernel sources. And it numbers what it compiles from 1 in each process: code that two processes compiled may then
carry one name for two functions, of which a third process, that loads both, runs the wrong one without a word (numba
issue 10486; seen as sorted numbers that were not). Here the numbers are drawn.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

import numba
import platformdirs
from numba.core.bytecode import FunctionIdentity


def _cache_folder() -> Path:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.relative_to(Path(__file__).parent).as_posix().encode())
        digest.update(source.read_bytes())
    return Path(platformdirs.user_cache_dir("reident")) / "numba" / digest.hexdigest()[:16]


# A folder that the user chose stays the user's.
if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(_cache_folder())  # type: ignore[attr-defined]

FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(62), None)  # type: ignore[assignment]
