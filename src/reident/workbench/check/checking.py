"""Check a release against its original: declared columns only, every declaration tested along the pairs."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, IntArray, ParameterError, check_listed, check_real, check_seed
from reident.methods import find
from reident.methods import release as attacked
from reident.methods.release import LAT, LON, Knowledge
from reident.workbench.check.declarations import (
    Declarations,
    declare,
    test_new,
    test_new_together,
    undeclared,
    with_row_number,
    words_of,
)
from reident.workbench.check.dependence import Features
from reident.workbench.check.evidence import evidence, order_leak, wrong_pairs
from reident.workbench.check.networks import read_network
from reident.workbench.check.reading import ReadRelease, read_release
from reident.workbench.check.synthetic import nearer_than_control
from reident.workbench.check.verdict import Finding, Verdict
from reident.workbench.composition import class_sizes
from reident.workbench.dataset import Dataset
from reident.workbench.evaluate import RiskReport, as_attacked, evaluate
from reident.workbench.knowledge import group_notes, population_of, price
from reident.workbench.microdata import without_geometry
from reident.workbench.pipeline import Release
from reident.workbench.roles import person_notes, place_columns

#: What stands for attacks that are no costly ones.
QUICK = "quick"
_NO_PAIRS = Finding(
    "release", "no pairs say which record is whose",
    "Give --pairs FILE (protect writes it beside the release), --id COLUMN of both files, or --same-order; for a "
    "synthetic table --control FILE with records that took no part in making it.",
)  # fmt: skip
_WORST_CASE = "The intruder is given what the original says about every person in it; these attacks bound no other one."


def check(
    release: Any,
    original: Any,
    pairs: Any = None,
    *,
    called: Mapping[str, str] | None = None,
    new: str | Sequence[str] | Mapping[str, str] = (),
    derived: str | Sequence[str] = (),
    limit: float | None = None,
    tolerate: float | None = None,
    limit_attribute: float | None = None,
    attacks: str | Sequence[str] | None = None,
    seed: int = 0,
    **keywords: Any,
) -> Verdict:
    """Judge a release: every column declared, every declaration tested, every attack that applies.

    Passing says that these attacks, by an intruder who knows what the original says of everybody, put at most the
    tolerated share of persons above the limit, and that no declaration is contradicted by the data. It bounds no other
    attack, and a column that is declared new may still hide what no test can see.

    Parameters
    ----------
    release : path, Release, DataFrame, GeoDataFrame, (DataFrame, distances in km), or network
        A file of any kind that `open_file` reads, or a folder that `protect` wrote.
    original : Dataset, or a table, file or network with the keywords of `Dataset`
    pairs : DataFrame, ndarray, path, str, optional
        The original row of each released row (-1 for none); the file that `protect` wrote (found by itself beside the
        release); a column of both files; or "same order". Without pairs nothing is judged.
    called : mapping of str to str, optional
        Original column -> its name in the release. Names that differ in case, accents and signs only are found.
    new : str, sequence of str, or mapping of str to str
        Released columns that say nothing of the original; tested. A column with nearly as many values as records needs
        the word "random": ``{"k": "random"}``.
    derived : str or sequence of str
        Released columns that are computed from the original, such as scores: intruders are assumed to know them.
    limit, tolerate : float, optional
        Tolerable risk of a person; tolerable share of persons above it. Default: the recipe's, else 0.25 and 0.
    limit_attribute : float, optional
        Tolerable gain over guessing for attacks on sensitive values; default `limit`.
    attacks : sequence of str, or "quick", optional
        Default: all that apply; "quick": all but the costly ones.
    seed : int
        Drives attacks that draw, and the tests.
    **keywords
        Keywords of `Dataset`, such as ``quasi``, ``recipe`` or ``control``.

    Returns
    -------
    Verdict

    Raises
    ------
    ParameterError, DataError
        If a column or file does not exist, or the files do not fit one another.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [30, 30, 30, 30, 41, 41], "sex": list("ffffmm")})
    >>> verdict = check(people[["age"]], people, "same order", quasi=["age", "sex"], attacks=["exact_join"])
    >>> verdict.status, verdict.n_above, verdict.worst
    ('refused', 2, 0.5)
    """
    try:
        dataset = Dataset.of(original, **keywords)
    except DataError as error:
        raise DataError(str(error).replace("`data`", "`original`")) from None
    limit = dataset.limit if limit is None else limit
    rule: dict[str, Any] = {
        "limit": limit,
        "tolerate": dataset.tolerate if tolerate is None else tolerate,
        "limit_attribute": limit if limit_attribute is None else limit_attribute,
    }
    rule = {name: check_real(value, name, low=0, high=1) for name, value in rule.items()}
    check_seed(seed)
    for name in () if attacks in (None, QUICK) else check_listed(attacks, "attacks"):
        find(name, "attack")
    sha: dict[str, Any] = {"release_sha256": _sha256(release), "seed": seed}
    if dataset.network is not None and not _is_table(release):
        for option, value in (("called", called), ("derived", derived)):
            if value:
                raise ParameterError(f"`{option}` must be left out: it is for tables, and the release is a network")
        return _check_network(release, dataset, pairs, words_of(new), rule, attacks, sha)
    read = read_release(release, dataset, pairs)
    declared, findings = declare(read.cells, dataset, called, new, derived)
    findings = [*read.findings, *findings]
    sha |= {"cells": read.cells, "declared": declared.stated()}
    if read.rows is None and dataset.control is not None:
        table = _called(read.cells, declared)
        findings += undeclared(declared, read.cells, dataset, None)
        for columns in (list(dataset.data.columns), *([dataset.places] if dataset.places else [])):
            findings += nearer_than_control(table, without_geometry(dataset.data), dataset.control, columns)
        note = "Judged as a synthetic table, against a control that took no part in making it."
        return Verdict("refused" if findings else "passed", findings, [note], **rule, **sha)
    unpaired = (
        _NO_PAIRS if read.rows is None else wrong_pairs(without_geometry(read.cells), read.rows, dataset, declared)
    )
    if isinstance(unpaired, Finding):
        known = [column for column, name in declared.original.items() if name in dataset.quasi]
        sizes = pd.Series(class_sizes(pd.DataFrame(read.cells)[known])).value_counts().sort_index()
        findings = [unpaired, *findings, *undeclared(declared, read.cells, dataset, None)]
        return Verdict("not judged", findings, read.notes, **rule, **sha, classes=sizes)
    rows, read = read.rows, read if unpaired is None else replace(read, notes=[*read.notes, unpaired])
    assert rows is not None
    return _judge(read, rows, dataset, declared, findings, rule, attacks, sha)


def _judge(
    read: ReadRelease, rows: IntArray, dataset: Dataset, declared: Declarations, findings: list[Finding],
    rule: Mapping[str, Any], names: Any, details: Mapping[str, Any],
) -> Verdict:  # fmt: skip
    """Judge a release of records along its pairs."""
    if not (dataset.quasi or dataset.has_places or declared.derived):
        dataset.knowledge(np.full(len(dataset), -1))  # raises, with the columns to name
    cells, seed, paired_rows = without_geometry(read.cells), details["seed"], rows >= 0
    if (order := order_leak(cells, rows, with_row_number(dataset.data, np.arange(len(dataset))))) is not None:
        findings.append(order)
    paired, known_names = cells[paired_rows].reset_index(drop=True), tuple(map(str, dataset.quasi))
    features = Features(with_row_number(dataset.data, rows[paired_rows]), known_names, seed)
    tested, notes = test_new(paired, declared.new, features, is_list=False)
    tested += undeclared(declared, paired, dataset, features)
    passed = [name for name in declared.new if str(name) not in {finding.subject for finding in tested}]
    tested += test_new_together(paired, passed, features.data.drop(columns="the row number"), seed)
    compared = evidence(read, rows, dataset, declared, features, dataset.release_crs)
    findings += [*tested, *compared.findings]
    notes = [*read.notes, *notes, *compared.notes, *_left_out(dataset, declared, compared.shown)]
    unasked = _unasked_places(dataset, declared)
    findings += unasked[0]
    notes += unasked[1]
    notes += person_notes(without_geometry(dataset.data), dataset.schema.single("person"))
    if compared.known or compared.keys or {LAT, LON} <= set(compared.shown) or read.matrix_km is not None:
        release, keys = compared.release(read, len(dataset), rows)
        truth = release.table.index.get_indexer(dataset.data.index)
        known = compared.knowledge(dataset, truth, earlier=[_earlier(release, dataset) for release in dataset.earlier])
        return _attacked(release, known, findings, notes, rule, names, details, keys, dataset.weights()[1])
    status = "refused" if findings else "passed"
    return Verdict(status, findings, [_WORST_CASE, *notes], **rule, **details)


def _check_network(
    release: Any, dataset: Dataset, pairs: Any, new: Mapping[str, str], rule: Mapping[str, Any], names: Any,
    details: Mapping[str, Any],
) -> Verdict:  # fmt: skip
    """Judge a released network along the pairs of its nodes."""
    made, has_pairs, marks, findings, new_notes = read_network(release, dataset, pairs, new)
    details = {**details, "declared": Declarations(new=dict(new)).stated()}
    if not has_pairs:
        return Verdict("not judged", [_NO_PAIRS, *findings], [], **rule, **details)
    known = dataset.knowledge(made.table.index.get_indexer(dataset.data.index), known=marks)
    notes = [
        *new_notes,
        "The attacks on the structure see no directions: following them from person to person finds more.",
    ]
    if len(marks.columns):
        notes.insert(0, f"Of each person's relations these were joined, too: {', '.join(map(str, marks))}.")
    return _attacked(made, known, findings, notes, rule, names, details)


def _attacked(
    release: attacked.Release, known: Knowledge, findings: Sequence[Finding], notes: Sequence[str],
    rule: Mapping[str, Any], names: Any, details: Mapping[str, Any], keys: Mapping[str, IntArray] | None = None,
    receipt: str = "",
) -> Verdict:  # fmt: skip
    """Judge a release with its findings by the attacks of an intruder."""
    quick, limit = names == QUICK, rule["limit"]
    report = evaluate(
        release, known, limit=limit, limit_attribute=rule["limit_attribute"], attacks=None if quick else names,
        keys=keys, quick=quick, seed=details["seed"],
    )  # fmt: skip
    population = None if release.network is not None else population_of(release, known, report, limit)
    findings = [*_above(report, rule), *findings]
    groups = group_notes(known, report, population, limit, receipt)
    return Verdict(
        "refused" if findings else "passed", findings, [_WORST_CASE, *_covered(known, report), *notes, *groups],
        **rule, **details, report=report, population=population, knowledge=price(release, known, limit=limit),
    )  # fmt: skip


def _above(report: RiskReport, rule: Mapping[str, Any]) -> list[Finding]:
    """Refuse a release that puts more persons above the limit than are tolerated."""
    if report.share_above_limit <= rule["tolerate"]:
        return []
    most = report.frame.set_index("name").loc[report.attack]
    problem = f"{report.share_above_limit:.1%} of {len(report.persons)} have a risk above {rule['limit']:.0%}"
    problem += f", most of them by {report.attack} ({most['risk']:.1%} success)"
    return [Finding("persons", problem, "Coarsen more; reident assess looks for a release that passes.")]


def _is_table(release: Any) -> bool:
    if isinstance(release, Release):
        return release.network is None
    return isinstance(release, pd.DataFrame | tuple) or hasattr(release, "receipts")


def _sha256(release: Any) -> str:
    path = Path(release) if isinstance(release, str | Path) else None
    return hashlib.sha256(path.read_bytes()).hexdigest() if path is not None and path.is_file() else ""


def _called(cells: Any, declared: Declarations) -> pd.DataFrame:
    """Return released cells under the original's names."""
    return pd.DataFrame(cells).rename(columns=declared.original)


def _earlier(release: Any, dataset: Dataset) -> attacked.Release:
    """Return an earlier release as attacks read it, with its pairs where it was made here."""
    read = read_release(release, dataset, None)
    table = _called(read.cells, declare(read.cells, dataset, None, (), ())[0])
    indexed = table.set_axis(np.arange(len(table)) if read.rows is None else read.rows)
    return replace(as_attacked(indexed, read.method, read.options, len(dataset)), form="table")


def _covered(known: Knowledge, report: RiskReport) -> list[str]:
    """Say which persons the attacks are about."""
    notes = []
    assert known.truth is not None
    if absent := int((known.truth < 0).sum()):
        notes.append(f"{absent} persons of the original are not in the release: their risk is not counted.")
    frame = report.frame
    n = known.who[known.present].nunique()
    sampled = frame[frame["n"].notna() & (frame["n"] < n) & (frame["what"] != "link")]
    if len(sampled):
        listed = ", ".join(f"{row['name']} ({row['n']})" for _, row in sampled.iterrows())
        notes.append(f"Run on a sample of the persons or on those whom the attack concerns: {listed}.")
    return notes


def _left_out(dataset: Dataset, declared: Declarations, released: Any) -> list[str]:
    """Name the quasi-identifiers that the release lacks."""
    missing = [name for name in dataset.quasi if name not in declared.original.values() and name not in released]
    return [f"Not in the release, so no evidence: {', '.join(map(str, missing))}."] if missing else []


def _unasked_places(dataset: Dataset, declared: Declarations) -> tuple[list[Finding], list[str]]:
    """Find places of the original without a role: findings where they are released, else notes."""
    places = None if dataset.has_places else place_columns(dataset.data)
    if places is None or any(dataset.schema.columns[places[name]].role for name in ("lat", "lon")):
        return [], []
    lat, lon = (shlex.quote(str(places[name])) for name in ("lat", "lon"))
    crs = "" if places["crs"] == "EPSG:4326" else f" --crs {places['crs'] or 'EPSG:...'}"
    remedy = f"--lat {lat} --lon {lon}{crs} lets them be attacked."
    if {places["lat"], places["lon"]} <= {*declared.original.values()}:
        return [Finding(f"{places['lat']}, {places['lon']}", "hold places, and have no role", remedy)], []
    return [], [f"The original has places that are assumed unknown: {remedy}"]
