"""Figures, captions and tables in German: all of ours whole, all that is not known as it was."""

import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident.pages.german import in_german, translated
from reident.plotting import new_figure
from reident.studies.captions import Drawn, caption, rests_on
from reident.studies.catalogue import STUDIES
from reident.studies.study import Results

FIGURES = Path(__file__).parents[2] / "figures"
OURS = sorted({STUDIES[name].stem for name in STUDIES} & {path.name for path in FIGURES.iterdir()})


def texts_of(path):
    """Return the texts of a picture; those with a formula stand in its comments."""
    parts = re.split(r'<g id="', path.read_text(encoding="utf-8"))
    parts = [part for part in parts if part.startswith("text_")]
    return ["\n".join(map(unescape, re.findall(r"(?:<!-- |<text[^>]*>)([^<>]+?)(?: -->|</text>)", p))) for p in parts]


@pytest.mark.parametrize("stem", OURS)
def test_every_text_of_the_committed_figures_has_its_german(stem):
    told = {text for path in FIGURES.glob(f"{stem}/*.svg") for text in texts_of(path)}
    assert sum(bool(re.search("[a-z]{4}", text)) for text in told) > 30
    assert [text for text in told if translated(text) is None] == []


@pytest.mark.parametrize("stem", OURS)
def test_every_committed_caption_has_its_german(stem):
    for path in FIGURES.glob(f"{stem}/*.txt"):
        shown, run = path.read_text(encoding="utf-8").strip().rstrip(".").split(". Study ")
        title, rest = shown.split(". Data: ")
        data, *settings = re.split(r"\. |; (?=[a-z ,]+:)", rest)
        settings = [f"{setting[0].lower()}{setting[1:]}" for setting in settings]
        for told in (title, f"data: {data}", *settings, f"Study {run}"):
            assert translated(told) is not None, (path.stem, told)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(name for name in STUDIES if STUDIES[name].stem in OURS))
def test_every_text_of_the_smallest_run_has_its_german(name, smoke):
    results, _ = smoke(name)
    for figure in STUDIES[name].drawings():
        drawn = Drawn(STUDIES[name], results, figure)
        drawn.figure.draw_without_rendering()
        told = {text.get_text() for text in drawn.figure.findobj(lambda artist: hasattr(artist, "get_text"))}
        assert [text for text in told if translated(text, drawn.names) is None] == [], figure
        assert "Study" not in caption(drawn, language="de")
        assert translated(drawn.title.rstrip(".")) is not None, figure


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1,234.5", "1\u202f234,5"),
        (".05", "0,05"),
        ("95%", "95\u202f%"),
        ("−0.5°", "−0,5°"),
        (r"noise $\sigma_{0.5}$, degrees", None),
        (r"$\alpha_{0.5}$ = 0.5: 12 true, 8 false", r"$\alpha_{0.5}$ = 0,5: 12 richtig, 8 falsch"),
        ("(a) Caltech (Facebook, 2,252 nodes), some\npeople known",
         "(a) Caltech (Facebook, 2\u202f252 Knoten),\neinige Personen bekannt"),
        ("power grid\n9% of links in each copy", "Stromnetz\n9\u202f% der Kanten in jeder Kopie"),
        ("risk of zebras: 0.5", None),
        ("risk\nzebras 0.5", None),
        ("risk, version 1.2.3", None),
        ("Risiko", None),
    ],
)  # fmt: skip
def test_a_text_is_told_whole_or_not_at_all(text, told):
    assert translated(text) == told
    assert in_german(text) == (text if told is None else told)


@given(st.lists(st.sampled_from(["risk", "utility 0.5", "print", "k-anonymity", "(a) recall"])), st.data())
def test_a_text_with_an_unknown_word_stays_as_it_is(known, data):
    known.insert(data.draw(st.integers(0, len(known))), "zebras 0.5")
    text = data.draw(st.sampled_from([", ", "; ", ": ", "\n", " to "])).join(known)
    assert in_german(text) == text
    assert translated(text, {"zebras 0.5"}) is not None


def test_names_of_ones_own_data_are_never_translated():
    assert in_german("income") == "Einkommen"
    assert in_german("income", {"income"}) == "income"
    assert in_german("income leads in every optimum", {"income"}) == "income führt in jedem Optimum"


def test_protections_of_ones_own_keep_their_names():
    own = {"name": "risk", "groups": [2], "k": 3, "columns": ["income", "density"]}
    runs = pd.DataFrame({"file": ["risk", "M4-28"], "repetition": [0, 0]})

    def draw(results):
        """Draw the density."""
        return rests_on(new_figure()[0], runs, data="drawn")

    study = SimpleNamespace(name="abril2012", drawings=lambda: {"one": draw}, words={})
    results = Results("abril2012", "smoke", 1, {}, pd.DataFrame(), {"protections": ["M4-28", own], "models": ["mean"]})
    drawn = Drawn(study, results, "one")
    assert drawn.names == {"abril2012", "smoke", "risk", "income", "density"}
    assert caption(drawn, language="de") == (
        "Die Dichte. Daten: gezogene Daten. Datei: risk, M4-28; Wiederholungen: 1. "
        "Studie abril2012, Profil smoke, Startwert 1."
    )
