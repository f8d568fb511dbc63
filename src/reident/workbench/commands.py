"""The commands for one's own data. Everything heavy is imported inside them."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from reident.workbench import command_options as common
from reident.workbench.check_command import check
from reident.workbench.protect_command import protect

__all__ = ["add_commands"]


def add_commands(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command("open")(open_)
    app.command()(assess)
    app.command()(protect)
    app.command()(methods)
    app.command()(check)
    app.command("app")(app_)


def app_(
    file: Annotated[Path | None, typer.Argument(help="The file to begin with; default: chosen in the browser.")] = None,
    port: Annotated[int, typer.Option(help="The port of this machine to serve on; 0: a free one.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open no browser.")] = False,
    profile: Annotated[str, typer.Option(help="smoke, quick or full: to begin with.")] = "quick",
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processors to use; 0 for all of them.")] = 0,
) -> None:
    """Serve a page for your own data: choose a file, confirm the roles, watch the map fill, take the release away.

    The page is served to this machine alone, under a token. It runs the commands open, assess, protect and check in
    the folder in which it was started, and shows them. Needs the extra reident[app].
    """
    from reident.workbench.serving import serve

    serve(file, port=port, browser=not no_browser, profile=profile, jobs=jobs)


def open_(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Excel, GeoPackage, GeoJSON or shapefile.")],
    out: Annotated[Path, typer.Option(help="The recipe to write; a picture of the columns lies beside it.")] = Path(
        "recipe.yaml"
    ),
    sep: Annotated[str | None, typer.Option(help="What separates the fields of a text file; default: found.")] = None,
    decimal: Annotated[
        str | None, typer.Option(help="The decimal sign of a text file, . or ,; default: found.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="The encoding of a text file; default: found.")] = None,
    sheet: Annotated[
        str | None, typer.Option(help="The sheet of an Excel file; default: the one with most in it.")
    ] = None,
    layer: Annotated[
        str | None, typer.Option(help="The layer of a geographic file; default: the one with most records.")
    ] = None,
    crs: common.Crs = None,
    lat: common.Lat = None,
    lon: common.Lon = None,
    missing: Annotated[
        str | None, typer.Option(help="Further cells that mean missing, separated by commas: -9,NA.")
    ] = None,
    text: Annotated[str, typer.Option(help="Columns to leave as text, separated by commas.")] = "",
    names: Annotated[
        str, typer.Option(help="What the columns are called where the file has no line of names, with commas.")
    ] = "",
    role: Annotated[
        list[str] | None, typer.Option(help="A column's role, such as age=quasi-identifier; repeatable.")
    ] = None,
    tried: Annotated[
        list[str] | None,
        typer.Option(
            "--try", help="What assess tries instead of all that fits: a method, or mondrian:k=5,10; repeatable."
        ),
    ] = None,
    limit: Annotated[float, typer.Option(help="The tolerable risk of a person, between 0 and 1.")] = 0.25,
    tolerate: Annotated[float, typer.Option(help="The share of persons who may lie above it.")] = 0.0,
    population: common.Population = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a recipe and its picture that are there.")] = False,
) -> None:
    """Open a file: find dialect, types and gaps, propose the role of each column, write a recipe to be confirmed.

    Nothing of the file is changed, and no record is written anywhere.
    """
    from reident.base import ParameterError, private_file
    from reident.workbench.opening import open_file
    from reident.workbench.recipe import recipe_of

    picture = out.with_suffix(".png")
    if picture == out:
        raise ParameterError(f"`out` must name a recipe, such as recipe.yaml, got {str(out)!r}, the name of a picture")
    for written in (out, picture):
        if written.exists() and (not force or (file.exists() and written.samefile(file))):
            raise ParameterError(
                f"`out` must not exist yet, nor its picture, got {str(written)!r}: it may hold your changes; --force "
                "writes over both, never over the file"
            )
    reading = {
        "separator": sep, "decimal": decimal, "encoding": encoding, "sheet": sheet, "layer": layer, "crs": crs,
        "missing": None if missing is None else common.listed(missing), "text": common.listed(text),
        "names": common.listed(names),
    }  # fmt: skip
    found = open_file(file, **reading)  # type: ignore[arg-type]
    told = recipe_of(found, os.path.relpath(file, out.parent), reading).with_roles(dict(map(_role, role or [])))
    if lat or lon:
        told = told.with_places(lat or "", lon or "", crs)
    print(told.shown(found))
    out.parent.mkdir(0o700, parents=True, exist_ok=True)
    told = replace(told, methods=[_tried(one) for one in tried or []], limit=limit, tolerate=tolerate)
    recipe = common.with_population(told, population).write(private_file(out))
    private_file(picture)
    told.shown(found).draw().savefig(picture, dpi=130)
    print(f"\nrecipe: {recipe} (confirm the roles in it)\npicture: {picture}")


def assess(
    file: Annotated[Path | None, typer.Argument(help="The file; default: the one that the recipe names.")] = None,
    out: Annotated[Path, typer.Option(help="The folder for the report, its tables and figures.")] = Path("report"),
    recipe: Annotated[Path | None, typer.Option(help="A recipe with the roles of the columns.")] = None,
    quasi: common.Quasi = "",
    lat: common.Lat = None,
    lon: common.Lon = None,
    sensitive: common.Sensitive = "",
    epsilon_quasi: common.Epsilon = "",
    network: Annotated[
        Path | None, typer.Option(help="Edge list of relations: of the persons in the file, else of all it names.")
    ] = None,
    ends: common.Ends = "",
    names: common.Names = "",
    limit: common.Limit = None,
    tolerate: common.Tolerate = None,
    population: common.Population = None,
    must_keep: Annotated[
        str, typer.Option(help="What the advised release must not withhold: place, or columns, separated by commas.")
    ] = "",
    area: common.Area = None,
    candidates: common.Candidates = None,
    public: common.Public = None,
    profile: Annotated[str, typer.Option(help="smoke, quick or full: 2, 5 or 20 draws judged.")] = "quick",
    seed: Annotated[int, typer.Option(help="Seed of simulated releases and attacks.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processors to use; 0 for all of them.")] = 0,
    scheduler: Annotated[str | None, typer.Option(help="A running dask scheduler to run on instead.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Assess your own data: check them, simulate an intruder, map protections, write a report with advice.

    Without a recipe and without roles, those that `open` proposes are taken and printed. The report is for the
    custodian: it describes confidential data. What was interrupted goes on where it was.
    """
    from reident.base import keep_private, move_files, processors
    from reident.workbench.assessing import assess as run
    from reident.workbench.dataset import Dataset, dataset_of
    from reident.workbench.recipe import Recipe
    from reident.workbench.report import write_report

    began = time.monotonic()
    alone = file is recipe is None
    relations: Any = None if network is None else common.network_file(network, ends, names if alone else "")
    opened, told = (
        (None, Recipe("")) if alone and relations else common.open_or_recipe(file, recipe, names=common.listed(names))
    )
    limit = told.limit if limit is None else limit
    tolerate = told.tolerate if tolerate is None else tolerate
    with _workplace(out) as work:
        noisy = common.listed(epsilon_quasi)
        known_columns = list(dict.fromkeys([*common.listed(quasi), *noisy]))
        told = told.with_columns(quasi=known_columns, sensitive=common.listed(sensitive), lat=lat, lon=lon)
        told = common.with_population(told, population)
        public_files = common.public_inputs(area, candidates, public, lat, lon)
        more: dict[str, Any] = {"public": public_files, "must_keep": common.listed(must_keep), "epsilon_quasi": noisy}
        if opened is None:
            dataset = Dataset(relations, **more)
        else:
            dataset = dataset_of(opened, told, **more, **({} if relations is None else {"network": relations}))
        shown = ", ".join(dataset.quasi) or ("places alone" if dataset.has_places else "nothing that is named")
        shown = "relations" if opened is None or told.ends else shown
        print(f"an intruder may know: {shown}; sensitive: {', '.join(dataset.sensitive) or 'none named'}")
        found = run(
            dataset,
            limit=limit,
            tolerate=tolerate,
            methods=_tried_of(told),
            pipeline=replace(told, chain=[]) if told.ends else told,
            profile=profile,
            seed=seed,
            jobs=scheduler or processors(jobs),
            cache=work,
            progress=not quiet,
        )
        made, passed = work / "report", found.search is not None and found.search.passed
        shutil.rmtree(made, ignore_errors=True)
        write_report(
            found, made, command=shlex.join(["reident", *sys.argv[1:]]),
            recipe="" if opened is None else str(out / "recipe.yaml"),
            receipts=[] if opened is None else opened.receipts,
        )  # fmt: skip
        _earlier_recipe(out, recipe, made)
        source = os.path.normpath(file or Path(recipe or "").parent / told.file)
        if opened is not None and passed:
            replace(found.advised(told), file=os.path.relpath(source, out)).write(made / "recipe.yaml")
        keep_private(made)
        move_files(made, out, last="report.html")
        print(found.sentence)
        for line in [] if found.search is None else found.search.groups:
            print(f"note: {line}")
        for one in filter(None, (found.search, found.network)):
            _say_unmade(one)
        if found.search is not None:
            _say_given_up(found.search, must_keep)
        print(f"report: {(out / 'report.html').resolve()} ({time.monotonic() - began:.0f} s)")
        if opened is not None and passed:
            named, original = shlex.quote(str(out / "recipe.yaml")), shlex.quote(source)
            print(f"the advised release: reident protect --recipe {named} --out release")
            print(f"its check: reident check release --against {original} --recipe {named}")
        if network is not None and found.network is not None and found.network.passed:
            rule = f"--limit {limit:g} --tolerate {tolerate:g}"
            _say_network(found.network.chain[0], network, ends, names if alone else "", rule)


def _tried_of(recipe: Any) -> dict[str, Any]:
    """Return what `assess` tries: of a network the steps of the chain, where the recipe has one."""
    if not (recipe.ends and recipe.chain):
        return dict(recipe.tried())
    steps = [{"name": step["method"], **(step.get("parameters") or {})} for step in recipe.chain]
    return {"network": steps}


def _earlier_recipe(out: Path, given: Path | None, made: Path) -> None:
    """Keep the recipe of an earlier assessment: under its name if it is the one in use, else as an earlier one."""
    for name in ("recipe.yaml", "recipe-earlier.yaml"):
        earlier = out / name
        if earlier.is_file():
            used = given is not None and given.exists() and earlier.samefile(given)
            shutil.copyfile(earlier, made / (name if used else "recipe-earlier.yaml"))
            if not used:
                return


def _say_unmade(found: Any) -> None:
    """Print why releases could not be made, where nothing passed: a reason once, with the first release it stopped."""
    if not found.passed:
        for _, row in found.candidates[found.candidates["reason"] != ""].drop_duplicates("reason").iterrows():
            print(f"not made: {row['chain']}: {row['reason']}")


def _say_given_up(found: Any, must_keep: str) -> None:
    """Print what an advised release lacks that could be asked for, or what to give up where nothing passed."""
    if found.passed and "the place" in str(found.advised.get("withheld", "")):
        print("the place is withheld: --must-keep place looks for a release that has it")
    if not found.passed and must_keep:
        print(
            f"one of these would have to be given up: {must_keep} (without --must-keep it may be withheld), or the "
            "rule (a larger --tolerate or --limit)"
        )


def _say_network(step: Mapping[str, Any], file: Path, ends: str, names: str, rule: str) -> None:
    """Print the commands that make and check the advised release of a network."""
    source = shlex.quote(str(file))
    named = "".join(f" {option} {shlex.quote(said)}" for option, said in (("--ends", ends), ("--names", names)) if said)
    given = "".join(f" --set {name}={value}" for name, value in step["parameters"].items())
    print(f"the advised network: reident protect {source}{named} --method {step['method']}{given} --out network")
    print(f"its check: reident check network --against {source} --network{named} {rule}")


def _role(text: str) -> tuple[str, str]:
    from reident.base import ParameterError

    name, sign, role = text.rpartition("=")
    if not sign:
        raise ParameterError(f"`--role` must have the form column=role, got {text!r}")
    return name, role


def _tried(text: str) -> dict[str, Any]:
    """Read ``method`` or ``method:name=value,value;name=value``, the values by the types of the registry."""
    from reident.base import ParameterError
    from reident.methods import find

    method, _, told = text.partition(":")
    entry, parameters = find(method, "anonymiser"), {}
    for one in filter(None, told.split(";")):
        name, sign, values = one.partition("=")
        if not sign:
            raise ParameterError(f"`--try` must have the form method:name=value,value, got {text!r}")
        parameters[name] = [entry.parameter(name).read(value) for value in values.split(",")]
    return {"method": entry.name, **({"parameters": parameters} if parameters else {})}


@contextmanager
def _workplace(out: Path) -> Iterator[Path]:
    """Prepare the output folder before any work, for one process: its files describe confidential data."""
    from reident.base import check_replaceable, working
    from reident.workbench.assessing import WRITTEN

    check_replaceable(out, WRITTEN)
    with working(out, private=True) as (work, _), common.resumable(out):
        yield work


def methods(
    which: Annotated[
        str | None, typer.Argument(help="A role (anonymiser, attack, metric) or the name of one method; none: all.")
    ] = None,
    data: Annotated[str | None, typer.Option(help="places, table or network.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything that is known, as JSON.")] = False,
) -> None:
    """List the anonymisers, attacks and metrics by name, with their parameters, ranges, units and defaults."""
    from reident.methods import ROLES, describe, entries, find

    one = which is not None and which not in ROLES
    chosen = [find(str(which))] if one else entries(which, data)
    if as_json:
        print(json.dumps([describe(entry) for entry in chosen], indent=2))
        return
    for entry in chosen:
        print(f"{entry.name:<24} {entry.role:<11} {entry.data:<8} {entry.source}")
        described = describe(entry)
        for parameter in described["parameters"]:
            allowed = (
                parameter["range"] if isinstance(parameter["range"], str) else ", ".join(map(str, parameter["range"]))
            )
            unit = f" {parameter['unit']}" if parameter["unit"] else ""
            print(f"    {parameter['name']} = {parameter['default']}{unit}  ({parameter['type']} {allowed})")
        for name, meaning in described["public"].items():
            print(f"    {name}: a public input, {meaning}")
        if one:
            print(f"\n{described['label']}: {described['call']}")
            for name in ("needs", "guarantee"):
                if described[name]:
                    print(f"{name}: {described[name] if name == 'guarantee' else ', '.join(described[name])}")
            print()
            print(inspect.getdoc(entry.function))
