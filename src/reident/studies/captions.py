"""What a figure shows and on what it rests, in words made from the results that it was drawn from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from reident.base import DataError
from reident.pages.german import in_german
from reident.rumap import NOTHING, ORIGINAL
from reident.studies.study import Results, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NO_DATA", "Drawn", "caption", "draw_all", "rests_on", "title", "words_of"]

#: Columns and parameters that say what was simulated or measured, in words.
_WORDS = {
    "graph": "network",
    "file": "file",
    "scenario": "setting",
    "n_original": "released records",
    "n_known": "known records",
    "n_common": "records in both",
    "n_own": "records in one release only",
    "n_records": "records",
    "n_nodes": "nodes",
    "n_users": "people",
    "n_people": "people",
    "attacks": "people attacked a repetition",
    "n_guesses": "guesses",
    "resamples": "resamples",
    "n_answers": "answers",
    "n_points": "points",
    "universe": "size of the universe",
    "n_planted": "planted nodes",
    "clique_size": "people in the clique",
    "sigma_deg": "noise, degrees",
    "sigma_km": "noise on distances, km",
    "jitter_km": "homes scattered, km",
    "alpha": "alpha",
    "gamma": "gamma",
    "k": "k",
    "l": "l",
    "t": "t",
    "epsilon": "epsilon",
    "known_nodes": "share of people in the copy",
    "known_edges": "share of links in the copy",
    "n_seeds": "people known",
    "n_reference_sets": "reference sets",
    "reference_set_size": "places a set",
    "n_releases": "releases",
    "dataset": "data sets",
    "repetition": "repetitions",
}

#: Parameters of a run that its frames do not repeat, told where a figure rests on trials.
_SIZES = ("n_original", "n_known", "n_common", "n_own", "n_records", "jitter_km", "gamma")

#: The data of a figure that shows what is proven or computed, and no measurement.
NO_DATA = "none"

#: How the classes of data of a ledger are called; drawn data are the default.
_DATA = {
    "the document's own": "the document's own data",
    "public stand-in": "public data in place of the document's",
    "drawn": "drawn data",
    "a part of the data": "a part of the data",
    NO_DATA: "none, computed exactly",
}


class _Rest(NamedTuple):
    """What a figure rests on, where that is not all of each frame that it reads."""

    frames: tuple[pd.DataFrame, ...]
    data: tuple[str, ...]
    settings: dict[str, Any]
    shows: str


_RESTS: WeakKeyDictionary[Figure, _Rest] = WeakKeyDictionary()


def rests_on(
    figure: Figure, *frames: pd.DataFrame, data: str | tuple[str, ...] = (), shows: str = "", **settings: Any
) -> Figure:
    """Say which rows a figure shows, for its caption; return the figure.

    Parameters
    ----------
    figure : Figure
    *frames : DataFrame
        The rows that are drawn; without any, all of each frame that the figure's function reads.
    data : str or tuple of str
        Kinds of data (`reident.studies.comparison.DATA`, or `NO_DATA`); those of the claims that name the figure if
        nothing is given.
    shows : str
        What it shows, where these results make it another figure than its function's docstring says.
    **settings
        A value, or several, of a setting that the rows do not have; None for one that has no part in the figure.
    """
    _RESTS[figure] = _Rest(frames, (data,) if isinstance(data, str) else data, settings, shows)
    return figure


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
    """A figure, the results it was drawn from, and the rows of them that it shows."""

    def __init__(self, study: Study, results: Results, name: str) -> None:
        draw = study.drawings()[name]
        seen = _Read(results.frames)
        looked = Results(results.study, results.profile, results.seed, seen, results.comparison, results.parameters)
        self.study, self.results, self.name = study, results, name
        self.figure: Figure = draw(looked)
        self.frames = seen.read
        self.rest = _RESTS.get(self.figure, _Rest((), (), {}, ""))
        self.title = self.rest.shows or title(draw, study.words)
        self.names = _names_of(results)

    @property
    def rows(self) -> list[pd.DataFrame]:
        """What the caption tells the settings of."""
        return list(self.rest.frames or self.frames.values())


def _names_of(results: Results) -> set[str]:
    """Return what no language tells differently: the run, and what people called protections and columns."""
    return {results.study, results.profile, *_described([*results.parameters.values()])}


def words_of(results: Results, language: str) -> Callable[[str], str]:
    """Return what tells a text of a run in a language, "en" or "de"."""
    return partial(in_german, names=_names_of(results)) if language == "de" else str


def _described(value: Any, *, inside: bool = False) -> Iterator[str]:
    """Yield the texts inside mappings, which people wrote; a text outside was chosen from those offered."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _described(part, inside=True)
    elif isinstance(value, list):
        for part in value:
            yield from _described(part, inside=inside)
    elif isinstance(value, str) and inside:
        yield value


def draw_all(study: Study, results: Results) -> Iterator[Drawn]:
    """Yield every figure of a study, drawn."""
    for name in study.drawings():
        yield Drawn(study, results, name)


def title(draw: Callable[..., Any], words: Mapping[str, str] | None = None) -> str:
    """Return what a figure shows: the first paragraph of its function's docstring.

    What is set for this figure alone stands there in braces, and is told in `words` where they have it.
    """
    settings: dict[str, Any] = {}
    draw = inspect.unwrap(draw)
    while isinstance(draw, partial):
        settings = {**draw.keywords, **settings}
        draw = inspect.unwrap(draw.func)
    told = " ".join((inspect.getdoc(draw) or "").partition("\n\n")[0].split()).removeprefix("Draw ")
    if not told:
        raise DataError(f"the figure drawn by `{draw.__name__}` has no caption: its function needs a docstring")
    told = told.format_map({name: (words or {}).get(str(value), value) for name, value in settings.items()})
    return f"{told[0].upper()}{told[1:]}"


def caption(drawn: Drawn, *, language: str = "en") -> str:
    """Return the figure's caption: what it shows, on what data, how often repeated, from which run.

    In German, a sentence or setting of which a part has no translation stays English.
    """
    results = drawn.results
    words = words_of(drawn.results, language)
    data = "; ".join(_DATA[got] for got in _classes(drawn) if got in _DATA)
    run = f"Study {results.study}, profile {results.profile}, seed {results.seed}"
    settings = "; ".join(map(words, _settings(drawn)))
    parts = [words(drawn.title.rstrip(".")), data and words(f"data: {data}"), settings, words(run)]
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts if part)


def _classes(drawn: Drawn) -> list[str]:
    """Return the kinds of data: what the figure says, or what the claims that it shows were judged on."""
    if drawn.rest.data:
        return list(drawn.rest.data)
    claims = drawn.results.comparison
    if "figure" not in claims:
        return []
    return [got for got in dict.fromkeys(claims.loc[claims["figure"] == drawn.name, "got"].dropna()) if got]


def _settings(drawn: Drawn) -> Iterator[str]:
    """Yield what was varied and how often it was repeated, as the rows have it."""
    rows, own = drawn.rows, drawn.rest.settings
    trials = any("repetition" in frame or "n" in frame for frame in rows)
    for name, words in _WORDS.items():
        found = [frame[name] for frame in rows if name in frame]
        if name in own:
            given = own[name] if isinstance(own[name], (list, tuple)) else [own[name]]
            told = _span(pd.Series(given, dtype=object).dropna(), drawn.study.words)
        elif name == "repetition":
            told = _range(_repetitions(rows))
        elif name == "dataset" and found and all(map(pd.api.types.is_numeric_dtype, found)):
            told = str(pd.concat(found).nunique())
        elif found:
            values = pd.concat(found).dropna()
            # Groups of one are the original.
            told = _span(values[values != 1] if name == "k" else values, drawn.study.words)
        elif trials and name in _SIZES and drawn.results.parameters.get(name) is not None:
            told = _span(pd.Series([drawn.results.parameters[name]]))
        else:
            continue
        if told:
            yield f"{words}: {told}"


def _repetitions(rows: list[pd.DataFrame]) -> set[int]:
    """Return how many repetitions settings have: of trials, or of the releases that a map tells the number of."""
    found: set[int] = set()
    for frame in rows:
        if "repetition" in frame:
            cells = [name for name in _WORDS if name in frame and name != "repetition"]
            counted = (
                frame.groupby(cells, dropna=False)["repetition"].nunique() if cells else [frame["repetition"].nunique()]
            )
            found.update(counted)
        elif {"n", "risk", "method"} <= set(frame):
            found |= set(frame.loc[~frame["method"].isin([ORIGINAL, NOTHING]), "n"])
    return {int(count) for count in found}


def _range(values: set[int]) -> str:
    """Write whole numbers as the least and the greatest of them."""
    return " to ".join(f"{value:,}" for value in sorted({min(values), max(values)})) if values else ""


def _span(values: pd.Series, words: Mapping[str, str] | None = None) -> str:
    """Write a few values, or the first and last of many and their number."""
    kept = list(dict.fromkeys(values.astype(object)))
    if not kept:
        return ""
    if all(isinstance(value, (int, float, np.number)) for value in kept):
        kept = sorted(kept)
        told = [f"{int(value):,}" if float(value).is_integer() else f"{value:.4g}" for value in kept]
    else:
        told = list(dict.fromkeys((words or {}).get(str(value), str(value).replace("_", " ")) for value in kept))
        return ", ".join(told)
    if len(told) <= 4:
        return ", ".join(told)
    return f"{told[0]} to {told[-1]} ({len(told)} values)"
