"""A sweep over a notebook's parameters, described in a YAML file.

The file names a notebook and the values of its parameters::

    notebook: 01-kroll2015   # a notebook of the house, or a path from this file
    parameters: {gamma: 0.8}               # the same for all runs
    grid:                                  # the product of these values, or a list of settings
      seed: [1, 2, 3]
    repetitions: 1                         # more give each run a `seed` of its own
    seed: 0                                # the root of those seeds
    pages: true                            # render every run as a page, too
    timeout: 3600                          # seconds after which a run counts as failed; default: none

It is read by safe loading: it holds values, never code.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from reident._old_sweep.grid import expand
from reident.base import DataError, ParameterError, check_integer, check_real, check_seed, trial_seed
from reident.data._paths import notebooks_folder
from reident.data._yaml import read_yaml
from reident.pages import write_page
from reident.runner import NotebookRun, keys_of, notebook_defaults, page_at_the_end, read_records, run_notebooks
from reident.runner._collect import PICTURES, RESULTS, Plot, collect, draw, means
from reident.runner._execute import NOTEBOOK, PAGE
from reident.runner._index import failure

__all__ = ["batch", "read_sweep"]

_KEYS = ("notebook", "parameters", "grid", "repetitions", "seed", "pages", "plot", "timeout")


def read_sweep(file: str | Path) -> list[NotebookRun]:
    """Read a sweep's file and return its runs, each named by its settings.

    Raises
    ------
    DataError
        If the file is not there or no YAML.
    ParameterError
        If it has unknown entries, no notebook, a bad grid, or repetitions of a notebook without `seed`.
    """
    file = Path(file)
    asked = _load(file)
    unknown = sorted(set(asked) - set(_KEYS))
    if unknown:
        raise ParameterError(f"`{unknown[0]}` must be one of the entries {', '.join(_KEYS)} of {file.name}")
    notebook = _find(asked.get("notebook"), file)
    fixed = asked.get("parameters") or {}
    if not isinstance(fixed, Mapping):
        raise ParameterError(f"`parameters` must give a value for each name, got {fixed!r}")
    settings = expand(asked["grid"]) if asked.get("grid") else [{}]
    repetitions = check_integer(asked.get("repetitions", 1), "repetitions", low=1)
    seed = check_seed(asked.get("seed", 0))
    timeout = asked.get("timeout")
    if timeout is not None:
        timeout = check_real(timeout, "timeout", low=0, open_low=True)
    pages = asked.get("pages", True)
    if not isinstance(pages, bool):
        raise ParameterError(f"`pages` must be true or false, got {pages!r}")
    if repetitions > 1 and "seed" not in notebook_defaults(notebook):
        raise ParameterError(f"`repetitions` above 1 need a parameter `seed` in {notebook.name}: they would be alike")
    runs = []
    for setting in settings:
        twice = sorted(set(setting) & set(fixed))
        if twice:
            raise ParameterError(f"`{twice[0]}` must stand either in `parameters` or in `grid`, got both")
        if "out" in {*fixed, *setting}:
            raise ParameterError("`out` must not be a parameter of a sweep: each run gets a folder of its own")
        for repetition in range(repetitions):
            parameters = {**fixed, **setting}
            if repetitions > 1:
                if "seed" in parameters:
                    raise ParameterError("`seed` must not be a parameter where `repetitions` give each run its own")
                parameters["seed"] = int(trial_seed(seed, notebook.stem, parameters, repetition).generate_state(1)[0])
            runs.append(
                NotebookRun(_name(setting, repetition, parameters), notebook, parameters, page=pages, timeout=timeout)
            )
    return runs


def _load(file: Path) -> dict[str, Any]:
    try:
        asked = read_yaml(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"`sweep` must be a file that can be read, got {str(file)!r}: {error}") from error
    except yaml.YAMLError as error:
        raise DataError(f"`sweep` must be a YAML file of plain values, got {str(file)!r}: {error}") from error
    if not isinstance(asked, dict):
        raise DataError(f"`sweep` must hold entries such as 'notebook: ...', got {type(asked).__name__} in {file.name}")
    return asked


def _find(named: Any, file: Path) -> Path:
    if not isinstance(named, str):
        raise ParameterError(f"`notebook` must name a notebook in {file.name}, got {named!r}")
    for path in (file.parent / named, notebooks_folder() / f"{named}.ipynb"):
        if path.is_file():
            return path
    house = ", ".join(path.stem for path in sorted(notebooks_folder().glob("[0-9]*.ipynb")))
    raise ParameterError(f"`notebook` must be a path from {file.name} or one of {house}, got {named!r}")


def _name(setting: Mapping[str, Any], repetition: int, parameters: Mapping[str, Any]) -> str:
    """Name a run by its settings, readably and without doubles, the same in a larger sweep."""
    words = [f"{name}-{value}" for name, value in setting.items()] + [f"{repetition}"]
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "", "_".join(words)).strip("-._")[:60]
    identity = json.dumps([dict(parameters), repetition], sort_keys=True, default=str)
    return f"{readable}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def batch(
    file: str | Path,
    out: str | Path,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    force: bool = False,
    retry_failed: bool = True,
    progress: bool = True,
) -> list[dict[str, Any]]:
    """Run a sweep over a notebook, resume one that was interrupted, and write its index page.

    `jobs` notebooks run at once. What they declared as their results (`reident.experiments.results.declare`; a study
    declares a frame of its own) lies over all runs of the sweep in ``results.parquet``, and on the page as a table and
    a plot; other runs in `out` are listed apart. See `reident.runner.run_notebooks` for the other parameters.
    """
    runs = read_sweep(file)
    asked = _load(Path(file))
    plot = Plot.read(asked.get("plot") or {})
    keys = keys_of(runs, out)
    told: dict[str, Any] = {"title": Path(file).stem, "plot": plot, "repeated": asked.get("repetitions", 1) > 1}
    with page_at_the_end(out, lambda: write_table(out, keys, **told), ("index.html", RESULTS, *PICTURES)):
        return run_notebooks(
            runs,
            out,
            at_once=jobs,
            scheduler=scheduler,
            force=force,
            retry_failed=retry_failed,
            progress=progress,
            label=Path(file).stem,
        )


def write_table(
    out: str | Path, keys: Mapping[str, str], *, title: str, plot: Plot | None = None, repeated: bool = False
) -> Path:
    """Write ``index.html``: a line a run with its parameters, state, time and pages; the results over all runs.

    `keys` are those of the sweep's runs, by name; runs that have others, as of another sweep, are listed apart. Where
    runs are `repeated`, their seeds are no setting: means are over the repetitions, too.

    Raises
    ------
    ParameterError
        If the plot asks for a column that the results do not have; the page is written then, and says so.
    """
    out = Path(out)
    found = {record["name"]: record for record in read_records(out)}
    records = [found.pop(name) for name, key in keys.items() if name in found and found[name].get("key") == key]
    names = list(dict.fromkeys(name for record in records for name in record["parameters"]))
    results, varied = collect(out, records)
    settings = [name for name in varied if not (repeated and name == "seed")]
    for earlier in (RESULTS, *PICTURES):
        (out / earlier).unlink(missing_ok=True)
    picture, refused = None, None
    if not results.empty:
        results.to_parquet(out / RESULTS, index=False)
        try:
            picture = draw(results, settings, plot or Plot(), out)
        except ParameterError as error:
            refused = error
    page = write_page(
        out / "index.html",
        "sweep",
        title=title,
        names=names,
        runs=[_shown(out, record, names) for record in records],
        failed=sum(record["status"] != "ok" for record in records),
        others=[_shown(out, record) for record in found.values()],
        results=None if results.empty else means(results, settings).round(4),
        n_results=len(results),
        file=RESULTS,
        plot="" if picture is None else picture.name,
        refused="" if refused is None else str(refused),
    )
    if refused is not None:
        raise ParameterError(
            f"{refused}; all else is on {page}, and the same sweep with another plot runs nothing again"
        )
    return page


def _shown(out: Path, record: dict[str, Any], names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the line of a run: the values of the parameters with these names, or all parameters in one cell."""
    name, given = record["name"], record["parameters"]
    told = ", ".join(f"{parameter} = {value!r}" for parameter, value in given.items())
    return {
        "name": name,
        "page": f"{name}/{PAGE if (out / name / PAGE).is_file() else NOTEBOOK}",
        "values": [told] if names is None else [str(given.get(parameter, "")) for parameter in names],
        "error": failure(record),
        "seconds": record["seconds"],
    }
