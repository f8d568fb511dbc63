"""Write a release: its columns, its manifest, its folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import reident
from reident.base import ParameterError, system_rng
from reident.methods import find
from reident.workbench.finishing import column_loss, with_coordinates
from reident.workbench.making import Made
from reident.workbench.microdata import LAT, LON
from reident.workbench.opening import OpenedFile
from reident.workbench.roles import propose, repeated_ids

if TYPE_CHECKING:
    from reident.workbench.dataset import Dataset
    from reident.workbench.schema import Schema

__all__ = ["manifest_of", "refuse_identifiers", "released_columns", "says_of_persons"]

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


def _whose(frame: Any, person: str | None) -> pd.Series | None:
    """Return the person of each record, None if each has one; a record without a value is a person of its own."""
    columns = [person] if person is not None else repeated_ids(pd.DataFrame(frame))
    if not columns:
        return None
    codes = pd.Series(pd.factorize(frame[columns[0]])[0], index=frame.index)
    unknown = codes < 0
    codes[unknown] = codes.max() + 1 + np.arange(unknown.sum())
    return codes if codes.nunique() < len(codes) else None


def says_of_persons(frame: Any, made: Made, person: str | None) -> str:
    """Say whether the k of a guarantee holds of persons, too, in the classes of the changed columns."""
    whose = _whose(frame, person)
    of_tables = [step for step in made.done if find(step["method"], "anonymiser").data == "table"]
    ks = [step["parameters"]["k"] for step in of_tables if step["parameters"].get("k", 1) > 1]
    if whose is None or not ks or not made.changed:
        return ""
    classes = pd.DataFrame(made.table)[made.changed].astype(str).groupby(made.changed)
    fewest = int(whose.loc[made.table.index].groupby(classes.ngroup()).nunique().min())
    sentence = f"; k = {ks[-1]} counts records, of which one person may have several"
    if int(classes.size().min()) < ks[-1]:  # more was changed than the columns that k is about
        return sentence
    return sentence + (": it holds of persons, too" if fewest >= ks[-1] else ": of persons it does not hold")


def refuse_identifiers(frame: Any, others: list[str], schema: Schema, *, allowed: bool) -> None:
    """Refuse to release identifiers: by the recipe's roles, else by the proposed ones."""
    plain = pd.DataFrame(frame)[[name for name in others if name in frame.columns]]
    types = {
        name: "integer" if pd.api.types.is_integer_dtype(plain[name])
        else "number" if pd.api.types.is_numeric_dtype(plain[name])
        else "date" if pd.api.types.is_datetime64_any_dtype(plain[name]) else "text"
        for name in plain.columns
    }  # fmt: skip
    proposed = propose(plain, types, None)
    for name in [] if allowed else plain.columns:
        role, reason = proposed[name]
        if name in schema.columns and schema.columns[name].role:
            role, reason = schema.columns[name].role, "as stated"
        if role in ("identifier", "person", "free text"):
            raise ParameterError(
                f"`keep` must not name {name!r}, which tells who a record is ({role}: {reason}); "
                "`keep_identifiers` (--keep-identifiers on the command line) releases it all the same"
            )


def released_columns(frame: Any, made: Made, named: list[str], places: dict[str, Any] | None) -> Any:
    """Return the columns to write, named and ordered as in the file."""
    geometry = frame.geometry.name if hasattr(frame, "to_crs") else None
    listed = [name for name in frame.columns if name in named]
    kept_places = places is not None and {places["lat"], places["lon"]} <= set(named)
    if geometry is not None:
        with_geometry = made.places == "moved" or geometry in named
        return made.table[[*(name for name in listed if name != geometry), *([geometry] if with_geometry else [])]]
    if places is None or not (made.places == "moved" or (kept_places and made.places == "true")):
        return pd.DataFrame(made.table[[name for name in listed if name not in (LAT, LON) or places is None]])
    table = made.table[[*(name for name in listed if name not in (LAT, LON)), LAT, LON]]
    if made.places == "true":
        true = places["true"].loc[table.index]
        unmasked = table.drop(columns=[LAT, LON]).assign(**{name: true[name] for name in true.columns})
        return unmasked[[name for name in places["order"] if name in unmasked.columns]]
    return with_coordinates(table, _true_columns(frame, places), places)


def _true_columns(frame: pd.DataFrame, places: Mapping[str, Any]) -> pd.DataFrame:
    """Return the original with its own coordinate columns."""
    rest = frame.drop(columns=[LAT, LON])
    return rest.assign(**{name: places["true"][name] for name in places["true"].columns})[places["order"]]


def _same(before: Any, after: Any) -> bool:
    """Tell whether a method left every released value of a column as it was, such as swaps of less than one rank."""
    return bool(before.loc[after.index].reset_index(drop=True).equals(after.reset_index(drop=True)))


def manifest_of(
    frame: Any, dataset: Dataset, made: Made, released: Any, places: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the public manifest of the release."""
    original = frame if places is None else _true_columns(frame, places)
    opened = dataset.opened
    geometry = [released.geometry.name] if hasattr(released, "to_crs") else []
    place_columns = geometry + ([] if places is None else [places["lat"], places["lon"]])
    values = [name for name in released.columns if name not in place_columns]
    unchanged = [name for name in values if name not in made.changed or _same(original[name], released[name])]
    if made.places == "true":
        unchanged += [name for name in place_columns if name in released.columns]
    losses = {
        str(name): round(column_loss(original[name], released[name]), 3)
        for name in released.columns
        if name not in place_columns
    }
    single = made.done[0] if len(made.done) == 1 else {}
    return {
        **{name: single[name] for name in ("method", "call", "source", "parameters") if name in single},
        **({} if single else {"chain": made.done}),
        "records_released": len(released),
        "records_left_out": len(frame) - len(released),
        "left_out_because": [
            {name: step[name] for name in ("method", "records_without_place", "records_left_out") if name in step}
            for step in made.done
        ],
        "columns": [str(column) for column in released.columns],
        **_key(released, opened),
        "columns_released_unchanged": unchanged,
        **({"columns_declared_new": dict(dataset.schema.new)} if dataset.schema.new else {}),
        "missing_values": {name: value for step in made.done for name, value in step.get("cells_missing", {}).items()},
        "loss": {**_method_loss(made), **_distance_loss(frame, made)},
        "column_loss": losses,
        "receipts": [] if opened is None else _receipts(opened, list(map(str, released.columns))),
        "random_numbers": "ChaCha20 under a key from the operating system's cryptographic generator, not kept",
        "order": "shuffled",
        "guarantee": "; then ".join(dict.fromkeys(step["guarantee"] for step in made.done)),
        "made_with": f"reident {reident.__version__}",
    }


def _key(released: Any, opened: OpenedFile | None) -> dict[str, Any]:
    """Return the dialect of the file and the meaning of the labels that the release has."""
    cells = pd.DataFrame(released).select_dtypes(["object", "str"])
    texts = [str(cell) for name in cells for cell in pd.unique(cells[name].dropna())]
    labels = {form: meaning for form, (pattern, meaning) in _LABELS.items() if any(map(pattern.fullmatch, texts))}
    written = {} if opened is None else {name: opened.source.get(name) for name in ("encoding", "separator", "decimal")}
    written = {name: value for name, value in written.items() if value}
    return {**({"written_with": written} if written else {}), **({"labels": labels} if labels else {})}


def _receipts(opened: OpenedFile, columns: list[str]) -> list[str]:
    """Return the receipts of reading that concern released columns or the whole file, without values."""
    names = set(opened.schema.columns)
    return [line for line in opened.receipts if line.partition(": ")[0] not in names - set(columns) and "'" not in line]


def _method_loss(made: Made) -> dict[str, float]:
    method_losses: dict[str, float] = {}
    for step in made.steps:
        losses = getattr(step.returned, "losses", None) or {
            "information": getattr(step.returned, "information_loss", None)
        }
        method_losses |= {f"{name}_loss": round(float(value), 4) for name, value in losses.items() if value is not None}
    return method_losses


def _distance_loss(frame: Any, made: Made) -> dict[str, float]:
    """Return the utility of distances, on a random sample of the records where there are many."""
    if made.places == "true" or len(made.table) < 3:
        return {}
    rows = np.sort(system_rng().permutation(len(made.table))[:_SAMPLE])
    neighbours, distances = made.kept_of_places(frame, rows)
    return {
        "neighbours_kept": round(neighbours, 3),
        "distances_kept": round(distances, 3),
        **({"records_sampled": _SAMPLE} if len(rows) < len(made.table) else {}),
    }
