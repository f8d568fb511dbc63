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

import reident as rd
from reident.base import ParameterError, private_file
from reident.workbench.command_options import (
    listed,
    original,
    public_inputs,
    relations,
    resumable,
    running,
    set_options,
    taken,
    takes,
)
from reident.workbench.printing import assessment_lines, next_commands, print_verdict, release_lines

File = Annotated[Path | None, typer.Argument(help="The file; default: the one that the recipe names.")]
RecipeFile = Annotated[
    Path | None, typer.Option(help="A recipe.yaml: how the file is read, the roles of its columns, methods.")
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands to an application."""
    for function in (open_, assess, protect, check):
        app.command(function.__name__.rstrip("_"))(function)


@takes(
    "separator decimal encoding sheet layer crs lat lon impossible missing text names role methods limit tolerate "
    "population intruder"
)
def open_(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Excel, Stata, SPSS, GeoPackage, GeoJSON, ...")],
    out: Annotated[Path, typer.Option(help="The recipe to write.")] = Path("recipe.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Replace a recipe.")] = False,
    **given: Any,
) -> None:
    """Open a file: find dialect, types and gaps, propose the role of each column, write a recipe to be confirmed.

    Nothing of the file is changed, and no record is written anywhere.
    """
    from reident.workbench.opening import opened_with_roles
    from reident.workbench.recipe import recipe_of

    if out.exists() and (not force or (file.exists() and out.samefile(file))):
        raise ParameterError(
            f"`out` must not exist yet, got {str(out)!r}: it may hold your changes; --force replaces it, never the file"
        )
    roles, assigned = taken(given, "lat lon population"), dict(given.pop("role", []))
    reading = taken(given, "separator decimal encoding sheet layer crs missing text")
    reading["names"] = listed(given.pop("names", ""))
    opened = rd.workbench.open_file(file, **reading)
    opened = replace(opened, schema=opened.schema.assign(assigned))
    if {"lat", "lon"} & {*roles}:
        roles["crs"] = reading.get("crs")
    opened = opened_with_roles(opened, **roles)
    print(opened)
    out.parent.mkdir(0o700, parents=True, exist_ok=True)
    recipe = replace(recipe_of(opened, os.path.relpath(file, out.parent), reading), **given)
    path = recipe.write(private_file(out))
    print(f"\nrecipe: {path} (confirm the roles in it)\nnext: reident assess --recipe {shlex.quote(str(path))}")


@takes(
    "quasi lat lon impossible sensitive epsilon_quasi network ends names limit tolerate population intruder must_keep "
    "public profile seed jobs scheduler quiet"
)
def assess(
    file: File = None,
    out: Annotated[Path, typer.Option(help="The folder for the report, its tables and figures.")] = Path("report"),
    recipe: RecipeFile = None,
    **given: Any,
) -> None:
    """Assess your own data: check them, simulate an intruder, map protections, write a report with advice.

    Without a recipe and without roles, those that `open` proposes are taken and printed. The report is for the
    custodian: it describes confidential data. What was interrupted goes on where it was.
    """
    from reident.workbench.assessing import assess_into
    from reident.workbench.recipe import open_by_recipe

    began, source, alone = time.monotonic(), "", file is recipe is None
    path, reading = given.pop("network", None), taken(given, "names")
    edges = taken(given, "ends") | (reading if alone else {})
    further = taken(given, "must_keep epsilon_quasi") | {"public": public_inputs(given)}
    if path is not None:
        further["network"] = relations(path, **edges).network
    rule, search = taken(given, "limit tolerate intruder impossible"), running(taken(given, "profile seed jobs quiet"))
    search["jobs"] = given.pop("scheduler", search["jobs"])
    if alone and path is not None:
        stated = rd.workbench.Recipe(**rule)
        dataset = rd.Dataset(further.pop("network"), intruder=stated.intruder, **further)
    else:
        opened, stated = open_by_recipe(file, recipe, **{name: listed(text) for name, text in reading.items()})
        if "quasi" in given or "epsilon_quasi" in further:
            given["quasi"] = [*dict.fromkeys([*given.get("quasi", []), *further.get("epsilon_quasi", [])])]
        schema, axes = stated.schema, [given[axis] for axis in ("lat", "lon") if axis in given]
        known = [*given.get("quasi", []), *axes]
        chosen = {*known, *schema.secrets(given.get("sensitive", []))[0]}
        former = [name for name in schema.named("sensitive") if chosen and name not in chosen]
        schema = schema.unknown() if known else schema
        schema = schema.assign(dict.fromkeys(former, "other"))  # no longer secret, and released as they are
        source = os.path.normpath(file or Path(recipe or "").parent / stated.file)
        keep = [*dict.fromkeys([*stated.keep, *former])]
        stated = replace(stated, schema=schema.with_roles(**given), file=source, keep=keep, **rule)
        dataset = rd.Dataset.of(opened, recipe=stated, **further)
    knowledge = ", ".join(dataset.quasi) or ("places alone" if dataset.has_places else "no column")
    knowledge = knowledge if len(dataset.data.columns) else "relations"
    print(f"an intruder may know: {knowledge}; sensitive: {', '.join(dataset.sensitive) or 'no column'}")
    search |= {"command": shlex.join(["reident", *sys.argv[1:]]), "limit": stated.limit, "tolerate": stated.tolerate}
    with resumable(out):
        assessment = assess_into(out, dataset, stated, **search)
    lines = assessment_lines(assessment)
    if assessment.search is not None and not assessment.passed and dataset.must_keep:
        lines.append(
            f"one of these would have to be given up: {', '.join(dataset.must_keep)} (without --must-keep it may be "
            "withheld), or the rule (a larger --tolerate or --limit)"
        )
    print("\n".join([*lines, *next_commands(assessment, out, source, path, edges)]))
    print(f"report: {(out / 'report.html').resolve()} ({time.monotonic() - began:.0f} s)")


@takes(
    "settings quasi lat lon impossible sensitive epsilon_quasi keep public hierarchies missing_values household person "
    "crs ends names keep_identifiers"
)
def protect(
    file: File = None,
    out: Annotated[Path, typer.Option(help="The folder to create: the release and its public manifest.")] = Path(
        "release"
    ),
    method: Annotated[str | None, typer.Option(help="A method's name; reident methods lists them.")] = None,
    recipe: RecipeFile = None,
    **given: Any,
) -> None:
    """Make a release of your own data: protected, shuffled, with a manifest that may be published.

    Columns that no option names are left out. Random numbers come from the operating system and are not kept. With a
    method for networks the file is an edge list (or GraphML, GEXF, GML).
    """
    if method is None and recipe is None:
        raise ParameterError("`method` or `recipe` must be given")
    stated = rd.workbench.Recipe() if recipe is None else rd.workbench.read_recipe(recipe)
    if method is not None and stated.chain:
        raise ParameterError(f"`method` must be left out, since the recipe has a chain of methods, got {method!r}")
    entry = rd.methods.find(method, "anonymiser") if method else None
    settings = set_options(entry, given.pop("settings", []))
    chosen = [] if entry is None else [rd.Step(entry.name, **settings)]
    pipeline = rd.Pipeline.of(stated, chosen)
    identifiers, edges = taken(given, "keep_identifiers"), taken(given, "ends names")
    if (entry is not None and entry.data == "network") or stated.schema.ends:
        for name, value in given.items():
            raise ParameterError(f"`{name}` must be left out for a network: it is about records, got {value!r}")
        if file is None and recipe is None:
            raise ParameterError(f"`file` must be given: {method} protects the network in it")
        dataset = original(file, recipe) if file is None or recipe else rd.Dataset(relations(file, **edges))
    else:
        if "ends" in edges:
            raise ParameterError(f"`ends` must be left out where no network is released, got {edges['ends']!r}")
        keep = [*dict.fromkeys([*pipeline.keep, *given.pop("keep", [])])]
        pipeline = replace(pipeline, keep=keep, missing=given.pop("missing_values", pipeline.missing))
        given |= {"public": public_inputs(given), "hierarchies": dict(given.pop("hierarchies", []))}
        dataset = original(file, recipe, **edges, **given)
    release = rd.protect(dataset, pipeline, **identifiers)
    print("\n".join(release_lines(release, release.save(out))))


@takes(
    "pairs id same_order quasi sensitive lat lon impossible crs release_crs called new derived names release_names "
    "table person household weight population intruder register earlier control ends release_ends limit tolerate "
    "limit_attribute quick seed rewrite"
)
def check(
    release: Annotated[Path, typer.Argument(help="The released file, or a folder that `reident protect` wrote.")],
    against: Annotated[Path, typer.Option(help="The original file.")],
    recipe: RecipeFile = None,
    network: Annotated[bool, typer.Option("--network", help="Both files are edge lists, or other networks.")] = False,
    out: Annotated[Path | None, typer.Option(help="The folder for verdict.json.")] = None,
    **given: Any,
) -> None:
    """Check a release against its original, record by record. Exit code 0: passed, 2: error, 3: refused, 4: not judged.

    Every column of the release is declared: by the original's name, --called, --new or --derived; every declaration is
    tested along the pairs of records.
    """
    from reident.workbench.check.checking import QUICK
    from reident.workbench.check.reading import SAME_ORDER, pairs_beside
    from reident.workbench.check.verdict import check_new
    from reident.workbench.files import read_file, read_like

    if (rewrite := given.pop("rewrite", None)) is not None:
        check_new(rewrite)
    ways, rule = taken(given, "pairs same_order id"), taken(given, "limit tolerate limit_attribute seed")
    pairs = ways.get("pairs") or (SAME_ORDER if "same_order" in ways else ways.get("id")) or pairs_beside(release)
    rule |= {"attacks": QUICK} if given.pop("quick", False) else {}
    rule |= {name: [column for each in given.pop(name, []) for column in each] for name in ("new", "derived")}
    rule["new"] = {name: word for name, _, word in (text.partition("=") for text in rule["new"])}
    rule["called"] = dict(given.pop("called", []))
    further = taken(given, "release_crs intruder earlier")
    further |= {name: read_file(path) for name, path in taken(given, "register control").items()}
    ends, names = ([given.pop(name, "") for name in (text, f"release_{text}")] for text in ("ends", "names"))
    released: Any = release
    if network:
        dataset = rd.Dataset(relations(against, ends[0], names[0]))
        released = relations(release, ends[1], names[1]) if release.is_file() else release
    else:
        dataset = original(against, recipe, names=names[0], **given)
        released = read_like(release, dataset.data, names=listed(names[1])) if names[1] else release
    verdict = rd.check(released, dataset.with_roles(**further), pairs, **rule)
    print_verdict(verdict)
    if out is not None:
        verdict.save(out)
    if rewrite is not None:
        print(f"judged cells: {verdict.rewrite(rewrite)}")
    if verdict.exit_code:
        raise typer.Exit(verdict.exit_code)
