"""What trials return: the same measures every time, each of one kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from reident._old_sweep._parts import BOOKKEEPING
from reident._old_sweep._workers import Outcome
from reident.base import TrialError

__all__ = ["Kinds"]


class Kinds:
    """The measures every trial must return: names, and number, text or boolean for each."""

    def __init__(self, parameters: set[str], rows: list[dict[str, Any]]) -> None:
        self._parameters = parameters
        self._names: set[str] | None = None
        self._kinds: dict[str, str] = {}
        for row in rows:
            self._learn(row)

    def _learn(self, row: dict[str, Any]) -> None:
        self._names = set(row) if self._names is None else self._names
        for name, value in row.items():
            if value is not None:
                self._kinds.setdefault(name, _kind(value))

    def check(self, outcome: Outcome) -> dict[str, Any]:
        """Return the trial's measures as plain scalars, or raise what is wrong with them."""
        task = outcome.task
        what = f"the trial {json.dumps(task.params)}, repetition {task.repetition},"
        if outcome.error is not None:
            error = TrialError(f"{what} failed: {type(outcome.error).__name__}: {outcome.error}")
            if outcome.traceback:
                error.add_note(outcome.traceback)
            raise error from outcome.error
        if not isinstance(outcome.measures, Mapping) or not outcome.measures:
            raise TrialError(f"{what} must return a mapping of measures, got {outcome.measures!r}")
        row = {name: self._scalar(name, value, what) for name, value in outcome.measures.items()}
        if self._names is not None and set(row) != self._names:
            raise TrialError(
                f"{what} must return the measures that the others return, got {sorted(row)} "
                f"where they have {sorted(self._names)}"
            )
        for name, value in row.items():
            if value is not None and self._kinds.get(name, _kind(value)) != _kind(value):
                raise TrialError(
                    f"{what} must return a {self._kinds[name]} for {name!r} as the others do, got {value!r}"
                )
        self._learn(row)
        return row

    def _scalar(self, name: Any, value: Any, what: str) -> Any:
        if not isinstance(name, str) or name in BOOKKEEPING or name in self._parameters:
            raise TrialError(f"{what} must name its measures by text other than a parameter's, got {name!r}")
        plain = value.item() if isinstance(value, np.generic) else value
        if plain is None or isinstance(plain, bool | str | float):
            return plain
        if isinstance(plain, int) and -(2**63) <= plain < 2**63:
            return int(plain)
        raise TrialError(f"{what} must return scalars, got {value!r} for {name!r}")


def _kind(value: Any) -> str:
    return "boolean" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
