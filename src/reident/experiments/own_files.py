"""Read the reader's own files, pinned to their content."""

from __future__ import annotations

import hashlib
from pathlib import Path

from reident.base import ParameterError


def pinned(path: str) -> str:
    """Return a file's name with a digest of its content, so that stored trials of an older content are not used."""
    return f"{path}#{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]}" if path else ""


def unpinned(pin: str, name: str) -> str:
    """Return the path in a pin, or raise `ParameterError` with the parameter's name if the content has changed."""
    path, sign, _ = pin.partition("#")
    if sign and pinned(path) != pin:
        raise ParameterError(f"`{name}` has changed since the run began: {path}. Run the notebook again.")
    return path
