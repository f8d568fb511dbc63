"""Mechanism. The privacy budget: what may still be lost, in exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pandas as pd

from reident._check import check_epsilon, check_integer
from reident.errors import ParameterError

__all__ = ["Budget", "Expense"]


@dataclass(frozen=True)
class Expense:
    """One entry of a budget's ledger."""

    epsilon: Fraction
    purpose: str


class Budget:
    """A total privacy loss that a sequence of answers may use up.

    Answers may depend on earlier ones: the losses of epsilon-differentially private answers about the same people
    add up whatever the later questions are (Vanhoef 2012, Theorem 5.3, with inequality (5.25)). Every query of this
    package takes ``budget=`` and spends before it draws its noise, so that an exhausted budget stops it before any
    answer exists.

    The budget knows only what is spent through it: answers given elsewhere, seeded noise and side channels are not
    in it.

    Parameters
    ----------
    total : int, float, str, Decimal or Fraction
        The privacy loss allowed in all, positive. A float counts as the decimal number it is written as.

    Attributes
    ----------
    total, spent, remaining : Fraction
        Exact: after a hundred answers at .01 a budget of 1 has exactly 0 left.
    ledger : tuple of Expense
        What was spent, in order, and for which purpose.

    Examples
    --------
    >>> budget = Budget(1)
    >>> for _ in range(100):
    ...     _ = budget.spend(.01)
    >>> budget.remaining
    Fraction(0, 1)
    >>> budget.spend(.01)
    Traceback (most recent call last):
        ...
    reident.errors.ParameterError: `epsilon` must be at most what remains of the budget (0 of 1), got 0.01: ...
    """

    def __init__(self, total: Any) -> None:
        self.total: Fraction = check_epsilon(total, "total")
        self._ledger: list[Expense] = []
        self._spent = Fraction(0)

    @property
    def spent(self) -> Fraction:
        """What was spent so far."""
        return self._spent

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.total - self._spent

    @property
    def ledger(self) -> tuple[Expense, ...]:
        """What was spent, in order."""
        return tuple(self._ledger)

    def spend(self, epsilon: Any, purpose: str = "") -> Fraction:
        """Take `epsilon` from the budget and return it as an exact fraction.

        Raises
        ------
        ParameterError
            If `epsilon` is not positive or more than what remains; nothing is spent then.
        """
        exact = check_epsilon(epsilon)
        if exact > self.remaining:
            raise ParameterError(
                f"`epsilon` must be at most what remains of the budget ({_short(self.remaining)} of "
                f"{_short(self.total)}), got {_short(exact)}: no answer was computed"
                + (f" for {purpose}" if purpose else "")
            )
        self._spent += exact
        self._ledger.append(Expense(exact, purpose))
        return exact

    def spend_half(self, purpose: str = "") -> Fraction:
        """Spend half of what remains: for a sequence whose length is not known beforehand.

        The halving schedule of section 5.6: epsilon / 2, epsilon / 4 and so on never exceed epsilon.
        """
        return self.spend(self.remaining / 2, purpose) if self.remaining else self.spend(Fraction(1), purpose)

    def shares(self, n: int) -> list[Fraction]:
        """Return what remains in `n` equal shares, not yet spent: for a sequence of known length."""
        check_integer(n, "n", low=1)
        if not self.remaining:
            raise ParameterError(f"`n` shares need something that remains of the budget, got 0 of {_short(self.total)}")
        return [self.remaining / n] * n

    def statement(self) -> pd.DataFrame:
        """Return the ledger as a frame: purpose, epsilon, and what remained afterwards."""
        rows, left = [], self.total
        for expense in self._ledger:
            left -= expense.epsilon
            rows.append((expense.purpose, float(expense.epsilon), float(left)))
        return pd.DataFrame(rows, columns=["purpose", "epsilon", "remaining"])

    def __repr__(self) -> str:
        return f"Budget(total={_short(self.total)}, remaining={_short(self.remaining)})"


def spend(budget: Budget | None, epsilon: Any, purpose: str) -> Fraction:
    """Spend on a budget if there is one; return the exact epsilon in any case."""
    if budget is None:
        return check_epsilon(epsilon)
    if not isinstance(budget, Budget):
        raise ParameterError(f"`budget` must be a Budget, got {budget!r}")
    return budget.spend(epsilon, purpose)


def _short(value: Fraction) -> str:
    return f"{float(value):.6g}"
