"""The command that checks a release: a gate for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reident.workbench import command_options as common

__all__ = ["check"]


def check(
    release: Annotated[Path, typer.Argument(help="The released file, or a folder that `reident protect` wrote.")],
    against: Annotated[Path, typer.Option(help="The original file.")],
    recipe: Annotated[Path | None, typer.Option(help="A recipe.yaml with the roles of the columns.")] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="The pairs that `reident protect` wrote; default: those beside the release.")
    ] = None,
    id: Annotated[str | None, typer.Option(help="Column of both files that pairs the records.")] = None,  # noqa: A002
    same_order: Annotated[
        bool, typer.Option("--same-order", help="The rows (of networks the names) are those of the original.")
    ] = False,
    quasi: common.Quasi = "",
    sensitive: common.Sensitive = "",
    lat: common.Lat = None,
    lon: common.Lon = None,
    crs: common.Crs = None,
    release_crs: Annotated[str | None, typer.Option(help="The same of the release, where it differs.")] = None,
    called: Annotated[
        list[str] | None, typer.Option(help="What a column is called in the release: age=Alter; repeatable.")
    ] = None,
    new: Annotated[
        list[str] | None,
        typer.Option(help="A column of the release that says nothing of the original: k, or k=random; repeatable."),
    ] = None,
    derived: Annotated[
        list[str] | None,
        typer.Option(help="A column computed from the original: intruders are assumed to know it; repeatable."),
    ] = None,
    names: Annotated[
        str, typer.Option(help="What the original's columns are called where it has no line of names, with commas.")
    ] = "",
    release_names: Annotated[str, typer.Option(help="The same of the release.")] = "",
    table: Annotated[
        str | None, typer.Option(help="The original's sheet or layer; default: the one with most in it.")
    ] = None,
    person: common.Person = None,
    household: Annotated[str | None, typer.Option(help="Column of households: one found, all found.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of survey weights.")] = None,
    population: common.Population = None,
    register: Annotated[Path | None, typer.Option(help="A public list of the population.")] = None,
    earlier: Annotated[
        list[Path] | None, typer.Option(help="An earlier release of the same persons; repeatable.")
    ] = None,
    control: Annotated[
        Path | None, typer.Option(help="For a synthetic table: records that took no part in making it.")
    ] = None,
    network: Annotated[bool, typer.Option("--network", help="Both files are edge lists, or other networks.")] = False,
    ends: common.Ends = "",
    release_ends: Annotated[
        str, typer.Option(help="The same of a released edge list, where it names them otherwise.")
    ] = "",
    limit: common.Limit = None,
    tolerate: common.Tolerate = None,
    limit_attribute: Annotated[
        float | None, typer.Option(help="The tolerable gain over guessing a sensitive value; default: the limit.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out attacks that take long.")] = False,
    seed: Annotated[int, typer.Option(help="The seed of attacks that draw.")] = 0,
    rewrite: Annotated[
        Path | None, typer.Option(help="Write the judged cells into this new file, which holds nothing else.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder for verdict.json.")] = None,
) -> None:
    """Check a release against its original, record by record. Exit code 0: passed, 2: error, 3: refused, 4: not judged.

    Every column of the release is declared: by the original's name, --called, --new or --derived; every declaration is
    tested along the pairs of records.
    """
    from reident.workbench.check import check as run
    from reident.workbench.check.judge import QUICK
    from reident.workbench.check.reading import SAME_ORDER, pairs_beside

    dataset = _dataset(
        against, recipe, network=network, ends=ends, names=names,
        reading={"names": common.listed(names), **common.part_of(against, table), "crs": crs},
        roles={
            "quasi": common.listed(quasi), "sensitive": common.listed(sensitive), "lat": lat, "lon": lon,
            "person": person, "household": household, "weight": weight, "population": population,
        },
    ).with_roles(
        register=_read(register), control=_read(control), earlier=list(earlier or []), release_crs=release_crs
    )  # fmt: skip
    given: Any = release
    if network and release.is_file():
        given = common.relations_file(release, release_ends, release_names)
    elif release_names:
        from reident.workbench.files import read_like

        given = read_like(release, dataset.data, names=common.listed(release_names))
    verdict = run(
        given,
        dataset,
        pairs or (SAME_ORDER if same_order else id) or pairs_beside(release),
        called=dict(common.parted(text, "--called", "column=name") for text in called or []),
        new=dict(_word(text) for listed in new or [] for text in common.listed(listed)),
        derived=[name for listed in derived or [] for name in common.listed(listed)],
        limit=limit,
        tolerate=tolerate,
        limit_attribute=limit_attribute,
        attacks=QUICK if quick else None,
        seed=seed,
    )
    _say(verdict)
    if out is not None:
        verdict.save(out)
    if rewrite is not None:
        print(f"judged cells: {verdict.rewrite(rewrite)}")
    if verdict.exit_code:
        raise typer.Exit(verdict.exit_code)


def _dataset(
    against: Path,
    recipe: Path | None,
    *,
    network: bool,
    ends: str,
    names: str,
    reading: dict[str, Any],
    roles: dict[str, Any],
) -> Any:
    """Return the original with the roles of a recipe and those that are named; without a recipe no others."""
    from dataclasses import replace

    from reident.workbench.dataset import Dataset, dataset_of
    from reident.workbench.opening import open_file
    from reident.workbench.readers import GEOGRAPHIC
    from reident.workbench.recipe import read_recipe, recipe_of

    if network:
        return Dataset(common.relations_file(against, ends, names))
    told = None if recipe is None else read_recipe(recipe)
    crs = reading.pop("crs")
    if against.suffix.lower() in GEOGRAPHIC:
        reading["crs"] = crs
    options = {name: value for name, value in reading.items() if value}
    opened = open_file(against, **{**({} if told is None else dict(told.reading)), **options})
    given = {name: value for name, value in roles.items() if value not in (None, [])}
    if told is None:
        told = replace(recipe_of(opened, str(against)), columns={}, places=None)
    if "lat" in given or "lon" in given:
        given["crs"] = crs
    elif crs is not None and against.suffix.lower() not in GEOGRAPHIC and told.places is None:
        from reident.base import ParameterError

        raise ParameterError(f"`crs` must come with `lat` and `lon`, the columns of north and east, got {crs!r} alone")
    return dataset_of(opened, told).with_roles(**given)


def _read(path: Path | None) -> Any:
    from reident.workbench.files import read_file

    return None if path is None else read_file(path)


def _word(text: str) -> tuple[str, str]:
    name, _, word = text.partition("=")
    return name, word


def _say(verdict: Any) -> None:
    """Print a verdict: its sentence, the attacks, what knowledge is worth, notes."""
    print(verdict.sentence)
    frame = verdict.attacks
    ran = frame["reason"] == ""
    for _, row in frame[ran].iterrows():
        between = f"{row['risk']:.1%} {row['measure']} ({row['low']:.1%} to {row['high']:.1%})"
        between += f", guessing {row['baseline']:.1%}"
        above = f"{row['share_above_limit']:.1%} of {row['n']} above {verdict.limit:.0%}"
        print(f"  {row['name']:<22} {row['verdict']}: {between}, {above}")
    for reason, rows in frame[~ran].groupby("reason", sort=False):
        print(f"  not run: {', '.join(rows['name'])}: {reason}")
    if verdict.report is not None and verdict.report.skipped:
        print(f"  {len(verdict.report.skipped)} other attacks do not apply (verdict.json lists them)")
    if verdict.classes is not None:
        sizes = ", ".join(f"{n} in classes of {size}" for size, n in verdict.classes.head(5).items())
        print(f"  the release alone, records by the size of their class: {sizes}")
    if verdict.knowledge is not None:
        for _, row in verdict.knowledge.worst.iterrows():
            share = f"{row['share_above_limit']:.1%} of persons above {verdict.limit:.0%}"
            print(f"  knowing {row['known']}: {share}, {row['risk']:.1%} {verdict.knowledge.measure} by joining")
    for note in verdict.notes:
        print(f"note: {note}")
