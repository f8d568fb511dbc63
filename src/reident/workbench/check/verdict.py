"""Verdict of a check: passed, refused or not judged, with its findings, as a sentence and as a file."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

import reident
from reident.base import DataError, Row, check_path, check_replaceable, private_file, record_files
from reident.workbench.evaluate import COLUMNS, RiskReport
from reident.workbench.files import write_file
from reident.workbench.knowledge import KnowledgePrice, Population

#: Exit codes of `reident check`; 2 is an error.
EXIT_CODES = {"passed": 0, "refused": 3, "not judged": 4}
#: Kinds of file into which judged cells are written anew.
_REWRITTEN = (".csv", ".parquet", ".xlsx", ".gpkg")
_WRITTEN = ("name", "risk", "low", "high", "baseline", "share_above_limit", "n", "what", "control", "residual", "worst",
            "n_above", "verdict", "assumption")  # fmt: skip


_NOT_RUN = RiskReport(pd.DataFrame(columns=COLUMNS), pd.DataFrame(columns=["risk", "attack", "above"]), 0.0, 0.25)


@dataclass(frozen=True)
class Finding:
    """A problem of a release: its subject (a column, "persons", "rows", ...), the problem, and the remedy."""

    subject: str
    problem: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.subject}: {self.problem}. {self.remedy}".strip()


@dataclass(eq=False)
class Verdict:
    """The verdict on a release, with its reasons.

    Attributes
    ----------
    limit, limit_attribute, tolerate : float
    seed : int
    release_sha256 : str
        Of the file that was checked, empty for a table.
    findings : list of Finding
        Each refuses the release (or says what a judgement needs); the first may be that too many persons are above the
        limit.
    notes : list of str
        What the verdict does not cover, and what was assumed.
    is_judged : bool
        Whether pairs, or a control, say what the release tells of whom.
    report : RiskReport
        The attacks; without a row if the release was not judged, or was judged against a control.
    cells : DataFrame
        The released cells that were judged: `rewrite` writes them anew.
    declared : mapping of str to str
        Released columns that the original lacks, as declared: "new", "new: random", "derived".
    classes : Series or None
        For a release that was not judged: records by the size of their class in the release alone.
    knowledge : KnowledgePrice or None
        What each column is worth to an intruder.
    population : Population or None
        What the release means for the persons for whom the records stand.
    """

    limit: float
    limit_attribute: float
    tolerate: float
    seed: int = 0
    release_sha256: str = ""
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_judged: bool = True
    report: RiskReport = _NOT_RUN
    cells: Any = field(default=None, repr=False)
    declared: Mapping[str, str] = field(default_factory=dict)
    classes: pd.Series | None = None
    knowledge: KnowledgePrice | None = None
    population: Population | None = None

    def refuse(self, subject: Any, problem: str, remedy: str = "") -> None:
        """Add a finding."""
        self.findings.append(Finding(str(subject), problem, remedy))

    @property
    def status(self) -> str:
        """Passed: no finding. Refused: some. Not judged: the pairs of records are missing."""
        return "not judged" if not self.is_judged else "refused" if self.findings else "passed"

    @property
    def passed(self) -> bool:
        """Whether the release passed."""
        return self.status == "passed"

    @property
    def exit_code(self) -> int:
        """0 passed, 3 refused, 4 not judged."""
        return EXIT_CODES[self.status]

    @property
    def share_above_limit(self) -> float:
        """The share of persons above the limit."""
        return self.report.share_above_limit

    @property
    def n(self) -> int:
        """Persons in the release."""
        return len(self.report.persons)

    @property
    def n_above(self) -> int:
        """Persons above the limit."""
        return math.ceil(self.share_above_limit * self.n - 1e-9)

    @property
    def worst(self) -> float:
        """The largest risk of a person."""
        return self.report.highest

    @property
    def attacks(self) -> pd.DataFrame:
        """One row an attack that was tried."""
        return self.report.frame

    @property
    def persons(self) -> pd.DataFrame:
        """One row a person in the release, with the risk: confidential."""
        return self.report.persons

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        if not self.passed:
            return f"{self.status}: {' '.join(map(str, self.findings))}"
        if self.attacks.empty:
            return "passed: the synthetic records are no nearer to the original than to the control"
        return (
            f"passed: at most {self.share_above_limit:.1%} of {self.n} persons have a risk above {self.limit:.0%} "
            f"under the {len(self.report.applied)} attacks that were run"
        )

    def to_dict(self) -> Row:
        """Return the content of ``verdict.json``; see docs/check.md for its schema."""
        not_run = self.attacks.loc[self.attacks["reason"] != "", ["name", "reason"]]
        skipped = [{"name": name, "reason": reason} for name, reason in self.report.skipped.items()]
        price = self.knowledge
        return {
            "status": self.status,
            "passed": self.passed,
            "verdict": self.sentence,
            "share_above_limit": round(self.share_above_limit, 6),
            "n_above": self.n_above,
            "n": self.n,
            "worst": round(self.worst, 6),
            "limit": self.limit,
            "limit_attribute": self.limit_attribute,
            "tolerate": self.tolerate,
            "findings": [asdict(finding) for finding in self.findings],
            "declared": self.declared,
            "classes": None if self.classes is None else {str(size): int(n) for size, n in self.classes.items()},
            "knowledge": None if price is None else {"worst": _rows(price.worst), "columns": _rows(price.columns)},
            "population": None if self.population is None else _rows(pd.DataFrame([asdict(self.population)]))[0],
            "attacks": _rows(self.report.applied[[*_WRITTEN]]),
            "not_attacked": _rows(not_run) + skipped,
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
            text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
            private_file(path).write_text(text, "utf-8")
            record_files(path.parent, [path.name])
        except OSError as error:
            raise DataError(f"`out` must be a folder that can be written, got {str(out)!r}: {error}") from error
        return path

    def rewrite(self, path: str | Path) -> Path:
        """Write the judged cells alone into a new file (.csv, .parquet, .xlsx, .gpkg)."""
        target = check_new(path)
        if not isinstance(self.cells, pd.DataFrame):
            raise DataError("`rewrite` needs a release of records: a network is an edge list")
        if target.suffix.lower() == ".gpkg" and not hasattr(self.cells, "to_crs"):
            raise DataError(
                f"`rewrite` must end in .csv, .parquet or .xlsx for records without a geometry, got {path!r}"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        write_file(self.cells, target)
        return target


def check_new(path: str | Path) -> Path:
    """Return the path of a file to be written, of a kind that holds cells alone."""
    target = check_path(path, "rewrite")
    if target.suffix.lower() not in _REWRITTEN:
        raise DataError(f"`rewrite` must end in {', '.join(_REWRITTEN)}, got {str(path)!r}")
    if target.exists():
        raise DataError(f"`rewrite` must not exist yet, got {str(path)!r}: nothing is overwritten")
    return target


def as_option(name: str, column: Any, *, listed: bool = True) -> str:
    """Return an option of the command line as it can be typed; a name with a comma stands in quotes in a list."""
    text = f'"{column}"' if listed and "," in str(column) else str(column)
    return f"--{name} {shlex.quote(text)}"


def _rows(table: pd.DataFrame) -> list[Row]:
    """Return the rows of a table as JSON holds them, six decimals, null where there is no number."""
    return json.loads(table.to_json(orient="records", double_precision=6))
