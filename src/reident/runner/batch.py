"""Run a notebook over a grid of its parameters, described in a YAML file as ``docs/batch.md`` shows.

The file is read by safe loading: it holds values, never code.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from reident.base import (
    DataError,
    ParameterError,
    check_flag,
    check_integer,
    check_mapping,
    check_positive,
    check_seed,
    trial_seed,
)
from reident.data._yaml import read_yaml
from reident.data.datasets import notebooks_folder
from reident.experiments.results import RESULT
from reident.experiments.sweep import expanded
from reident.pages import write_page
from reident.runner import NotebookRun, keys_of, notebook_defaults, page_at_the_end, read_records, run_notebooks
from reident.runner._execute import NOTEBOOK, PAGE
from reident.runner.experiments import notebooks

#: The frame over all runs, in the folder of the batch.
RESULTS = "results.parquet"

_KEYS = ("notebook", "parameters", "grid", "repetitions", "seed", "pages", "timeout")


def read_sweep(file: str | Path) -> list[NotebookRun]:
    """Read a batch's file and return its runs, each named by its settings.

    A file that does not exist or is no YAML is a `DataError`; unknown entries, no notebook, a bad grid, or repetitions
    of a notebook without `seed` are a `ParameterError`.
    """
    file = Path(file)
    entries = _load(file)
    unknown = sorted(set(entries) - set(_KEYS))
    if unknown:
        raise ParameterError(f"`{unknown[0]}` must be one of the entries {', '.join(_KEYS)} of {file.name}")
    notebook = _find(entries.get("notebook"), file)
    fixed = check_mapping(entries.get("parameters"), "parameters", optional=True)
    settings = expanded(entries["grid"]) if entries.get("grid") else [{}]
    repetitions = check_integer(entries.get("repetitions", 1), "repetitions", low=1)
    seed = check_seed(entries.get("seed", 0))
    timeout = entries.get("timeout")
    timeout = None if timeout is None else check_positive(timeout, "timeout")
    pages = check_flag(entries.get("pages", True), "pages")
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
    ours = ", ".join(path.stem for path in notebooks())
    raise ParameterError(f"`notebook` must be a path from {file.name} or one of {ours}, got {name!r}")


def _name(setting: Mapping[str, Any], repetition: int, parameters: Mapping[str, Any]) -> str:
    """Name a run by its settings, readably and without doubles, the same in a larger sweep."""
    words = [f"{name}-{value}" for name, value in setting.items()] + [f"{repetition}"]
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "", "_".join(words)).strip("-._")[:60]
    identity = json.dumps([dict(parameters), repetition], sort_keys=True, default=str)
    return f"{readable}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def batch(file: str | Path, out: str | Path, *, jobs: int = 1, **options: Any) -> list[dict[str, Any]]:
    """Run a notebook over a grid, resume an interrupted batch, and write its index page.

    `jobs` notebooks run at once. The results that they declared (`reident.experiments.results.declare`) are collected
    over all runs in ``results.parquet``, and stand on the page as a table; other runs in `out` are listed
    apart. `options` are `force`, `scheduler` and `progress` of `reident.runner.run_notebooks`.
    """
    runs, title = read_sweep(file), Path(file).stem
    keys = keys_of(runs, out)
    with page_at_the_end(out, lambda: write_table(out, keys, title=title), ("index.html", RESULTS)):
        return run_notebooks(runs, out, at_once=jobs, label=title, **options)


def write_table(out: str | Path, keys: Mapping[str, str], *, title: str) -> Path:
    """Write ``index.html``: a line a run with its parameters, state, time and pages; the results over all runs.

    `keys` are those of the batch's runs, by name; other runs are listed apart. Means are over seeds where another
    parameter differs, too.
    """
    out = Path(out)
    others = {record["name"]: record for record in read_records(out)}
    records = [others.pop(name) for name, key in keys.items() if name in others and others[name].get("key") == key]
    names = list(dict.fromkeys(name for record in records for name in record["parameters"]))
    results, varied = collect(out, records)
    settings = [name for name in varied if name != "seed"] or varied
    (out / RESULTS).unlink(missing_ok=True)
    if not results.empty:
        results.to_parquet(out / RESULTS, index=False)
    return write_page(
        out / "index.html",
        "sweep",
        title=title,
        names=names,
        runs=[_line(out, record) for record in records],
        failed=sum(record["status"] != "ok" for record in records),
        others=[_line(out, record) for record in others.values()],
        results=None if results.empty else means(results, settings).round(4),
        n_results=len(results),
        file=RESULTS,
    )


def _line(out: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a run with the path of its page."""
    name = record["name"]
    return {**record, "page": f"{name}/{PAGE if (out / name / PAGE).is_file() else NOTEBOOK}"}


def collect(out: Path, records: Sequence[Mapping[str, Any]]) -> tuple[pd.DataFrame, list[str]]:
    """Return the declared results of all runs in one frame, and the parameters in which the runs differ.

    These come before the results' own columns. A list of one value is written as the value. A column of a result
    with the name of such a parameter is called ``result_<name>``. Values of several kinds become texts.
    """
    settings = pd.DataFrame([record["parameters"] for record in records], dtype=object)
    varied = [name for name in settings if len({*settings[name].map(json.dumps)}) > 1]
    parts = []
    for record in records:
        file = out / record["name"] / RESULT
        if record["status"] == "ok" and file.is_file():
            result = pd.read_parquet(file).rename(columns={name: f"result_{name}" for name in ("run", *varied)})
            setting = {name: [record["parameters"].get(name)] * len(result) for name in varied}
            parts.append(pd.DataFrame({"run": record["name"]} | setting, result.index, dtype=object).join(result))
    if not parts:
        return pd.DataFrame(), varied
    results = pd.concat(parts, ignore_index=True)
    for name in varied:
        results[name] = _scalars(results[name])
    for name in results.columns[results.dtypes == "object"]:  # a file stores one kind of values a column
        kinds = {*results[name].dropna().map(type)}
        if len(kinds) > 1 and kinds != {int, float}:
            results[name] = results[name].map(str, na_action="ignore")
    return results.infer_objects(), varied


def _scalars(column: pd.Series) -> pd.Series:
    """Return a column without lists: single values where each list has one, else JSON."""
    lists = [value for value in column if isinstance(value, list)]
    if lists and all(len(value) == 1 for value in lists):
        return _scalars(column.map(lambda value: value[0] if isinstance(value, list) else value))
    return column.map(lambda value: json.dumps(value) if isinstance(value, list | dict) else value)


def means(results: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return the means of all measures for each setting of the keys, over all rows for no key."""
    measures = [
        name
        for name in results.select_dtypes(["number", "bool"])
        if name not in keys and not name.startswith(("result_", "repetition", "seed"))
    ]
    if not keys:
        return results[measures].mean().to_frame().T
    return results.groupby(list(keys), dropna=False, sort=False)[measures].mean().reset_index()
