"""Options of the commands, each described once, and their values."""

from __future__ import annotations

import csv
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from threading import Event
from typing import Annotated, Any

import typer

from reident.base import ParameterError, processors

#: Values of options by name.
Values = dict[str, Any]


def listed(names: str) -> list[str]:
    """Return names that commas separate; a name with a comma stands in double quotes."""
    return [name.strip() for row in csv.reader([names], skipinitialspace=True) for name in row if name.strip()]


def parted(text: str, option: str, form: str, *, at_last: bool = False) -> tuple[str, str]:
    """Return the texts before and after the first, or the last, equals sign of an option."""
    name, sign, value = text.rpartition("=") if at_last else text.partition("=")
    if not sign or not value:
        raise ParameterError(f"`{option}` must have the form {form}, got {text!r}")
    return name, value


def tried_method(text: str) -> Values:
    """Read ``method`` or ``method:name=value,value;name=value``, the values by the types of the registry."""
    from reident.methods import find

    method, _, settings = text.partition(":")
    entry, parameters = find(method, "anonymiser"), {}
    for setting in filter(None, settings.split(";")):
        name, values = parted(setting, "--try", "method:name=value,value")
        parameters[name] = [entry.parameter(name).read(value) for value in values.split(",")]
    return {"method": entry.name, **({"parameters": parameters} if parameters else {})}


def read_form(text: str) -> tuple[str, Any]:
    """Read ``column=form`` of a command line: ``age=5,10,20``, ``zip=prefixes``, ``born=date``, ``job=job.csv``.

    Examples
    --------
    >>> read_form("age=5,10"), read_form("zip=prefixes")
    (('age', {'intervals': [5.0, 10.0]}), ('zip', 'prefixes'))
    """
    column, form = parted(text, "--hierarchy", "column=form", at_last=True)
    try:
        return column, {"intervals": [float(width) for width in form.split(",")]}
    except ValueError:
        return column, form


#: Name -> the help of a text; else the type of the value, or how its text is read, in a list where the option may be
#: repeated, the help, and the option as it is typed, where that is not the name.
OPTIONS = {
    # how a file is read
    "separator": (str, "What separates the fields of a text file; default: found.", "--sep"),
    "decimal": "The decimal sign of a text file, . or ,; default: found.",
    "encoding": "The encoding of a text file; default: found.",
    "sheet": "The sheet of an Excel file; default: the fullest.",
    "layer": "The layer of a geographic file; default: the fullest.",
    "table": "The original's sheet or layer; default: the fullest.",
    "missing": (listed, "Further cells that mean missing, with commas: -9,NA."),
    "text": (listed, "Columns to leave as text, separated by commas."),
    "names": "The names of the columns of a file without a line of names, separated by commas.",
    "release_names": "The same of the release.",
    "ends": "The two columns of an edge list, separated by a comma; default: found by their names.",
    "release_ends": "The same of a released edge list, where it differs.",
    "crs": "What coordinates mean where the file does not say: EPSG:25832.",
    "release_crs": "The same of the release, where it differs.",
    # roles of columns
    "role": (
        [partial(parted, option="--role", form="column=role", at_last=True)],
        "A column's role: age=quasi-identifier; repeatable.",
    ),
    "quasi": (
        listed, "Columns that an intruder may know, separated by commas; a name with a comma in double quotes.",
    ),
    "sensitive": (
        listed, "Columns whose value must not become known, separated by commas; ill=yes: only the value yes.",
    ),
    "epsilon_quasi": (listed, "Numeric columns that may get noise inside classes, separated by commas."),
    "lat": "Column of latitudes, decimal degrees.",
    "lon": "Column of longitudes, decimal degrees.",
    "person": "Column that says which records are one person's.",
    "household": "Column of households: moved together, found together.",
    "weight": "Column of survey weights.",
    "hierarchies": (
        [read_form], "How a column coarsens: age=5,10,20, zip=prefixes, born=date, job=FILE.csv; repeatable.",
        "--hierarchy",
    ),
    # the rule
    "limit": (float, "The tolerable risk of a person; default: the recipe's, else 0.25."),
    "limit_attribute": (float, "The tolerable gain over guessing a sensitive value; default: the limit."),
    "tolerate": (float, "The share who may lie above it; default: the recipe's, else 0."),
    "intruder": (
        "prosecutor knows that a person is in the file (default); journalist does not, and weights say how likely."
    ),
    "impossible": "Records whose place is not on the earth: 'leave out' their place, or refuse.",
    "population": (float, "Persons for whom the survey weights stand together; default: as many as they say."),
    # making a release
    "methods": ([tried_method], "What assess tries instead of all that fits: mondrian:k=5,10; repeatable.", "--try"),
    "must_keep": (listed, "What the advised release must not withhold: place, or columns, separated by commas."),
    "settings": ([str], "A parameter of the method, such as sigma_deg=0.05; repeatable.", "--set"),
    "keep": (listed, "Further columns to release as they are, separated by commas."),
    "missing_values": "What becomes of gaps: label (default), wildcard, drop or suppress.",
    "keep_identifiers": (bool, "Release even columns that tell who a record is.", "--keep-identifiers"),
    "public": (
        [partial(parted, option="--public", form="name=file")],
        "A public input of a method: candidates=FILE, area=FILE, density=FILE; repeatable.", "--public",
    ),
    "network": (Path, "Edge list of relations: of the persons in the file, else of all it names."),
    # checking one
    "pairs": (Path, "The pairs that `reident protect` wrote; default: those beside the release."),
    "id": "Column of both files that pairs the records.",
    "same_order": (bool, "The rows (of networks the names) are those of the original.", "--same-order"),
    "called": (
        [partial(parted, option="--called", form="column=name")],
        "What a column is called in the release: age=Alter; repeatable.",
    ),
    "new": ([listed], "A column of the release that says nothing of the original: k, or k=random; repeatable."),
    "derived": ([listed], "A column computed from the original: intruders are assumed to know it; repeatable."),
    "register": (Path, "A public list of the population."),
    "earlier": ([Path], "An earlier release of the same persons; repeatable."),
    "control": (Path, "For a synthetic table: records that took no part in making it."),
    "quick": (bool, "Leave out attacks that take long.", "--quick"),
    "rewrite": (Path, "Write the judged cells into this new file, which holds nothing else."),
    # how a command runs
    "profile": "smoke (seconds), quick (a minute or two, the default), full (the whole grid, most draws).",
    "seed": (int, "The seed of simulated releases and attacks; of a notebook default: its own."),
    "jobs": (int, "How many processors to use; 0 for all of them (the default).", "--jobs", "-j"),
    "scheduler": "A running dask scheduler, such as tcp://host:8786, to run on instead of this machine.",
    "decide": (bool, "Draw data sets until the published tables are decided.", "--decide"),
    "budget": "With --decide: the time for it, such as 30min or 2h (the default).",
    "force": (bool, "Run again also what has ended well before.", "--force"),
    "quiet": (bool, "Show no progress.", "--quiet", "-q"),
}  # fmt: skip


def takes(names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of these names; it receives the values of those that were used."""
    chosen = {name: OPTIONS[name] for name in names.split()}
    described = {name: option if isinstance(option, tuple) else (str, option) for name, option in chosen.items()}
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(*option))
        for name, option in described.items()
    ]

    def give(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def command(**values: Any) -> None:
            for name, (kind, *_) in described.items():
                if (value := values.pop(name)) is not None:
                    values[name] = _read(kind, value)
            function(**values)

        own = inspect.signature(function, eval_str=True).parameters.values()
        both = [*(parameter for parameter in own if parameter.kind != parameter.VAR_KEYWORD), *options]
        command.__dict__["__signature__"] = inspect.Signature(both)
        return command

    return give


def _annotation(kind: Any, text: str, *flags: str) -> Any:
    one = kind[0] if isinstance(kind, list) else kind
    plain: Any = one if isinstance(one, type) else str
    return Annotated[(list[plain] if isinstance(kind, list) else plain) | None, typer.Option(*flags, help=text)]


def _read(kind: Any, value: Any) -> Any:
    if isinstance(kind, list):
        return [_read(kind[0], each) for each in value]
    return value if isinstance(kind, type) else kind(value)


def taken(values: Values, names: str) -> Values:
    """Take the options of these names out of those that were used."""
    return {name: values.pop(name) for name in names.split() if name in values}


def running(values: Values) -> Values:
    """Return options with the processors and the progress as functions take them."""
    others = {name: value for name, value in values.items() if name != "quiet"}
    return others | {"jobs": processors(values.get("jobs", 0)), "progress": not values.get("quiet", False)}


def set_options(entry: Any, texts: Sequence[str]) -> Values:
    """Read each ``name=value`` by the type that the registry gives the parameter of a method."""
    if texts and entry is None:
        raise ParameterError(f"`--set` must come with --method, a recipe holds its parameters, got {texts[0]!r}")
    values = {}
    for text in texts:
        name, value = parted(text, "--set", "name=value")
        if name in values:
            raise ParameterError(f"`--set` must give {name} once, got {text!r} besides")
        values[name] = None if value.lower() == "none" else entry.parameter(name).read(value)
    return values


def relations(path: Path, ends: str = "", names: str = "") -> Any:
    """Read an edge list with the attributes of its nodes, or another file of a network."""
    from reident.networks.files import read_relations

    return read_relations(path, listed(ends) or None, listed(names))


def original(
    file: Path | None, recipe: Path | None, *, crs: str | None = None, names: str = "", table: str | None = None,
    **roles: Any,
) -> Any:  # fmt: skip
    """Return a data set with the roles of a recipe, replaced by those that options name."""
    from reident.workbench.dataset import open_dataset
    from reident.workbench.readers import GEOGRAPHIC
    from reident.workbench.recipe import Recipe

    geographic = file is not None and file.suffix.lower() in GEOGRAPHIC
    reading = {"names": listed(names), "crs": crs if geographic else None, "layer" if geographic else "sheet": table}
    given = {name: value for name, value in reading.items() if value}
    dataset = open_dataset(file, Recipe() if recipe is None else recipe, **given)
    if "lat" in roles or "lon" in roles:
        roles["crs"] = crs
    elif crs is not None and not geographic and dataset.places is None:
        raise ParameterError(f"`crs` must come with `lat` and `lon`, the columns of north and east, got {crs!r} alone")
    return dataset.with_roles(**roles)


def public_inputs(given: Values) -> Values:
    """Read the files of public inputs; their coordinate columns may be called as those of the data."""
    from reident.workbench.files import read_file, with_places

    axes = [given.get(axis) for axis in ("lat", "lon")]
    tables = {name: read_file(path) for name, path in given.pop("public", [])}
    return {name: with_places(data, *axes) if {*axes} <= {*data.columns} else data for name, data in tables.items()}


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
