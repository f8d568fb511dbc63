"""What a figure shows and on what it rests, in words made from the results that it was drawn from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reident.errors import DataError
from reident.rumap import NOTHING, ORIGINAL
from reident.studies.study import Results, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Drawn", "caption", "draw_all", "title"]

#: Columns and parameters that say what was simulated or measured, in words (English, German).
_WORDS = {
    "graph": ("network", "Netzwerk"),
    "file": ("file", "Datei"),
    "scenario": ("setting", "Szenario"),
    "n_original": ("released records", "freigegebene Datensätze"),
    "n_known": ("known records", "bekannte Datensätze"),
    "n_common": ("records in both", "Datensätze in beiden"),
    "n_own": ("records in one release only", "Datensätze nur einer Freigabe"),
    "n_records": ("records", "Datensätze"),
    "n_nodes": ("nodes", "Knoten"),
    "sigma_deg": ("noise, degrees", "Rauschen in Grad"),
    "jitter_km": ("homes scattered, km", "Wohnorte gestreut, km"),
    "alpha": ("alpha", "alpha"),
    "gamma": ("gamma", "gamma"),
    "k": ("k", "k"),
    "epsilon": ("epsilon", "epsilon"),
    "known_nodes": ("share of people in the copy", "Anteil der Personen in der Kopie"),
    "known_edges": ("share of links in the copy", "Anteil der Kanten in der Kopie"),
    "n_seeds": ("people known", "bekannte Personen"),
    "n_reference_sets": ("reference sets", "Referenzmengen"),
    "reference_set_size": ("places a set", "Orte je Menge"),
    "n_releases": ("releases", "Freigaben"),
    "dataset": ("data sets drawn", "gezogene Datenbestände"),
    "repetition": ("repetitions", "Wiederholungen"),
}

#: Of these only the number of values is told.
_COUNTED = ("dataset", "repetition")

#: Parameters of a run that its frames do not repeat, told where a figure rests on trials.
_SIZES = ("n_original", "n_known", "n_common", "n_own", "n_records", "jitter_km", "gamma")

#: How the classes of data of a ledger are called (English, German); drawn data are the default.
_DATA = {
    "the document's own": ("the document's own data", "die Daten des Dokuments"),
    "public stand-in": ("public data in place of the document's", "öffentliche Daten an Stelle derer des Dokuments"),
    "drawn": ("drawn data", "gezogene Daten"),
    "a part of the data": ("a part of the data", "ein Teil der Daten"),
}


class _Read(Mapping[str, pd.DataFrame]):
    """The frames of a run, and which of them were looked at."""

    def __init__(self, frames: Mapping[str, pd.DataFrame]) -> None:
        self.frames, self.read = frames, dict[str, pd.DataFrame]()

    def __getitem__(self, name: str) -> pd.DataFrame:
        self.read[name] = self.frames[name]
        return self.frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.frames)

    def __len__(self) -> int:
        return len(self.frames)


class Drawn:
    """A figure, the results it was drawn from, and the frames of them that it read."""

    def __init__(self, study: Study, results: Results, name: str) -> None:
        draw = study.drawings()[name]
        seen = _Read(results.frames)
        looked = Results(results.study, results.profile, results.seed, seen, results.comparison, results.parameters)
        self.study, self.results, self.name, self.title = study, results, name, title(draw)
        self.figure: Figure = draw(looked)
        self.frames = seen.read


def draw_all(study: Study, results: Results) -> Iterator[Drawn]:
    """Yield every figure of a study, drawn."""
    for name in study.drawings():
        yield Drawn(study, results, name)


def title(draw: Callable[..., Any]) -> str:
    """Return what a figure shows: the first paragraph of its function's docstring, and what is set for this figure."""
    settings: dict[str, Any] = {}
    draw = inspect.unwrap(draw)
    while isinstance(draw, partial):
        settings = {**draw.keywords, **settings}
        draw = inspect.unwrap(draw.func)
    told = " ".join((inspect.getdoc(draw) or "").partition("\n\n")[0].split()).removeprefix("Draw ")
    if not told:
        raise DataError(f"the figure drawn by `{draw.__name__}` has no caption: its function needs a docstring")
    chosen = ", ".join(f"{name} = {value}" for name, value in settings.items())
    return f"{told[0].upper()}{told[1:]}" + (f" ({chosen})" if chosen else "")


def caption(drawn: Drawn, *, language: str = "en") -> str:
    """Return the figure's caption: what it shows, on what data, how often repeated, from which run."""
    german = language == "de"
    results = drawn.results
    data = "; ".join(_DATA[got][german] for got in _classes(drawn) if got in _DATA)
    settings = "; ".join(_settings(drawn, german))
    run = f"Studie {results.study}, Profil {results.profile}, Startwert {results.seed}" if german else (
        f"Study {results.study}, profile {results.profile}, seed {results.seed}"
    )  # fmt: skip
    parts = [drawn.title.rstrip("."), data and ("Daten: " if german else "Data: ") + data, settings, run]
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts if part)


def _classes(drawn: Drawn) -> list[str]:
    """Return the kinds of data that the claims shown by the figure were judged on; nothing is said without any."""
    claims = drawn.results.comparison
    if "figure" not in claims:
        return []
    return [got for got in dict.fromkeys(claims.loc[claims["figure"] == drawn.name, "got"].dropna()) if got]


def _settings(drawn: Drawn, german: bool) -> Iterator[str]:
    """Yield what was varied and how often it was repeated, as the frames have it."""
    trials = any("repetition" in frame or "n" in frame for frame in drawn.frames.values())
    for name, words in _WORDS.items():
        found = [frame[name] for frame in drawn.frames.values() if name in frame]
        if found:
            values = pd.concat(found).dropna()
        elif trials and name in _SIZES and drawn.results.parameters.get(name) is not None:
            values = pd.Series([drawn.results.parameters[name]])
        else:
            continue
        if len(values):
            yield f"{words[german]}: {values.nunique() if name in _COUNTED else _span(values, german)}"
    if not any("repetition" in frame for frame in drawn.frames.values()):
        maps = [frame for frame in drawn.frames.values() if {"n", "risk", "method"} <= set(frame)]
        runs = [frame.loc[~frame["method"].isin([ORIGINAL, NOTHING]), "n"] for frame in maps]
        if runs:
            yield f"{_WORDS['repetition'][german]}: {_span(pd.concat(runs), german)}"


def _span(values: pd.Series, german: bool) -> str:
    """Write a few values, or the first and last of many and their number."""
    kept = list(dict.fromkeys(values.astype(object)))
    if all(isinstance(value, (int, float, np.number)) for value in kept):
        kept = sorted(kept)
        told = [f"{value:,}" if float(value).is_integer() else f"{value:.4g}" for value in kept]
        told = [text.translate(str.maketrans(",.", ".,")) for text in told] if german else told
    else:
        told = [str(value).replace("_", " ") for value in kept]
    if len(told) <= 4:
        return ", ".join(told)
    return f"{told[0]} {'bis' if german else 'to'} {told[-1]} ({len(told)} {'Werte' if german else 'values'})"
