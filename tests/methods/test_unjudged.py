"""Columns that nobody can explain refuse a release that lacks what is known: they may be a key of it."""

import hashlib
import hmac

import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident.base import ParameterError

pytestmark = pytest.mark.whole

KNOWN = ["sex", "born", "plz", "income"]


def people(n=600, seed=1):
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 27_000, n), unit="D")
    places = [f"{value:05d}" for value in rng.integers(10_000, 99_999, 60)]
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n), "born": days.strftime("%Y-%m-%d"),
            "plz": rng.choice(places, n, p=rng.dirichlet(np.full(60, 5.0))),
            "income": rng.lognormal(10, 0.5, n).round(2), "ill": rng.choice(["I10", "E11", "F32"], n),
        }
    )  # fmt: skip


def key(table, sign=""):
    return table["sex"] + sign + table["born"].str.replace("-", "") + sign + table["plz"]


HIDDEN = {
    "a key without signs": key,
    "a sum of a key": lambda t: key(t).map(lambda text: hashlib.sha1(text.encode()).hexdigest()),
    "a secret sum of postcodes": lambda t: t["plz"].map(lambda p: hmac.new(b"k", p.encode(), "sha256").hexdigest()),
    "a logarithm with noise": lambda t: np.log(t["income"]) + np.random.default_rng(1).normal(0, 0.001, len(t)),
    "a key whose other part is a sum": lambda t: (
        t["born"] + "|" + key(t).map(lambda one: hashlib.md5(one.encode()).hexdigest())
    ),
}


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_may_be_a_key_of_missing_columns_refuses_a_release(hidden):
    table = people()
    release = table[["sex", "ill"]].assign(k=HIDDEN[hidden](table)).sample(frac=1, random_state=2)
    found = rd.check(release, table, quasi=KNOWN, attacks=["exact_join"])
    assert not found.passed
    if found.share_above_limit == 0:
        (finding,) = found.findings
        assert (finding["kind"], finding["columns"]) == ("unread column", ["k"])
        assert "=k says what it holds, --new k that it says nothing" in found.sentence
        assert rd.check(release, table, quasi=KNOWN, attacks=["exact_join"], new="k").passed


NEW = {
    "new running numbers": lambda t: np.random.default_rng(1).permutation(len(t)) + 1,
    "new running numbers with a letter": lambda t: [f"P{number:04d}" for number in range(len(t))],
    "few values": lambda t: np.random.default_rng(1).integers(0, 40, len(t)),
}


@pytest.mark.parametrize("new", NEW)
def test_new_numbers_and_few_values_beside_missing_columns_pass(new):
    table = people()
    release = table[["sex", "ill"]].sample(frac=1, random_state=2).assign(k=NEW[new](table))
    assert rd.check(release, table, quasi=KNOWN, attacks=["exact_join"]).passed


def test_new_columns_beside_all_that_is_known_pass_and_those_said_to_be_new_must_be_there():
    table = people()
    release = table[["sex", "ill"]].assign(k=np.random.default_rng(1).normal(size=len(table)))
    assert rd.check(release, table, quasi=["sex"], attacks=["exact_join"]).passed
    with pytest.raises(ParameterError, match=r"`new` must name columns of the release, got .'other'."):
        rd.check(release, table, quasi=KNOWN, new=["k", "other"])
