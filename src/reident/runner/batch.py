"""Run a notebook over a grid of its parameters, described in a YAML file.

The file names a notebook and the values of its parameters::

    notebook: 01-kroll2015   # a notebook of the package, or a path from this file
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
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from reident.base import DataError, ParameterError, check_integer, check_plain, check_real, check_seed, trial_seed
from reident.data._yaml import read_yaml
from reident.data.datasets import notebooks_folder
from reident.pages import write_page
from reident.runner import NotebookRun, keys_of, notebook_defaults, page_at_the_end, read_records, run_notebooks
from reident.runner._collect import PICTURES, RESULTS, collect, draw, means, read_plot
from reident.runner._execute import NOTEBOOK, PAGE
from reident.runner._index import failure

_KEYS = ("notebook", "parameters", "grid", "repetitions", "seed", "pages", "plot", "timeout")


def read_sweep(file: str | Path) -> list[NotebookRun]:
    """Read a batch's file and return its runs, each named by its settings.

    Raises
    ------
    DataError
        If the file does not exist or is no YAML.
    ParameterError
        If it has unknown entries, no notebook, a bad grid, or repetitions of a notebook without `seed`.
    """
    file = Path(file)
    entries = _load(file)
    unknown = sorted(set(entries) - set(_KEYS))
    if unknown:
        raise ParameterError(f"`{unknown[0]}` must be one of the entries {', '.join(_KEYS)} of {file.name}")
    notebook = _find(entries.get("notebook"), file)
    fixed = entries.get("parameters") or {}
    if not isinstance(fixed, Mapping):
        raise ParameterError(f"`parameters` must give a value for each name, got {fixed!r}")
    settings = _settings(entries.get("grid"))
    repetitions = check_integer(entries.get("repetitions", 1), "repetitions", low=1)
    seed = check_seed(entries.get("seed", 0))
    timeout = entries.get("timeout")
    timeout = None if timeout is None else check_real(timeout, "timeout", low=0, open_low=True)
    pages = entries.get("pages", True)
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


def _settings(grid: Any) -> list[dict[str, Any]]:
    """Return the settings of a grid: the product of the lists of a mapping, or the mappings of a list."""
    if not grid:
        return [{}]
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            if not isinstance(values, list) or not values:
                raise ParameterError(f"`grid` must give a list of values for {name!r}, got {values!r}")
        settings = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    elif isinstance(grid, list) and all(isinstance(setting, Mapping) for setting in grid):
        settings = [dict(setting) for setting in grid]
    else:
        raise ParameterError(f"`grid` must be a mapping of lists or a list of mappings, got {grid!r}")
    for number, setting in enumerate(settings):
        for name, value in setting.items():
            check_plain(value, name)
        if setting in settings[:number]:
            raise ParameterError(f"`grid` must give each setting once, got {setting} twice")
    return settings


def _load(file: Path) -> dict[str, Any]:
    try:
        entries = read_yaml(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"`sweep` must be a file that can be read, got {str(file)!r}: {error}") from error
    except yaml.YAMLError as error:
        raise DataError(f"`sweep` must be a YAML file of plain values, got {str(file)!r}: {error}") from error
    if not isinstance(entries, dict):
        raise DataError(
            f"`sweep` must hold entries such as 'notebook: ...', got {type(entries).__name__} in {file.name}"
        )
    return entries


def _find(name: Any, file: Path) -> Path:
    if not isinstance(name, str):
        raise ParameterError(f"`notebook` must name a notebook in {file.name}, got {name!r}")
    for path in (file.parent / name, notebooks_folder() / f"{name}.ipynb"):
        if path.is_file():
            return path
    ours = ", ".join(path.stem for path in sorted(notebooks_folder().glob("[0-9]*.ipynb")))
    raise ParameterError(f"`notebook` must be a path from {file.name} or one of {ours}, got {name!r}")


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
    """Run a notebook over a grid, resume an interrupted batch, and write its index page.

    `jobs` notebooks run at once. The results that they declared (`reident.experiments.results.declare`) are collected
    over all runs in ``results.parquet``, and stand on the page as a table and a plot; other runs in `out` are listed
    apart. See `reident.runner.run_notebooks` for the other parameters.
    """
    runs = read_sweep(file)
    entries = _load(Path(file))
    plot = read_plot(entries.get("plot") or {})
    keys = keys_of(runs, out)
    options: dict[str, Any] = {"title": Path(file).stem, "plot": plot, "repeated": entries.get("repetitions", 1) > 1}
    with page_at_the_end(out, lambda: write_table(out, keys, **options), ("index.html", RESULTS, *PICTURES)):
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
    out: str | Path,
    keys: Mapping[str, str],
    *,
    title: str,
    plot: Mapping[str, Any] | None = None,
    repeated: bool = False,
) -> Path:
    """Write ``index.html``: a line a run with its parameters, state, time and pages; the results over all runs.

    `keys` are those of the batch's runs, by name; other runs are listed apart. Where runs are `repeated`, means are
    over their seeds, too. A plot with a column that the results lack raises `ParameterError` once the page is written.
    """
    out = Path(out)
    others = {record["name"]: record for record in read_records(out)}
    records = [others.pop(name) for name, key in keys.items() if name in others and others[name].get("key") == key]
    names = list(dict.fromkeys(name for record in records for name in record["parameters"]))
    results, varied = collect(out, records)
    settings = [name for name in varied if not (repeated and name == "seed")]
    for earlier in (RESULTS, *PICTURES):
        (out / earlier).unlink(missing_ok=True)
    picture, refused = None, ""
    if not results.empty:
        results.to_parquet(out / RESULTS, index=False)
        try:
            picture = draw(results, settings, plot or read_plot({}), out)
        except ParameterError as error:
            refused = str(error)
    page = write_page(
        out / "index.html",
        "sweep",
        title=title,
        names=names,
        runs=[_line(out, record, names) for record in records],
        failed=sum(record["status"] != "ok" for record in records),
        others=[_line(out, record) for record in others.values()],
        results=None if results.empty else means(results, settings).round(4),
        n_results=len(results),
        file=RESULTS,
        plot="" if picture is None else picture.name,
        refused=refused,
    )
    if refused:
        raise ParameterError(f"{refused}; all else is on {page}, and the same batch with another plot repeats no run")
    return page


def _line(out: Path, record: dict[str, Any], names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the line of a run: the values of the parameters with these names, or all parameters in one cell."""
    name, values = record["name"], record["parameters"]
    listed = ", ".join(f"{parameter} = {value!r}" for parameter, value in values.items())
    return {
        "name": name,
        "page": f"{name}/{PAGE if (out / name / PAGE).is_file() else NOTEBOOK}",
        "values": [listed] if names is None else [str(values.get(parameter, "")) for parameter in names],
        "error": failure(record),
        "seconds": record["seconds"],
    }
