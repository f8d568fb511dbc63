"""Claims are read strictly, and one row a claim says how they fare."""

import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident.experiments.claims import Claim, _claim

TABLE = {
    "item": "Table 4: precision", "kind": "table", "since": "2026-11-25", "stem": "kroll2015", "table": "table4",
    "value": "precision", "cells": ["sigma_deg", "alpha"], "design": {"datasets": 1, "repetitions": 100},
    "margin": 0.05, "reason": "one match in twenty", "unit": 1e-4,
}  # fmt: skip


DIFFERENCE = {"form": "difference", "along": "sigma_deg", "high": 0.005, "low": 0.05}


def trials(n_datasets=8, repetitions=5, off=0.0, seed=1):
    """Return trials whose expectations are the published precision plus `off`."""
    rng, printed = np.random.default_rng(seed), rd.published("kroll2015", "table4").query("alpha > .5")
    rows = [
        printed.assign(dataset=d, repetition=r, precision=lambda f: f["precision"] + off + rng.normal(0, 0.02, len(f)))
        for d in range(n_datasets)
        for r in range(repetitions)
    ]
    return pd.concat(rows, ignore_index=True)


def sentence(**entries):
    base = {"item": "s", "kind": "sentence", "since": "2026-11-25", "measure": "precision"}
    return Claim(**base | entries)


def test_a_table_is_one_row_with_both_verdicts():
    row = rd.compare(trials(), Claim(**TABLE)).iloc[0]
    assert (row["verdict"], row["verdict_as_printed"], row["cells"], row["look"]) == ("agrees", "agrees", 40, 5)
    assert abs(row["mean_deviation"]) < 0.005
    assert row["reproduced"] - row["published"] == pytest.approx(row["mean_deviation"])
    assert (row["n"], row["trials"]) == (8, 5 * 5 * 40)
    assert rd.compare(trials(off=0.15), Claim(**TABLE))["verdict"].item() == "differs"


def test_too_few_data_sets_leave_a_claim_open():
    for frame in (trials(4), trials(1, 100)):  # the second: the paper's own design
        row = rd.compare(frame, Claim(**TABLE)).iloc[0]
        assert row["verdict"] == "open"
        assert "first look" in row["note"]
        assert abs(row["mean_deviation"]) < 0.01


def test_draws_without_data_sets_are_repetitions():
    frame = trials(12, 1).drop(columns="repetition").rename(columns={"dataset": "repetition"})
    assert rd.compare(frame, Claim(**TABLE))["verdict"].item() == "agrees"


def test_claims_without_trials_are_open_or_not_comparable():
    frame = trials().drop(columns="precision")
    claims = [Claim(**TABLE), Claim(**TABLE | {"item": "b", "needs": "the addresses"})]
    assert rd.compare(frame, claims)["verdict"].tolist() == ["open", "not comparable"]
    assert rd.compare(trials().query("alpha > 1"), claims[0])["note"].item() == "not run"


@pytest.mark.parametrize(
    ("entries", "verdict"),
    [
        ({"effect": {"form": "falls", "along": "sigma_deg"}, "margin": 0.05}, "agrees"),
        ({"effect": {"form": "rises", "along": "sigma_deg"}, "margin": 0.05}, "differs"),
        ({"effect": {"form": "rises", "along": "sigma_deg"}, "margin": 0.05, "erratum": 2}, "document in error"),
        ({"effect": {"form": "constant", "along": "alpha"}, "margin": 0.1}, "agrees"),
        ({"effect": {"form": "constant", "along": "sigma_deg", "each": ["alpha"]}, "margin": 0.1}, "differs"),
        ({"effect": DIFFERENCE}, "agrees"),
        ({"effect": DIFFERENCE, "limits": [0, 0.1]}, "differs"),
        ({"effect": DIFFERENCE | {"low": 0.07}}, "open"),
        ({"effect": {"form": "level", "along": "sigma_deg"}, "published": 0.98, "margin": 0.1}, "differs"),
    ],
)
def test_sentences_by_their_form(entries, verdict):
    assert rd.compare(trials(), sentence(**entries))["verdict"].item() == verdict


def test_results_answer_claims_that_trials_do_not():
    exact = Claim("size", "exact", since="2026-11-25", published=[4, 1])
    effects = sentence(item="t", limits=[0, 1])
    frame = pd.DataFrame(np.random.default_rng(1).uniform(0.4, 0.6, (5, 2)))
    rows = rd.compare(trials(), [exact, effects], {"size": (4, 1), "t": frame})
    assert rows["verdict"].tolist() == ["agrees", "agrees"]
    assert rd.compare(trials(), exact, {"size": [4, 2]})["verdict"].item() == "differs"
    with pytest.raises(rd.ParameterError, match="claims"):
        rd.compare(trials(), exact, {"other": 1})
    # What is shown is the effect nearest to its limit, not the one that is known best: "at most .5".
    spread = pd.DataFrame({"a": [0.49, 0.51, 0.4, 0.6, 0.5], "b": [0.1, 0.1001, 0.1, 0.1, 0.1]})
    row = rd.compare(trials(), sentence(item="t", limits=[-np.inf, 1]), {"t": spread}).iloc[0]
    assert row["reproduced"] == pytest.approx(0.5)


@pytest.mark.parametrize("stem", ["kroll2015"])
def test_claims_of_the_documents_are_read(stem):
    claims = rd.claims(stem)
    assert len(claims) > 3
    for claim in claims:
        if claim.table:
            assert {claim.value, *claim.cells} <= {*rd.published(claim.stem, claim.table).columns}
        if claim.erratum:
            assert claim.erratum in rd.errata(claim.stem)["number"].tolist()


@pytest.mark.parametrize(
    "entries",
    [{"margin": 0}, {"reason": ""}, {"kind": "cell"}, {"since": ""}, {"design": {}}, {"tolerance": 1}, {"value": ""}],
)
def test_incomplete_claims_are_refused(entries):
    with pytest.raises(rd.DataError):
        _claim(TABLE | entries, "kroll2015.yaml")
