"""The ledger's verdicts: rules against plain restatements of them, and whether they notice another print."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reident.data.papers import claims, errata
from reident.runner._index import read_comparison
from reident.runner.gallery import PAGE
from reident.studies.catalogue import STUDIES
from reident.studies.comparison import (
    COLUMNS,
    DRAWN,
    RULES,
    SIMULATION,
    VERDICTS,
    Beside,
    judge,
    judge_again,
)
from reident.studies.together import STATISTICS, confidence, prediction, together

FIGURES = Path(__file__).parents[2] / "figures"

LISTED = [
    study for study in STUDIES.values() if (FIGURES.parent / "data/published" / f"{study.name}_claims.csv").is_file()
]


def test_every_study_has_a_ledger():
    assert list(STUDIES.values()) == LISTED


def stored(study):
    return read_comparison(FIGURES / study.stem / f"{study.name}.csv")


def naive(rule, print_, row):
    """Judge one row of a stored ledger anew, as its rule says in words."""
    ours = row["reproduced"]
    low, high = (None if row[name] == "" else float(row[name]) for name in ("low", "high"))
    tolerance = float(row["tolerance"] or 0)
    if rule == "equal":
        try:
            same = float(print_) == float(ours)
        except ValueError:
            same = print_ == ours
        return "agrees" if same else "differs"
    if rule == "predicts":
        if low is None or (row["draws"] and float(row["draws"]) < 5):
            return "cannot tell"
        if float(print_) < low or float(print_) > high:
            return "differs"
        return "cannot tell" if high - low > tolerance else "agrees"
    a, b = (float(ours), float(ours)) if low is None else (low, high)
    if rule == "direction":
        a, b = (a, b) if print_ == "holds" else (-b, -a)
        return "agrees" if a > tolerance else "cannot tell" if b > tolerance else "differs"
    allowed = {
        "close": (float(print_) - tolerance, float(print_) + tolerance),
        "at most": (-math.inf, float(print_) + tolerance),
        "at least": (float(print_) - tolerance, math.inf),
        "in all": (float(print_), math.inf),
    }[rule]
    if allowed[0] <= a and b <= allowed[1]:
        return "agrees"
    return "differs" if b < allowed[0] or a > allowed[1] else "cannot tell"


def shifted(rows, axis, step):
    """Return the print that each row would have if its table were shifted by a row (axis 0) or a column (axis 1)."""
    tables = {}
    for row in rows:
        if row["row"] or row["column"]:
            cell = ", ".join(part for part in (row["row"], row["column"]) if part)
            table = row["item"].removesuffix(cell)
            tables.setdefault(table, {})[row["row"], row["column"]] = row
    for cells in tables.values():
        lines = list(dict.fromkeys(cell[axis] for cell in cells))
        for cell, row in cells.items():
            other = list(cell)
            position = lines.index(cell[axis]) + step
            if 0 <= position < len(lines):
                other[axis] = lines[position]
                if tuple(other) in cells and cells[tuple(other)]["published"] != row["published"]:
                    yield row, cells[tuple(other)]["published"]


@pytest.mark.parametrize("study", LISTED, ids=lambda study: study.name)
def test_stored_verdicts_are_those_of_their_rules(study):
    frame = stored(study)
    assert frame.columns.tolist() == COLUMNS
    assert set(frame["verdict"]) <= set(VERDICTS)
    again = judge_again(frame, claims(study.name))
    pd.testing.assert_frame_equal(again, frame)
    for row in frame[frame["verdict"].isin(["agrees", "differs", "proven wrong"])].to_dict("records"):
        expected = "agrees" if row["verdict"] == "agrees" else "differs"
        assert naive(row["rule"], row["published"], row) == expected, row["item"]


@pytest.mark.parametrize("study", LISTED, ids=lambda study: study.name)
def test_a_stored_agreement_turns_when_print_is_another(study):
    """Shift every table by one row and by one column, and turn every direction round: nine in ten must notice."""
    rows = stored(study).to_dict("records")
    for axis in (0, 1):
        for step in (-1, 1):
            noticed = [
                naive(row["rule"], other, row) != "agrees"
                for row, other in shifted(rows, axis, step)
                if row["verdict"] == "agrees"
            ]
            assert not noticed or np.mean(noticed) >= 0.9, (axis, step)
    turned = []
    for row in rows:
        if row["verdict"] != "agrees" or row["rule"] not in ("direction", "at most", "at least", "in all"):
            continue
        if row["rule"] == "direction":
            turned.append(naive("direction", "fails", row) != "agrees")
        elif row["rule"] == "in all":
            reverse = {name: float(row["published"]) - float(row[other]) if row[other] else ""
                       for name, other in (("reproduced", "reproduced"), ("low", "high"), ("high", "low"))}  # fmt: skip
            turned.append(naive("in all", row["published"], {**row, **reverse}) != "agrees")
        else:
            opposite = {"at most": "at least", "at least": "at most"}[row["rule"]]
            turned.append(naive(opposite, row["published"], row) != "agrees")
    assert not turned or np.mean(turned) >= 0.9


@pytest.mark.parametrize("study", LISTED, ids=lambda study: study.name)
def test_every_claim_has_a_row_and_every_difference_a_reason(study):
    frame, listed = stored(study), claims(study.name)
    assert listed["item"].is_unique
    items = frame["item"].tolist()
    for claim in listed.to_dict("records"):
        assert any(item == claim["item"] or item.startswith(f"{claim['item']}, ") for item in items), claim["item"]
        assert claim["rule"] in RULES
        assert claim["needs"]
    assert frame.loc[frame["verdict"].isin(["differs", "proven wrong"]), "note"].str.len().gt(0).all()
    drawn = (frame["got"] == DRAWN) & (frame["needs"] != SIMULATION)
    assert not frame.loc[drawn, "verdict"].isin(["agrees", "differs", "proven wrong"]).any()
    known = set(errata(study.stem)["number"])
    assert {int(number) for number in listed["erratum"] if number} <= known


@pytest.mark.parametrize("study", LISTED, ids=lambda study: study.name)
def test_a_claim_names_a_figure_that_there_is(study):
    page = (FIGURES / PAGE).read_text(encoding="utf-8")
    for name in claims(study.name)["figure"]:
        assert not name or f"\n### {name}\n" in page


@pytest.mark.parametrize("rule", sorted(RULES))
def test_rules_say_what_they_mean(rule):
    rng = np.random.default_rng(17)
    seen = set()
    for _ in range(400):
        low = float(rng.integers(0, 8))
        high = low + float(rng.integers(0, 5))
        bare = rng.random() < 0.2
        ours, print_ = float(rng.integers(low, high + 1)), float(rng.integers(0, 12))
        draws, tolerance = float(rng.integers(3, 8)), float(rng.integers(0, 4))
        if rule == "direction":
            low, high, ours, print_ = low - 5, high - 5, ours - 5, str(rng.choice(["holds", "fails"]))
        low, high = (math.nan, math.nan) if bare else (low, high)
        found = judge(rule, Beside(print_, ours, low, high, tolerance, draws))
        row = {"reproduced": ours, "low": "" if bare else low, "high": "" if bare else high, "draws": draws}
        assert found == naive(rule, print_, {**row, "tolerance": tolerance})
        seen.add(found)
    assert {"agrees", "differs"} <= seen


def test_statistics_of_a_table_are_recomputed_by_hand():
    rng = np.random.default_rng(3)
    tables = rng.normal(size=(6, 3, 4))
    cells = pd.DataFrame(
        [(d, r, c, tables[d, r, c]) for d in range(6) for r in range(3) for c in range(4)],
        columns=["draw", "row", "column", "value"],
    )
    print_ = cells[cells["draw"] == 0].set_index(["row", "column"])["value"]
    found = {reading.claim.partition(": ")[2]: reading for reading in together("T", cells, print_)}
    assert set(found) == set(STATISTICS)
    by_hand = {
        "mean of all cells": tables.mean(axis=(1, 2)),
        "slope from row to row": np.array([np.polyfit(range(3), t.mean(axis=1), 1)[0] for t in tables]),
        "slope from column to column": np.array([np.polyfit(range(4), t.mean(axis=0), 1)[0] for t in tables]),
        "last row against first": tables[:, -1].mean(axis=1) - tables[:, 0].mean(axis=1),
        "last column against first": tables[:, :, -1].mean(axis=1) - tables[:, :, 0].mean(axis=1),
    }
    for name, values in by_hand.items():
        assert found[name].reproduced == pytest.approx(values.mean())
        assert found[name].published == pytest.approx(values[0])
        assert (found[name].low, found[name].high) == pytest.approx(prediction(values))
        assert found[name].draws == 6


def test_intervals_over_draws_keep_their_level():
    """Of 4,000 samples of 8 normal draws, .95 +- .011 (three standard errors) must hold the next draw or the mean."""
    rng = np.random.default_rng(11)
    samples = rng.normal(2, 3, size=(4000, 9))
    one_more = [low <= sample[8] <= high for sample in samples for low, high in [prediction(sample[:8])]]
    mean = [low <= 2 <= high for sample in samples for low, high in [confidence(sample[:8])]]
    assert np.mean(one_more) == pytest.approx(0.95, abs=0.011)
    assert np.mean(mean) == pytest.approx(0.95, abs=0.011)
    assert all(math.isnan(end) for end in prediction([1.0]))
