"""The command that checks a release: a gate for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reident.workbench import command_options as common

__all__ = ["check"]

#: Exit code of a release that does not pass; 0 passed, 2 is an error.
REFUSED = 3


def check(
    release: Annotated[Path, typer.Argument(help="The released file, or a folder that `reident protect` wrote.")],
    against: Annotated[Path, typer.Option(help="The original file.")],
    quasi: common.Quasi = "",
    sensitive: common.Sensitive = "",
    lat: common.Lat = None,
    lon: common.Lon = None,
    crs: common.Crs = None,
    release_crs: Annotated[str | None, typer.Option(help="The same of the release, where it differs.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe.yaml with the roles of the columns.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of both files that tells who is who.")] = None,  # noqa: A002
    called: Annotated[
        list[str] | None, typer.Option(help="What a column is called in the release: age=Alter; repeatable.")
    ] = None,
    new: Annotated[
        str, typer.Option(help="Columns of the release that say nothing of what is known, with commas: measured later.")
    ] = "",
    names: Annotated[
        str, typer.Option(help="What the original's columns are called where it has no line of names, with commas.")
    ] = "",
    release_names: Annotated[str, typer.Option(help="The same of the release.")] = "",
    table: Annotated[
        str | None, typer.Option(help="The original's sheet or layer; default: the one with most in it.")
    ] = None,
    release_table: Annotated[str | None, typer.Option(help="The same of the release.")] = None,
    aside: Annotated[
        str, typer.Option(help="Sheets or layers of the release that hold no records, with commas: a legend.")
    ] = "",
    person: common.Person = None,
    household: Annotated[str | None, typer.Option(help="Column of households: one found, all found.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of survey weights.")] = None,
    population: common.Population = None,
    register: Annotated[Path | None, typer.Option(help="A public list of the population.")] = None,
    earlier: Annotated[
        list[Path] | None, typer.Option(help="An earlier release of the same persons; repeatable.")
    ] = None,
    network: Annotated[bool, typer.Option("--network", help="Both files are edge lists, or other networks.")] = False,
    ends: common.Ends = "",
    release_ends: Annotated[
        str, typer.Option(help="The same of a released edge list, where it names them otherwise.")
    ] = "",
    limit: common.Limit = None,
    tolerate: common.Tolerate = None,
    seed: Annotated[int, typer.Option(help="The seed of attacks that draw.")] = 0,
    out: Annotated[Path | None, typer.Option(help="The folder for verdict.json.")] = None,
) -> None:
    """Check a release against its original. Exit code 0: passed, 3: above the limit or hidden values, 2: an error."""
    from reident.workbench.checking import check as run

    found = run(
        common.relations_file(release, release_ends, release_names) if network and release.is_file() else release,
        common.relations_file(against, ends, names) if network else against,
        quasi=common.listed(quasi),
        sensitive=common.listed(sensitive),
        lat=lat,
        lon=lon,
        crs=crs,
        release_crs=release_crs,
        names=[] if network else common.listed(names),
        release_names=[] if network else common.listed(release_names),
        table=table,
        release_table=release_table,
        aside=common.listed(aside),
        recipe=recipe,
        id=id,
        called=dict(common.parted(one, "--called", "column=name") for one in called or []),
        new=common.listed(new),
        person=person,
        household=household,
        weight=weight,
        population=population,
        register=register,
        earlier=earlier or [],
        limit=limit,
        tolerate=tolerate,
        out=out,
        seed=seed,
    )
    print(found.sentence)
    ran = found.attacks["reason"] == ""
    for _, row in found.attacks[ran].iterrows():
        between = f"{row['risk']:.1%} {row['measure']} ({row['low']:.1%} to {row['high']:.1%})"
        between += f", guessing {row['baseline']:.1%}"
        above = f"{row['share_above_limit']:.1%} of {row['n']} above {found.limit:.0%}"
        print(f"  {row['name']:<22} {row['verdict']}: {between}, {above}")
    for reason, rows in found.attacks[~ran].groupby("reason", sort=False):
        print(f"  not run: {', '.join(rows['name'])}: {reason}")
    if found.knowledge is not None:
        for _, row in found.knowledge.worst.iterrows():
            share = f"{row['share_above_limit']:.1%} of persons above {found.limit:.0%}"
            print(f"  knowing {row['known']}: {share}, {row['risk']:.1%} {found.knowledge.measure} by joining")
    for one in found.findings:
        print(f"  audit: {one['sentence']}")
    for note in found.notes:
        print(f"note: {note}")
    if not found.passed:
        raise typer.Exit(REFUSED)
