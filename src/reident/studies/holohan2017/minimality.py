"""The minimality attack against our own Mondrian: beyond the paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from reident import k_anonymise, minimality_attack
from reident.studies.holohan2017.cases import case

__all__ = ["minimality_trial"]

_SENSITIVE = "occupation"


def minimality_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Anonymise Adult with l-diverse occupations, and attack the release by its refused cuts."""
    from reident.data.datasets import load_adult

    chosen = case("adult", params["data_seed"], params["small"], params.get("spread", 1.0))
    quasi = list(chosen.k_quasi)
    known = chosen.table[quasi].assign(**{_SENSITIVE: load_adult().loc[chosen.table.index, _SENSITIVE]})
    k, ell = params["k"], params["ell"]
    release = k_anonymise(known, quasi, k=k, method="mondrian", sensitive=_SENSITIVE, ell=ell)
    breach = minimality_attack(
        known, release.classes, quasi=quasi, sensitive=_SENSITIVE, k=k, ell=ell, n_draws=params["n_draws"], rng=rng
    )
    gain = breach.posterior - breach.prior
    return {
        "n_classes": breach.n_classes,
        "n_attacked": breach.n_attacked,
        "n_unresolved": breach.n_unresolved,
        "attacked_share": float(breach.attacked.mean()),
        "mean_gain": breach.mean_gain,
        "largest_gain": breach.largest_gain,
        "gain_above_10_points_share": float((gain > 0.1).mean()),
        "above_one_over_ell_share": float((breach.surest > 1 / ell + 1e-9).mean()),
        "above_one_over_ell_by_class_share": float(_class_confidence(breach.prior, release.classes, ell)),
    }


def _class_confidence(prior: np.ndarray, classes: np.ndarray, ell: int) -> float:
    """Return the share of records whose class alone makes some value likelier than 1 / ell."""
    surest = np.zeros(int(classes.max()) + 1)
    np.maximum.at(surest, classes, prior)
    return float((surest[classes] > 1 / ell + 1e-9).mean())
