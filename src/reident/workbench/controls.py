"""Controls of the browser: methods with the values of their parameters, and a page with one run at a time."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from reident.base import DataError, ParameterError
from reident.methods import Entry, Parameter
from reident.plotting.interactive import ru_map_widget

__all__ = ["WIDE", "MethodChoice", "Page", "StoppedError", "bold", "sentence", "spoken", "usual_values", "varied"]

#: How a control with a name stands in a column.
WIDE: dict[str, Any] = {
    "style": {"description_width": "7rem"},
    "layout": widgets.Layout(width="100%", max_width="30rem"),
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
    return Spoken(layout=widgets.Layout(height="0"))


def bold(text: str) -> str:
    """Return a text as a bold paragraph."""
    return f"<p><b>{html.escape(text)}</b></p>"


def sentence(error: Exception) -> str:
    """Return an error as a sentence; one that was not foreseen with its kind."""
    foreseen = isinstance(error, DataError | ParameterError)
    return str(error) if foreseen else f"This did not work, {type(error).__name__}: {error}"


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


def varied(entry: Entry) -> Parameter | None:
    """Return the number that varies along a method's curve, if there is one."""
    numbers = (parameter for parameter in entry.parameters if parameter.kind in ("float", "int"))
    return next((p for p in numbers if len(p.grid) > 1 and min(p.grid) > 0), None)


def usual_values(entry: Entry, settings: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the values of a method's varied parameter among releases: `method` and `options` of each."""
    parameter = varied(entry)
    tried = [setting["options"] for setting in settings if setting["method"] == entry.name]
    return [] if parameter is None else sorted({setting[parameter.name] for setting in tried})


class MethodChoice:
    """Anonymisers to choose from, and below them the values of each chosen one's varied parameter.

    Parameters
    ----------
    changed : callable
        Called without arguments after each choice.
    """

    def __init__(self, changed: Callable[[], Any]) -> None:
        self.names = widgets.SelectMultiple(description="methods", rows=8, **WIDE)
        self.ranges = widgets.VBox()
        self.widget = widgets.VBox([self.names, self.ranges])
        self._changed = changed
        self._values: dict[str, tuple[str, widgets.SelectMultiple]] = {}
        self.names.observe(lambda _: self._show(), "value")

    def offer(self, offered: Sequence[tuple[Entry, list[Any]]], chosen: int) -> None:
        """Offer methods, each with the usual values of its varied parameter; choose the first."""
        self._values = {}
        for entry, usual in offered:
            parameter = varied(entry)
            if parameter is not None and usual:
                has_unit = parameter.name.endswith(("_m", "_km", "_deg"))
                unit = f", {parameter.unit}" if parameter.unit and not has_unit else ""
                control = widgets.SelectMultiple(
                    options=[(f"{value:g}", value) for value in usual], value=usual, rows=min(len(usual), 6),
                    description=f"{entry.label}: {parameter.name}{unit}", style={"description_width": "initial"},
                    layout=widgets.Layout(width="100%", max_width="30rem", flex_flow="row wrap", height="auto"),
                )  # fmt: skip
                control.observe(lambda _: self._changed(), "value")
                self._values[entry.name] = parameter.name, control
        self.names.options = [(entry.label, entry.name) for entry, _ in offered]
        self.names.value = tuple(entry.name for entry, _ in offered[:chosen])
        self._show()

    def _show(self) -> None:
        self.ranges.children = tuple(self._values[name][1] for name in self.names.value if name in self._values)
        self._changed()

    def values(self, name: str) -> dict[str, list[Any]]:
        """Return the chosen values of a method's varied parameter; empty without one, or where none is chosen."""
        parameter, control = self._values.get(name, ("", None))
        return {parameter: list(control.value)} if control is not None and control.value else {}
