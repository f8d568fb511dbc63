"""The minimality attack against enumeration of all assignments."""

import itertools

import numpy as np
import pandas as pd
import pytest

from reident import ParameterError
from reident.tables.anonymisation import k_anonymise
from reident.tables.minimality import minimality_attack


def test_posterior_is_that_of_all_assignments():
    known = pd.DataFrame({"age": [20, 21, 30, 40, 41, 42], "ill": list("fffhfg")})
    release = k_anonymise(known, "age", k=2, method="mondrian", sensitive="ill", ell=3)
    assert release.n_classes == 1
    # The cut nearest the median that k = 2 allows: 20, 21, 30 | 40, 41, 42.
    left = known["age"].to_numpy() <= 30
    fitting = [
        values
        for values in itertools.permutations(known["ill"])
        if len(set(np.array(values)[left])) < 3 or len(set(np.array(values)[~left])) < 3
    ]
    ref = [np.mean([values[i] == known["ill"][i] for values in fitting]) for i in range(6)]
    breach = minimality_attack(known, release.classes, quasi="age", sensitive="ill", k=2, ell=3, n_draws=20_000, rng=1)
    # 5 standard errors of 20,000 draws at most.
    np.testing.assert_allclose(breach.posterior, ref, atol=5 * 0.5 / np.sqrt(10_000))


def test_two_values_in_a_class_are_found_out():
    """Both rare values must lie on one side, or the cut would have been made: nothing else is possible."""
    known = pd.DataFrame({"age": [20, 21, 40, 41], "ill": list("hhff")})
    release = k_anonymise(known, "age", k=2, method="mondrian", sensitive="ill", ell=2)
    breach = minimality_attack(known, release.classes, quasi="age", sensitive="ill", k=2, ell=2, rng=1)
    assert breach.n_attacked == 1
    np.testing.assert_allclose(breach.prior, 0.5)
    np.testing.assert_allclose(breach.posterior, 0.5, atol=0.1)  # either side: the side is found out, not the value
    known["ill"] = list("hfff")
    breach = minimality_attack(known, [0, 0, 0, 0], quasi="age", sensitive="ill", k=2, ell=2, rng=1)
    assert breach.largest_gain == pytest.approx(0, abs=0.1)


def test_plain_k_anonymity_refuses_nothing():
    rng = np.random.default_rng(0)
    known = pd.DataFrame({"age": rng.integers(0, 50, 60), "sex": rng.choice(list("fm"), 60)})
    known["ill"] = rng.choice(list("abc"), 60)
    release = k_anonymise(known, ["age", "sex"], k=4, method="mondrian")
    breach = minimality_attack(
        known, release.classes, quasi=["age", "sex"], sensitive="ill", k=4, ell=2, n_draws=200, rng=0
    )
    assert (breach.n_attacked, breach.n_unresolved, breach.mean_gain) == (0, 0, 0.0)
    np.testing.assert_array_equal(breach.prior, breach.posterior)


def test_bad_input_is_named():
    known = pd.DataFrame({"age": [1, 2], "ill": list("ab")})
    with pytest.raises(ParameterError, match="both roles"):
        minimality_attack(known, [0, 0], quasi=["age", "ill"], sensitive="ill", k=1, ell=1)
    with pytest.raises(ParameterError, match="`ell` must be at least 1"):
        minimality_attack(known, [0, 0], quasi="age", sensitive="ill", k=1, ell=0)
