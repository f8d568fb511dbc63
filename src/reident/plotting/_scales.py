"""Scales of a risk-utility map, chosen by how evenly they spread the releases; values and ticks stay in raw units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axis import Axis
from matplotlib.ticker import MaxNLocator

from reident.base import FloatArray

__all__ = ["Scale", "choose_scale", "evenness"]

#: A share below this is drawn as none: a log has no zero, and 0.1 % is no difference to a reader.
FLOOR = 1e-3

#: A curved scale must spread the releases this much more evenly than the linear one.
_GAIN = 1.25

_NAMES = {"linear": "", "log": " (log scale)", "loss": " (log scale of the loss)", "logit": " (logit scale)"}


@dataclass(frozen=True)
class Scale:
    """Where values stand on an axis.

    Attributes
    ----------
    kind : {"linear", "log", "loss", "logit"}
        Log of the value; log of what it lacks to `ceiling`; both.
    ceiling : float
        What the original has: the end that a utility saturates at.
    zero : float
        Values nearer than this to an end of a curved scale are drawn at it.
    """

    kind: str = "linear"
    ceiling: float = 1.0
    zero: float = FLOOR

    @property
    def name(self) -> str:
        """What the axis says about the scale, "" if it is linear."""
        return _NAMES[self.kind]

    def clip(self, values: Any) -> FloatArray:
        """Return values moved onto the ends that a curved scale has."""
        low = self.zero if self.kind in ("log", "logit") else -np.inf
        high = self.ceiling - self.zero if self.kind in ("loss", "logit") else np.inf
        return np.asarray(np.clip(np.asarray(values, dtype=float), low, high))

    def to(self, values: Any) -> FloatArray:
        """Return positions along the axis."""
        v = np.asarray(values, dtype=float)
        with np.errstate(all="ignore"):
            if self.kind == "log":
                return np.asarray(np.log10(v))
            if self.kind == "loss":
                return np.asarray(-np.log10(self.ceiling - v))
            if self.kind == "logit":
                return np.asarray(np.log10(v / (self.ceiling - v)))
        return v

    def back(self, positions: Any) -> FloatArray:
        """Return the values at positions."""
        p = np.asarray(positions, dtype=float)
        with np.errstate(all="ignore"):
            if self.kind == "log":
                return np.asarray(10.0**p)
            if self.kind == "loss":
                return np.asarray(self.ceiling - 10.0**-p)
            if self.kind == "logit":
                return np.asarray(self.ceiling / (1 + 10.0**-p))
        return p

    def place(self, values: Any) -> FloatArray:
        """Return the positions at which values are drawn."""
        return self.to(self.clip(values))

    def ticks(self, low: float, high: float, room: int) -> list[tuple[float, str]]:
        """Return round values between two positions with their texts, powers of ten first, at most `room` of them."""
        if self.kind == "linear":
            found = MaxNLocator(max(2, room - 1), steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
            return [(float(v), f"{v:.6g}") for v in found if low <= v <= high]
        kept: list[tuple[float, str]] = []
        places: list[float] = []
        for value in self._round_values():
            at = float(self.to(value))
            far = all(abs(at - other) >= (high - low) / room for other in places)
            if low <= at <= high and far:
                kept.append((value, self._text(value)))
                places.append(at)
        return sorted(kept)

    def _round_values(self) -> list[float]:
        tens = [m * 10.0**e for m in (1, 2, 5) for e in range(-6, 7)]
        lowest, highest = self.zero, self.ceiling - self.zero
        if self.kind == "log":
            return [lowest, *(t for t in tens if t > lowest)]
        lacking = [self.ceiling - t for t in tens if t > self.zero]
        if self.kind == "loss":
            return [highest, *lacking]
        small = [t for t in tens if lowest < t < self.ceiling / 2]
        return [lowest, highest, self.ceiling / 2, *(v for t in small for v in (t, self.ceiling - t))]

    def _text(self, value: float) -> str:
        if self.kind in ("log", "logit") and value <= self.zero * 1.0001:
            return f"≤{self.zero:.1g}"
        if self.kind in ("loss", "logit") and value >= self.ceiling - self.zero * 1.0001:
            return f"≥{value:.6g}"
        return f"{value:.6g}"

    def apply(self, axis: Axis, low: float, high: float, room: int) -> None:
        """Give a matplotlib axis this scale, between two positions, with its ticks."""
        axes = axis.axes
        x = axis is axes.xaxis
        if self.kind != "linear":
            (axes.set_xscale if x else axes.set_yscale)("function", functions=(self.to, self.back))
        ends = tuple(self.back([low, high]))
        (axes.set_xlim if x else axes.set_ylim)(*ends)
        found = self.ticks(low, high, room)
        axis.set_ticks([value for value, _ in found], labels=[text for _, text in found])
        axis.set_ticks([], minor=True)


def evenness(positions: Any) -> float:
    """Return how many places values take up, as a share of how many there could be: 1 evenly spread, 0 on a heap."""
    at = np.unique(np.round(np.asarray(positions, dtype=float), 9))
    if len(at) < 3:
        return 1.0
    gaps = np.diff(at) / np.ptp(at)
    return float(np.exp(-(gaps * np.log(gaps)).sum()) / len(gaps))


def choose_scale(values: Any, ceiling: float | None) -> Scale:
    """Return linear, unless another scale spans a factor of ten and spreads the values a quarter more evenly.

    `ceiling` is the largest value there can be, 1 for a share, None where there is none.
    """
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    options = []
    if len(values) and (values >= 0).all() and (values > 0).any():
        options.append(Scale("log", zero=FLOOR if ceiling == 1 else float(values[values > 0].min()) / 2))
    if ceiling is not None and len(values) and (values <= ceiling).all() and (values < ceiling).any():
        options.append(Scale("loss", ceiling, FLOOR * abs(ceiling) or FLOOR))
    if len(options) == 2 and ceiling == 1:
        options.append(Scale("logit"))
    # Of two scales that spread nearly alike the one that is easier to read.
    score = {option.kind: evenness(option.place(values)) * (0.9 if option.kind == "logit" else 1) for option in options}
    wide = [option for option in options if np.ptp(option.place(values)) >= 1]
    best = max(wide, key=lambda option: score[option.kind], default=None)
    return best if best is not None and score[best.kind] >= _GAIN * evenness(values) else Scale()
