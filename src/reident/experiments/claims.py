"""Read the claims of the documents: tables and sentences, each with its rule and the day it was fixed."""

import itertools
from dataclasses import dataclass, field, fields
from typing import Any

import yaml

from reident.base import DataError, Row, check_choice
from reident.data._yaml import read_yaml
from reident.data.datasets import data_folder
from reident.experiments.decide import SCHEDULE

KINDS = ("table", "sentence", "exact")
FORMS = ("rises", "falls", "constant", "difference", "level")


@dataclass(frozen=True)
class Claim:
    """A claim of a document with the rule by which it is judged, an entry of ``data/published/<stem>.yaml``."""

    #: The claim, in a few words; unique in its document.
    item: str
    #: "table": means, judged by margins; "sentence": contrasts; "exact": a number that is met exactly or not at all.
    kind: str
    place: str = ""  # where it stands in the document
    #: The day on which rule and margin were fixed, with what had been seen of earlier runs by then.
    since: str = ""
    #: Of a table: ``data/published/<stem>_<table>.csv`` and its column. Without `table`: a single number, `published`,
    #: or cells that the notebook transforms and hands to `compare`.
    table: str = ""
    value: str = ""
    measure: str = ""  # the column of the trials; by default `value`
    cells: list[str] = field(default_factory=list)  # columns that name a cell, in the trials and in the table
    where: str = ""  # a pandas query on these columns that selects cells
    #: Of a single number or an exact claim: what the document says. Of a sentence: a number that it names.
    published: Any = None
    design: dict[str, float] = field(default_factory=dict)  # ``datasets`` and ``repetitions`` behind the numbers
    unit: float = 0.0  # one unit of the last printed digit
    margin: float = 0.0  # largest deviation that does not matter,
    reason: str = ""  # and why
    #: Of a sentence about a measure: ``form`` (rises, falls, constant, difference, level), ``along`` (a column),
    #: ``each`` (columns: at each of their values; all others are averaged over), for a difference ``high``, ``low``.
    effect: Row = field(default_factory=dict)
    #: Of a difference, or of effects that the notebook computes: low and high, where all contrasts must lie.
    limits: list[float] = field(default_factory=list)
    #: Data sets (without data sets: repetitions) at each look.
    schedule: list[int] = field(default_factory=lambda: list(SCHEDULE))
    data: str = "simulated"  # that of our trials: "own", "public" or "simulated"
    algorithm: str = ""  # that of our trials, where the document has several or another
    calibrated: str = ""  # what of the reproduction was fitted to the published numbers
    needs: str = ""  # data that cannot be had; without a result the claim is then not comparable
    erratum: int = 0  # number of the erratum by which the document contradicts itself
    note: str = ""  # a remark for the reader
    #: A sentence for README, filled from the claim's row of ``claims.csv``: ``"... {reproduced:.2f} ..."``.
    headline: str = ""
    stem: str = ""  # of the document's files


def claims(stem: str) -> list[Claim]:
    """Return the claims of a document.

    Parameters
    ----------
    stem : str
        The document's or the part's file in ``data/published``, such as ``"kroll2015"``.

    Returns
    -------
    list of Claim

    Raises
    ------
    ParameterError, DataError
        If there is no such file, an entry is unknown, a table has no margin with a reason, or a claim no day.
    """
    folder = data_folder() / "published"
    check_choice(stem, "stem", sorted(file.stem for file in folder.glob("*.yaml")))
    file = folder / f"{stem}.yaml"
    try:
        content = read_yaml(file.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise DataError(f"{file.name} must be YAML: {error}") from error
    common = content.get("defaults", {})
    read = [
        _claim({**common, **entry, "stem": content.get("document", stem)}, file.name) for entry in content["claims"]
    ]
    for a, b in itertools.pairwise(sorted(claim.item for claim in read)):
        if a == b:
            raise DataError(f"{file.name}: each claim needs a name of its own, got {a!r} twice")
    return read


def _claim(entry: Row, file: str) -> Claim:
    """Return the claim of one entry, or raise `DataError`."""
    name = entry.get("item", "a claim without `item`")
    if unknown := entry.keys() - {field.name for field in fields(Claim)}:
        raise DataError(f"{file}, {name}: `{min(unknown)}` is no entry of a claim")
    claim = Claim(**{**entry, "since": str(entry.get("since", ""))})
    is_number, is_table = isinstance(claim.published, int | float), claim.kind == "table"
    has_design = {*claim.design} == {"datasets", "repetitions"}
    rules = {
        f"`kind` must be one of {', '.join(KINDS)}": claim.kind in KINDS,
        "`since` must say on which day the rule was fixed": claim.since,
        "`margin` must be above 0 and `reason` must say why": not is_table or (claim.margin > 0 and claim.reason),
        "`design` must give `datasets` and `repetitions`": not is_table or has_design,
        "`value` with `cells`, or a number `published`": not is_table or (claim.value and claim.cells) or is_number,
        f"`effect: form` must be one of {', '.join(FORMS)}": not claim.effect or claim.effect.get("form") in FORMS,
        "`published` must be what the document says": claim.kind != "exact" or claim.published is not None,
    }
    for rule, holds in rules.items():
        if not holds:
            raise DataError(f"{file}, {name}: {rule}")
    return claim
