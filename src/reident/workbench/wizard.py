"""A wizard for own data in the browser: from the file to the checked release."""

from __future__ import annotations

import base64
import html
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pandas as pd
import traitlets

from reident.base import ParameterError, check_replaceable, processors, record_files
from reident.plotting.interactive import map_data
from reident.workbench.assessing import Assessment, assess_into, complete_records
from reident.workbench.check import check
from reident.workbench.controls import WIDE, ColumnChoice, Page, StoppedError, bold, on_change, sentence, spoken
from reident.workbench.dataset import Dataset
from reident.workbench.opening import OpenedFile, open_file
from reident.workbench.pipeline import protect
from reident.workbench.printing import assessment_lines, release_lines
from reident.workbench.readers import KINDS, file_kind
from reident.workbench.recipe import Recipe, read_recipe, recipe_of
from reident.workbench.schema import ROLES
from reident.workbench.search import DRAWS

_ENDS = {end.removesuffix(".gz") for end in KINDS.split(", ")}
_INTRUDERS = {"knows that a person is in the file": "prosecutor", "does not know it": "journalist"}
_PROFILES = {f"{name}: {draws} draws of a release that draws": name for name, draws in DRAWS.items()}


#: Bytes up to which a file is offered as a download of the page; larger ones are named by their path.
_MOST_BYTES = 30_000_000
#: Names of columns are read whole, links look like links, and what is to be typed as it would be typed.
_STYLE = """<style>
.widget-label {white-space: normal; height: auto; line-height: 1.3}
.widget-html-content h2 {font-size: 1.17em; margin: .8em 0 .4em}
.widget-html-content a {color: #0b57d0; text-decoration: underline}
.widget-html-content pre {font: 13px/1.45 monospace; white-space: pre-wrap; word-break: normal;
 overflow-wrap: break-word}
.widget-html-content p, .widget-html-content li {line-height: 1.45; max-width: 60rem}
.widget-button:focus-visible, .widget-html-content a:focus-visible, select:focus-visible, input:focus-visible
 {outline: 2px solid #0b57d0; outline-offset: 1px}
@media print {
 html, body, #main, #jp-main-content-panel, #rendered_cells, .jp-OutputArea, .jp-OutputArea-child, .jp-OutputArea-output
  {position: static !important; height: auto !important; width: auto !important; overflow: visible !important;
   contain: none !important}
 .widget-button {display: none}
 img, svg, pre, .widget-hbox {break-inside: avoid}
}
</style>"""
_ROLES = (
    "<p>Confirm what each column is.</p><details><summary>What the roles mean</summary><ul>"
    + "".join(f"<li><b>{role}</b>: {meaning}</li>" for role, meaning in ROLES.items())
    + "</ul></details>"
)
_RULE = """A person is above the limit whose risk of being found, or of giving away a secret, is larger than the
tolerable risk; <i>share above</i> is the tolerated share of such persons. Each release is repeated: quick for a first
look, full for a decision."""
_MAP = """Each point is a release that was judged, by its share of persons above the limit. Dashed: more than tolerated;
a refused release has at least the share drawn."""


class Wizard(Page):
    """Widgets for one's own data, from the file to the checked release.

    The page calls `assess`, `protect` and `check`, and writes the recipe. Results of other choices are removed.

    Parameters
    ----------
    file : str
        The file to begin with, relative to the folder; default: it is chosen in the browser.
    folder : path
        Where the files are; what is written stands in a folder beside the file, named after it.
    profile : {"smoke", "quick", "full"}
    seed, jobs : int
        As for `reident assess`.

    Examples
    --------
    >>> Wizard().opened is None
    True
    """

    def __init__(
        self, file: str = "", *, folder: str | Path = ".", profile: str = "quick", seed: int = 0, jobs: int = 0
    ) -> None:
        super().__init__()
        self.folder = Path(folder).resolve()
        self.seed, self.jobs = seed, jobs
        self.opened: OpenedFile | None = None
        self.recipe = Recipe()
        self.assessment: Assessment | None = None
        self.released = ""
        self._located: tuple[Any, ...] = ()
        names = sorted(path.name for path in self.folder.iterdir() if path.is_file() and file_kind(path) in _ENDS)
        self.file = widgets.Combobox(options=names, placeholder="a file of the folder, or a path", description="file",
                                     ensure_option=False, **WIDE)  # fmt: skip
        self.part = widgets.Dropdown(description="sheet", **WIDE)
        self._parts = widgets.VBox([self.part])
        self.found, self.wrong, self.taken = (widgets.HTML() for _ in range(3))
        self.columns = ColumnChoice(self._choose)
        self.intruder = widgets.Dropdown(options=_INTRUDERS, description="intruder", **WIDE)
        self.profile = widgets.Dropdown(options=_PROFILES, value=profile, description="profile", **WIDE)
        self.assess = widgets.Button(description="Assess", button_style="primary")
        self.protect = widgets.Button(
            description="Make the release and check it", layout={"width": "auto", "align_self": "flex-start"}
        )
        self._mapped = widgets.VBox([self.map, widgets.HTML(f"<p>{_MAP}</p>")])
        traitlets.link((self.tolerate, "value"), (self.map, "limit"))
        on_change(self._open, self.file)
        on_change(lambda: self._open(self.part.value), self.part)
        on_change(self._change, self.tolerate, self.limit, self.intruder, self.profile)
        self.assess.on_click(lambda _: self.run("assess"))
        self.protect.on_click(lambda _: self.run("protect"))
        self._later = widgets.VBox(
            [
                _head("2. The columns"), widgets.HTML(_ROLES), self.columns.widget, self.wrong,
                _head("3. The limit"), widgets.HTML(f"<p>{_RULE}</p>"), self.limit, self.tolerate, self.intruder,
                self.profile, widgets.HBox([self.assess, self.stop]),
                _head("4. The verdict and the map"), self.state, self.verdict, self.protect, self._mapped,
                _head("5. Files to take away"), self.taken,
            ]
        )  # fmt: skip
        unseen = spoken(self.found, self.wrong, self.state, self.verdict)
        first = [widgets.HTML(_STYLE), unseen, _head("1. The file"), self.file, self.found, self._parts]
        self.widget = widgets.VBox([*first, self._later])
        self._open()
        self.file.value = file

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
        reading: dict[str, Any] = {} if part is None else {self.part.description: part}
        try:
            if self.file.value:
                self.found.value = "<p>The file is being read.</p>"
                self.opened = open_file(self.folder / self.file.value, **reading)
                self.found.value = _found_text(self.opened)
            else:
                self.found.value = f"<p>{html.escape(self._listed())}</p>"
        except Exception as error:
            self.found.value = bold(sentence(error))
        if self.opened is None:
            self._parts.layout.display = "none"
            return
        file = str(self.folder / self.file.value)
        self.recipe = recipe_of(self.opened, file, reading)
        if part is None:
            self.part.options = ()
            self.part.description = "layer" if "layer" in self.opened.source else "sheet"
            self._parts.layout.display = "" if len(self.opened.parts) > 1 else "none"
            self.part.options = self.opened.parts
            self.part.value = self.opened.source.get(self.part.description)
        self.columns.offer(self.opened)
        self._choose()
        self._later.layout.display = ""

    def _listed(self) -> str:
        names = list(self.file.options)
        more = f" and {len(names) - 9} more" if len(names) > 9 else ""
        content = f"holds {', '.join(names[:9])}{more}" if names else "holds no file that can be read"
        return f"The folder {self.folder} {content}. Choose a file by the field above, or type the path of another."

    def chosen(self) -> Recipe:
        """Return the recipe with the roles, places and rule that are chosen."""
        schema = self.columns.schema
        if not schema.named("quasi-identifier", "place", "latitude", "node"):
            raise ParameterError("No column is known to others: choose the roles quasi-identifier, place or node.")
        return replace(
            self.recipe, schema=schema, limit=float(self.limit.value),
            tolerate=float(self.tolerate.value), intruder=self.intruder.value,
        )  # fmt: skip

    def dataset(self) -> Dataset:
        """Return the file with the roles that are chosen."""
        return Dataset.of(self.opened, recipe=self.chosen())

    def _choose(self) -> None:
        """Show whether the file with the chosen roles can be assessed, and where its records are."""
        try:
            dataset = self.dataset()
            if dataset.named_network is None:
                complete_records(dataset)
            schema = self.columns.schema
            located = (self.file.value, self.part.value, schema.places, schema.crs)
            if located != self._located:
                self._located = located
                self.columns.locate(dataset.frame)
            self.wrong.value = ""
        except Exception as error:
            self.wrong.value = bold(sentence(error))
            self._located, self.columns.where.value = (), ""
        self._change()

    def _change(self) -> None:
        """Stop the run and remove results of other choices."""
        self.cancel()
        self.assessment, self.released = None, ""
        self.verdict.value = self.taken.value = ""
        self._draw()
        self.show()

    def show(self) -> None:
        """Show which buttons can be used."""
        self.assess.disabled = self.is_busy or self.opened is None or bool(self.wrong.value)
        self.stop.disabled = not self.is_busy
        self.protect.disabled = self.is_busy or self.assessment is None or not self.assessment.passed

    def _free(self) -> str:
        """Return the first folder for a release that is not there yet: none is ever overwritten."""
        names = (f"{self.out}/release{number}" for number in ("", *(f"-{i}" for i in range(2, 10_000))))
        return next(name for name in names if not (self.folder / name).exists())

    # -- runs ----------------------------------------------------------------------------------------------------

    def run(self, step: str, *, wait: bool = False) -> None:
        """Run a step beside the page: "assess", or "protect" and its check."""
        if self.is_busy or self.opened is None:
            return
        if step == "assess":
            self._change()
        self.start({"assess": self._assess, "protect": self._protect}[step], wait=wait)

    def _assess(self) -> None:
        place, began, recipe = self.folder / self.out, time.monotonic(), self.chosen()

        def progress(judged: int, n: int) -> None:
            if self._stopped:
                raise StoppedError("Stopped. What had finished is kept for the next time.")
            seconds = time.monotonic() - began
            self.state.value = f"<p>{judged} of at most {n} releases were judged ({seconds:.0f} s).</p>"

        self.state.value = "<p>The data are judged as they are.</p>"
        check_replaceable(place, ["recipe.yaml"])
        place.mkdir(0o700, parents=True, exist_ok=True)
        recipe.write(place / "recipe.yaml")
        record_files(place, ["recipe.yaml"])
        assessment = assess_into(
            place / "report", self.dataset(), recipe, profile=self.profile.value, seed=self.seed,
            jobs=processors(self.jobs), progress=progress,
        )  # fmt: skip
        progress(0, 0)
        self.assessment = assessment
        lines = assessment_lines(assessment)
        others = (f"<p><small>{html.escape(line)}</small></p>" for line in lines[1:])
        self.verdict.value = bold(lines[0]) + "".join(others)
        self._draw()
        self._offer_files()

    def _protect(self) -> None:
        self.state.value = "<p>The release is made and checked.</p>"
        advised = read_recipe(self.folder / self.out / "report" / "recipe.yaml")
        self.released = self._free()
        dataset = self.dataset()
        release = protect(dataset, advised)
        folder = release.save(self.folder / self.released)
        verdict = check(folder, dataset, limit=advised.limit, tolerate=advised.tolerate)
        verdict.save(self.folder / self.out / "check")
        lines = "\n".join(release_lines(release, folder))
        self.verdict.value = f"{bold(verdict.sentence)}<pre>{html.escape(lines)}</pre>"
        self._offer_files()

    @property
    def frame(self) -> pd.DataFrame:
        """The map of the releases that were judged."""
        return pd.DataFrame() if self.assessment is None else self.assessment.frame

    def _draw(self) -> None:
        """Draw the map of the releases that were judged."""
        data = {} if self.frame.empty else map_data(self.frame, limit=self.tolerate.value)
        self._mapped.layout.display = "" if data else "none"
        if data != self.map.data:
            self.map.data = data

    def _offer_files(self) -> None:
        """Offer the written files."""
        place = self.folder / self.out
        files = [place / "recipe.yaml", *sorted((place / "report").glob("*.html")), place / "report" / "recipe.yaml"]
        if self.released:
            files += [*sorted((self.folder / self.released).iterdir()), place / "check" / "verdict.json"]
        self.taken.value = f"<p>In {html.escape(str(place))}:</p>" + "".join(
            f"<p>{_linked(path, path.relative_to(place).as_posix())}</p>" for path in files if path.is_file()
        )
        self.state.value = "Done."


def _found_text(opened: OpenedFile) -> str:
    """Return a description of an opened file, with receipts and notes."""
    notes = [f"changed while reading: {line}" for line in opened.receipts] + opened.notes
    listed = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return f"<p>{html.escape(str(opened).splitlines()[0])}</p>" + (f"<ul>{listed}</ul>" if listed else "")


def _head(text: str) -> widgets.HTML:
    """Return the heading of a step."""
    return widgets.HTML(f"<h2>{text}</h2>")


def _linked(path: Path, name: str) -> str:
    """Return a link that holds a file, so that no further address serves confidential data; of a large one the name."""
    if path.stat().st_size > _MOST_BYTES:
        return html.escape(name)
    address = f"data:application/octet-stream;base64,{base64.b64encode(path.read_bytes()).decode()}"
    return f'<a download="{html.escape(name.replace("/", "-"))}" href="{address}">{html.escape(name)}</a>'
