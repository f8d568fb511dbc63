"""What the study found for each claim of the paper: examples, tables, and what its discussion says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from reident import published
from reident.data.papers import claims
from reident.studies.comparison import PUBLIC, Reading, ledger
from reident.studies.kroll2015 import SPLIT
from reident.studies.kroll2015.examples import example_9, theorem_7, three_distances
from reident.studies.together import confidence, prediction, together

__all__ = ["comparison"]

_MEASURES = {"Table 4: precision": ("table4", "precision"), "Table 5: recall": ("table5", "recall")}


def comparison(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Set every claim of the paper beside what the profile found."""
    found = _examples(frames)
    if len(frames["trials"]):
        found += [*_simulated(frames), *_discussion(frames["trials"])]
    return ledger(claims("kroll2015"), found)


def _examples(frames: Mapping[str, pd.DataFrame]) -> list[Reading]:
    edges = frames["example2_edges"].set_index(["a", "b"])["distance_km"]
    printed = published("kroll2015", "example2").set_index(["a", "b"])["distance_km"]
    product, matches = frames["product_vertices"], published("kroll2015", "table2")
    return [
        *(
            Reading("Example 2: distance, km", round(edges[a, b], 1), row=f"{a} to {b}", published=km)
            for (a, b), km in printed.items()
        ),
        Reading(
            "Theorem 7: common subgraphs as large as the largest cliques, in random pairs of graphs, of 40", theorem_7()
        ),
        Reading("Section 5: points that exact distances to three others fix, of 1000", three_distances()),
        Reading("Example 9: maximum cliques of the product graph", example_9()),
        Reading(
            "Table 2: possible matches, equal rows",
            int((matches.to_numpy() == product.iloc[:, :3]).all(axis=1).sum()),
        ),
        Reading("Example 10: maximum clique", " ".join(map(str, product.loc[product["in_clique"], "vertex"]))),
        Reading("Example 10: number of maximum cliques", int(product["n_max_cliques"].iloc[0])),
    ]


def _simulated(frames: Mapping[str, pd.DataFrame]) -> list[Reading]:
    trials, n = frames["trials"], frames["trials"]["dataset"].nunique()
    orders = trials.drop_duplicates("dataset")["n_candidates"]
    found = [
        Reading(
            "Section 5: possible matches of 500 and 500 records", orders.mean(), *prediction(orders), PUBLIC, draws=n
        )
    ]
    found += [
        Reading("Table 3", row.reproduced, row.low, row.high, PUBLIC, row=f"sigma {row.sigma_deg:.3f}",
                column=str(row.statistic), published=row.published)
        for row in frames["deviations"].dropna(subset="published").itertuples()
    ]  # fmt: skip
    over_ties = {
        (row.sigma_deg, row.alpha): f"over all maximum cliques, smallest / mean / largest: "
        f"{row.precision_min:.3f} / {row.precision_mean:.3f} / {row.precision_max:.3f}"
        for row in frames["ties"].itertuples()
    }
    for claim, (table, measure) in _MEASURES.items():
        for row in frames["summary"].dropna(subset=f"{measure}_published").to_dict("records"):
            value, low, high, printed = (row[f"{measure}{end}"] for end in ("", "_low", "_high", "_published"))
            note = over_ties.get((row["sigma_deg"], row["alpha"]), "") if measure == "precision" else ""
            sigma, alpha = f"sigma {row['sigma_deg']:.3f}", f"alpha {row['alpha']:.1f}"
            half = claim if row["alpha"] >= SPLIT else f"{claim}, predicted"
            found.append(Reading(half, value, low, high, PUBLIC, note, sigma, alpha, printed, n))
        found += _joint(claim, table, measure, trials)
    return found + _tie_rules(trials)


def _joint(claim: str, table: str, measure: str, trials: pd.DataFrame) -> list[Reading]:
    """Judge a table as a whole, its predicted half, and that half against the one that the jitter was chosen by."""
    cells = trials.groupby(["dataset", "sigma_deg", "alpha"])[measure].mean().rename("value")
    cells = cells.rename_axis(["draw", "row", "column"]).reset_index()
    printed = published("kroll2015", table).set_index(["sigma_deg", "alpha"])[measure].rename_axis(["row", "column"])
    found = together(claim, cells, printed, got=PUBLIC)
    below = printed[printed.index.get_level_values("column") < SPLIT]
    if (cells["column"] < SPLIT).any() and (cells["column"] >= SPLIT).any():
        found += together(f"{claim}, predicted", cells[cells["column"] < SPLIT], below, got=PUBLIC)
        in_run = printed.loc[pd.MultiIndex.from_frame(cells[["row", "column"]].drop_duplicates())]
        values = [_contrast(part.set_index(["row", "column"])["value"]) for _, part in cells.groupby("draw")]
        low, high = prediction(values)
        found.append(
            Reading(f"{claim}: predicted columns against calibrated ones", float(np.mean(values)), low, high, PUBLIC,
                    published=_contrast(in_run), draws=len(values))
        )  # fmt: skip
    return found


def _contrast(cells: pd.Series) -> float:
    below = cells.index.get_level_values("column") < SPLIT
    return float(cells[below].mean() - cells[~below].mean())


_RULES = {
    "Table 4: mean over sigma, the clique that the program ends with": "precision_published",
    "Table 4: mean over sigma, one of all maximum cliques at random": "precision_random",
    "Table 4: mean over sigma, the average over all maximum cliques": "precision_mean",
}


def _tie_rules(trials: pd.DataFrame) -> list[Reading]:
    """Judge the columns of small alpha by each rule for ties, in the same graphs."""
    printed = published("kroll2015", "table4").set_index(["sigma_deg", "alpha"])["precision"]
    found = []
    for claim, column in _RULES.items():
        for alpha, part in trials[trials["alpha"] < SPLIT].groupby("alpha"):
            draws = part.groupby(["dataset", "sigma_deg"])[column].mean().groupby("dataset").mean()
            print_ = np.mean([printed[sigma, alpha] for sigma in part["sigma_deg"].unique()])
            found.append(
                Reading(claim, draws.mean(), *prediction(draws), PUBLIC, row=f"alpha {alpha:.1f}",
                        published=float(print_), draws=len(draws))
            )  # fmt: skip
    return found


def _averages(trials: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the average over releases: a row a data set and sigma, a column an alpha."""
    return trials.pivot_table(index=["dataset", "sigma_deg"], columns="alpha", values=measure)


def _discussion(trials: pd.DataFrame) -> list[Reading]:
    """Judge what section 5 says of the tables, each effect over data sets, in every setting that is named."""
    precision, recall = _averages(trials, "precision"), _averages(trials, "recall")
    alphas, sigmas = precision.columns, precision.index.unique("sigma_deg")
    found = []
    if len(alphas) > 1:
        rises = {s: _at(recall, s)[alphas[-1]] - _at(recall, s)[alphas[0]] for s in sigmas}
        found.append(_in_all("higher alpha, higher recall: at every sigma", rises))
    if 0.1 in alphas and 0.5 in alphas:
        claim = "precision rises with alpha at first, from .1 to .5: at every sigma"
        found.append(_in_all(claim, {s: _at(precision, s)[0.5] - _at(precision, s)[0.1] for s in sigmas}))
    if 0.5 in alphas and 0.9 in alphas:
        effect = (precision[0.5] - precision[0.9]).groupby("dataset").mean()
        claim = "precision falls slightly when alpha becomes too large, from .5 to .9"
        found.append(Reading(claim, effect.mean(), *confidence(effect), PUBLIC, draws=len(effect)))
    if len(sigmas) > 1:
        falls = {a: _at(precision, sigmas[0])[a] - _at(precision, sigmas[-1])[a] for a in alphas}
        found.append(_in_all("precision falls as sigma grows: at every alpha", falls))
        found += [_flat(recall), _together_fall(trials)]
    return found


def _at(averages: pd.DataFrame, sigma_deg: float) -> pd.DataFrame:
    return averages.xs(sigma_deg, level="sigma_deg")


def _in_all(claim: str, effects: Mapping[Any, pd.Series]) -> Reading:
    """Count the settings in which an effect is positive; surely so at the least, not surely negative at the most."""
    intervals = {setting: confidence(effect) for setting, effect in effects.items()}
    surely = sum(low > 0 for low, _ in intervals.values())
    perhaps = sum(not high < 0 for _, high in intervals.values())
    open_ = [f"{setting:g}" for setting, (low, _) in intervals.items() if not low > 0]
    note = f"not certain at {', '.join(open_)}" if open_ else "effect and interval over data sets, level .95, in each"
    held = sum(effect.mean() > 0 for effect in effects.values())
    return Reading(claim, held, surely, perhaps, PUBLIC, note, published=len(effects))


def _flat(recall: pd.DataFrame) -> Reading:
    """Count the alphas at which recall at the largest sigmas is within a tenth of that at the smallest."""
    by_sigma = recall.groupby("sigma_deg").mean()
    ends = min(3, len(by_sigma) // 2)
    ratio = by_sigma.iloc[-ends:].mean() / by_sigma.iloc[:ends].mean()
    printed = published("kroll2015", "table5").pivot_table(index="sigma_deg", columns="alpha", values="recall")
    own = printed.iloc[-3:].mean() / printed.iloc[:3].mean()
    note = f"ours {_listed(ratio)}; print itself {_listed(own)} by alpha"
    claim = "recall does not depend on sigma: last three against first three, a ratio of .9 to 1.1 at every alpha"
    return Reading(claim, int(ratio.between(0.9, 1.1).sum()), got=PUBLIC, note=note, published=len(ratio))


def _listed(values: pd.Series) -> str:
    return " ".join(f"{value:.2f}" for value in values)


def _together_fall(trials: pd.DataFrame) -> Reading:
    """Count the steps of figure 8 at which risk falls with utility; a data set whose utility rises is against it."""
    at = trials[np.isclose(trials["alpha"], 0.5)]
    risk, utility = (_averages_of(at, measure) for measure in ("precision", "utility_per_km2"))
    steps = zip(risk.columns, risk.columns[1:], strict=False)
    fallen = {
        later: (risk[now] - risk[later]).where(utility[now] > utility[later], -(risk[now] - risk[later]).abs())
        for now, later in steps
    }
    return _in_all("figure 8: risk and utility fall together, at every step of sigma", fallen)


def _averages_of(trials: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the mean of a measure, a row a data set, a column a sigma."""
    return trials.pivot_table(index="dataset", columns="sigma_deg", values=measure)
