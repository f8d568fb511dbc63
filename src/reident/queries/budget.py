"""Mechanism. The privacy budget: an exact total from which each answer subtracts its privacy loss."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from reident.base import DataError, ParameterError, check_epsilon, hold


class Expense(NamedTuple):
    """One entry of a budget's ledger."""

    epsilon: Fraction
    purpose: str


class Budget:
    """A total privacy loss that a sequence of answers may use up.

    Answers may depend on earlier ones: the losses of epsilon-differentially private answers about the same people
    add up whatever the later questions are (Vanhoef 2012, Theorem 5.3, with inequality (5.25)). Every query of this
    package takes ``budget=`` and spends before it draws its noise, so that an exhausted budget stops it before any
    answer exists.

    The budget counts only expenses made through it, not answers computed elsewhere. Nothing is spent twice: threads
    take turns, a copy is the budget itself, and a budget in memory cannot be pickled or used after a fork. With `file`
    the ledger is on disk, and every process that opens it spends from the same total, also after a restart.

    Parameters
    ----------
    total : int, float, str, Decimal or Fraction
        The privacy loss allowed in all, positive. A float counts as the decimal number that it prints.
    file : path, optional
        A ledger to open or create: the total in the first line, then one line an expense, appended under a lock and
        synchronised before an answer is drawn. Changes of lines are noticed while a process has the ledger open.

    Attributes
    ----------
    total, spent, remaining : Fraction
        Exact: after a hundred answers at .01 a budget of 1 has exactly 0 left.
    ledger : tuple of Expense
        The expenses in order, each with its purpose.

    Raises
    ------
    ParameterError
        If `total` is not positive, or not that of the ledger on disk.
    DataError
        If `file` cannot be read and written, is no ledger, or was changed.

    Examples
    --------
    >>> budget = Budget(1)
    >>> budget.spend("1/3", "count of patients")
    Fraction(1, 3)
    >>> budget.remaining
    Fraction(2, 3)
    """

    def __init__(self, total: Any, *, file: str | Path | None = None) -> None:
        self._total: Fraction = check_epsilon(total, "total")
        self._lock, self._process = threading.RLock(), os.getpid()
        self._ledger: list[Expense] = []
        self._content = b""
        if file is not None and not (isinstance(file, str | Path) and str(file)):
            raise ParameterError(f"`file` must be the path of a ledger, got {file!r}")
        self._file = None if file is None else Path(file).resolve()
        with self._locked():
            pass

    @property
    def total(self) -> Fraction:
        """The loss allowed in all."""
        return self._total

    @property
    def spent(self) -> Fraction:
        """The sum of all expenses."""
        return sum((expense.epsilon for expense in self.ledger), Fraction(0))

    @property
    def remaining(self) -> Fraction:
        """The total less the sum of all expenses."""
        return self._total - self.spent

    @property
    def ledger(self) -> tuple[Expense, ...]:
        """The expenses in order."""
        with self._locked():
            return tuple(self._ledger)

    def spend(self, epsilon: Any, purpose: str = "") -> Fraction:
        """Subtract `epsilon` from the budget and return it as an exact fraction.

        Raises
        ------
        ParameterError
            If `epsilon` is not positive or more than what remains, or the budget belongs to another process; the
            budget is unchanged then.
        DataError
            If the ledger's file cannot be written or was changed; the budget is unchanged then.
        """
        exact = check_epsilon(epsilon)
        with self._locked() as file:
            remaining = self._total - sum(expense.epsilon for expense in self._ledger)
            if exact > remaining:
                raise ParameterError(
                    f"`epsilon` must be at most what remains of the budget ({float(remaining):.6g} of "
                    f"{float(self._total):.6g}), got {float(exact):.6g}: no answer was computed"
                    + (f" for {purpose}" if purpose else "")
                )
            if file is not None:
                self._append(file, {"epsilon": str(exact), "purpose": purpose})
            self._ledger.append(Expense(exact, purpose))
        return exact

    def __repr__(self) -> str:
        return f"Budget(total={float(self.total):.6g}, remaining={float(self.remaining):.6g})"

    def __copy__(self) -> Budget:
        return self

    def __deepcopy__(self, memo: Any) -> Budget:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._file is None:
            raise ParameterError(
                "`budget` is in memory and stays in its process. Use Budget(total, file=...) to share it"
            )
        return _reopen, (str(self._total), self._file)

    @contextmanager
    def _locked(self) -> Iterator[Any]:
        """Lock the budget, read expenses of other processes, and yield the open ledger (None in memory)."""
        with self._lock:
            if self._file is None:
                if os.getpid() != self._process:
                    self.__reduce__()
                yield None
                return
            try:
                file = self._file.open("a+b")
            except OSError as error:
                raise DataError(
                    f"`file` must be a ledger that can be read and written, got {str(self._file)!r}: {error.strerror}"
                ) from None
            with file, hold(file):  # type: ignore[arg-type]
                self._refresh(file)
                yield file

    def _refresh(self, file: Any) -> None:
        file.seek(0)
        content = file.read()
        complete = content[: content.rfind(b"\n") + 1]
        if not complete.startswith(self._content):
            raise DataError(
                f"`file` must be an unchanged ledger, got {str(self._file)!r}: lines were changed or removed"
            )
        file.truncate(len(complete))  # a process died before it finished the last line, and drew no answer
        if not complete:
            self._append(file, {"total": str(self._total)})
        if complete == self._content or not complete:
            return
        try:
            first, *rows = map(json.loads, complete.splitlines())
            total = check_epsilon(first["total"])
            self._ledger = [Expense(check_epsilon(row["epsilon"]), row["purpose"]) for row in rows]
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"`file` must be the ledger of a budget, got {str(self._file)!r}: {error}") from None
        if total != self._total:
            raise ParameterError(
                f"`total` must be that of the ledger {str(self._file)!r} ({float(total):.6g}), got "
                f"{float(self._total):.6g}"
            )
        self._content = complete

    def _append(self, file: Any, entry: dict[str, str]) -> None:
        """Write one line to the disk, or leave the file unchanged."""
        line = json.dumps(entry).encode() + b"\n"
        try:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            file.truncate(len(self._content))
            raise DataError(f"`file` could not be written, got {str(self._file)!r}: {error.strerror}") from None
        self._content += line


def _reopen(total: str, file: Path) -> Budget:
    if not file.is_file():  # on another machine a new ledger would be a second total
        raise DataError(f"`file` must be the ledger of a budget, got {str(file)!r}: no such file here")
    return Budget(total, file=file)


def spend(budget: Budget | None, epsilon: Any, purpose: str) -> Fraction:
    """Spend on a budget if there is one; return the exact epsilon in any case."""
    if budget is None:
        return check_epsilon(epsilon)
    if not isinstance(budget, Budget):
        raise ParameterError(f"`budget` must be a Budget, got {budget!r}")
    return budget.spend(epsilon, purpose)
