"""Options of the commands for own data, and their values."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Annotated, Any

import typer

from reident.base import ParameterError

# Options of several commands, and those with a long help.
Quasi = Annotated[
    str,
    typer.Option(help="Columns that an intruder may know, separated by commas; a name with a comma in double quotes."),
]
Lat = Annotated[str | None, typer.Option(help="Column of latitudes, decimal degrees.")]
Lon = Annotated[str | None, typer.Option(help="Column of longitudes, decimal degrees.")]
Impossible = Annotated[
    str | None, typer.Option(help="Records whose place is not on the earth: 'leave out' their place, or refuse.")
]
Person = Annotated[str | None, typer.Option(help="Column that says which records are one person's.")]
Household = Annotated[str | None, typer.Option(help="Column of households: moved together, found together.")]
Sensitive = Annotated[
    str,
    typer.Option(help="Columns whose value must not become known, separated by commas; ill=yes: only the value yes."),
]
Public = Annotated[
    list[str] | None,
    typer.Option("--public", help="A public input of a method: candidates=FILE, area=FILE, density=FILE; repeatable."),
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
Intruder = Annotated[
    str | None,
    typer.Option(
        help="prosecutor knows that a person is in the file (default); journalist does not, and weights say how likely."
    ),
]
Population = Annotated[
    float | None, typer.Option(help="Persons for whom the survey weights stand together; default: as many as they say.")
]
Tried = Annotated[
    list[str] | None,
    typer.Option("--try", help="What assess tries instead of all that fits: mondrian:k=5,10; repeatable."),
]
Network = Annotated[
    Path | None, typer.Option(help="Edge list of relations: of the persons in the file, else of all it names.")
]
MustKeep = Annotated[
    str, typer.Option(help="What the advised release must not withhold: place, or columns, separated by commas.")
]
Option = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the method, such as sigma_deg=0.05; repeatable.")
]
Hierarchy = Annotated[
    list[str] | None,
    typer.Option(help="How a column coarsens: age=5,10,20, zip=prefixes, born=date, job=FILE.csv; repeatable."),
]
MissingValues = Annotated[
    str | None, typer.Option(help="What becomes of gaps: label (default), wildcard, drop or suppress.")
]
KeepIdentifiers = Annotated[
    bool, typer.Option("--keep-identifiers", help="Release even columns that tell who a record is.")
]
Pairs = Annotated[
    Path | None, typer.Option(help="The pairs that `reident protect` wrote; default: those beside the release.")
]
SameOrder = Annotated[
    bool, typer.Option("--same-order", help="The rows (of networks the names) are those of the original.")
]
Called = Annotated[
    list[str] | None, typer.Option(help="What a column is called in the release: age=Alter; repeatable.")
]
New = Annotated[
    list[str] | None,
    typer.Option(help="A column of the release that says nothing of the original: k, or k=random; repeatable."),
]
Derived = Annotated[
    list[str] | None,
    typer.Option(help="A column computed from the original: intruders are assumed to know it; repeatable."),
]
Earlier = Annotated[list[Path] | None, typer.Option(help="An earlier release of the same persons; repeatable.")]
Control = Annotated[Path | None, typer.Option(help="For a synthetic table: records that took no part in making it.")]
LimitAttribute = Annotated[
    float | None, typer.Option(help="The tolerable gain over guessing a sensitive value; default: the limit.")
]
Rewrite = Annotated[
    Path | None, typer.Option(help="Write the judged cells into this new file, which holds nothing else.")
]


def given(**values: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def parted(text: str, option: str, form: str) -> tuple[str, str]:
    """Return the texts before and after the first equals sign of an option."""
    name, sign, value = text.partition("=")
    if not sign:
        raise ParameterError(f"`{option}` must have the form {form}, got {text!r}")
    return name, value


def listed(names: str) -> list[str]:
    """Return names that commas separate; a name with a comma stands in double quotes."""
    return [name.strip() for row in csv.reader([names], skipinitialspace=True) for name in row if name.strip()]


def tried_method(text: str) -> dict[str, Any]:
    """Read ``method`` or ``method:name=value,value;name=value``, the values by the types of the registry."""
    from reident.methods import find

    method, _, settings = text.partition(":")
    entry, parameters = find(method, "anonymiser"), {}
    for setting in filter(None, settings.split(";")):
        name, values = parted(setting, "--try", "method:name=value,value")
        parameters[name] = [entry.parameter(name).read(value) for value in values.split(",")]
    return {"method": entry.name, **({"parameters": parameters} if parameters else {})}


def set_options(entry: Any, texts: Sequence[str]) -> dict[str, Any]:
    """Read each ``name=value`` by the type that the registry gives the parameter of a method."""
    if texts and entry is None:
        raise ParameterError(f"`--set` must come with --method, a recipe holds its parameters, got {texts[0]!r}")
    values: dict[str, Any] = {}
    for text in texts:
        name, value = parted(text, "--set", "name=value")
        if name in values:
            raise ParameterError(f"`--set` must give {name} once, got {text!r} besides")
        values[name] = None if value.lower() == "none" else entry.parameter(name).read(value)
    return values


def read_table(path: Path | None) -> Any:
    """Read the records of a file; None for none."""
    from reident.workbench.files import read_file

    return None if path is None else read_file(path)


def relations(path: Path, ends: str, names: str = "") -> Any:
    """Read an edge list with the attributes of its nodes, or another file of a network."""
    from reident.networks.files import read_relations

    return read_relations(path, listed(ends) or None, listed(names))


def original(
    file: Path | None, recipe: Path | None, *, crs: str | None = None, names: str = "", table: str | None = None,
    **roles: Any,
) -> Any:  # fmt: skip
    """Return a data set with the roles of a recipe, replaced by those that options name."""
    from reident.workbench.dataset import Dataset
    from reident.workbench.files import part_of
    from reident.workbench.readers import GEOGRAPHIC
    from reident.workbench.recipe import open_by_recipe
    from reident.workbench.schema import Schema

    geographic = file is not None and file.suffix.lower() in GEOGRAPHIC
    reading = {"names": listed(names), "crs": crs if geographic else None, **part_of(file, table)}
    opened, stated = open_by_recipe(file, recipe, **{name: value for name, value in reading.items() if value})
    if recipe is None:
        stated = replace(stated, schema=Schema({}))
    roles |= {name: listed(roles[name]) for name in ("quasi", "sensitive", "epsilon_quasi") if roles.get(name)}
    chosen = {name: value for name, value in roles.items() if value}
    if "lat" in chosen or "lon" in chosen:
        chosen["crs"] = crs
    elif crs is not None and not geographic and stated.schema.places is None:
        raise ParameterError(f"`crs` must come with `lat` and `lon`, the columns of north and east, got {crs!r} alone")
    return Dataset.of(opened, recipe=stated).with_roles(**chosen)


def public_inputs(public: list[str] | None, lat: str | None, lon: str | None) -> dict[str, Any]:
    """Read the files of public inputs; their coordinate columns may be called as those of the data."""
    from reident.workbench.files import with_places

    files = dict(parted(text, "--public", "name=file") for text in public or [])
    tables = {name: read_table(Path(path)) for name, path in files.items()}
    return {
        name: with_places(data, lat, lon) if {lat, lon} <= set(data.columns) else data for name, data in tables.items()
    }


def refuse_for_network(options: dict[str, Any]) -> None:
    """Refuse options about records where a network is released."""
    for name, value in options.items():
        if value:
            raise ParameterError(f"`{name}` must be left out for a network: it is about records, got {value!r}")


#: Set once this process was asked to stop.
_STOPPED = Event()


def stop(number: int, frame: Any) -> None:  # noqa: ARG001 (a signal handler)
    """Interrupt, and remember it: inside of compiled code the exception comes back as another one."""
    _STOPPED.set()
    raise KeyboardInterrupt


def was_interrupted(error: BaseException) -> bool:
    """Return whether an error is an interruption, or came after one."""
    return isinstance(error, KeyboardInterrupt) or (_STOPPED.is_set() and isinstance(error, Exception))


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """End interrupted work with a sentence that says how to resume it from a folder."""
    try:
        yield
    except (KeyboardInterrupt, Exception) as error:
        if not was_interrupted(error):
            raise
        message = f"interrupted: finished parts are in {out}, and the same command goes on from there"
        print(message, file=sys.stderr, flush=True)
        raise typer.Exit(130) from None
