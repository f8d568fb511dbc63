"""The cache of compiled kernels: a folder that follows from their sources, and the removal of damaged entries."""

from __future__ import annotations

import hashlib
import os
import pickle
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """Return the folder that `NUMBA_CACHE_DIR` is set to where kernels are developed.

    Numba compiles a kernel again when its own file has changed, but not when a kernel that it calls has. So the
    folder's name is a digest of all kernels.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.relative_to(Path(__file__).parent).as_posix().encode())
        digest.update(source.read_bytes())
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "reident" / "numba" / digest.hexdigest()[:16]


@lru_cache
def remove_damaged(folder: Path) -> None:
    """Delete the entries of a cache folder that end early or are no pickle, so that their kernels are compiled again.

    Numba raises EOFError or UnpicklingError at each call of such a kernel. It happens after a power failure, on a full
    disk, or by an incomplete copy. Changed numbers inside an entry are not detected.
    """
    for entry in folder.glob("*.nb[ci]"):
        try:
            content = entry.read_bytes()
            file = BytesIO(content)
            for _ in range(1 if entry.suffix == ".nbc" else 2):  # an index is numba's version and a table
                _Structure(file).load()
            complete = file.tell() == len(content)
        except OSError:
            continue  # another process has removed it
        except Exception:  # what unpickling raises depends on the damage
            complete = False
        if not complete:
            entry.unlink(missing_ok=True)


class _Structure(pickle.Unpickler):
    """Read a pickle from its first to its last byte without making its objects."""

    def find_class(self, _module: str, _name: str) -> Any:
        return _Placeholder


class _Placeholder:
    def __new__(cls, *_arguments: Any, **_keywords: Any) -> _Placeholder:
        return object.__new__(cls)

    def _accept(self, *_arguments: Any, **_keywords: Any) -> _Placeholder:
        return self

    __call__ = __setstate__ = __setitem__ = append = extend = add = _accept


if __name__ == "__main__":
    print(cache_folder())
