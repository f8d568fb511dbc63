"""Whether a release passes, as a sentence, as a file that a pipeline reads, and what that rests on."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

import reident
from reident.base import DataError, check_path, check_replaceable, private_file, record_files
from reident.workbench.knowledge import KnowledgePrice
from reident.workbench.population import Population

__all__ = ["REFUSING", "Verdict"]

#: Findings of the audit by bytes that refuse a release; the others are to be looked at.
REFUSING = ("hidden value", "true place", "identifier", "unread column", "further table", "order")
#: What the verdict says of each attack that was run.
_TOLD = ("name", "risk", "low", "high", "baseline", "share_above_limit", "n")
_ALSO = ("what", "control", "residual", "worst", "n_above", "verdict", "measure", "calibrated", "assumption")


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether a release passes, and what that rests on.

    Attributes
    ----------
    passed : bool
        At most the tolerated share of persons is above the limit under some attack, and the audit found no
        hidden value, no true place, no identifier, no column of what an intruder knows that cannot be read, no
        table in the file beside the one that was judged, and no rows in the original's order.
    share_above_limit : float
        The share of persons above the limit, at the upper end of each risk's interval.
    n_above, n : int
        As numbers of persons.
    worst : float
        The largest risk of a person.
    limit, tolerate : float
    attacks : DataFrame
        As `attack_panel` returns them, with those that could not be run and the reasons.
    persons : DataFrame
        As `reident.workbench.panel.Panel`: confidential, never written.
    findings : list of dict
        What the audit by bytes found.
    notes : list of str
        What the verdict does not cover, a sentence each.
    seed : int
    release_sha256 : str
        Of the file that was checked, empty for a table.
    knowledge : KnowledgePrice or None
        What each column is worth to an intruder; None where no column and no place is released.
    population : Population or None
        What the release means for the persons for whom the records stand; None without survey weights.
    """

    passed: bool
    share_above_limit: float
    n_above: int
    n: int
    worst: float
    limit: float
    tolerate: float
    attacks: pd.DataFrame
    persons: pd.DataFrame = field(repr=False)
    findings: list[dict[str, Any]]
    notes: list[str]
    seed: int
    release_sha256: str = ""
    knowledge: KnowledgePrice | None = None
    population: Population | None = None

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        run = self.attacks[self.attacks["reason"] == ""]
        above = run[(run["verdict"] == "above the limit") & (run["what"] != "link")]
        hidden, *told_by = ([one for one in self.findings if one["kind"] == kind] for kind in REFUSING)
        if self.passed:
            return (
                f"passed: at most {self.share_above_limit:.1%} of {self.n} persons have a risk above {self.limit:.0%} "
                f"under the {len(run)} attacks that could be run"
            )
        told = []
        if self.share_above_limit > self.tolerate:
            first = above.sort_values("share_above_limit", ascending=False, kind="stable").iloc[0]
            told.append(
                f"{self.share_above_limit:.1%} of {self.n} persons have a risk above {self.limit:.0%}, most of them by "
                f"{first['name']} ({first['risk']:.1%} {first['measure']})"
            )
        if hidden:
            told.append(f"the file holds {len(hidden)} hidden value(s) of the original or more")
        told += [one["sentence"].partition(": ")[2] for found in told_by for one in found]
        return f"refused: {'; '.join(told)}"

    def to_dict(self) -> dict[str, Any]:
        """Return what ``verdict.json`` holds; see docs/check.md for its schema."""
        run = self.attacks[self.attacks["reason"] == ""]
        left = self.attacks[self.attacks["reason"] != ""]
        return {
            "passed": self.passed,
            "verdict": self.sentence,
            "share_above_limit": _plain(self.share_above_limit),
            "n_above": self.n_above,
            "n": self.n,
            "worst": _plain(self.worst),
            "limit": self.limit,
            "tolerate": self.tolerate,
            "findings": self.findings,
            "knowledge": None if self.knowledge is None else _known(self.knowledge),
            "population": None if self.population is None else self.population.as_dict(),
            "attacks": [{key: _plain(row[key]) for key in (*_TOLD, *_ALSO)} for _, row in run.iterrows()],
            "not_attacked": [{"name": row["name"], "reason": row["reason"]} for _, row in left.iterrows()],
            "notes": self.notes,
            "seed": self.seed,
            "release_sha256": self.release_sha256,
            "made_with": f"reident {reident.__version__}",
        }

    def save(self, out: str | Path) -> Path:
        """Write ``verdict.json`` into a folder and return its path; only this user can read it."""
        path = check_path(out, "out") / "verdict.json"
        check_replaceable(path.parent, [path.name])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            private_file(path).write_text(
                json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n", "utf-8"
            )
            record_files(path.parent, [path.name])
        except OSError as error:
            raise DataError(f"`out` must be a folder that can be written, got {str(out)!r}: {error}") from error
        return path


def _known(told: KnowledgePrice) -> dict[str, Any]:
    return {
        name: [{key: _plain(value) for key, value in row.items()} for row in table.to_dict("records")]
        for name, table in (("worst", told.worst), ("columns", told.columns))
    }


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it, six decimals, null where there is no number."""
    if value is None or value is pd.NA:
        return None
    if isinstance(value, bool | str):
        return value
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 6)
    return value
