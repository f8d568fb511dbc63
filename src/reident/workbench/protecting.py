"""Make a release of one's own file, with a manifest that may be published beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import reident
from reident.base import (
    DataError,
    ParameterError,
    check_choice,
    check_columns,
    check_flag,
    check_several,
    publish_folder,
    system_rng,
)
from reident.methods import find
from reident.methods.forms import guarantee, release
from reident.methods.given import check_public_used
from reident.networks.files import network_of_table, write_graph
from reident.networks.graph import Network
from reident.networks.perturbation import naive_anonymise
from reident.workbench.audit import audit_bytes
from reident.workbench.files import WRITTEN, plain_table, with_places, write_file
from reident.workbench.finishing import column_loss, with_coordinates
from reident.workbench.hierarchies import hierarchies_of
from reident.workbench.making import MISSING, Made, Roles, Step, make
from reident.workbench.microdata import LAT, LON, is_graph, microdata
from reident.workbench.opening import OpenedFile
from reident.workbench.readers import GEOGRAPHIC
from reident.workbench.recipe import Recipe
from reident.workbench.roles import propose, repeated_ids

__all__ = ["protect"]

#: Records beyond which losses of distances are measured on a sample.
_SAMPLE = 2000


def protect(
    data: Any,
    out: str | Path,
    *,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    quasi: str | Sequence[str] = (),
    lat: str | None = None,
    lon: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    epsilon_quasi: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    area: Any = None,
    candidates: Any = None,
    public: Mapping[str, Any] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    suffix: str | None = None,
    recipe: Recipe | None = None,
    crs: str | None = None,
    missing: str | None = None,
    household: str | None = None,
    person: str | None = None,
    keep_identifiers: bool = False,
) -> Path:
    """Write a release of the data and a public manifest into a new folder.

    One method, or the chain of a recipe. Random numbers come from ChaCha20 under a key that the operating system's
    cryptographic generator draws and that is not kept; records are shuffled and lose their index; columns that nothing
    names are left out. Columns keep their names, whole numbers stay whole, coordinates keep their digits; what is
    changed besides stands in the manifest. Before the release appears, its bytes are searched for values that no
    released cell holds (`audit_bytes`): if one is found, nothing is released. Whether the release is safe enough is not
    judged here: see `assess` and `check`.

    Parameters
    ----------
    data : DataFrame, GeoDataFrame, OpenedFile or graph
        The records; what `open_file` returned brings its receipts and its dialect along. Not modified. Of a graph,
        whatever `as_network` takes, an edge list under random numbers is released: `method` and `options` count.
    out : path
        A folder that does not exist yet; it appears only when the release is complete.
    method : str, optional
        A registered anonymiser for tables or places; left out for the chain of a recipe.
    options : mapping, optional
        Its parameters.
    quasi, lat, lon, sensitive, epsilon_quasi
        As for `assess`. Methods for numeric columns mask the numeric quasi-identifiers.
    keep : str or sequence of str
        Further columns, released as they are.
    area : polygon, optional
        For an embedding: where reference places are drawn. Required there, and public.
    candidates : DataFrame or GeoDataFrame, optional
        For swapping: a public list of places. Required there: the records' own places would be released true.
    public : mapping of str to object, optional
        Further public inputs by name; `area` and `candidates` are two of them.
    hierarchies : mapping of str to Hierarchy or to a form of one, optional
        Column -> a `Hierarchy`, the file of one, ``"prefixes"``, ``"date"`` or ``{"intervals": [5, 10]}``. Default:
        automatic ones.
    suffix : str, optional
        The kind of file: ".csv", ".parquet", ".xlsx", ".gpkg". Default: ".gpkg" for a GeoDataFrame, else ".csv".
    recipe : Recipe, optional
        What `read_recipe` returned: roles, hierarchies, gaps and the chain of methods come from it.
    crs : str, optional
        The CRS of `lat` and `lon` where they are no degrees: then they name the columns of north and east.
    missing : {"label", "wildcard", "drop", "suppress"}, optional
        What becomes of missing values in columns that are protected; default "label".
    household : str, optional
        The column whose equal values live together: members at one place are moved together, since several noisy
        copies of one place would average out.
    person : str, optional
        The column that says which records are one person's, where persons have several; default the recipe's, else a
        column that by name and values does. Methods count records: the guarantee says whether its k holds of persons.
    keep_identifiers : bool
        Whether `keep` may name columns that tell who a record is.

    Returns
    -------
    Path
        The folder, with ``release`` and ``manifest.json``, and ``distances_km.npy`` for methods that release distances
        instead of places (rows in the order of the release).

    Raises
    ------
    ParameterError
        If a name or parameter is wrong, an identifier would be released, or the folder exists already.
    DataError
        If the method cannot be applied to the data, `out` cannot be written, or the audit finds something.
    """
    of_records = {
        "quasi": quasi, "sensitive": sensitive, "epsilon_quasi": epsilon_quasi, "lat": lat, "lon": lon, "crs": crs,
        "keep": keep, "area": area, "candidates": candidates, "public": public, "hierarchies": hierarchies,
        "missing": missing, "household": household, "person": person,
    }  # fmt: skip
    if is_graph(data):
        _refuse_unused(of_records)
        return _protect_network(data, Path(out), str(method), options)
    opened = data if isinstance(data, OpenedFile) else None
    data = data if opened is None else opened.data
    if recipe is not None and recipe.ends:
        _refuse_unused(of_records)
        network = network_of_table(data, recipe.ends, recipe.file or "data")
        return _protect_network(network, Path(out), *_network_step(recipe))
    if (method is None) == (recipe is None):
        raise ParameterError("`method` or `recipe` must be given, one of them")
    steps = _steps(method, options, recipe)
    target = _absent(Path(out))
    frame, places = _placed(data, recipe, lat, lon, crs)
    suffix = check_choice(suffix or (".gpkg" if hasattr(frame, "to_crs") else ".csv"), "suffix", WRITTEN)
    missing = check_choice(missing or (recipe.missing_values if recipe else "label"), "missing", tuple(MISSING))
    inputs = {name: value for name, value in {"area": area, "candidates": candidates}.items() if value is not None}
    roles, others = _roles(frame, recipe, quasi, epsilon_quasi, sensitive, household, keep, places)
    trees = {**(recipe.hierarchies() if recipe else {}), **(hierarchies or {})}
    roles = replace(roles, hierarchies=hierarchies_of(trees, frame), public={**inputs, **(public or {})})
    check_public_used(roles.public, [step.entry for step in steps])
    _refuse_identifiers(frame, others, recipe, allowed=check_flag(keep_identifiers, "keep_identifiers"))
    whose = _whose(frame, person or (recipe.first("person") if recipe else None))
    made = make(frame, steps, roles, missing=missing)
    named = [*roles.known, *others]
    released = _columns(frame, made, named, places)
    order = system_rng().permutation(len(released))
    shuffled = released.iloc[order].reset_index(drop=True)
    original = frame if places is None else _true_columns(frame, places)
    manifest = _manifest(frame, original, made, released, places, opened)
    manifest["guarantee"] += _of_persons(made, whose)
    if suffix in GEOGRAPHIC and not hasattr(shuffled, "to_crs"):
        manifest["receipts"].append(f"no place is released: a CSV file, not {suffix}")
        suffix = ".csv"
    matrix = None if made.matrix_km is None else made.matrix_km[np.ix_(order, order)]
    dialect = None if opened is None else opened.source

    def fill(folder: Path) -> None:
        manifest["receipts"] += write_file(shuffled, folder / f"release{suffix}", dialect)
        if matrix is not None:
            np.save(folder / "distances_km.npy", matrix, allow_pickle=False)
        _write_manifest(manifest, folder)
        _refuse_leaks(folder, original, shuffled, manifest["columns_released_unchanged"], places)

    publish_folder(target, fill)
    return target


def _refuse_unused(options: Mapping[str, Any]) -> None:
    """Refuse options that say something of records where relations are released."""
    for name, value in options.items():
        if value is not None and not (hasattr(value, "__len__") and len(value) == 0):
            raise ParameterError(f"`{name}` must be left out for a network: it says something of records")


def _absent(target: Path) -> Path:
    if target.exists():
        raise ParameterError(f"`out` must not exist yet, got {str(target)!r}: a release is never overwritten")
    return target


def _network_step(recipe: Recipe) -> tuple[str, Mapping[str, Any]]:
    """Return the method of a recipe for a network, and its parameters."""
    steps = list(recipe.steps())
    if len(steps) != 1 or steps[0][0].data != "network":
        named = [entry.name for entry, _, _ in steps]
        raise ParameterError(f"`chain` must have one step, a method for networks, where columns are nodes, got {named}")
    return steps[0][0].name, steps[0][1]


def _protect_network(graph: Any, out: Path, method: str, options: Mapping[str, Any] | None) -> Path:
    """Release a network as an edge list under random numbers, made by the way that all releases go."""
    target, entry = _absent(out), find(method, "anonymiser")
    settings = entry.check(options or {})
    made = release(microdata(graph, quasi=(), kind="network"), entry.name, settings, rng=system_rng())
    assert isinstance(made.network, Network)
    renamed = naive_anonymise(made.network, rng=system_rng()).network
    manifest = {
        "method": entry.name,
        "call": entry.call,
        "source": entry.source,
        "parameters": {name: value for name, value in settings.items() if value is not None},
        "nodes_released": renamed.n_nodes,
        "edges_released": renamed.n_edges,
        "random_numbers": "ChaCha20 under a key from the operating system's cryptographic generator, not kept",
        "order": "nodes renamed at random",
        "guarantee": guarantee(entry, settings),
        "made_with": f"reident {reident.__version__}",
    }

    def fill(folder: Path) -> None:
        write_graph(renamed, folder / "release.csv")
        _write_manifest(manifest, folder)

    publish_folder(target, fill)
    return target


def _write_manifest(manifest: Mapping[str, Any], folder: Path) -> None:
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _steps(method: str | None, options: Mapping[str, Any] | None, recipe: Recipe | None) -> list[Step]:
    if recipe is None:
        entry = find(str(method), "anonymiser")
        return [Step(entry, entry.check(options or {}))]
    steps = [Step(entry, entry.check(parameters), columns) for entry, parameters, columns in recipe.steps()]
    if not steps:
        raise ParameterError("`chain` of the recipe must have at least one step: `assess` advises some")
    return steps


def _placed(
    data: Any, recipe: Recipe | None, lat: str | None, lon: str | None, crs: str | None
) -> tuple[Any, dict[str, Any] | None]:
    """Return the records with ``lat_deg`` and ``lon_deg``, and which columns of the file these are."""
    told = None if recipe is None else recipe.places
    if told is not None and lat is None and lon is None:
        lat, lon, crs = told["lat"], told["lon"], told.get("crs")
    if lat is None and lon is None and not hasattr(data, "to_crs") and {LAT, LON} <= set(getattr(data, "columns", ())):
        lat, lon = LAT, LON
    frame = plain_table(with_places(data, lat, lon, crs, (told or {}).get("impossible", "leave out")))
    frame = frame.set_axis(np.arange(len(frame)), axis=0)
    if lat is None or lon is None:
        return frame, None
    source = plain_table(data)
    return frame, {
        "lat": lat,
        "lon": lon,
        "crs": crs,
        "true": source[[lat, lon]].set_axis(frame.index),
        "order": [*source],
    }


def _roles(
    frame: Any,
    recipe: Recipe | None,
    quasi: Any,
    epsilon_quasi: Any,
    sensitive: Any,
    household: str | None,
    keep: Any,
    places: dict[str, Any] | None,
) -> tuple[Roles, list[str]]:
    """Return the roles, and the columns that are released beside the protected ones."""
    if recipe is not None:
        out = set(check_columns(frame, recipe.withhold, "withhold", table_name="data", min_columns=0))
        secret = [name for name in recipe.named("sensitive") if name not in out]
        named = [name for name in recipe.named("quasi-identifier") if name in frame.columns]
        quasi = [name for name in check_several(quasi, "quasi") or named if name not in out]
        keep = keep or [*secret, *recipe.keep]
        sensitive = sensitive or secret
        household = household or recipe.first("household")
    own = [] if places is None else [places["lat"], places["lon"]]
    keep = [keep] if isinstance(keep, str) else list(keep)
    aside = [name for name in keep if name not in own]
    listed = check_columns(frame, quasi, "quasi", table_name="data", min_columns=0)
    noisy = check_columns(frame, epsilon_quasi, "epsilon_quasi", table_name="data", min_columns=0)
    others = check_columns(frame, aside, "keep", table_name="data", min_columns=0)
    named = check_columns(frame, [] if sensitive is None else sensitive, "sensitive", table_name="data", min_columns=0)
    others += named
    if household is not None:
        check_columns(frame, [household], "household", table_name="data")
    others += [name for name in keep if name in own]
    first = min(named, key=lambda name: frame[name].nunique(), default=None)
    return Roles(listed, noisy, first, household), list(dict.fromkeys(others))


def _whose(frame: Any, person: str | None) -> pd.Series | None:
    """Return which person each record is of, where persons have several; who is missing is a person each."""
    named = check_columns(frame, [] if person is None else [person], "person", table_name="data", min_columns=0)
    found = named or repeated_ids(pd.DataFrame(frame))
    if not found:
        return None
    codes = pd.Series(pd.factorize(frame[found[0]])[0], index=frame.index)
    nobody = codes < 0
    codes[nobody] = codes.max() + 1 + np.arange(nobody.sum())
    return codes if codes.nunique() < len(codes) else None


def _of_persons(made: Made, whose: pd.Series | None) -> str:
    """Say whether the k of a guarantee holds of persons, too, in the classes of what was changed."""
    of_tables = [step for step in made.done if find(step["method"], "anonymiser").data == "table"]
    ks = [step["parameters"]["k"] for step in of_tables if step["parameters"].get("k", 1) > 1]
    if whose is None or not ks or not made.changed:
        return ""
    classes = pd.DataFrame(made.table)[made.changed].astype(str).groupby(made.changed)
    fewest = int(whose.loc[made.table.index].groupby(classes.ngroup()).nunique().min())
    told = f"; k = {ks[-1]} counts records, of which one person may have several"
    if int(classes.size().min()) < ks[-1]:  # more was changed than the columns that k is about
        return told
    return told + (": it holds of persons, too" if fewest >= ks[-1] else ": of persons it does not hold")


def _refuse_identifiers(frame: Any, others: list[str], recipe: Recipe | None, *, allowed: bool) -> None:
    """Refuse to release who a record is: by the recipe's roles, else by what names and values propose."""
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
        if recipe is not None and name in recipe.columns:
            role, reason = recipe.columns[name].get("role", role), "by the recipe"
        if role in ("identifier", "person", "free text"):
            raise ParameterError(
                f"`keep` must not name {name!r}, which tells who a record is ({role}: {reason}); "
                "`keep_identifiers` (--keep-identifiers on the command line) releases it all the same"
            )


def _columns(frame: Any, made: Made, named: list[str], places: dict[str, Any] | None) -> Any:
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
        kept = table.drop(columns=[LAT, LON]).assign(**{name: true[name] for name in true.columns})
        return kept[[name for name in places["order"] if name in kept.columns]]
    return with_coordinates(table, _true_columns(frame, places), places)


def _true_columns(frame: pd.DataFrame, places: Mapping[str, Any]) -> pd.DataFrame:
    """Return the original with its own coordinate columns."""
    rest = frame.drop(columns=[LAT, LON])
    return rest.assign(**{name: places["true"][name] for name in places["true"].columns})[places["order"]]


def _same(before: Any, after: Any) -> bool:
    """Tell whether a method left every released value of a column as it was, such as swaps of less than one rank."""
    return bool(before.loc[after.index].reset_index(drop=True).equals(after.reset_index(drop=True)))


def _manifest(
    frame: Any, original: Any, made: Made, released: Any, places: dict[str, Any] | None, opened: OpenedFile | None
) -> dict[str, Any]:
    """Return what may be published about the release."""
    geometry = [released.geometry.name] if hasattr(released, "to_crs") else []
    own = geometry + ([] if places is None else [places["lat"], places["lon"]])
    values = [name for name in released.columns if name not in own]
    unchanged = [name for name in values if name not in made.changed or _same(original[name], released[name])]
    if made.places == "true":
        unchanged += [name for name in own if name in released.columns]
    losses = {
        str(name): round(column_loss(original[name], released[name]), 3) for name in released.columns if name not in own
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
        "columns_released_unchanged": unchanged,
        "missing_values": {name: value for step in made.done for name, value in step.get("cells_missing", {}).items()},
        "loss": {**_method_loss(made), **_distance_loss(frame, made)},
        "column_loss": losses,
        "receipts": [] if opened is None else _receipts(opened, list(map(str, released.columns))),
        "random_numbers": "ChaCha20 under a key from the operating system's cryptographic generator, not kept",
        "order": "shuffled",
        "guarantee": "; then ".join(dict.fromkeys(step["guarantee"] for step in made.done)),
        "made_with": f"reident {reident.__version__}",
    }


def _receipts(opened: OpenedFile, columns: list[str]) -> list[str]:
    """Return the receipts of reading that concern released columns or the whole file, without values."""
    named = set(opened.columns["column"])
    return [line for line in opened.receipts if line.partition(": ")[0] not in named - set(columns) and "'" not in line]


def _method_loss(made: Made) -> dict[str, float]:
    found: dict[str, float] = {}
    for step in made.steps:
        losses = getattr(step.made, "losses", None) or {"information": getattr(step.made, "information_loss", None)}
        found |= {f"{name}_loss": round(float(value), 4) for name, value in losses.items() if value is not None}
    return found


def _distance_loss(frame: Any, made: Made) -> dict[str, float]:
    """Return what distances kept, on a random sample of the records where there are many."""
    if made.places == "true" or len(made.table) < 3:
        return {}
    rows = np.sort(system_rng().permutation(len(made.table))[:_SAMPLE])
    neighbours, distances = made.kept_of_places(frame, rows)
    return {
        "neighbours_kept": round(neighbours, 3),
        "distances_kept": round(distances, 3),
        **({"records_sampled": _SAMPLE} if len(rows) < len(made.table) else {}),
    }


def _refuse_leaks(
    folder: Path, original: Any, release: Any, unchanged: list[str], places: dict[str, Any] | None
) -> None:
    named = {} if places is None else {"lat": places["lat"], "lon": places["lon"]}
    found = audit_bytes(folder, original, release, unchanged=[c for c in unchanged if c in original.columns], **named)
    if found:
        told = "; ".join(finding.sentence for finding in found[:5])
        raise DataError(f"nothing was released, since the audit found what no release should hold: {told}")
