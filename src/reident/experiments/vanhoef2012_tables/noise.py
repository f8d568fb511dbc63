"""Noise of simulations: seeded on purpose, so that a run repeats."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from reident.base import PrivacyWarning


@contextmanager
def seeded_noise() -> Iterator[None]:
    """Silence the warning about repeatable noise, which matters for releases, not for simulations."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*noise that can be repeated", category=PrivacyWarning)
        yield
