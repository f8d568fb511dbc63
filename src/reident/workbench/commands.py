"""The commands for own data. Everything heavy is imported inside them."""

from __future__ import annotations

import os
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from reident.base import ParameterError
from reident.workbench import command_options as options
from reident.workbench.command_options import listed
from reident.workbench.printing import assessment_lines, next_commands, print_verdict, release_lines


def add_commands(app: typer.Typer) -> None:
    """Add the commands to an application."""
    for function in (open_, assess, protect, check):
        app.command(function.__name__.rstrip("_"))(function)


def open_(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Excel, Stata, SPSS, GeoPackage, GeoJSON, ...")],
    out: Annotated[Path, typer.Option(help="The recipe to write.")] = Path("recipe.yaml"),
    sep: Annotated[str | None, typer.Option(help="What separates the fields of a text file; default: found.")] = None,
    decimal: Annotated[
        str | None, typer.Option(help="The decimal sign of a text file, . or ,; default: found.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="The encoding of a text file; default: found.")] = None,
    sheet: Annotated[str | None, typer.Option(help="The sheet of an Excel file; default: the fullest.")] = None,
    layer: Annotated[str | None, typer.Option(help="The layer of a geographic file; default: the fullest.")] = None,
    crs: options.Crs = None,
    lat: options.Lat = None,
    lon: options.Lon = None,
    impossible: options.Impossible = None,
    missing: Annotated[str | None, typer.Option(help="Further cells that mean missing, with commas: -9,NA.")] = None,
    text: Annotated[str, typer.Option(help="Columns to leave as text, separated by commas.")] = "",
    names: options.Names = "",
    role: Annotated[list[str] | None, typer.Option(help="A column's role: age=quasi-identifier; repeatable.")] = None,
    tried: options.Tried = None,
    limit: Annotated[float, typer.Option(help="The tolerable risk of a person, between 0 and 1.")] = 0.25,
    tolerate: Annotated[float, typer.Option(help="The share of persons who may lie above it.")] = 0.0,
    population: options.Population = None,
    intruder: options.Intruder = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a recipe.")] = False,
) -> None:
    """Open a file: find dialect, types and gaps, propose the role of each column, write a recipe to be confirmed.

    Nothing of the file is changed, and no record is written anywhere.
    """
    from reident.base import private_file
    from reident.workbench.opening import open_file, opened_with_places
    from reident.workbench.recipe import recipe_of

    if out.exists() and (not force or (file.exists() and out.samefile(file))):
        raise ParameterError(
            f"`out` must not exist yet, got {str(out)!r}: it may hold your changes; --force replaces it, never the file"
        )
    reading: dict[str, Any] = {
        "separator": sep, "decimal": decimal, "encoding": encoding, "sheet": sheet, "layer": layer, "crs": crs,
        "missing": None if missing is None else listed(missing), "text": listed(text), "names": listed(names),
    }  # fmt: skip
    opened = open_file(file, **reading)
    opened = replace(opened, schema=opened.schema.assign(dict(map(_role, role or []))))
    if lat or lon:
        opened = opened_with_places(opened, lat, lon, crs)
    opened = replace(opened, schema=opened.schema.with_roles(population=population))
    print(opened)
    out.parent.mkdir(0o700, parents=True, exist_ok=True)
    recipe = recipe_of(opened, os.path.relpath(file, out.parent), reading)
    rule: dict[str, Any] = {
        "limit": limit, "tolerate": tolerate, **options.given(intruder=intruder, impossible=impossible)
    }  # fmt: skip
    recipe = replace(recipe, methods=list(map(options.tried_method, tried or [])), **rule)
    path = recipe.write(private_file(out))
    quoted = shlex.quote(str(path))
    print(f"\nrecipe: {path} (confirm the roles in it)\nnext: reident assess --recipe {quoted}")


def _role(text: str) -> tuple[str, str]:
    name, sign, role = text.rpartition("=")
    if not sign:
        raise ParameterError(f"`--role` must have the form column=role, got {text!r}")
    return name, role


def assess(
    file: Annotated[Path | None, typer.Argument(help="The file; default: the one that the recipe names.")] = None,
    out: Annotated[Path, typer.Option(help="The folder for the report, its tables and figures.")] = Path("report"),
    recipe: Annotated[Path | None, typer.Option(help="A recipe with the roles of the columns.")] = None,
    quasi: options.Quasi = "",
    lat: options.Lat = None,
    lon: options.Lon = None,
    impossible: options.Impossible = None,
    sensitive: options.Sensitive = "",
    epsilon_quasi: options.Epsilon = "",
    network: options.Network = None,
    ends: options.Ends = "",
    names: options.Names = "",
    limit: options.Limit = None,
    tolerate: options.Tolerate = None,
    population: options.Population = None,
    intruder: options.Intruder = None,
    must_keep: options.MustKeep = "",
    public: options.Public = None,
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
    from reident.base import processors
    from reident.workbench.assessing import assess_into as run
    from reident.workbench.dataset import Dataset
    from reident.workbench.recipe import Recipe, open_by_recipe

    began = time.monotonic()
    alone = file is recipe is None
    edges: Any = None if network is None else options.relations(network, ends, names if alone else "").network
    more: dict[str, Any] = {
        "public": options.public_inputs(public, lat, lon), "must_keep": listed(must_keep),
        "epsilon_quasi": listed(epsilon_quasi),
    }  # fmt: skip
    rule = options.given(limit=limit, tolerate=tolerate, intruder=intruder, impossible=impossible)
    source = ""
    if alone and edges is not None:
        stated = Recipe(**rule)
        dataset = Dataset(edges, intruder=stated.intruder, **more)
    else:
        opened, stated = open_by_recipe(file, recipe, **({"names": listed(names)} if names else {}))
        known, secret = [*dict.fromkeys([*listed(quasi), *more["epsilon_quasi"]])], listed(sensitive)
        schema = stated.schema
        chosen = {*known, *schema.secrets(secret)[0], lat, lon} - {None}
        former = [name for name in schema.named("sensitive") if chosen and name not in chosen]
        schema = schema.unknown() if known or lat or lon else schema
        schema = schema.assign(dict.fromkeys(former, "other"))  # no longer secret, and released as they are
        roles: dict[str, Any] = {
            name: columns for name, columns in (("quasi", known), ("sensitive", secret)) if columns
        }
        source = os.path.normpath(file or Path(recipe or "").parent / stated.file)
        stated = replace(
            stated, schema=schema.with_roles(lat=lat, lon=lon, population=population, **roles), file=source,
            keep=[*dict.fromkeys([*stated.keep, *former])], **rule,
        )  # fmt: skip
        dataset = Dataset.of(opened, recipe=stated, **more, **options.given(network=edges))
    knowledge = ", ".join(dataset.quasi) or ("places alone" if dataset.has_places else "no column")
    knowledge = knowledge if len(dataset.data.columns) else "relations"
    print(f"an intruder may know: {knowledge}; sensitive: {', '.join(dataset.sensitive) or 'no column'}")
    with options.resumable(out):
        assessment = run(
            out, dataset, stated, command=shlex.join(["reident", *sys.argv[1:]]), profile=profile, seed=seed,
            jobs=scheduler or processors(jobs), progress=not quiet, limit=stated.limit, tolerate=stated.tolerate,
        )  # fmt: skip
    lines = assessment_lines(assessment)
    if assessment.search is not None and not assessment.passed and must_keep:
        lines.append(
            f"one of these would have to be given up: {must_keep} (without --must-keep it may be withheld), or the "
            "rule (a larger --tolerate or --limit)"
        )
    relations = None if network is None else (network, ends, names if alone else "")
    lines += next_commands(assessment, out, source, relations)
    print("\n".join(lines))
    print(f"report: {(out / 'report.html').resolve()} ({time.monotonic() - began:.0f} s)")


def protect(
    file: Annotated[Path | None, typer.Argument(help="The file; default: the one that the recipe names.")] = None,
    out: Annotated[Path, typer.Option(help="The folder to create: the release and its public manifest.")] = Path(
        "release"
    ),
    method: Annotated[str | None, typer.Option(help="A method's name; reident methods lists them.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe: roles, and methods where none is named.")] = None,
    option: options.Option = None,
    quasi: options.Quasi = "",
    lat: options.Lat = None,
    lon: options.Lon = None,
    impossible: options.Impossible = None,
    sensitive: options.Sensitive = "",
    epsilon_quasi: options.Epsilon = "",
    keep: Annotated[str, typer.Option(help="Further columns to release as they are, separated by commas.")] = "",
    public: options.Public = None,
    hierarchy: options.Hierarchy = None,
    missing_values: options.MissingValues = None,
    household: options.Household = None,
    person: options.Person = None,
    crs: options.Crs = None,
    ends: options.Ends = "",
    names: options.Names = "",
    keep_identifiers: options.KeepIdentifiers = False,
) -> None:
    """Make a release of your own data: protected, shuffled, with a manifest that may be published.

    Columns that no option names are left out. Random numbers come from the operating system and are not kept. With a
    method for networks the file is an edge list (or GraphML, GEXF, GML).
    """
    from reident.methods import find
    from reident.workbench.dataset import Dataset
    from reident.workbench.making import Step
    from reident.workbench.microdata import read_form
    from reident.workbench.pipeline import Pipeline
    from reident.workbench.pipeline import protect as run
    from reident.workbench.recipe import read_recipe

    if method is None and recipe is None:
        raise ParameterError("`method` or `recipe` must be given")
    stated = None if recipe is None else read_recipe(recipe)
    if method is not None and stated is not None and stated.chain:
        raise ParameterError(f"`method` must be left out, since the recipe has a chain of methods, got {method!r}")
    roles: dict[str, Any] = {
        "quasi": quasi, "sensitive": sensitive, "epsilon_quasi": epsilon_quasi, "lat": lat, "lon": lon, "crs": crs,
        "household": household, "person": person, "impossible": impossible,
    }  # fmt: skip
    entry = find(method, "anonymiser") if method else None
    of_method = options.set_options(entry, option or [])
    chosen = [] if entry is None else [Step(entry.name, **of_method)]
    pipeline = Pipeline(chosen) if stated is None else Pipeline.of(stated, chosen)
    is_network = entry is not None and entry.data == "network"
    if is_network or (stated is not None and stated.schema.ends):
        further = {"keep": keep, "public": public, "hierarchies": hierarchy, "missing": missing_values}
        options.refuse_for_network(roles | further)
        if file is None and recipe is None:
            raise ParameterError(f"`file` must be given: {method} protects the network in it")
        edges = options.relations(file, ends, names) if file and recipe is None else None
        dataset = options.original(file, recipe) if edges is None else Dataset(edges)
    else:
        if ends:
            raise ParameterError(f"`ends` must be left out where no network is released, got {ends!r}")
        trees, tables = dict(map(read_form, hierarchy or [])), options.public_inputs(public, lat, lon)
        dataset = options.original(file, recipe, names=names, **roles, hierarchies=trees, public=tables)
        keep_all = list(dict.fromkeys([*pipeline.keep, *listed(keep)]))
        pipeline = replace(pipeline, missing=missing_values or pipeline.missing, keep=keep_all)
    release = run(dataset, pipeline, keep_identifiers=keep_identifiers)
    print("\n".join(release_lines(release, release.save(out))))


def check(
    release: Annotated[Path, typer.Argument(help="The released file, or a folder that `reident protect` wrote.")],
    against: Annotated[Path, typer.Option(help="The original file.")],
    recipe: Annotated[Path | None, typer.Option(help="A recipe.yaml with the roles of the columns.")] = None,
    pairs: options.Pairs = None,
    id: Annotated[str | None, typer.Option(help="Column of both files that pairs the records.")] = None,  # noqa: A002
    same_order: options.SameOrder = False,
    quasi: options.Quasi = "",
    sensitive: options.Sensitive = "",
    lat: options.Lat = None,
    lon: options.Lon = None,
    impossible: options.Impossible = None,
    crs: options.Crs = None,
    release_crs: Annotated[str | None, typer.Option(help="The same of the release, where it differs.")] = None,
    called: options.Called = None,
    new: options.New = None,
    derived: options.Derived = None,
    names: options.Names = "",
    release_names: Annotated[str, typer.Option(help="The same of the release.")] = "",
    table: Annotated[str | None, typer.Option(help="The original's sheet or layer; default: the fullest.")] = None,
    person: options.Person = None,
    household: options.Household = None,
    weight: Annotated[str | None, typer.Option(help="Column of survey weights.")] = None,
    population: options.Population = None,
    intruder: options.Intruder = None,
    register: Annotated[Path | None, typer.Option(help="A public list of the population.")] = None,
    earlier: options.Earlier = None,
    control: options.Control = None,
    network: Annotated[bool, typer.Option("--network", help="Both files are edge lists, or other networks.")] = False,
    ends: options.Ends = "",
    release_ends: Annotated[str, typer.Option(help="The same of a released edge list, where it differs.")] = "",
    limit: options.Limit = None,
    tolerate: options.Tolerate = None,
    limit_attribute: options.LimitAttribute = None,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out attacks that take long.")] = False,
    seed: Annotated[int, typer.Option(help="The seed of attacks that draw.")] = 0,
    rewrite: options.Rewrite = None,
    out: Annotated[Path | None, typer.Option(help="The folder for verdict.json.")] = None,
) -> None:
    """Check a release against its original, record by record. Exit code 0: passed, 2: error, 3: refused, 4: not judged.

    Every column of the release is declared: by the original's name, --called, --new or --derived; every declaration is
    tested along the pairs of records.
    """
    from reident.workbench.check import check as run
    from reident.workbench.check.checking import QUICK
    from reident.workbench.check.reading import SAME_ORDER, pairs_beside
    from reident.workbench.check.verdict import check_new
    from reident.workbench.dataset import Dataset
    from reident.workbench.files import read_like

    if rewrite is not None:
        check_new(rewrite)
    if network:
        dataset = Dataset(options.relations(against, ends, names))
    else:
        dataset = options.original(
            against, recipe, crs=crs, names=names, table=table, quasi=quasi, sensitive=sensitive, lat=lat, lon=lon,
            person=person, household=household, weight=weight, population=population, impossible=impossible,
        )  # fmt: skip
    dataset = dataset.with_roles(
        register=options.read_table(register), control=options.read_table(control), earlier=list(earlier or []),
        release_crs=release_crs, **options.given(intruder=intruder),
    )  # fmt: skip
    released: Any = release
    if network and release.is_file():
        released = options.relations(release, release_ends, release_names)
    elif release_names:
        released = read_like(release, dataset.data, names=listed(release_names))
    words = (name.partition("=") for text in new or [] for name in listed(text))
    verdict = run(
        released,
        dataset,
        pairs or (SAME_ORDER if same_order else id) or pairs_beside(release),
        called=dict(options.parted(text, "--called", "column=name") for text in called or []),
        new={name: word for name, _, word in words},
        derived=[name for text in derived or [] for name in listed(text)],
        limit=limit,
        tolerate=tolerate,
        limit_attribute=limit_attribute,
        attacks=QUICK if quick else None,
        seed=seed,
    )
    print_verdict(verdict)
    if out is not None:
        verdict.save(out)
    if rewrite is not None:
        print(f"judged cells: {verdict.rewrite(rewrite)}")
    if verdict.exit_code:
        raise typer.Exit(verdict.exit_code)
