"""Mechanism. The privacy budget: what may still be lost, in exact arithmetic, and spent once only."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import pandas as pd

from reident.base import DataError, ParameterError, afford, check_epsilon, check_integer, hold

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
    in it. Nothing is spent twice: threads take turns, a copy is the budget itself, and one that lives in memory stays
    in its process, so that a pickle or a fork of it is refused. With `file` the ledger is on disk, and every notebook
    and worker that opens it spends from the same total, also after a restart.

    Parameters
    ----------
    total : int, float, str, Decimal or Fraction
        The privacy loss allowed in all, positive. A float counts as the decimal number it is written as.
    file : path, optional
        A ledger to open, or to begin where there is none: one line an expense, appended under a lock and synchronised
        before an answer is drawn. Each line carries the hash of all before it, so that a change, or lines taken away
        while a process has it open, are found. Whoever may write the file can still put an earlier copy in its place:
        `seal` is for keeping elsewhere.

    Attributes
    ----------
    total, spent, remaining : Fraction
        Exact: after a hundred answers at .01 a budget of 1 has exactly 0 left.
    ledger : tuple of Expense
        What was spent, in order, and for which purpose.
    seal : str
        A hash over total and ledger: equal seals, equal ledgers.

    Raises
    ------
    ParameterError
        If `total` is not positive, or not that of the ledger on disk.
    DataError
        If `file` cannot be read and written, is no ledger, or was changed.

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
    reident.ParameterError: `epsilon` must be at most what remains of the budget (0 of 1), got 0.01: ...
    """

    def __init__(self, total: Any, *, file: str | Path | None = None) -> None:
        self._total: Fraction = check_epsilon(total, "total")
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._ledger: list[Expense] = []
        self._spent = Fraction(0)
        self._chain, self._read = hashlib.sha256(), bytearray()
        self._file = None if file is None else _ledger_path(file)
        if self._file is None:
            self._chain.update(_line("", total=str(self._total)))
        else:
            with self._open("a+b"):
                pass

    @property
    def total(self) -> Fraction:
        """The loss allowed in all: it cannot be changed."""
        return self._total

    @property
    def spent(self) -> Fraction:
        """What was spent so far."""
        with self._open():
            return self._spent

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self._total - self.spent

    @property
    def ledger(self) -> tuple[Expense, ...]:
        """What was spent, in order."""
        with self._open():
            return tuple(self._ledger)

    @property
    def seal(self) -> str:
        """A hash over the total and every expense."""
        with self._open():
            return self._chain.hexdigest()

    def spend(self, epsilon: Any, purpose: str = "") -> Fraction:
        """Take `epsilon` from the budget and return it as an exact fraction.

        Raises
        ------
        ParameterError
            If `epsilon` is not positive or more than what remains, or the budget is another process's; nothing is
            spent then.
        DataError
            If the ledger's file cannot be written or was changed; nothing is spent then.
        """
        exact = check_epsilon(epsilon)
        with self._open() as file:
            left = self._total - self._spent
            if exact > left:
                raise ParameterError(
                    f"`epsilon` must be at most what remains of the budget ({_short(left)} of {_short(self._total)}), "
                    f"got {_short(exact)}: no answer was computed" + (f" for {purpose}" if purpose else "")
                )
            line = _line(self._chain.hexdigest(), epsilon=str(exact), purpose=str(purpose))
            if file is not None:
                self._append(file, line)
            self._take(line, Expense(exact, purpose))
        return exact

    def spend_half(self, purpose: str = "") -> Fraction:
        """Spend half of what remains: for a sequence whose length is not known beforehand.

        The halving schedule of section 5.6: epsilon / 2, epsilon / 4 and so on never exceed epsilon.
        """
        with self._lock:
            left = self.remaining
            return self.spend(left / 2, purpose) if left else self.spend(Fraction(1), purpose)

    def shares(self, n: int) -> list[Fraction]:
        """Return what remains in `n` equal shares, not yet spent: for a sequence of known length."""
        n = check_integer(n, "n", low=1)
        afford(8 * n, "n", f"{n:,} shares", "ask for fewer")
        left = self.remaining
        if not left:
            raise ParameterError(f"`n` shares need something that remains of the budget, got 0 of {_short(self.total)}")
        return [left / n] * n

    def statement(self) -> pd.DataFrame:
        """Return the ledger as a frame: purpose, epsilon, and what remained afterwards."""
        rows, left = [], self.total
        for expense in self.ledger:
            left -= expense.epsilon
            rows.append((expense.purpose, float(expense.epsilon), float(left)))
        return pd.DataFrame(rows, columns=["purpose", "epsilon", "remaining"])

    def __repr__(self) -> str:
        return f"Budget(total={_short(self.total)}, remaining={_short(self.remaining)})"

    def __copy__(self) -> Budget:
        return self

    def __deepcopy__(self, memo: Any) -> Budget:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._file is None:
            self._stay()
        return _reopen, (str(self._total), str(self._file))

    def _stay(self) -> NoReturn:
        raise ParameterError(
            "`budget` must stay in the process that made it, got one in memory: a copy elsewhere would spend the same "
            "total again; Budget(total, file=...) is shared by processes"
        )

    @contextmanager
    def _open(self, mode: str = "r+b") -> Iterator[BinaryIO | None]:
        """Keep everybody else out, and read what others spent since."""
        with self._lock:
            if self._file is None:
                if os.getpid() != self._process:
                    self._stay()
                yield None
                return
            try:
                file = self._file.open(mode)
            except OSError as error:
                raise DataError(
                    f"`file` must be a ledger that can be read and written, got {str(self._file)!r}: {error.strerror}"
                ) from None
            with file, hold(file):  # type: ignore[arg-type]
                self._refresh(file)  # type: ignore[arg-type]
                yield file  # type: ignore[misc]

    def _refresh(self, file: BinaryIO) -> None:
        file.seek(0)
        content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(content) > len(whole):  # a line that was not finished: its answer was never drawn
            file.truncate(len(whole))
        if not whole and not self._read:
            begun = _line("", total=str(self._total))
            self._append(file, begun)
            self._take(begun, None)
            return
        if not whole.startswith(self._read):
            raise DataError(
                f"`file` must be the ledger as it was left, got {str(self._file)!r}: lines were changed or taken away"
            )
        for line in whole[len(self._read) :].splitlines(keepends=True):
            self._take(line, self._entry(line))

    def _entry(self, line: bytes) -> Expense | None:
        """Read one line; None for the first."""
        try:
            told = json.loads(line)
            if told["before"] != (self._chain.hexdigest() if self._read else ""):
                raise ValueError("the chain of hashes is broken")
            if self._read:
                return Expense(check_epsilon(told["epsilon"]), told["purpose"])
            total = check_epsilon(told["total"], "total")
        except (ValueError, KeyError, TypeError) as error:
            where = f"line {self._read.count(10) + 1}"
            raise DataError(
                f"`file` must be the ledger of a budget, got {str(self._file)!r}: {where}: {error}"
            ) from None
        if total != self._total:
            raise ParameterError(
                f"`total` must be that of the ledger {str(self._file)!r} ({_short(total)}), got {_short(self._total)}: "
                "it cannot be changed"
            )
        return None

    def _take(self, line: bytes, expense: Expense | None) -> None:
        self._chain.update(line)
        if self._file is not None:
            self._read += line
        if expense is not None:
            self._ledger.append(expense)
            self._spent += expense.epsilon

    def _append(self, file: BinaryIO, line: bytes) -> None:
        """Write one line for good, or nothing."""
        end = file.seek(0, os.SEEK_END)
        try:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            file.truncate(end)
            raise DataError(
                f"`file` could not be written, got {str(self._file)!r}: {error.strerror or error}; nothing was spent"
            ) from None


def _ledger_path(file: Any) -> Path:
    if not isinstance(file, str | Path) or not str(file):
        raise ParameterError(f"`file` must be the path of a ledger, got {file!r}")
    return Path(file).resolve()


def _reopen(total: str, file: str) -> Budget:
    """Open a ledger that is there: on another machine a new one would be a second total."""
    if not Path(file).is_file():
        raise DataError(f"`file` must be the ledger of a budget, got {file!r}: no such file here")
    return Budget(total, file=file)


def _line(before: str, **told: str) -> bytes:
    return json.dumps({"before": before, **told}).encode() + b"\n"


def spend(budget: Budget | None, epsilon: Any, purpose: str) -> Fraction:
    """Spend on a budget if there is one; return the exact epsilon in any case."""
    if budget is None:
        return check_epsilon(epsilon)
    if not isinstance(budget, Budget):
        raise ParameterError(f"`budget` must be a Budget, got {budget!r}")
    return budget.spend(epsilon, purpose)


def _short(value: Fraction) -> str:
    return f"{float(value):.6g}"
