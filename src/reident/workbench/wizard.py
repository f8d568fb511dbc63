"""A wizard for own data in the browser: from the file to the checked release.

It runs the commands `reident open`, `assess`, `protect` and `check` and shows them, so that a terminal gives the same
files.
"""

from __future__ import annotations

import atexit
import html
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pandas as pd
import traitlets

from reident.base import ParameterError, check_replaceable, record_files, start_module
from reident.methods import entries
from reident.plotting.interactive import map_data, ru_map_widget
from reident.workbench.assessing import releases_to_try
from reident.workbench.column_choice import ColumnChoice
from reident.workbench.controls import WIDE, MethodChoice, bold, spoken, usual_values
from reident.workbench.dataset import dataset_of
from reident.workbench.opening import OpenedFile, open_file
from reident.workbench.readers import KINDS, file_kind
from reident.workbench.recipe import Recipe, recipe_of
from reident.workbench.report import read_points
from reident.workbench.search import DRAWS
from reident.workbench.wizard_page import MAP, RULE, STYLE, download, found_told, head, linked, roles_told, sentence

__all__ = ["Wizard"]

_POLL_SECONDS = 1.5
_ENDS = {end.removesuffix(".gz") for end in KINDS.split(", ")}
_PROFILES = {f"{name}: {draws} draws of a release that draws": name for name, draws in DRAWS.items()}


class Wizard:
    """Widgets for one's own data, from the file to the checked release.

    A choice is an option of a command, and the commands are on the page (`script`). Results of other choices are
    removed.

    Parameters
    ----------
    file : str
        The file to begin with, relative to the folder; default: it is chosen in the browser.
    folder : path
        Where the files are, and where the commands run: what they write stands in a folder named after the file.
    profile : {"smoke", "quick", "full"}
    seed, jobs : int
        As for `reident assess`.

    Examples
    --------
    >>> wizard = Wizard()
    >>> wizard.commands()
    {}
    """

    def __init__(
        self, file: str = "", *, folder: str | Path = ".", profile: str = "quick", seed: int = 0, jobs: int = 0
    ) -> None:
        self.folder = Path(folder).resolve()
        self.seed, self.jobs = seed, jobs
        self.opened: OpenedFile | None = None
        self.recipe = Recipe()
        self.released = ""
        self.done: list[str] = []
        self._lock = threading.RLock()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread()
        self._stopped = False
        self._began, self._judged = 0.0, 0
        self._first: str | None = None
        self._located: tuple[Any, ...] = ()
        names = sorted(path.name for path in self.folder.iterdir() if path.is_file() and file_kind(path) in _ENDS)
        self.file = widgets.Combobox(options=names, placeholder="a file of the folder, or a path", description="file",
                                     ensure_option=False, **WIDE)  # fmt: skip
        self.part = widgets.Dropdown(description="sheet", **WIDE)
        self._parts = widgets.VBox([self.part])
        self.told, self.wrong, self.state, self.verdict, self.taken, self.script = (widgets.HTML() for _ in range(6))
        self.columns = ColumnChoice(self._offer)
        self.limit = widgets.FloatSlider(0.25, min=0, max=1, step=0.01, description="tolerable risk", **WIDE)
        self.tolerate = widgets.BoundedFloatText(0.0, min=0, max=1, step=0.01, description="share above", **WIDE)
        self.profile = widgets.Dropdown(options=_PROFILES, value=profile, description="profile", **WIDE)
        self.methods = MethodChoice(self._change)
        self.assess = widgets.Button(description="Assess", button_style="primary")
        self.protect = widgets.Button(description="Make the release and check it")
        self.protect.layout = widgets.Layout(width="auto", align_self="flex-start")
        self.stop = widgets.Button(description="Stop", disabled=True)
        self.map = ru_map_widget()
        self.frame = pd.DataFrame()
        self._mapped = widgets.VBox([self.map, widgets.HTML(f"<p>{MAP}</p>")])
        traitlets.link((self.tolerate, "value"), (self.map, "limit"))
        self.file.observe(lambda _: self._open(), "value")
        self.part.observe(lambda _: self._open(self.part.value), "value")
        self.profile.observe(lambda _: self._change(), "value")
        for control in (self.tolerate, self.limit):
            control.observe(lambda _: self._move(), "value")
        self.assess.on_click(lambda _: self.run("assess"))
        self.protect.on_click(lambda _: self.run("protect"))
        self.stop.on_click(lambda _: self.cancel())
        atexit.register(self.cancel)
        self._later = widgets.VBox(
            [
                head("2. The columns"), widgets.HTML(roles_told()), self.columns.widget, self.wrong,
                head("3. The limit, and the methods to try"), widgets.HTML(f"<p>{RULE}</p>"), self.limit,
                self.tolerate, self.profile,
                self.methods.widget, widgets.HBox([self.assess, self.stop]),
                head("4. The verdict and the map"), self.state, self.verdict, self.protect, self._mapped,
                head("5. Files to take away"), self.taken,
                head("The same on the command line"), self.script,
            ]
        )  # fmt: skip
        self.widget = widgets.VBox(
            [
                widgets.HTML(STYLE),
                spoken(self.told, self.wrong, self.state, self.verdict),
                head("1. The file"),
                self.file,
                self.told,
                self._parts,
                self._later,
            ]
        )
        self._open()
        self.file.value = file

    def _repr_mimebundle_(self, **kws: Any) -> Any:
        return self.widget._repr_mimebundle_(**kws)

    # -- choices -------------------------------------------------------------------------------------------------

    @property
    def out(self) -> str:
        """The output folder, relative to that of the files."""
        path = Path(self.file.value)
        return (path.parent / f"{path.name.lstrip('.-').partition('.')[0]}-reident").as_posix()

    @property
    def roles(self) -> dict[str, widgets.Dropdown]:
        """The controls of the columns' roles."""
        return self.columns.roles

    def _open(self, part: str | None = None) -> None:
        """Open the chosen file, or a sheet or layer of it, and propose the roles of its columns."""
        if part is not None and self.opened is not None and part == self.opened.source.get(self.part.description):
            return
        self.cancel()
        self._later.layout.display = "none"  # the columns of another file are not to be chosen from
        self.opened, self._located = None, ()
        try:
            if self.file.value:
                self.told.value = "<p>The file is being read.</p>"
                reading = {} if part is None else {self.part.description: part}
                self.opened = open_file(self.folder / self.file.value, **reading)
                self.told.value = found_told(self.opened)
            else:
                self.told.value = f"<p>{html.escape(self._listed())}</p>"
        except Exception as error:
            self.told.value = bold(sentence(error))
        if self.opened is None:
            self._parts.layout.display = "none"
            return
        self.recipe = recipe_of(self.opened, self.file.value)
        if part is None:
            self.part.options = ()
            self.part.description = "layer" if "layer" in self.opened.source else "sheet"
            self._parts.layout.display = "" if len(self.opened.parts) > 1 else "none"
            self._first = self.opened.source.get(self.part.description)
            self.part.options = self.opened.parts
            self.part.value = self._first
        self.methods.offer([])
        self.columns.offer(self.opened, self.recipe)
        self._offer()
        self._later.layout.display = ""

    def _listed(self) -> str:
        names = list(self.file.options)
        more = f" and {len(names) - 9} more" if len(names) > 9 else ""
        content = f"holds {', '.join(names[:9])}{more}" if names else "holds no file that can be read"
        return f"The folder {self.folder} {content}. Choose a file by the field above, or type the path of another."

    def _offer(self) -> None:
        """Offer the methods that fit the roles."""
        assert self.opened is not None
        offered = []
        try:
            with self._lock:
                recipe = self.columns.recipe
                if not any(map(recipe.named, ("quasi-identifier", "place", "node"))):
                    raise ParameterError(
                        "No column is known to others: choose the roles quasi-identifier, place or node."
                    )
                dataset = dataset_of(self.columns.file, recipe)
                tried, left_out = releases_to_try(dataset, methods=recipe.tried())
                for kind, settings in tried.items():
                    fitting = [entry for entry in entries("anonymiser", kind) if entry.name not in left_out]
                    offered += [(entry, usual_values(entry, settings)) for entry in fitting]
            located = (self.file.value, self.part.value, str(recipe.places), recipe.named("place"))
            if located != self._located:
                self._located = located
                self.columns.locate(dataset.frame)
            self.wrong.value = ""
        except Exception as error:
            self.wrong.value = bold(sentence(error))
            self._located, self.columns.where.value = (), ""
        self.methods.offer(offered, keep=True)  # and takes away what was found

    def _change(self) -> None:
        """Stop the run and remove results of other choices."""
        self.cancel()
        self.frame = pd.DataFrame()
        self._draw()
        self._move()

    def _move(self) -> None:
        """Take away the verdict and the map of another rule."""
        if self.opened is None:
            return
        self.verdict.value = self.taken.value = self.released = ""
        self.done = []
        self._show()

    def _show(self) -> None:
        busy = self._thread.is_alive()
        self.assess.disabled = busy or not self.methods.names.options
        self.stop.disabled = not busy
        self.protect.disabled = busy or "assess" not in self.done or not self._advised.is_file()
        self.script.value = f"<pre>{html.escape(self.text)}</pre>{download('reident.sh', self.text.encode())}"

    @property
    def _advised(self) -> Path:
        return self.folder / self.out / "report" / "recipe.yaml"

    def commands(self) -> dict[str, list[str]]:
        """Return the arguments of each `reident` command for the choices, in their order; none without a file."""
        if self.opened is None:
            return {}
        out = self.out
        tried = [] if self.methods.usual else [self._tried(name) for name in self.methods.names.value]
        part = self.part.value if self.part.value != self._first else None
        options = [] if part is None else [f"--{self.part.description}={part}"]
        options += [f"{name}={value}" for name, value in self.columns.options()]
        options += [f"--try={text}" for text in tried]
        if self.limit.value != 0.25:
            options.append(f"--limit={self.limit.value:g}")
        if self.tolerate.value:
            options.append(f"--tolerate={self.tolerate.value:g}")
        running = ["--profile", self.profile.value, "--seed", str(self.seed), "--jobs", str(self.jobs), "--quiet"]
        release, advised = self.released or self._free(), f"{out}/report/recipe.yaml"
        file = f"./{self.file.value}" if self.file.value.startswith("-") else self.file.value
        return {
            "open": ["open", file, "--out", f"{out}/recipe.yaml", "--force", *options],
            "assess": ["assess", "--recipe", f"{out}/recipe.yaml", "--out", f"{out}/report", *running],
            "protect": ["protect", "--recipe", advised, "--out", release],
            "check": ["check", release, "--against", file, "--recipe", advised, "--out", f"{out}/check"],
        }

    def _tried(self, name: str) -> str:
        values = self.methods.values(name) if self.methods.moved(name) else {}
        settings = ";".join(f"{parameter}={','.join(f'{v:g}' for v in listed)}" for parameter, listed in values.items())
        return f"{name}:{settings}" if settings else name

    def _free(self) -> str:
        """Return the first folder for a release that is not there yet: none is ever overwritten."""
        names = (f"{self.out}/release{number}" for number in ("", *(f"-{i}" for i in range(2, 10_000))))
        return next(name for name in names if not (self.folder / name).exists())

    @property
    def text(self) -> str:
        """The commands as a script."""
        lines = ["#!/bin/sh", "# in the folder of the file; the end is 3 where the release does not pass", "set -e"]
        refused = "assess" in self.done and not self._advised.is_file()
        for name, arguments in self.commands().items():
            if refused and name in ("protect", "check"):
                continue  # the recipe that they read was not written
            words = [(" \\\n  " if word.startswith("--") else " ") + shlex.quote(word) for word in arguments]
            lines.append("reident" + "".join(words))
        return "\n".join([*lines, ""])

    # -- runs ----------------------------------------------------------------------------------------------------

    def run(self, what: str, *, wait: bool = False) -> None:
        """Run the commands of a step beside the page: "assess", or "protect" and its check."""
        if self._thread.is_alive() or self.opened is None:
            return
        if what == "assess":
            self._change()
        self.released = self._free()
        self._stopped = False
        steps = {"assess": ("open", "assess"), "protect": ("protect", "check")}[what]
        thread = self._thread = threading.Thread(target=self._work, args=(steps, self.commands()), daemon=True)
        thread.start()
        self._show()
        if wait:
            thread.join()

    def cancel(self) -> None:
        """Stop the run; finished parts are stored, and the next run goes on from there."""
        self._stopped = True
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()

    def _work(self, steps: Sequence[str], commands: dict[str, list[str]]) -> None:
        outputs: dict[str, str] = {}
        try:
            place, recipe = self.folder / self.out, ("recipe.yaml", "recipe.png")
            if "open" in steps:
                check_replaceable(place, recipe)
            for name in steps:
                code, outputs[name], error = self._call(name, commands[name])
                if self._stopped:
                    self.state.value = "Stopped. What had finished is kept for the next time."
                    return
                if name == "open" and code == 0:
                    record_files(place, recipe)
                if code not in (0, 3):
                    self.state.value = bold((error.strip().splitlines() or [f"reident {name} failed"])[-1])
                    return
            if commands != self.commands():
                self.state.value = "The limit was moved meanwhile: assess again for a verdict at this one."
                return
            self.done += steps
            self.state.value = "Done."
            self._tell(outputs)
        except Exception as error:  # it would be lost in the thread
            self.state.value = bold(sentence(error))
        finally:
            self._process, self._thread = None, threading.Thread()
            self._show()

    def _call(self, name: str, arguments: list[str]) -> tuple[int, str, str]:
        """Run one command, and say how far it is."""
        self._began, self._judged = time.monotonic(), self._n_judged()
        self._say(f"reident {name} is running")
        with self._lock:
            if self._stopped:
                return 130, "", ""
            process, tether = start_module("reident.cli", arguments, self.folder)
            self._process = process
        with tether:
            while True:
                try:
                    out, error = process.communicate(timeout=_POLL_SECONDS)
                    return process.returncode, out, error
                except subprocess.TimeoutExpired:
                    done = f": {self._n_judged() - self._judged} releases judged so far" if name == "assess" else ""
                    self._say(f"reident {name} is running{done}")

    def _say(self, text: str) -> None:
        """Show the running step and its time."""
        self.state.value = f"<p>{html.escape(text)} ({time.monotonic() - self._began:.0f} s)</p>"

    def _n_judged(self) -> int:
        """Return how many chains the search has stored."""
        stores = (self._advised.parent / ".work").glob("evaluate_chain-*.jsonl")
        return sum(len(path.read_bytes().splitlines()) for path in stores)

    def _draw(self) -> None:
        """Draw the map of the releases that were judged."""
        data = {} if self.frame.empty else map_data(self.frame, limit=self.tolerate.value)
        self._mapped.layout.display = "" if data else "none"
        if data != self.map.data:
            self.map.data = data

    def _tell(self, outputs: Mapping[str, str]) -> None:
        """Show the verdict and offer the written files."""
        if "assess" in outputs:
            knows, verdict, *others = outputs["assess"].partition("\nreport: ")[0].splitlines()
            small = "".join(f"<p><small>{html.escape(line)}</small></p>" for line in (*others, knows))
            self.verdict.value = bold(verdict) + small
            path = self._advised.with_name("map.csv")
            self.frame = read_points(path) if path.stat().st_size > 2 else pd.DataFrame()
            self._draw()
        else:
            lines = [outputs["check"].splitlines()[0], *outputs["protect"].splitlines()]
            self.verdict.value = f"{bold(lines[0])}<pre>{html.escape(chr(10).join(lines[1:]))}</pre>"
        place = self.folder / self.out
        files = [place / "recipe.yaml", *sorted((place / "report").glob("*.html")), self._advised]
        if "protect" in self.done:
            files += [*sorted((self.folder / self.released).iterdir()), place / "check" / "verdict.json"]
        self.taken.value = f"<p>In {html.escape(str(place))}:</p>" + "".join(
            f"<p>{linked(path, path.relative_to(place).as_posix())}</p>" for path in files if path.is_file()
        )
