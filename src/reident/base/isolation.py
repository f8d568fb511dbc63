"""Environment of child processes that do not import from the folder in which they start."""

from __future__ import annotations

import os

#: Set for Python: the folder in which a process starts, and that of its script, are not searched for modules.
SAFE_PATH = {"PYTHONSAFEPATH": "1"}


def isolated_environment() -> dict[str, str]:
    """Return the environment of a child process that does not import from the folder in which it starts."""
    listed = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    path = os.pathsep.join(os.path.abspath(entry) for entry in listed)  # noqa: PTH100 (resolves no link)
    return {**os.environ, **SAFE_PATH, "PYTHONPATH": path}
