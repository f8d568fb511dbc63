"""From trials to what the figures and the page show."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident import expected_relative_error, k_anonymise, rumap
from reident._old_sweep import grid
from reident.data import papers
from reident.studies.holohan2017 import CASES, METHODS, Profile
from reident.studies.holohan2017.cases import CHOICE, TRIED_LOSSES, anonymous, case, hierarchies_of
from reident.tables.k_epsilon import class_noise_scales, simulate_class_noise

__all__ = ["error_distributions", "lattice", "noise_summary", "readings", "ru"]

_BY = ["dataset", "method", "k", "epsilon"]

#: Figure 2: the half-width of the uniform noise, and the k at which the classes are made (the paper gives none).
UNIFORM_HALF_WIDTH = 0.05
_K_OF_FIGURE_2 = 10


def noise_summary(noise: pd.DataFrame) -> pd.DataFrame:
    """Return mean, standard error and interval of every measure for each data set, method, k and epsilon."""
    measures = [*_BY, *[name for name in noise.columns if name.startswith(("error", "linking", "suppressed"))]]
    return grid.summarise(noise[measures], _BY)


def error_distributions(plan: Profile, seed: int) -> pd.DataFrame:
    """Return quantiles of the relative error of three kinds of noise with comparable strength (Fig. 2).

    Noise inside classes at the epsilon at which its mean error is that of uniform noise within 5 %; the same epsilon
    on the whole data set; and that uniform noise.
    """
    parts = []
    shares = np.linspace(0.01, 0.99, 99)
    data = (seed, plan.small, plan.spread)
    for dataset in plan.datasets:
        chosen = case(dataset, *data)
        values = chosen.table[chosen.epsilon_quasi].to_numpy(dtype=np.float64)
        for method in plan.algorithms:
            rng = np.random.default_rng([seed, CASES.index(dataset), METHODS.index(method)])
            classes = anonymous(dataset, method, _K_OF_FIGURE_2, *data).classes
            own, original = classes[classes >= 0], values[classes >= 0]
            matched = expected_relative_error(original, own, epsilon=1.0) / (UNIFORM_HALF_WIDTH / 2)
            inside = class_noise_scales(original, own, epsilon=matched)
            whole = np.zeros(original.size, dtype=np.int64)
            noisy = {
                "inside classes": simulate_class_noise(original, own, inside, rng=rng),
                "whole data set": simulate_class_noise(
                    original, whole, class_noise_scales(original, whole, epsilon=matched), rng=rng
                ),
                "uniform": original * (1 + rng.uniform(-UNIFORM_HALF_WIDTH, UNIFORM_HALF_WIDTH, original.size)),
            }
            for noise, after in noisy.items():
                errors = np.abs(after / original - 1)
                parts.append(
                    pd.DataFrame(
                        {
                            "dataset": dataset,
                            "method": method,
                            "k": _K_OF_FIGURE_2,
                            "epsilon": matched,
                            "noise": noise,
                            "share": shares,
                            "relative_error": np.quantile(errors, shares),
                            "mean_error": float(errors.mean()),
                        }
                    )
                )
    return pd.concat(parts, ignore_index=True)


#: What the maps show of the grid, so that their points can be told apart.
_MAP_K, _MAP_EPSILON = (2, 20), 0.5


def ru(noise: pd.DataFrame, modes: pd.DataFrame) -> pd.DataFrame:
    """Return the risk-utility frame: (k, epsilon) by both methods on each data set, and the two modes on Adult.

    Risk is the linking risk. Utility is 1 - mean relative error, and 1 - share of the bits lost for the modes. Shown
    are k = 2 and 20 and epsilon from .5 on, for the modes k = 2 and 50 and epsilon from 4 on: below, little is left.
    """
    shown = noise[noise["k"].isin(_MAP_K) & (noise["epsilon"] >= _MAP_EPSILON)]
    panels = [
        _panel(
            one.assign(curve=one["method"] + ", k = " + one["k"].astype(str), utility=1 - one["error_realised"]),
            f"1 - mean relative error, {dataset} (range from the data: not DP)",
        )
        for dataset, one in shown.groupby("dataset", sort=False)
    ]
    both = modes[modes["k"].isin([2, 50]) & (modes["epsilon"] >= 4)]
    both = both.assign(curve=both["mode"] + ", k = " + both["k"].astype(str), utility=1 - both["bits_lost"])
    panels.append(_panel(both, "bits of height kept, adult (class range: not DP)"))
    return pd.concat(panels, ignore_index=True)


def _panel(trials: pd.DataFrame, analysis: str) -> pd.DataFrame:
    frame = rumap.ru_frame(
        trials,
        method="curve",
        parameter="epsilon",
        risk="linking_risk",
        utility="utility",
        attack="records linked to the nearest of their class",
        analysis=analysis,
    )
    return rumap.anchor_both(frame)


def lattice(plan: Profile, seed: int) -> pd.DataFrame:
    """Return every node of Adult's lattice at k = 10, the chosen one marked."""
    release = anonymous("adult", "ola", _K_OF_FIGURE_2, seed, plan.small, plan.spread)
    frame = release.lattice
    assert release.node is not None
    chosen = (frame[list(release.quasi)] == list(release.node)).all(axis=1)
    return frame.assign(chosen=chosen, k=_K_OF_FIGURE_2)


def readings(plan: Profile, seed: int) -> pd.DataFrame:
    """Return Adult's row of Table IV under each loss that OLA may have minimised: which of them the paper's is.

    One row a loss and k: the node, the share suppressed, that printed, and whether they agree to the printed digit.
    """
    data = (seed, plan.small, plan.spread)
    chosen = case("adult", *data)
    printed = papers.published("holohan2017", "table4").query("dataset == 'adult'").set_index("k")["suppressed_percent"]
    found = []
    for loss, charged in TRIED_LOSSES:
        for k in plan.ks:
            asked = {**CHOICE, "loss": loss, "charge_suppressed": charged}
            release = k_anonymise(
                chosen.table[list(chosen.k_quasi)],
                chosen.k_quasi,
                hierarchies=hierarchies_of("adult", *data),
                k=k,
                **asked,
            )
            percent = round(100 * release.n_suppressed / len(chosen.table), 2)
            found.append(
                {
                    "loss": loss,
                    "charge_suppressed": charged,
                    "k": k,
                    "node": " ".join(str(level) for level in release.node or ()),
                    "suppressed_percent": percent,
                    "published_percent": printed.get(k, np.nan),
                    "agrees": percent == printed.get(k),
                }
            )
    return pd.DataFrame(found)
