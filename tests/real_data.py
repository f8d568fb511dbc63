"""Real data sets may not be shipped: their tests run where they lie in the folder that REIDENT_DATA names, as in CI."""

import os
from pathlib import Path

import pytest

_FOLDER = os.environ.get("REIDENT_DATA")


def needs(path):
    """Mark a test that reads a real data set: absent, it cannot run; there but broken, it fails."""
    there = _FOLDER is not None and Path(_FOLDER, path).exists()
    return pytest.mark.skipif(not there, reason=f"{path} may not be shipped; put it into the folder REIDENT_DATA names")
