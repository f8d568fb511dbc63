"""Options of the commands for own data, and their values."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Annotated, Any

import typer

from reident.base import ParameterError

__all__ = [
    "given", "listed", "own_data", "parted", "public_inputs", "read_table", "refuse_for_network", "relations",
    "resumable", "set_option", "stop", "tried_method", "was_interrupted"
]  # fmt: skip

# Options of several commands, and those with a long help.
Recipe = Annotated[
    Path | None, typer.Option(help="The recipe that open or assess wrote; default: recipe.yaml beside the file.")
]
Public = Annotated[
    list[str] | None,
    typer.Option("--public", help="A public input of a method: candidates=FILE, area=FILE, density=FILE; repeatable."),
]
Epsilon = Annotated[str, typer.Option(help="Numeric columns that may get noise inside classes, separated by commas.")]
Ends = Annotated[
    str, typer.Option(help="The two columns of an edge list, separated by a comma; default: found by their names.")
]
Names = Annotated[
    str, typer.Option(help="The names of the columns of a file without a line of names, separated by commas.")
]
Limit = Annotated[float | None, typer.Option(help="The tolerable risk of a person; default: the recipe's, else 0.25.")]
Tolerate = Annotated[float | None, typer.Option(help="The share who may lie above it; default: the recipe's, else 0.")]
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


def set_option(entry: Any, text: str) -> tuple[str, Any]:
    """Read ``name=value`` by the type that the registry gives the parameter."""
    name, value = parted(text, "--set", "name=value")
    return name, None if value.lower() == "none" else entry.parameter(name).read(value)


def read_table(path: Path | None) -> Any:
    """Read the records of a file; None for none."""
    from reident.workbench.files import read_file

    return None if path is None else read_file(path)


def relations(path: Path, ends: str, names: str = "") -> Any:
    """Read an edge list with the attributes of its nodes, or another file of a network."""
    from reident.networks.files import read_relations

    return read_relations(path, listed(ends) or None, listed(names))


def own_data(file: Path | None, recipe: Path | None, **keywords: Any) -> tuple[Any, Any]:
    """Return the data set of a file and its recipe: the one that is named or beside the file, else the proposed one."""
    from reident.workbench.dataset import Dataset
    from reident.workbench.recipe import open_by_recipe, recipe_beside

    opened, stated = open_by_recipe(file, recipe or recipe_beside(file))
    return Dataset.of(opened, recipe=stated, **keywords), stated


def public_inputs(public: list[str] | None) -> dict[str, Any]:
    """Read the files of public inputs; two columns that are recognised as places are."""
    from reident.workbench.files import with_places
    from reident.workbench.opening import open_file

    tables = {}
    for name, path in (parted(text, "--public", "name=file") for text in public or []):
        opened = open_file(path)
        places = opened.schema.places or {}
        tables[name] = with_places(opened.data, **places) if places else opened.data
    return tables


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
