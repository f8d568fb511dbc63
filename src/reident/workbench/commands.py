"""The commands for one's own data: assess and protect. Everything heavy is imported inside them."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["add_commands"]

File = Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Excel, GeoPackage, GeoJSON or shapefile.")]
Quasi = Annotated[str, typer.Option(help="Columns that an intruder may know, separated by commas.")]
Lat = Annotated[str | None, typer.Option(help="Column of latitudes, decimal degrees.")]
Lon = Annotated[str | None, typer.Option(help="Column of longitudes, decimal degrees.")]
Sensitive = Annotated[str | None, typer.Option(help="Column whose value must not become known.")]
Epsilon = Annotated[str, typer.Option(help="Numeric columns that may get noise inside classes, separated by commas.")]


def add_commands(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command()(assess)
    app.command()(protect)
    app.command()(methods)


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def assess(
    file: File,
    out: Annotated[Path, typer.Option(help="The folder for the report, its tables and figures.")],
    quasi: Quasi = "",
    lat: Lat = None,
    lon: Lon = None,
    sensitive: Sensitive = None,
    epsilon_quasi: Epsilon = "",
    network: Annotated[Path | None, typer.Option(help="Edge list of the persons' relations (columns u, v).")] = None,
    limit: Annotated[float, typer.Option(help="The tolerable risk, between 0 and 1.")] = 0.25,
    overlap: Annotated[float, typer.Option(help="Share of the intruder's persons who are in the release.")] = 0.5,
    known: Annotated[int, typer.Option(help="Persons the intruder knows; 0: chosen by the size of the data.")] = 0,
    profile: Annotated[str, typer.Option(help="smoke, quick (10 repetitions) or full (30).")] = "quick",
    seed: Annotated[int, typer.Option(help="The seed of the simulated intruder.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processors to use; 0 for all of them.")] = 0,
    scheduler: Annotated[str | None, typer.Option(help="A running dask scheduler to run on instead.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Assess your own data: check them, simulate an intruder, map protections, write a report with advice.

    The report is for the custodian: it describes confidential data.
    """
    from reident._machine import processors
    from reident.workbench.assessing import assess as run
    from reident.workbench.files import read_file

    began = time.monotonic()
    found = run(
        read_file(file),
        quasi=_listed(quasi),
        lat=lat,
        lon=lon,
        sensitive=sensitive,
        epsilon_quasi=_listed(epsilon_quasi),
        network=None if network is None else str(network),
        limit=limit,
        overlap=overlap,
        n_known=known or None,
        profile=profile,
        seed=seed,
        jobs=processors(jobs),
        scheduler=scheduler,
        progress=not quiet,
    )
    report = found.save(out, command=shlex.join(["reident", *sys.argv[1:]]))
    for _, row in found.advice.iterrows():
        print(f"{row['attack']} / {row['analysis']}:\n  {row['advice']}")
    print(f"report: {report.resolve()} ({time.monotonic() - began:.0f} s)")


def protect(
    file: File,
    method: Annotated[str, typer.Option(help="A method's name; reident methods lists them.")],
    out: Annotated[Path, typer.Option(help="The folder to create: the release and its public manifest.")],
    option: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the method, such as sigma_deg=0.05; repeatable.")
    ] = None,
    quasi: Quasi = "",
    lat: Lat = None,
    lon: Lon = None,
    sensitive: Sensitive = None,
    epsilon_quasi: Epsilon = "",
    keep: Annotated[str, typer.Option(help="Further columns to release as they are, separated by commas.")] = "",
    area: Annotated[Path | None, typer.Option(help="Polygon file: where an embedding draws reference places.")] = None,
    candidates: Annotated[Path | None, typer.Option(help="File of public places to swap with.")] = None,
) -> None:
    """Make a release of your own data: protected, shuffled, with a manifest that may be published.

    Columns that no option names are left out. Random numbers come from the operating system and are not kept.
    """
    from reident.registry import find
    from reident.workbench.files import read_file, with_places
    from reident.workbench.protecting import protect as run

    entry = find(method, "anonymiser")
    options = dict(_option(entry, text) for text in option or [])
    places = None if candidates is None else read_file(candidates)
    if places is not None and not hasattr(places, "to_crs"):
        places = with_places(places, lat, lon)
    suffix = ".csv" if file.name.lower().endswith((".csv.gz", ".txt", ".tsv", ".xls")) else file.suffix.lower()
    made = run(
        read_file(file),
        out,
        method=method,
        options=options,
        quasi=_listed(quasi),
        lat=lat,
        lon=lon,
        sensitive=sensitive,
        epsilon_quasi=_listed(epsilon_quasi),
        keep=_listed(keep),
        area=None if area is None else read_file(area),
        candidates=places,
        suffix=suffix,
    )
    print(f"release: {made.resolve()}: {', '.join(sorted(path.name for path in made.iterdir()))}")


def _option(entry: Any, text: str) -> tuple[str, Any]:
    """Read ``name=value`` by the type that the registry gives the parameter."""
    from reident.errors import ParameterError

    name, sign, value = text.partition("=")
    if not sign:
        raise ParameterError(f"`--set` must have the form name=value, got {text!r}")
    kind = entry.parameter(name).kind
    if value.lower() == "none":
        return name, None
    try:
        read: dict[str, Any] = {"int": int, "float": float, "bool": {"true": True, "false": False}.__getitem__}
        return name, read.get(kind, str)(value.lower() if kind == "bool" else value)
    except (ValueError, KeyError):
        raise ParameterError(f"`{name}` must be a {kind}, got {value!r}") from None


def methods(
    role: Annotated[str | None, typer.Argument(help="anonymiser, attack or metric; none: all.")] = None,
    data: Annotated[str | None, typer.Option(help="places, table or network.")] = None,
) -> None:
    """List the anonymisers, attacks and metrics by name, with their parameters, ranges, units and defaults."""
    from reident.registry import entries

    for entry in entries(role, data):
        print(f"{entry.name:<24} {entry.role:<11} {entry.data:<8} {entry.source}")
        defaults = entry.defaults()
        for parameter in (*entry.parameters, *entry.extras):
            allowed = parameter.range or ", ".join(map(str, parameter.choices))
            unit = f" {parameter.unit}" if parameter.unit else ""
            print(f"    {parameter.name} = {defaults[parameter.name]}{unit}  ({parameter.kind} {allowed})")
