"""The command line: reproduce documents, draw their figures, list methods, work on own data."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import reident
from reident.base import MEMORY, DataError, ParameterError, TrialError, read_size
from reident.kernels._cache import cache_folder
from reident.workbench.command_options import resumable, running, stop, takes, was_interrupted
from reident.workbench.commands import add_commands

# Everything heavy is imported inside the commands, so that --help answers at once.

app = typer.Typer(
    name="reident",
    help="A workbench for disclosure risk: protect data, attack the release, map risk against utility.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: importing rich would take most of the time that --help takes
    context_settings={"help_option_names": ["-h", "--help"]},
)

Out = Annotated[Path, typer.Option("--out", help="The folder for results, figures and the index page.")]

add_commands(app)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"reident {reident.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[  # noqa: ARG001 (its callback answers)
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    memory: Annotated[
        str | None, typer.Option(help="How much memory may be used, such as 8G; default: what is free.")
    ] = None,
) -> None:
    if memory is not None:
        read_size(memory)
        os.environ[MEMORY] = memory  # workers read it, too


@app.command("list")
def list_() -> None:
    """List the experiments, the notebooks and the figures."""
    from reident.runner import notebook_title
    from reident.runner.experiments import citation_of, experiments, figure_names, notebooks

    print("Experiments (reident reproduce NAME)")
    for name, path in experiments().items():
        print(f"  {name:<30} {notebook_title(path)}")
        print(f"  {'':<30} {citation_of(name)}")
    print("\nNotebooks (make lab)")
    for path in notebooks():
        print(f"  {path.stem:<34} {notebook_title(path)}")
    print("\nFigures (reident figures NAME)")
    for name, path in experiments().items():
        for figure in figure_names(path):
            print(f"  {name:<30} {figure}")


@app.command()
@takes("profile jobs seed decide budget force scheduler quiet")
def reproduce(
    stem: Annotated[
        list[str] | None, typer.Argument(help="Experiments, documents or notebooks; none: every experiment.")
    ] = None,
    out: Out = Path("results"),
    **given: Any,
) -> None:
    """Run the notebooks of documents and write a page that compares them with the published values.

    What was interrupted goes on where it was; what has ended well with the same code and parameters is not run again.
    """
    from reident import runner

    budget_min = runner.read_minutes(given.pop("budget", "2h"))
    with resumable(out):
        records = runner.reproduce(stem or [], out=out, budget_min=budget_min, **running(given))
    _end(records, out)


@app.command()
@takes("jobs force scheduler quiet")
def batch(
    sweep: Annotated[Path, typer.Argument(help="A YAML file: notebook, parameters, grid, repetitions, seed, pages.")],
    out: Out = Path("results/batch"),
    **given: Any,
) -> None:
    """Run a notebook over a grid of its parameters, several at once, with a page over all runs.

    A parameter that the notebook does not have, or of another type, is refused before anything runs.
    """
    from reident.runner.batch import batch as run_batch

    with resumable(out):
        records = run_batch(sweep, out, **running(given))
    print(f"{sum(record['status'] == 'ok' for record in records)} of {len(records)} runs ended well")
    _end(records, out)


@app.command()
@takes("profile jobs seed quiet")
def figures(
    stem: Annotated[list[str], typer.Argument(help="Experiments or documents.")],
    out: Out = Path("results"),
    formats: Annotated[
        list[str] | None, typer.Option("--format", help="pdf, svg or png (the default); may be repeated.")
    ] = None,
    width: Annotated[str, typer.Option(help="The width of a figure, such as 85mm or 170mm.")] = "170mm",
    **given: Any,
) -> None:
    """Draw the figures of experiments again from their stored trials, into figures-for-print.

    The notebook is executed again with its stored trials. An experiment without stored results in the folder is run
    first, with the profile given.
    """
    from reident import runner
    from reident.runner.experiments import PRINT, check_print, draw_again

    width_mm, profile = check_print(formats or [], width), given.get("profile", "quick")
    runs, _ = runner.study_runs(stem, profile=profile)
    for name in [run.name for run in runs]:
        if not (out / name / "record.json").is_file():
            _say(f"{name}: no stored results in {out / name}, running its {profile} profile first")
            with resumable(out):
                runner.reproduce([name], out=out, **running(given))
        folder = draw_again(name, out, out / PRINT / name, width_mm=width_mm, formats=tuple(formats or ["png"]))
        print(f"{name}: {len([*folder.glob('*')]) - 1} figures in {folder}")


@app.command()
def report(
    out: Out = Path("results"),
    site: Annotated[Path, typer.Option(help="The folder of the site.")] = Path("site"),
    draw: Annotated[bool, typer.Option(help="Draw every figure again as PDF for print.")] = True,
) -> None:
    """Make one static site of the reproduced documents: claims, figures, errata, figures for print."""
    from reident.runner.experiments import PRINT
    from reident.runner.report import write_report

    index = write_report(out, site, draw=draw)
    if draw:
        print(f"figures for print: {(site / PRINT).resolve()}")
    print(f"site: {index.resolve()}")


@app.command("app")
@takes("profile jobs")
def app_(
    file: Annotated[Path | None, typer.Argument(help="The file to begin with; default: chosen in the browser.")] = None,
    port: Annotated[int, typer.Option(help="The port of this machine to serve on; 0: a free one.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open no browser.")] = False,
    **given: Any,
) -> None:
    """Serve a page for your own data: choose a file, confirm the roles, watch the map fill, take the release away.

    The page is served to this machine alone, under a token. Needs the extra reident[app].
    """
    from reident.workbench.serving import serve

    serve(file, port=port, browser=not no_browser, **given)


@app.command()
def methods(
    which: Annotated[
        str | None, typer.Argument(help="A role (anonymiser, attack, metric) or the name of one method; none: all.")
    ] = None,
    data: Annotated[str | None, typer.Option(help="places, table, network or queries.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole description as JSON.")] = False,
) -> None:
    """List the anonymisers, attacks and metrics by name, with their parameters, ranges, units and defaults."""
    from reident.methods import ROLES, describe, entries, find
    from reident.workbench.printing import print_method

    single = which is not None and which not in ROLES
    chosen = [find(str(which))] if single else entries(which, data)
    if as_json:
        print(json.dumps([describe(entry) for entry in chosen], indent=2))
        return
    for entry in chosen:
        print_method(entry, describe(entry), whole=single)


def _end(records: list[dict[str, Any]], out: Path) -> None:
    """Say where the results are; exit with 1 if a notebook failed."""
    failed = [record for record in records if record["status"] != "ok"]
    for record in failed[:10]:
        _say(f"{record['name']} failed: {record['error']['type']}: {record['error']['message']}")
        _say(f"  the notebook with its error: {out / record['name'] / 'notebook.ipynb'}")
    for record in records:
        pictures = sorted((out / record["name"] / "figures").glob("*.png"))
        if pictures:
            print(f"{record['name']}: {len(pictures)} figures in {out / record['name'] / 'figures'}")
    print(f"index page: {(out / 'index.html').resolve()}")
    if failed:
        raise typer.Exit(1)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(run: Callable[..., Any] = app) -> None:
    """Run the command line: 0 if all went well, 1 if a notebook failed, 2 for a wrong call or input, 130 for Ctrl-C."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    warnings.showwarning = _warned
    warnings.filterwarnings("ignore", r"Glyph .* missing from")  # a figure shows a box in its place
    if not os.environ.get("NUMBA_CACHE_DIR"):
        os.environ["NUMBA_CACHE_DIR"] = str(cache_folder())
    try:
        _ended(run)
    except (DataError, ParameterError, TrialError) as error:
        _say(f"reident: {error}")
        sys.exit(2)
    except MemoryError as error:
        _say(f"reident: there is not enough memory: {error or 'the system refused more'}; take fewer records")
        sys.exit(2)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG):
            raise
        _say(f"reident: nothing more can be written ({error.strerror}): {error.filename or 'make room'}")
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as end:
        # typer ends Ctrl-C by code 130, without a word; commands that resume have said more.
        if isinstance(end, KeyboardInterrupt) or isinstance(
            getattr(end.__context__, "__cause__", None), KeyboardInterrupt
        ):
            _say("reident: interrupted before it was done")
            sys.exit(130)
        raise


def _warned(message: Any, category: type[Warning], *where: Any, **_: Any) -> None:
    """Print a warning of this package without the line of code that gave it."""
    _say(f"reident: {message}" if category is UserWarning else warnings.formatwarning(message, category, *where[:2]))


def _ended(run: Callable[..., Any]) -> None:
    """Run, an error that an interruption became being one."""
    try:
        run()
    except Exception as error:
        if was_interrupted(error):
            raise KeyboardInterrupt from error
        raise


if __name__ == "__main__":
    main()
