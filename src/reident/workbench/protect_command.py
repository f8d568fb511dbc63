"""The command that makes a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from reident.workbench import command_options as common

__all__ = ["protect"]


def protect(
    file: Annotated[Path | None, typer.Argument(help="The file; default: the one that the recipe names.")] = None,
    out: Annotated[Path, typer.Option(help="The folder to create: the release and its public manifest.")] = Path(
        "release"
    ),
    method: Annotated[str | None, typer.Option(help="A method's name; reident methods lists them.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe with a chain of methods, instead of a method.")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the method, such as sigma_deg=0.05; repeatable.")
    ] = None,
    quasi: common.Quasi = "",
    lat: common.Lat = None,
    lon: common.Lon = None,
    sensitive: common.Sensitive = "",
    epsilon_quasi: common.Epsilon = "",
    keep: Annotated[str, typer.Option(help="Further columns to release as they are, separated by commas.")] = "",
    area: common.Area = None,
    candidates: common.Candidates = None,
    public: common.Public = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(help="How a column coarsens: age=5,10,20, zip=prefixes, born=date, job=FILE.csv; repeatable."),
    ] = None,
    missing_values: Annotated[
        str | None, typer.Option(help="What becomes of gaps: label (default), wildcard, drop or suppress.")
    ] = None,
    household: Annotated[str | None, typer.Option(help="Column of households: moved together.")] = None,
    person: common.Person = None,
    crs: common.Crs = None,
    ends: common.Ends = "",
    names: common.Names = "",
    keep_identifiers: Annotated[
        bool, typer.Option("--keep-identifiers", help="Release even columns that tell who a record is.")
    ] = False,
) -> None:
    """Make a release of your own data: protected, shuffled, with a manifest that may be published.

    Columns that no option names are left out. Random numbers come from the operating system and are not kept. With a
    method for networks the file is an edge list (or GraphML, GEXF, GML, Pajek).
    """
    from reident.base import ParameterError
    from reident.methods import find
    from reident.workbench.files import WRITTEN
    from reident.workbench.hierarchies import read_form
    from reident.workbench.protecting import protect as run

    entry = find(method, "anonymiser") if method else None
    options = None if entry is None else dict(_option(entry, text) for text in option or [])
    of_records: dict[str, Any] = {
        "hierarchies": dict(map(read_form, hierarchy or [])), "missing": missing_values, "household": household,
        "person": person, "crs": crs, "quasi": common.listed(quasi), "lat": lat, "lon": lon,
        "sensitive": common.listed(sensitive), "epsilon_quasi": common.listed(epsilon_quasi),
        "keep": common.listed(keep), "public": common.public_inputs(area, candidates, public, lat, lon),
    }  # fmt: skip
    if entry is not None and entry.data == "network":
        if file is None:
            raise ParameterError(f"`file` must be given: {method} protects the network in it")
        network = common.network_file(file, ends, names)
        _tell_network(run(network, out, method=method, options=options, **of_records))
        return
    if ends:
        raise ParameterError(f"`ends` must be left out where no network is released, got {ends!r}")
    opened, told = common.open_or_recipe(file, recipe, names=common.listed(names))
    if recipe is not None and told.ends:
        _tell_network(run(opened, out, recipe=told, **of_records))
        return
    suffix = f".{opened.source['kind']}" if f".{opened.source['kind']}" in WRITTEN else ".csv"
    made = run(
        opened, out, method=method, recipe=None if recipe is None else told, options=options,
        keep_identifiers=keep_identifiers, suffix=suffix, **of_records,
    )  # fmt: skip
    _tell(made, opened)
    _say_where(made)


def _tell_network(made: Path) -> None:
    told = json.loads((made / "manifest.json").read_text(encoding="utf-8"))
    given = ", ".join(f"{name}={value}" for name, value in told["parameters"].items())
    print(f"{told['method']}: {given}\n{told['nodes_released']} nodes, {told['edges_released']} edges released")
    print(f"guaranteed: {told['guarantee']}")
    _say_where(made)


def _say_where(made: Path) -> None:
    print(f"release: {made.resolve()}: {', '.join(sorted(path.name for path in made.iterdir()))}")


def _tell(made: Path, opened: Any) -> None:
    """Print what a release did, what it dropped, and what each column lost."""
    manifest = json.loads((made / "manifest.json").read_text(encoding="utf-8"))
    for step in manifest.get("chain") or [manifest]:
        given = ", ".join(f"{name}={value}" for name, value in step["parameters"].items())
        print(f"{step['method']}: {given}")
    print(f"guaranteed: {manifest['guarantee']}")
    print(f"{manifest['records_released']} of {len(opened.data)} records released")
    for step in manifest["left_out_because"]:
        if step["records_left_out"]:
            place = (
                f", {step['records_without_place']} for want of a place" if step.get("records_without_place") else ""
            )
            print(f"  {step['records_left_out']} left out by {step['method']}{place}")
    dropped = [name for name in opened.columns["column"] if name not in manifest["columns"]]
    print(f"columns left out: {', '.join(dropped) or 'none'}")
    print("lost of each column (0 nothing, 1 all):")
    for name, lost in manifest["column_loss"].items():
        unchanged = "  as it was" if name in manifest["columns_released_unchanged"] else ""
        print(f"  {name:<24} {lost:.2f}{unchanged}")
    for name in ("neighbours_kept", "distances_kept"):
        if name in manifest["loss"]:
            print(f"  {name.replace('_', ' ')}: {manifest['loss'][name]}")
    for receipt in manifest["receipts"]:
        print(f"  changed: {receipt}")


def _option(entry: Any, text: str) -> tuple[str, Any]:
    """Read ``name=value`` by the type that the registry gives the parameter."""
    name, value = common.parted(text, "--set", "name=value")
    return name, None if value.lower() == "none" else entry.parameter(name).read(value)
