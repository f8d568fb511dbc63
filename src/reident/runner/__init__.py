"""Execute parameterised notebooks in batches: several at once, resumable, with pages of their results.

Each run has a folder in the output folder: the executed notebook, its page without code, the log, ``record.json`` with
parameters, versions and outcome, and the notebook's own results and figures. A run works in a hidden folder and is
published by renaming it, so that a published folder is always complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from reident.base import (
    DataError,
    ParameterError,
    check_choice,
    check_integer,
    check_replaceable,
    check_seed,
    record_files,
)
from reident.experiments.decide import SCHEDULE
from reident.runner._execute import reason
from reident.runner._parameters import check_parameters, notebook_defaults, notebook_title
from reident.runner.experiments import PROFILES, experiments, notebooks, profile_parameters, read_minutes, read_profile
from reident.runner.notebook_runs import NotebookRun, keys_of, run_notebooks
from reident.runner.report import read_claims, read_findings, read_records, write_index

__all__ = [
    "NotebookRun",
    "check_parameters",
    "keys_of",
    "notebook_defaults",
    "notebook_title",
    "page_at_the_end",
    "read_claims",
    "read_findings",
    "read_minutes",
    "read_records",
    "reproduce",
    "run_notebooks",
    "study_runs",
    "write_index",
]


def study_runs(
    names: Sequence[str] = (), *, profile: str = "quick", jobs: int = 1, seed: int | None = None
) -> tuple[list[NotebookRun], int]:
    """Return the runs that reproduce documents, and the number of them to execute at once.

    `names` are experiments, stems of documents, or notebooks; none means every experiment. They start in the order of
    ``full.yaml``, the longest quick run first, so that no long one is left to run alone. They overlap up to `jobs`; the
    sweeps inside share the other processors. Those of the `full` profile use all. An unknown name or profile is a
    `ParameterError`.
    """
    check_choice(profile, "profile", PROFILES)
    jobs = check_integer(jobs, "jobs", low=1)
    known = experiments()
    named = known | {path.stem: path for path in notebooks() if path not in known.values()}
    answers = {name: {name, name.partition("_")[0], path.stem} for name, path in named.items()}
    for name in names:
        check_choice(name, "stem", sorted(set().union(*answers.values())))
    chosen = [name for name in named if (not answers[name].isdisjoint(names) if names else name in known)]
    at_once = max(1, min(jobs, len(chosen)))
    common: dict[str, Any] = {"jobs": jobs if profile == "full" else max(1, jobs // at_once)}
    common |= {} if seed is None else {"seed": check_seed(seed)}
    order = [*read_profile("full"), *(path.stem for path in named.values())]
    runs = []
    for name in sorted(chosen, key=lambda name: order.index(named[name].stem)):
        parameters = profile_parameters(named[name], profile) if name in known else {}
        defaults = notebook_defaults(named[name])
        parameters |= {key: value for key, value in common.items() if key in defaults}
        runs.append(NotebookRun(name, named[name], parameters))
    return runs, at_once


def reproduce(
    names: Sequence[str] = (),
    *,
    profile: str = "quick",
    jobs: int = 1,
    out: str | Path = "results",
    seed: int | None = None,
    decide: bool = False,
    budget_min: float | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Run the notebooks of documents, write the index page ``out/index.html``, and return the record of each run.

    Parameters
    ----------
    names : sequence of str
        Experiments, stems of documents, or notebooks; default: every experiment.
    profile : str
        ``"smoke"``, ``"quick"`` or ``"full"``.
    jobs : int
        How many processors to use.
    out : path
        The output folder; earlier runs in it are kept and listed.
    seed : int, optional
        Replaces the default seed of each notebook.
    decide : bool, default False
        Draw data sets, ten repetitions each, until the published tables are decided: looks after 5, 8, 12 and 18.
    budget_min : float, optional
        With `decide`: start no look that would end after so many minutes.
    options
        `force`, `scheduler` and `progress` of `run_notebooks`.

    Raises
    ------
    ParameterError
        If a name or profile is unknown, or `decide` is asked of an experiment without looks.
    """
    runs, at_once = study_runs(names, profile=profile, jobs=jobs, seed=seed)
    able = [name for name, path in experiments().items() if "budget_min" in notebook_defaults(path)]
    for run in runs:
        if run.name in experiments():
            run.parameters["cache"] = str((Path(out) / "trials" / run.name).resolve())
        if decide and run.name not in able:
            raise ParameterError(f"`decide` needs an experiment with looks, {', '.join(able)}; got {run.name!r}")
        if decide:
            run.parameters.update(n_datasets=SCHEDULE[-1], repetitions=10)
            run.parameters.update({} if budget_min is None else {"budget_min": float(budget_min)})
    with page_at_the_end(out, lambda: write_index(out)) as write:
        return run_notebooks(runs, out, at_once=at_once, label="reproduce", each=write, **options)


@contextmanager
def page_at_the_end(
    out: str | Path, write: Callable[[], Any], names: Sequence[str] = ("index.html",)
) -> Iterator[Callable[[], Any]]:
    """Write the page over all runs, the files `names`, at the end, also after an error; yield its writer.

    A file of that name that was not written by the program, or that cannot be written, is a `DataError`.
    """
    out = Path(out)
    check_replaceable(out, names)

    def write_and_record() -> None:
        try:
            write()
        finally:
            if out.is_dir():
                record_files(out, names)

    try:
        yield write_and_record
    except BaseException:
        with suppress(Exception):
            write_and_record()
        raise
    try:
        write_and_record()
    except OSError as error:
        raise DataError(
            f"`out` cannot be written any more, got {str(out)!r}: {reason(error, out)}; the runs that ended are "
            "complete, and the same call writes the page"
        ) from error
