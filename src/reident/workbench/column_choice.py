"""Controls of the browser over a file's columns: the role of each, and the columns with places."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd

from reident.base import ParameterError
from reident.pages import picture
from reident.places.points import find_places
from reident.workbench.controls import WIDE
from reident.workbench.figures import draw_places
from reident.workbench.microdata import LAT, LON, has_places
from reident.workbench.opening import OpenedFile
from reident.workbench.schema import ROLES, Schema

__all__ = ["ColumnChoice"]

#: Systems of metres that are offered; any other may be typed.
_SYSTEMS = ("EPSG:25832", "EPSG:25833", "EPSG:31466", "EPSG:31467", "EPSG:31468", "EPSG:2056", "EPSG:31287",
            "EPSG:27700", "EPSG:28992", "EPSG:2154", "EPSG:3035", "EPSG:3857")  # fmt: skip
_ROW = widgets.Layout(flex_flow="row wrap", align_items="center")


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
        self.lat = widgets.Dropdown(description="latitude, north", **WIDE)
        self.lon = widgets.Dropdown(description="longitude, east", **WIDE)
        self.crs = widgets.Combobox(
            description="system (CRS)", placeholder="empty for degrees; else EPSG:25832 or another", options=_SYSTEMS,
            ensure_option=False, continuous_update=False, **WIDE,
        )  # fmt: skip
        self.where, self.picture = widgets.HTML(), widgets.HTML()
        self.show = widgets.Button(description="Draw what the columns hold", layout=widgets.Layout(width="auto"))
        self.show.layout.align_self = "flex-start"
        question = widgets.HTML("<p>Where the records are: choose two columns, or none.</p>")
        self._pair = widgets.VBox([question, self.lat, self.lon])
        self._places = widgets.VBox([self._pair, widgets.VBox([self.crs])])
        self._rows = widgets.VBox()
        self.widget = widgets.VBox([self._rows, self._places, self.where, self.show, self.picture])
        self._changed, self._quiet = changed, False
        self.lat.observe(lambda _: self._place(), "value")
        self.lon.observe(lambda _: self._place(), "value")
        self.crs.observe(lambda _: self._tell(), "value")
        self.show.on_click(lambda _: self._draw())

    def offer(self, opened: OpenedFile) -> None:
        """Offer the columns of a file, with their proposed roles."""
        self.opened, self.roles = opened, {}
        rows = []
        for row in opened.columns.itertuples():
            role = self.roles[row.column] = widgets.Dropdown(
                options=list(ROLES), value=row.role, description=row.column, style={"description_width": "12rem"},
                layout=widgets.Layout(width="24rem", height="auto"),
            )  # fmt: skip
            role.observe(lambda _, name=row.column: self._role(name), "value")
            about = f"{row.type}, {row.distinct} values" + (f", {row.missing} missing" if row.missing else "")
            why = widgets.HTML(f"<small>{about}; {html.escape(row.reason)}</small>")
            rows.append(widgets.HBox([role, why], layout=_ROW))
        self._rows.children = tuple(rows)
        numbers = opened.columns.loc[opened.columns["type"].isin(["integer", "number"]), "column"].tolist()
        is_geometry = hasattr(opened.data, "to_crs")
        self._pair.layout.display = "none" if is_geometry else ""
        self._places.layout.display = "" if (self._lacks_crs if is_geometry else len(numbers) >= 2) else "none"
        places = opened.schema.places or {}
        with self._quietly():
            for control, name in ((self.lat, "lat"), (self.lon, "lon")):
                control.options = [("none", ""), *((number, number) for number in numbers)]
                control.value = places.get(name, "")
            self.crs.value = "" if places.get("crs") in (None, "EPSG:4326") else str(places["crs"])
            self.picture.value = self.where.value = ""

    @property
    def _lacks_crs(self) -> bool:
        return self.opened is not None and hasattr(self.opened.data, "to_crs") and self.opened.data.crs is None

    @property
    def missing_crs(self) -> str:
        """The CRS that was chosen for a geometry without one."""
        return str(self.crs.value) if self._lacks_crs else ""

    @property
    def file(self) -> OpenedFile:
        """The file, a geometry without CRS in the one that was chosen."""
        assert self.opened is not None
        if not self.missing_crs:
            return self.opened
        try:
            return replace(self.opened, data=self.opened.data.set_crs(self.crs.value))
        except RuntimeError:  # that of pyproj
            raise ParameterError(
                f"`crs` must name a coordinate system, such as EPSG:25832, got {self.crs.value!r}"
            ) from None

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
        if self.lat.value and self.lon.value:
            schema = schema.with_places(self.lat.value, self.lon.value, self.crs.value or None)
        schema.check_places()
        return schema

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

    def _tell(self) -> None:
        if not self._quiet:
            self.picture.value = ""
            self._changed()

    def _role(self, name: str) -> None:
        """Keep the places in step with a role: one that is none any more takes the other with it."""
        if self._quiet:
            return
        axes = (self.lat, self.lon)
        with self._quietly():
            if self.roles[name].value != "place" and name in (self.lat.value, self.lon.value):
                for control in axes:
                    other, control.value = control.value, ""
                    if other and other != name:
                        self.roles[other].value = "other"
            elif self.roles[name].value == "place" and name in dict(self.lat.options):
                empty = next((control for control in axes if not control.value), None)
                if empty is not None:
                    empty.value = name
        self._tell()

    def _place(self) -> None:
        """Keep the roles in step with the places."""
        if self._quiet:
            return
        chosen = {self.lat.value, self.lon.value} - {""}
        with self._quietly():
            for name, role in self.roles.items():
                if name in chosen:
                    role.value = "place"
                elif role.value == "place":
                    role.value = "other"
        self._tell()

    def _draw(self) -> None:
        """Draw the columns by the roles that are chosen."""
        if self.opened is not None:
            figure = replace(self.opened, schema=self.schema).draw()
            self.picture.value = f'<img alt="the values of each column" src="{picture(figure)}" style="max-width:100%">'

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
