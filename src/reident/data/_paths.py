"""Where the files that travel with the package are, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from reident.base import DataError

_PACKAGE = Path(__file__).resolve().parent.parent


def _folder(installed: str, checkout: str) -> Path:
    for folder in (_PACKAGE / installed, _PACKAGE.parent.parent / checkout):
        if folder.is_dir():
            return folder
    raise DataError(f"the folder `{checkout}` came neither with the package nor with a checkout around it")


def data_folder() -> Path:
    """Return the folder of the small committed data files."""
    return _folder("_data", "data")


def notebooks_folder() -> Path:
    """Return the folder of the notebooks."""
    return _folder("_notebooks", "notebooks")
