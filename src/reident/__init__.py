"""reident: a workbench for disclosure risk.

It protects microdata, attacks the protected release the way an intruder would, measures what was disclosed and what
the release is still good for, and draws both on one risk-utility map. The names below load their module when they are
first used, so that importing the package costs next to nothing; all other methods are public names of their
subpackage, as `reident.tables.t_closeness`.
"""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import lazy_loader

__version__ = "0.3.0"

_load, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
_subpackages = [name for name in _names if Path(__file__).with_name(name).is_dir()]
__all__ = [name for name in _names if name not in _subpackages]


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except AttributeError:
        homes = [] if name.startswith("_") else [s for s in _subpackages if name in dir(import_module(f"reident.{s}"))]
        hint = f" does not exist: it is `reident.{homes[0]}.{name}`" if homes else " does not exist"
        raise AttributeError(f"`reident.{name}`{hint}", name=name, obj=import_module("reident")) from None


class _Results(ModuleType):
    """The module from which notebooks of version 0.2 import `declare`; `reident.sweep` is a function now."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(import_module("reident.experiments.results"), name)


for _former in (f"{__name__}.sweep", f"{__name__}.sweep.result"):
    sys.modules.setdefault(_former, _Results(_former))
