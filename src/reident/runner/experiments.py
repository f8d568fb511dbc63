"""List the experiments with their profiles, and draw their figures again from stored trials."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

from reident.base import DataError, ParameterError, check_choice
from reident.data._yaml import read_yaml
from reident.data.datasets import PAPERS, notebooks_folder
from reident.runner._execute import NOTEBOOK, RECORD, execute
from reident.runner._parameters import notebook_sources

#: Inside an output folder or a site: figures for print, one folder an experiment.
PRINT = "figures-for-print"

_FORMATS = ("pdf", "svg", "png")

#: Parameter files beside the notebooks; a notebook's own values are ``quick``.
PROFILES = ("smoke", "quick", "full")


def check_print(formats: Sequence[str], width: str) -> float:
    """Return the width of figures in millimetres, or raise `ParameterError` for it or for a format."""
    for file_format in formats:
        check_choice(file_format, "format", _FORMATS)
    millimetres = re.fullmatch(r"(\d+(?:\.\d+)?) ?mm", width)
    if not millimetres or not 60 <= float(millimetres[1]) <= 400:
        raise ParameterError(f"`width` must be millimetres from 60mm to 400mm, such as 85mm, got {width!r}")
    return float(millimetres[1])


def read_minutes(text: str) -> float:
    """Return a time such as ``30min`` or ``2h`` in minutes, or raise `ParameterError`."""
    time = re.fullmatch(r"(\d+(?:\.\d+)?) ?(min|h)", text)
    if not time:
        raise ParameterError(f"`budget` must be a time such as 30min or 2h, got {text!r}")
    return float(time[1]) * (60 if time[2] == "h" else 1)


def notebooks() -> list[Path]:
    """Return the notebooks of the package, in order."""
    return sorted(notebooks_folder().glob("[0-9]*.ipynb"))


def experiments() -> dict[str, Path]:
    """Return the notebook of each experiment by its name, ``kroll2015`` for ``01-kroll2015.ipynb``."""
    stems = read_profile("full")
    return {path.stem.partition("-")[2]: path for path in notebooks() if path.stem in stems}


def profile_parameters(notebook: str | Path, profile: str) -> dict[str, Any]:
    """Return the parameters of a notebook in a profile, as ``notebooks/<profile>.yaml`` has them; none for quick."""
    check_choice(profile, "profile", PROFILES)
    return {} if profile == "quick" else dict(read_profile(profile)[Path(notebook).stem])


def read_profile(name: str) -> dict[str, Any]:
    """Return the parameters of a profile by notebook, in the order of its file."""
    return dict(read_yaml((notebooks_folder() / f"{name}.yaml").read_text(encoding="utf-8")))


def citation_of(name: str) -> str:
    """Return the citation of an experiment's document, "" for an experiment of our own."""
    return PAPERS.get(name.partition("_")[0], "")


def check_by_notebook(notebook: str | Path, parameters: dict[str, Any]) -> None:
    """Run the cells of an experiment up to its check of the parameters, so that no run starts with a wrong value."""
    sources = notebook_sources(notebook, "code")
    checks = [position for position, source in enumerate(sources) if "check_parameters(globals()" in source]
    if Path(notebook).resolve() not in {path.resolve() for path in experiments().values()} or not checks:
        return
    namespace: dict[str, Any] = {"__name__": Path(notebook).stem}
    with chdir(Path(notebook).resolve().parent):  # where the notebook runs
        for source in sources[: checks[0] + 1]:
            exec(compile(source, str(notebook), "exec", dont_inherit=True), namespace)
            namespace |= parameters  # after the first cell, that of the parameters


def figure_names(notebook: str | Path) -> list[str]:
    """Return the names of the figures that a notebook draws, in order."""
    return re.findall(r'\.finish\(\s*figure,\s*"([^"]+)"', "\n".join(notebook_sources(notebook, "code")))


def draw_again(name: str, out: str | Path, target: str | Path, *, width_mm: float, formats: tuple[str, ...]) -> Path:
    """Execute the notebook of a run in `out` again with its stored trials, once for each of the formats.

    Returns the folder of the figures, in `target`. An experiment that was not run in `out`, or that fails, is a
    `DataError`.
    """
    record = Path(out) / name / RECORD
    if not record.is_file():
        raise DataError(f"{name} has not been run in {str(out)!r}: run `reident reproduce {name} --out {out}` first")
    parameters = json.loads(record.read_text(encoding="utf-8"))["parameters"]
    Path(target).mkdir(parents=True, exist_ok=True)
    for file_format in formats:
        style = {"out": str(Path(target).resolve()), "width_mm": width_mm, "figure_format": file_format}
        error = execute(experiments()[name], parameters | style, Path(target))
        if error is not None:
            place = Path(target) / NOTEBOOK
            raise DataError(f"the notebook of {name} failed: {error['type']}: {error['message']}; see {place}")
    return Path(target) / "figures"
