"""The report of an assessment: one screen, then details; an edition for the custodian and one that may be shown."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

import reident
from reident.base import DataError
from reident.pages import write_page
from reident.plotting.interactive import ru_map_part
from reident.workbench.evaluate import RiskReport
from reident.workbench.report_figures import judged_figure, knowledge_figures, place_figures

__all__ = ["GLOSSARY", "read_points", "write_report"]

_VERSIONS = ("numpy", "pandas", "scipy", "numba", "geopandas", "shapely", "matplotlib")
#: Records shown in the internal edition.
_RISKIEST = 15
_CANDIDATES = (
    "{} judged, the most useful first, of {} chains that the steps allow; where a part by itself is refused, no "
    "release with it is judged, and a release that is refused already meets no further attack. Each is judged as "
    "reident check judges it, in {} draws where a method draws."
)
#: A reason may name values of the data.
_UNMADE = "could not be made"
#: What the columns of the tables mean, and how each is computed.
GLOSSARY = (
    ("risk of a person", "the largest confidence of a claim about the person over all attacks; where it does not "
     "follow from the release itself, it is replaced by how often claims of its kind were right"),
    ("persons above the limit", "those whose risk, at the upper end of its interval, exceeds the limit under some "
     "attack; for sensitive values what counts is the gain over guessing"),
    ("risk, of an attack", "mean success over the persons in the file; shown, never judged"),
    ("low, high", "Wilson's interval of that mean, 95 %"),
    ("baseline", "success of guessing without the release"),
    ("control", "success of the same attack on a release without the person"),
    ("residual", "(a - c) / (1 - c): what the attack a gains over its control or baseline c"),
    ("worst", "the largest risk of a person"),
    ("lost, of a column", "numbers: 1 less the squared correlation with the original; categories: 1 less the shared "
     "information over the original's; places: 1 less the mean of neighbours and distances kept"),
    ("kept", "the mean over the protected columns of 1 less what is lost"),
    ("knowing", "an intruder who knows only these columns and joins by them; what a column adds is the mean over all "
     "orders of learning the columns (Shapley value)"),
    ("undominated", "no release tried has both lower risk and higher utility"),
)  # fmt: skip


def write_report(
    assessment: Any, out: Path, *, command: str = "", recipe: str = "", receipts: Sequence[str] = ()
) -> Path:
    """Write both editions of the report of an assessment into a folder; see `Assessment.save`."""
    try:
        (out / "figures").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"`out` must be a folder that can be written, got {str(out)!r}: {error}") from None
    assessment.frame.to_csv(out / "map.csv", index=False)
    said = _said(assessment, recipe)
    figures = list(knowledge_figures(assessment))
    candidates = None if assessment.search is None else assessment.search.candidates
    secret = {
        "internal": True,
        "candidates": candidates,
        "figures": [*place_figures(assessment), *figures],
        **_riskiest(assessment),
        "checks": assessment.profile.checks,
        "columns": assessment.profile.columns,
        "command": command,
        "receipts": [f"Values assessed: sha256 {assessment.data_sha256}", *receipts, *_made_with(assessment)],
    }
    public = {
        "internal": False,
        "candidates": None if candidates is None else candidates.replace({"reason": {r"^.+$": _UNMADE}}, regex=True),
        "figures": figures,
        "riskiest": None,
        "checks": None,
        "command": "",
        "receipts": _made_with(assessment),
    }
    write_page(out / "report-external.html", "assessment", **said, **public)
    return write_page(out / "report.html", "assessment", **said, **secret)


def _said(assessment: Any, recipe: str) -> dict[str, Any]:
    """Return what both editions say: names of columns, methods, counts and shares, no value of the data."""
    found, said = assessment.search, assessment.sentence
    both = [] if found is None else [("the data as they are", found.before), ("the advised release", found.after)]
    run = [(name, panel) for name, panel in both if panel is not None]
    asked = None if not run else run[-1][1].frame
    protect = ""
    if found is not None and found.passed and recipe:
        named = shlex.quote(recipe)
        protect = (
            f"reident protect --recipe {named} --out release\nreident check release --against FILE --recipe {named}"
        )
    return {
        "title": "Disclosure risk: assessment of a release",
        "sentence": said if found is not None and found.passed else said[:1].upper() + said[1:],
        "limit": f"{assessment.limit:.0%}",
        "before": None if found is None else _counts(found.before),
        "after": None if found is None or found.after is None else _counts(found.after),
        "protect": protect,
        "judged": judged_figure(assessment),
        "map": None if found is None or found.judged.empty else ru_map_part(
            found.frame, "ru-map", limit=assessment.tolerate
        ),
        "losses": [] if found is None else sorted(found.losses.items(), key=lambda pair: -pair[1]),
        "panels": [(name, _run(panel)) for name, panel in reversed(run)],
        "not_run": None if asked is None else asked.loc[asked["reason"] != "", ["name", "reason"]],
        "candidates_said": "" if found is None else _CANDIDATES.format(len(found.judged), found.n_chains, found.draws),
        "n_judged": None if found is None else len(found.judged),
        "assumptions": assessment.assumptions(),
        "glossary": GLOSSARY,
    }  # fmt: skip


def _counts(panel: RiskReport) -> dict[str, Any]:
    n, share = len(panel.persons), panel.share_above_limit
    return {"n": n, "n_above": round(share * n), "share": f"{share:.1%}", "worst": f"{panel.highest:.1%}"}


def _run(panel: RiskReport) -> pd.DataFrame:
    shown = ["name", "what", "risk", "low", "high", "baseline", "control", "worst", "n_above", "n", "verdict"]
    return panel.frame.loc[panel.frame["reason"] == "", [*shown, "assumption"]]


def read_points(path: Path) -> pd.DataFrame:
    """Return the frame of a map from the file ``map.csv`` of a report."""
    texts = ["method", "parameter", "value", "attack", "analysis", "refused"]
    frame = pd.read_csv(path, dtype=dict.fromkeys(texts, object), keep_default_na=False, na_values=[""])
    return frame.assign(**{name: frame[name].fillna("") for name in texts if name != "refused"})


def _riskiest(assessment: Any) -> dict[str, Any]:
    """Return the records with the largest risk in the advised release, else in the data as they are."""
    found = assessment.search
    if found is None:
        return {"riskiest": None}
    after = found.after is not None
    persons = (found.after or found.before).persons
    top = persons.sort_values("risk", ascending=False, kind="stable").head(_RISKIEST)
    known = [name for name in found.original.columns if name in found.known]
    table = found.original.loc[top.index, known].astype(object)
    record = top.index if assessment.network is found else top.index + 1  # a node has its name
    told = pd.DataFrame({"record": record, "risk": top["risk"].to_numpy(float), "attack": top["attack"]})
    where = "advised release" if after else "data as they are"
    named = "name of the node" if assessment.network is found else "number of the record in the file as it was read"
    named += ", of several of a person the first" if len(persons) < len(found.original) else ""
    return {
        "riskiest": pd.concat([told, table], axis=1),
        "riskiest_said": f"By {named}, in the {where}, with what is known.",
    }


def _made_with(assessment: Any) -> list[str]:
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _VERSIONS)
    return [
        f"Seed {assessment.seed}.",
        f"reident {reident.__version__}, Python {platform.python_version()}, {versions}.",
    ]
