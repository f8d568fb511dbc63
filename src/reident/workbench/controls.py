"""Controls of the browser: a page with one run at a time, and the roles and places of a file's columns."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd

from reident.base import DataError, ParameterError
from reident.pages import picture
from reident.places.points import find_places
from reident.plotting.interactive import ru_map_widget
from reident.workbench.microdata import LAT, LON, has_places
from reident.workbench.opening import OpenedFile
from reident.workbench.report import draw_places
from reident.workbench.schema import ROLES, Schema

#: How a control with a name stands in a column.
WIDE = {
    "style": {"description_width": "7rem"},
    "layout": {"width": "100%", "max_width": "30rem"},
}


#: Gives sliders the names of their labels, for screen readers, and has changed messages read out.
_SPOKEN = """function render() {
  const tell = () => {
    document.querySelectorAll(".reident-spoken").forEach(e => e.setAttribute("aria-live", "polite"));
    document.querySelectorAll("[role=slider]:not([aria-label])").forEach(e => {
      const box = e.closest(".widget-inline-hbox"), name = box && box.querySelector("label");
      const ends = box ? [...box.querySelectorAll("[role=slider]")] : [];
      const end = ends.length > 1 ? [", from", ", to"][ends.indexOf(e)] : "";
      if (name) e.setAttribute("aria-label", name.textContent + end);
    });
  };
  new MutationObserver(tell).observe(document.body, {childList: true, subtree: true});
  tell();
}
export default {render};"""


def spoken(*messages: widgets.Widget) -> Any:
    """Return a hidden element that names the sliders of the page and has these messages read out."""
    import anywidget

    class Spoken(anywidget.AnyWidget):  # type: ignore[misc]
        _esm = _SPOKEN

    for message in messages:
        message.add_class("reident-spoken")
    return Spoken(layout={"height": "0"})


def bold(text: str) -> str:
    """Return a text as a bold paragraph."""
    return f"<p><b>{html.escape(text)}</b></p>"


def sentence(error: Exception) -> str:
    """Return an error as a sentence; one that was not foreseen with its kind."""
    foreseen = isinstance(error, DataError | ParameterError)
    return str(error) if foreseen else f"This did not work, {type(error).__name__}: {error}"


def on_change(call: Callable[[], Any], *controls: widgets.Widget) -> None:
    """Call a function whenever the value of one of some controls changes."""
    for control in controls:
        control.observe(lambda _: call(), "value")


class StoppedError(Exception):
    """The run was stopped on the page; the text says how far it came."""


class Page:
    """A page with a map, its limits, and one run at a time, in a thread of its own."""

    widget: widgets.Widget

    def __init__(self) -> None:
        self.limit = widgets.FloatSlider(0.25, min=0, max=1, step=0.01, description="tolerable risk", **WIDE)
        self.tolerate = widgets.BoundedFloatText(0, min=0, max=1, step=0.01, description="share above", **WIDE)
        self.stop = widgets.Button(description="Stop", disabled=True)
        self.stop.on_click(lambda _: self.cancel())
        self.state, self.verdict = widgets.HTML(), widgets.HTML()
        self.map = ru_map_widget()
        self._thread, self._stopped = threading.Thread(), False

    def _repr_mimebundle_(self, **kws: Any) -> Any:
        return self.widget._repr_mimebundle_(**kws)

    def cancel(self) -> None:
        """Stop after the release under way."""
        self._stopped = True

    @property
    def is_busy(self) -> bool:
        """Whether a run is under way: threads of compiled code are not to meet."""
        return self._thread.is_alive()

    def start(self, work: Callable[[], None], *, wait: bool) -> None:
        """Run `work` beside the page; its errors are shown."""

        def guarded() -> None:
            try:
                work()
            except StoppedError as stopped:
                self.state.value = str(stopped)
            except Exception as error:  # it would be lost in the thread
                self.state.value = bold(sentence(error))
            finally:
                self._thread = threading.Thread()
                self.show()

        self._stopped = False
        thread = self._thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        self.show()
        if wait:
            thread.join()

    def show(self) -> None:
        """Show which controls can be used, and the results."""


#: Systems of metres that are offered; any other may be typed.
_SYSTEMS = ("EPSG:25832", "EPSG:25833", "EPSG:31466", "EPSG:31467", "EPSG:31468", "EPSG:2056", "EPSG:31287",
            "EPSG:27700", "EPSG:28992", "EPSG:2154", "EPSG:3035", "EPSG:3857")  # fmt: skip
_ROW = {"flex_flow": "row wrap", "align_items": "center"}
#: Roles that columns of numbers alone may have.
_AXES = ("latitude", "longitude")


class ColumnChoice:
    """Roles and places to be confirmed.

    Parameters
    ----------
    changed : callable
        Called without arguments after each choice.
    """

    def __init__(self, changed: Callable[[], Any]) -> None:
        self.opened: OpenedFile | None = None
        self.roles: dict[str, widgets.Dropdown] = {}
        self.crs = widgets.Combobox(
            description="system (CRS)", placeholder="empty for degrees; else EPSG:25832 or another", options=_SYSTEMS,
            ensure_option=False, continuous_update=False, **WIDE,
        )  # fmt: skip
        self.where = widgets.HTML()
        self._rows, self._system = widgets.VBox(), widgets.VBox([self.crs])
        self.widget = widgets.VBox([self._rows, self._system, self.where])
        self._changed = changed
        on_change(changed, self.crs)

    def offer(self, opened: OpenedFile) -> None:
        """Offer the columns of a file, with their proposed roles."""
        self.opened, self.roles = None, {}
        rows = []
        for row in opened.columns.itertuples():
            excluded = () if row.type in ("integer", "number") else _AXES
            excluded = excluded if row.type == "geometry" else (*excluded, "place")
            role = self.roles[row.column] = widgets.Dropdown(
                options=[role for role in ROLES if role not in excluded], value=row.role, description=row.column,
                style={"description_width": "12rem"}, layout={"width": "24rem", "height": "auto"},
            )  # fmt: skip
            on_change(self._changed, role)
            about = f"{row.type}, {row.distinct} values" + (f", {row.missing} missing" if row.missing else "")
            why = widgets.HTML(f"<small>{about}; {html.escape(row.reason)}</small>")
            rows.append(widgets.HBox([role, why], layout=_ROW))
        self._rows.children = tuple(rows)
        self.crs.value = "" if opened.schema.crs in (None, "EPSG:4326") else str(opened.schema.crs)
        self.where.value, self.opened = "", opened
        is_offered = self._lacks_crs or (opened.columns["type"].isin(["integer", "number"]).sum() >= 2)
        self._system.layout.display = "" if is_offered else "none"

    @property
    def _lacks_crs(self) -> bool:
        return self.opened is not None and hasattr(self.opened.data, "to_crs") and self.opened.data.crs is None

    @property
    def schema(self) -> Schema:
        """The schema with the choices.

        Raises
        ------
        ParameterError
            If the choice is not complete.
        """
        assert self.opened is not None
        schema = self.opened.schema.assign({name: role.value for name, role in self.roles.items()})
        if schema.places is not None:
            return schema.with_roles(crs=self.crs.value or "EPSG:4326")
        return schema.with_roles(crs=self.crs.value or None) if self._lacks_crs and schema.named("place") else schema

    def locate(self, data: Any) -> None:
        """Show where the records are, as they were understood: a wrong column or system is seen at once."""
        self.where.value = ""
        if not has_places(data) or (hasattr(data, "to_crs") and data.crs is None):
            return
        lat, lon = find_places(data, "data")[:2]
        known = np.isfinite(lat) & np.isfinite(lon)
        if not known.any():
            return
        (south, north), (west, east) = (np.quantile(values[known], [0.05, 0.95]) for values in (lat, lon))
        sentence = (
            f"{known.sum()} places were recognised, nine tenths of them between {south:.2f} and {north:.2f} degrees of "
            f"latitude and between {west:.2f} and {east:.2f} degrees of longitude. Are they where they should be?"
        )
        figure = draw_places({"": pd.DataFrame({LAT: lat[known], LON: lon[known]})})
        self.where.value = f'<p>{sentence}</p><img alt="{sentence}" src="{picture(figure)}" style="max-width:100%">'
