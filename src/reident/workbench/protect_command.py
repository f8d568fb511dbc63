"""The command that makes a release."""

from __future__ import annotations

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
    method for networks the file is an edge list (or GraphML, GEXF, GML).
    """
    from dataclasses import replace

    from reident.base import ParameterError
    from reident.methods import find
    from reident.workbench.dataset import Dataset, dataset_of
    from reident.workbench.hierarchies import read_form
    from reident.workbench.pipeline import Pipeline, Step
    from reident.workbench.pipeline import protect as run
    from reident.workbench.recipe import recipe_of

    if (method is None) == (recipe is None):
        raise ParameterError("`method` or `recipe` must be given, one of them")
    entry = find(method, "anonymiser") if method else None
    options = {} if entry is None else dict(_option(entry, text) for text in option or [])
    of_records = {
        "quasi": quasi, "sensitive": sensitive, "epsilon_quasi": epsilon_quasi, "lat": lat, "lon": lon, "crs": crs,
        "keep": keep, "area": area, "candidates": candidates, "public": public, "hierarchies": hierarchy,
        "missing": missing_values, "household": household, "person": person,
    }  # fmt: skip
    if entry is not None and entry.data == "network":
        if file is None:
            raise ParameterError(f"`file` must be given: {method} protects the network in it")
        _refuse_unused(of_records)
        network = Dataset(common.network_file(file, ends, names))
        _tell_network(run(network, Step.of(entry, entry.check(options))), out)
        return
    if ends:
        raise ParameterError(f"`ends` must be left out where no network is released, got {ends!r}")
    opened, told = common.open_or_recipe(file, recipe, names=common.listed(names))
    if recipe is not None and told.ends:
        _refuse_unused(of_records)
        _tell_network(run(dataset_of(opened, told), told), out)
        return
    more: dict[str, Any] = {
        "hierarchies": dict(map(read_form, hierarchy or [])),
        "epsilon_quasi": common.listed(epsilon_quasi),
        "public": common.public_inputs(area, candidates, public, lat, lon),
    }
    kept = common.listed(keep)
    if entry is None:
        dataset, pipeline = dataset_of(opened, told, **more), Pipeline.of(told)
    else:
        plain = replace(recipe_of(opened, str(file)), columns={}, places=None)
        dataset, pipeline = dataset_of(opened, plain, **more), Pipeline([Step.of(entry, entry.check(options))])
    stated = {
        "quasi": common.listed(quasi) or None, "sensitive": common.listed(sensitive) or None, "household": household,
        "person": person,
    }  # fmt: skip
    given: dict[str, Any] = {name: value for name, value in stated.items() if value is not None}
    dataset = dataset.with_roles(**given, lat=lat, lon=lon, crs=crs) if given or lat or lon or crs else dataset
    policy = missing_values or pipeline.missing
    pipeline = replace(pipeline, missing=policy, keep=list(dict.fromkeys([*pipeline.keep, *kept])))
    release = run(dataset, pipeline, keep_identifiers=keep_identifiers)
    _tell(release.manifest, opened)
    _say_where(release.save(out))


def _refuse_unused(options: dict[str, Any]) -> None:
    """Refuse options that say something of records where relations are released."""
    from reident.base import ParameterError

    for name, value in options.items():
        if value:
            raise ParameterError(f"`{name}` must be left out for a network: it says something of records")


def _tell_network(release: Any, out: Path) -> None:
    told = release.manifest
    given = ", ".join(f"{name}={value}" for name, value in told["parameters"].items())
    print(f"{told['method']}: {given}\n{told['nodes_released']} nodes, {told['edges_released']} edges released")
    print(f"guaranteed: {told['guarantee']}")
    _say_where(release.save(out))


def _say_where(made: Path) -> None:
    from reident.workbench.pipeline import pairs_path

    print(f"release: {made.resolve()}: {', '.join(sorted(path.name for path in made.iterdir()))}")
    print(f"pairs of records, confidential, for reident check: {pairs_path(made)}")


def _tell(manifest: Any, opened: Any) -> None:
    """Print what a release did, what it dropped, and what each column lost."""
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
