"""Entry points of installed packages: each is checked; a broken one is reported and left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

__all__ = ["load_offered"]


def load_offered(group: str, take: Callable[[Any], None]) -> None:
    """Yield the objects that packages offer under a group of entry points, in the order of their names.

    Parameters
    ----------
    group : str
        The group of entry points.
    take : callable
        Takes what one entry point names, whole or, with an error, not at all. Whatever is raised there or by the
        package's import becomes one warning that names the package, and the next one follows.
    """
    for point in sorted(entry_points(group=group), key=lambda entry: entry.name):
        try:
            take(point.load())
        except Exception as error:
            package = point.dist.name if point.dist else point.value
            reason = " ".join(str(error).split()) or "no reason given"
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            warnings.warn(
                f"the package {package} is left out, whose entry point {point.name!r} of {group!r} is broken: "
                f"{kind}{reason}",
                stacklevel=2,
            )
