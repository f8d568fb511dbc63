"""Check a release against its original: declared columns only, every declaration tested along the pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, IntArray, ParameterError, check_listed, check_seed, check_share
from reident.methods import find
from reident.methods import release as attacked
from reident.methods.release import LAT, LON, Knowledge
from reident.workbench.check.declarations import (
    Declarations,
    declare,
    judge_new,
    judge_new_together,
    refuse_identifiers,
    refuse_undeclared,
    with_row_number,
    words_of,
)
from reident.workbench.check.dependence import Features
from reident.workbench.check.evidence import evidence, order_leak, wrong_pairs
from reident.workbench.check.networks import read_network
from reident.workbench.check.reading import read_release
from reident.workbench.check.synthetic import nearer_than_control
from reident.workbench.check.verdict import Finding, Verdict, as_option
from reident.workbench.composition import class_sizes
from reident.workbench.dataset import Dataset
from reident.workbench.evaluate import RiskReport, as_attacked, evaluate
from reident.workbench.knowledge import group_notes, population_of, price
from reident.workbench.microdata import without_geometry
from reident.workbench.opening import OpenedFile
from reident.workbench.pipeline import Release
from reident.workbench.roles import person_notes, place_columns

#: What stands for attacks that are no costly ones.
QUICK = "quick"
_TABLES = pd.DataFrame | tuple | OpenedFile
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
        Default: all that apply; "quick": all but the costly ones and measures without a verdict.
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
    limit = check_share(limit, "limit", dataset.limit)
    verdict = Verdict(
        limit, check_share(limit_attribute, "limit_attribute", limit),
        check_share(tolerate, "tolerate", dataset.tolerate),
        check_seed(seed), _sha256(release),
    )  # fmt: skip
    for name in () if attacks in (None, QUICK) else check_listed(attacks, "attacks"):
        find(name, "attack")
    is_table = release.network is None if isinstance(release, Release) else isinstance(release, _TABLES)
    if dataset.network is None or is_table:
        subject = _read_records(verdict, release, dataset, pairs, called, new, derived)
    else:
        for option, value in (("called", called), ("derived", derived)):
            if value:
                raise ParameterError(f"`{option}` must be left out: it is for tables, and the release is a network")
        verdict.declared = Declarations(new=words_of(new)).stated()
        subject = read_network(verdict, release, dataset, pairs, words_of(new))
        if subject is None:
            verdict.is_judged = False
            verdict.findings.insert(0, _NO_PAIRS)
    if subject is not None:
        _attack(verdict, attacks, dataset.weights()[1], *subject)
    return verdict


def _read_records(
    verdict: Verdict, release: Any, dataset: Dataset, pairs: Any, called: Any, new: Any, derived: Any
) -> tuple[Knowledge, dict[str, IntArray]] | None:
    """Test the declarations of a release of records along the pairs.

    Return the intruder's knowledge of it, and the numbers that hold records together; None without pairs or evidence.
    """
    read = read_release(release, dataset, pairs)
    declared = declare(read.cells, dataset, called, new, derived)
    cells, rows = without_geometry(read.cells), read.rows
    verdict.findings, verdict.notes = read.findings, read.notes
    verdict.cells, verdict.declared = read.cells, declared.stated()
    refuse_identifiers(verdict, declared, read.cells, dataset)
    if rows is None and dataset.control is not None:
        refuse_undeclared(verdict, declared, read.cells, dataset)
        for columns in filter(None, (list(dataset.data.columns), dataset.places)):
            verdict.findings += nearer_than_control(
                _called(read.cells, declared), without_geometry(dataset.data), dataset.control, columns
            )
        verdict.notes.append("Judged as a synthetic table, against a control that took no part in making it.")
        return None
    unpaired = _NO_PAIRS if rows is None else wrong_pairs(cells, rows, dataset, declared)
    if isinstance(unpaired, Finding):
        verdict.is_judged = False
        verdict.findings.insert(0, unpaired)
        refuse_undeclared(verdict, declared, read.cells, dataset)
        known = [column for column, name in declared.original.items() if name in dataset.quasi]
        verdict.classes = pd.Series(class_sizes(read.cells[known])).value_counts().sort_index()
        return None
    assert rows is not None
    if not (dataset.quasi or dataset.has_places or declared.derived):
        dataset.knowledge(np.full(len(dataset), -1))  # raises, with the columns to name
    verdict.notes += [unpaired] if unpaired else []
    if (order := order_leak(cells, rows, with_row_number(dataset.data, np.arange(len(dataset))))) is not None:
        verdict.findings.append(order)
    paired = cells[rows >= 0]
    features = Features(with_row_number(dataset.data, rows[rows >= 0]), dataset.quasi, verdict.seed)
    judge_new(verdict, paired, declared.new, features)
    refuse_undeclared(verdict, declared, paired, dataset, features)
    refused = {finding.subject for finding in verdict.findings}
    independent = [name for name in declared.new if str(name) not in refused]
    sample = paired.iloc[features.rows]
    judge_new_together(verdict, sample, independent, features.data.drop(columns="the row number"))
    compared = evidence(verdict, read.cells, rows, dataset, declared, features)
    absent = [name for name in dataset.quasi if name not in (*declared.original.values(), *compared.shown)]
    verdict.notes += [f"Not in the release, so no evidence: {', '.join(map(str, absent))}."] if absent else []
    _refuse_unasked_places(verdict, dataset, declared)
    verdict.notes += person_notes(without_geometry(dataset.data), dataset.schema.single("person"))
    if not (compared.known or compared.keys or {LAT, LON} <= set(compared.shown) or read.matrix_km is not None):
        verdict.notes.insert(0, _WORST_CASE)
        return None
    return compared.knowledge(read, rows, dataset, [_earlier(release, dataset) for release in dataset.earlier])


def _attack(verdict: Verdict, names: Any, receipt: str, known: Knowledge, keys: Mapping[str, IntArray]) -> None:
    """Add the risks by the attacks of an intruder to a verdict, and refuse those above the limit."""
    quick, limit, release = names == QUICK, verdict.limit, known.release
    report = verdict.report = evaluate(
        release, known, limit=limit, limit_attribute=verdict.limit_attribute, attacks=None if quick else names,
        keys=keys, quick=quick, seed=verdict.seed,
    )  # fmt: skip
    verdict.population = None if release.network is not None else population_of(known, report)
    verdict.knowledge = price(release, known, limit=limit)
    if report.share_above_limit > verdict.tolerate:
        most = report.frame.set_index("name").loc[report.attack]
        problem = f"{report.share_above_limit:.1%} of {len(report.persons)} have a risk above {limit:.0%}"
        problem += f", most of them by {report.attack} ({most['risk']:.1%} success)"
        remedy = "Coarsen more; reident assess looks for a release that passes."
        verdict.findings.insert(0, Finding("persons", problem, remedy))
    verdict.notes[:0] = [_WORST_CASE, *_covered(known, report)]
    verdict.notes += group_notes(known, report, verdict.population, receipt)


def _sha256(release: Any) -> str:
    path = Path(release) if isinstance(release, str | Path) else None
    return hashlib.sha256(path.read_bytes()).hexdigest() if path is not None and path.is_file() else ""


def _called(cells: Any, declared: Declarations) -> pd.DataFrame:
    """Return released cells under the original's names."""
    return pd.DataFrame(cells).rename(columns=declared.original)


def _earlier(release: Any, dataset: Dataset) -> attacked.Release:
    """Return an earlier release as attacks read it, with its pairs where it was made here."""
    read = read_release(release, dataset, None)
    table = _called(read.cells, declare(read.cells, dataset))
    indexed = table.set_axis(np.arange(len(table)) if read.rows is None else read.rows)
    return replace(as_attacked(indexed, read.method, read.options, len(dataset)), form="table")


def _covered(known: Knowledge, report: RiskReport) -> list[str]:
    """Say which persons the attacks are about."""
    notes = []
    if absent := (known.truth < 0).sum():
        notes.append(f"{absent} persons of the original are not in the release: their risk is not counted.")
    frame = report.frame
    sampled = frame[(frame["n"] < len(report.persons)) & (frame["what"] != "link")]
    if len(sampled):
        listed = ", ".join(sampled["name"] + " (" + sampled["n"].astype(str) + ")")
        notes.append(f"Run on a sample of the persons or on those whom the attack concerns: {listed}.")
    return notes


def _refuse_unasked_places(verdict: Verdict, dataset: Dataset, declared: Declarations) -> None:
    """Refuse places of the original without a role where they are released; else note them."""
    places = None if dataset.has_places else place_columns(dataset.data)
    if places is None or any(dataset.schema.columns[places[name]].role for name in ("lat", "lon")):
        return
    options = " ".join(as_option(name, places[name], listed=False) for name in ("lat", "lon"))
    crs = "" if places["crs"] == "EPSG:4326" else f" --crs {places['crs'] or 'EPSG:...'}"
    remedy = f"{options}{crs} lets them be attacked."
    if {places["lat"], places["lon"]} <= {*declared.original.values()}:
        verdict.refuse(f"{places['lat']}, {places['lon']}", "hold places, and have no role", remedy)
    else:
        verdict.notes.append(f"The original has places that are assumed unknown: {remedy}")
