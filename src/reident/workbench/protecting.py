"""The columns of a release and its manifest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import reident
from reident.base import ParameterError, Row, system_rng
from reident.methods import find
from reident.methods.release import own_numbers
from reident.workbench.files import plain_table
from reident.workbench.finishing import column_loss, with_coordinates
from reident.workbench.making import Made
from reident.workbench.microdata import LAT, LON
from reident.workbench.opening import OpenedFile
from reident.workbench.roles import propose, repeated_ids

if TYPE_CHECKING:
    from reident.workbench.dataset import Dataset

RANDOM_NUMBERS = "ChaCha20 under a key from the operating system's cryptographic generator, not kept"
#: Forms of released labels, and what they mean.
_LABELS = {
    "[a, b]": (re.compile(r"\[.*, .*\]"), "a value from a to b, both included"),
    "[a, b)": (re.compile(r"\[.*, .*\)"), "a value from a, included, to b, not included"),
    "{a, b}": (re.compile(r"\{.*\}"), "one of the values listed; three dots stand for values between them"),
    "(missing)": (re.compile(r"\(missing\)"), "the original has no value"),
    "*": (re.compile(r"\*"), "any value"),
}
#: Records beyond which losses of distances are measured on a sample.
_SAMPLE = 2000


def refuse_identifiers(dataset: Dataset, names: Sequence[str]) -> None:
    """Refuse to release identifiers: by the roles that are stated, else by those proposed."""
    plain = dataset.frame[[name for name in names if name in dataset.frame.columns]]
    proposed = propose(plain)
    for name in plain.columns:
        role, reason = proposed[name]
        if name in dataset.schema.columns and dataset.schema.columns[name].role:
            role, reason = dataset.schema.columns[name].role, "as stated"
        if role in ("identifier", "person", "free text"):
            raise ParameterError(
                f"`keep` must not name {name!r}, which tells who a record is ({role}: {reason}); "
                "`keep_identifiers` (--keep-identifiers on the command line) releases it all the same"
            )


def released_columns(dataset: Dataset, result: Made, names: Sequence[str]) -> Any:
    """Return the columns to write, named and ordered as in the file."""
    table, moved = result.table, result.places == "moved"
    listed = [name for name in table.columns if name in names]
    if hasattr(table, "to_crs"):
        geometry = table.geometry.name
        with_geometry = moved or geometry in names
        return table[[*(name for name in listed if name != geometry), *([geometry] if with_geometry else [])]]
    places, true = dataset.places, plain_table(dataset.data)
    if places is None:
        return pd.DataFrame(table[listed])
    listed = [name for name in listed if name not in (LAT, LON)]
    if moved:
        return with_coordinates(table[[*listed, LAT, LON]], true, places, dataset.crs)
    if result.places == "true" and {*places} <= {*names}:
        cells = table[listed].assign(**true.loc[table.index, [*places]])
        return cells[[name for name in true.columns if name in cells.columns]]
    return pd.DataFrame(table[listed])


def manifest_of(dataset: Dataset, result: Made, released: Any) -> Row:
    """Return the public manifest of a release."""
    opened, original = dataset.opened, plain_table(dataset.data if dataset.places else dataset.frame)
    places = [released.geometry.name] if hasattr(released, "to_crs") else [*(dataset.places or ())]
    values = [name for name in released.columns if name not in places]
    unchanged = [
        name for name in values
        if name not in result.changed or original[name].loc[released.index].equals(released[name])
    ]  # fmt: skip
    if result.places == "true":
        unchanged += [name for name in places if name in released.columns]
    columns = [str(name) for name in released.columns]
    others = set() if opened is None else set(opened.schema.columns) - set(columns)
    receipts = [] if opened is None else opened.receipts  # of released columns or the whole file, without values
    return {
        "chain": result.done,
        "records_released": len(released),
        "records_left_out": len(original) - len(released),
        "columns": columns,
        **_key(released, opened),
        "columns_released_unchanged": unchanged,
        **({"columns_declared_new": dict(dataset.schema.new)} if dataset.schema.new else {}),
        "loss": _distance_loss(plain_table(dataset.frame), result),
        "column_loss": {str(name): round(column_loss(original[name], released[name]), 3) for name in values},
        "receipts": [line for line in receipts if line.partition(": ")[0] not in others and "'" not in line],
        "random_numbers": RANDOM_NUMBERS,
        "order": "shuffled",
        "guarantee": "; then ".join(dict.fromkeys(step["guarantee"] for step in result.done))
        + _of_persons(dataset, result),
        "made_with": f"reident {reident.__version__}",
    }


def _of_persons(dataset: Dataset, result: Made) -> str:
    """Say whether the k of a guarantee holds of persons, too, in the classes of the changed columns."""
    frame, person = dataset.frame, dataset.schema.single("person")
    columns = [person] if person is not None else repeated_ids(frame)
    of_tables = [step for step in result.done if find(step["method"], "anonymiser").data == "table"]
    ks = [step["parameters"]["k"] for step in of_tables if step["parameters"].get("k", 1) > 1]
    if not columns or not ks or not result.changed:
        return ""
    codes = own_numbers(frame[columns[0]])
    if len(np.unique(codes)) == len(codes):
        return ""
    sentence = f"; k = {ks[-1]} counts records, of which one person may have several"
    classes = result.table[result.changed].astype(str).groupby(result.changed)
    if classes.size().min() < ks[-1]:  # more was changed than the columns that k is about
        return sentence
    fewest = pd.Series(codes[result.table.index], result.table.index).groupby(classes.ngroup()).nunique().min()
    return sentence + (": it holds of persons, too" if fewest >= ks[-1] else ": of persons it does not hold")


def _key(released: Any, opened: OpenedFile | None) -> Row:
    """Return the dialect of the file and the meaning of the labels that the release has."""
    cells = pd.DataFrame(released).select_dtypes(["object", "str"])
    texts = [str(cell) for name in cells for cell in pd.unique(cells[name].dropna())]
    labels = {form: meaning for form, (pattern, meaning) in _LABELS.items() if any(map(pattern.fullmatch, texts))}
    source = {} if opened is None else opened.source
    dialect = {name: source[name] for name in ("encoding", "separator", "decimal") if source.get(name)}
    return {**({"written_with": dialect} if dialect else {}), **({"labels": labels} if labels else {})}


def _distance_loss(frame: Any, result: Made) -> dict[str, float]:
    """Return the utility of distances, on a random sample of the records where there are many."""
    if result.places == "true" or len(result.table) < 3:
        return {}
    rows = np.sort(system_rng().permutation(len(result.table))[:_SAMPLE])
    neighbours, distances = result.kept_of_places(frame, rows)
    sampled = {"records_sampled": _SAMPLE} if len(rows) < len(result.table) else {}
    return {"neighbours_kept": round(neighbours, 3), "distances_kept": round(distances, 3), **sampled}
