"""Mechanisms inside simulations: their noise is seeded on purpose."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from reident.base import PrivacyWarning

__all__ = ["seeded_noise"]


@contextmanager
def seeded_noise() -> Iterator[None]:
    """Silence the warning that repeatable noise guarantees nothing: a simulation releases nothing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*noise that can be repeated", category=PrivacyWarning)
        yield
