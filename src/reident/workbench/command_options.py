"""What several commands for one's own data ask for, and how it is read."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Annotated, Any

import typer

Quasi = Annotated[
    str,
    typer.Option(help="Columns that an intruder may know, separated by commas; a name with a comma in double quotes."),
]
Lat = Annotated[str | None, typer.Option(help="Column of latitudes, decimal degrees.")]
Lon = Annotated[str | None, typer.Option(help="Column of longitudes, decimal degrees.")]
Person = Annotated[str | None, typer.Option(help="Column that says which records are one person's.")]
Sensitive = Annotated[str, typer.Option(help="Columns whose value must not become known, separated by commas.")]
Area = Annotated[Path | None, typer.Option(help="Polygon file, public: where an embedding draws reference places.")]
Candidates = Annotated[Path | None, typer.Option(help="File of public places to swap with.")]
Public = Annotated[
    list[str] | None, typer.Option("--public", help="Another public input, such as density=FILE; repeatable.")
]
Epsilon = Annotated[str, typer.Option(help="Numeric columns that may get noise inside classes, separated by commas.")]
Crs = Annotated[str | None, typer.Option(help="What coordinates mean where the file does not say: EPSG:25832.")]
Ends = Annotated[
    str, typer.Option(help="The two columns of an edge list, separated by a comma; default: found by their names.")
]
Names = Annotated[
    str, typer.Option(help="The names of the columns of a file without a line of names, separated by commas.")
]

Limit = Annotated[float | None, typer.Option(help="The tolerable risk of a person; default: the recipe's, else 0.25.")]
Tolerate = Annotated[float | None, typer.Option(help="The share who may lie above it; default: the recipe's, else 0.")]

Population = Annotated[
    float | None, typer.Option(help="Persons for whom the survey weights stand together; default: as many as they say.")
]


def parted(text: str, option: str, form: str) -> tuple[str, str]:
    """Return what stands before and behind the first equals sign of what an option says."""
    from reident.base import ParameterError

    name, sign, value = text.partition("=")
    if not sign:
        raise ParameterError(f"`{option}` must have the form {form}, got {text!r}")
    return name, value


def listed(names: str) -> list[str]:
    """Return names that commas separate; one with a comma in it stands in double quotes."""
    return [name.strip() for row in csv.reader([names], skipinitialspace=True) for name in row if name.strip()]


def network_file(path: Path, ends: str, names: str = "") -> Any:
    """Read an edge list or another file of a network."""
    return relations_file(path, ends, names).network


def relations_file(path: Path, ends: str, names: str = "") -> Any:
    """Read an edge list with the attributes of its nodes, or another file of a network."""
    from reident.networks.marks import read_relations

    return read_relations(path, listed(ends) or None, listed(names))


def open_or_recipe(file: Path | None, recipe: Path | None, **reading: Any) -> tuple[Any, Any]:
    """Open a file, or that of a recipe; return it with the recipe, the proposed one where none is given.

    What `reading` says goes before what the recipe says of the same.
    """
    from reident.base import ParameterError
    from reident.workbench.opening import open_file
    from reident.workbench.recipe import read_recipe, recipe_of

    told = None if recipe is None else read_recipe(recipe)
    if file is None and (told is None or not told.file):
        raise ParameterError("`file` or a `recipe` that names one must be given")
    path = file or Path(recipe or "").parent / str(told and told.file)
    chosen = {name: value for name, value in reading.items() if value}
    opened = open_file(path, **({} if told is None else dict(told.reading)) | chosen)
    if told is not None:
        told.check_columns(opened)
    return opened, told or recipe_of(opened, str(path), chosen)


def public_inputs(
    area: Path | None, candidates: Path | None, others: list[str] | None, lat: str | None, lon: str | None
) -> dict[str, Any]:
    """Read the files of public inputs; their coordinate columns may be called as those of the data."""
    from reident.workbench.files import read_file, with_places

    named = {"area": area, "candidates": candidates}
    for text in others or []:
        name, path = parted(text, "--public", "name=file")
        named[name] = Path(path)
    read = {name: read_file(path) for name, path in named.items() if path is not None}
    return {
        name: with_places(data, lat, lon) if {lat, lon} <= set(data.columns) else data for name, data in read.items()
    }


def part_of(path: Path, table: str | None) -> dict[str, Any]:
    """Return the option that names a sheet or a layer of a file."""
    from reident.workbench.files import part_of as part

    return part(path, table)


def with_population(recipe: Any, population: float | None) -> Any:
    """Return a recipe with the size of the population that its weights stand for, where one is told."""
    from reident.base import ParameterError
    from reident.workbench.roles import NO_WEIGHT

    if population is None:
        return recipe
    if not recipe.named("weight"):
        raise ParameterError(NO_WEIGHT)
    return replace(recipe, population=population)


#: Whether somebody asked this process to stop.
_ASKED = Event()


def stop(number: int, frame: Any) -> None:  # noqa: ARG001 (a signal handler)
    """Interrupt, and remember it: inside of compiled code the exception comes back as another one."""
    _ASKED.set()
    raise KeyboardInterrupt


def was_interrupted(error: BaseException) -> bool:
    """Tell whether an error is an interruption, or came after one."""
    return isinstance(error, KeyboardInterrupt) or (_ASKED.is_set() and isinstance(error, Exception))


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """End work that keeps what had finished in a folder, when it is interrupted, with a sentence that says so."""
    try:
        yield
    except (KeyboardInterrupt, Exception) as error:
        if not was_interrupted(error):
            raise
        told = f"interrupted: what had finished is in {out}, and the same command goes on from there"
        print(told, file=sys.stderr, flush=True)
        raise typer.Exit(130) from None
