"""What the document states about tables and differential privacy, against what was computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import spearmanr

from reident import intersection_attack, published
from reident.base import trial_seed
from reident.data.papers import claims
from reident.queries.pan_private import pan_privacy_loss
from reident.studies.comparison import PUBLIC, Reading, compare, exact, held_in_all, not_run
from reident.studies.vanhoef2012_tables.mechanisms import (
    claim_failure,
    degree_sensitivities,
    histogram_sensitivity,
    kmeans_sensitivity,
)
from reident.studies.vanhoef2012_tables.promises import promises


def compare_with_print(frames: dict[str, pd.DataFrame], *, seed: int) -> pd.DataFrame:
    """Return the comparison frame of the study."""
    printed = published("vanhoef2012", "tables").set_index("item")["published"]
    rows = [*_examples(printed, frames), *_intersections(printed, frames), *_mechanisms(printed, frames, seed)]
    rows += promises(frames)
    missing = set(printed.index) - {row.claim for row in rows}
    assert not missing, f"no comparison for {missing}"
    return compare(rows, claims("vanhoef2012_tables"))


def _number(text: Any) -> float:
    return float(text)


def _examples(printed: pd.Series, frames: dict[str, pd.DataFrame]) -> list[Reading]:
    measures = frames["examples"].set_index("table")
    breaches = frames["breaches"]
    homogeneous = breaches[(breaches["example"] == "Table 3.1") & (breaches["attack"] == "homogeneity")]
    skewed = breaches[breaches["attack"] == "skewness"].iloc[0]
    rows = [
        ("table 3.1: k", measures.loc["3.1", "k"], ""),
        ("table 3.1: equivalence classes", measures.loc["3.1", "n_classes"], ""),
        ("table 3.1: homogeneous records", " ".join(str(record) for record in homogeneous["record"]), ""),
        ("table 3.2: distinct l", measures.loc["3.2", "distinct_l"], ""),
        (
            "table 3.2: entropy l, one decimal",
            round(measures.loc["3.2", "entropy_l"], 1),
            f"2 to the power 1.5, {measures.loc['3.2', 'entropy_l']:.4f}",
        ),
        ("skewness example: prior", skewed["prior"], ""),
        ("skewness example: posterior", skewed["posterior"], ""),
        (
            "classes that 1 % of a million records allow",
            round(0.01 * 1_000_000),
            "print multiplies 100,000 instead of 1,000,000 by 1 %",
        ),
    ]
    alice = _alice()
    rows.append(("example of Alice: value left", " ".join(alice.candidates("Alice")), ""))
    rows.append(("partial breach of three values: confidence, %", _three_values(), ""))
    return [_exact(printed, *row) for row in rows]


def _exact(printed: pd.Series, item: str, reproduced: Any, note: str) -> Reading:
    """Compare with print as a number where print is one."""
    text = str(printed[item])
    if isinstance(reproduced, str):
        return exact(item, text, reproduced, note)
    return exact(item, f"{_number(text):g}", f"{float(reproduced):g}", note)


def _alice() -> Any:
    hospitals = [["Heart Disease", "Cancer"], ["The Flu", "Cancer"]]
    releases = [pd.DataFrame({"zip": ["130**"] * 2, "condition": conditions}) for conditions in hospitals]
    return intersection_attack(
        releases, pd.DataFrame({"zip": ["13053"]}, index=["Alice"]), quasi="zip", sensitive="condition"
    )


def _three_values() -> int:
    releases = [
        pd.DataFrame({"zip": ["130**"] * len(conditions), "condition": conditions})
        for conditions in (["Flu", "Fever", "Cold", "Cancer"], ["Flu", "Fever", "Cold", "AIDS"])
    ]
    attack = intersection_attack(releases, pd.DataFrame({"zip": ["13053"]}), quasi="zip", sensitive="condition")
    return round(100 * float(attack.table["confidence"].iloc[0]))


def _intersections(printed: pd.Series, frames: dict[str, pd.DataFrame]) -> list[Reading]:
    frame = frames["intersection"]
    last = frame[frame["n_releases"] == frame["n_releases"].max()]
    mean = last.groupby(["criterion", "strength"])[["perfect", "partial", "utility"]].mean()
    base = last.loc[last["criterion"] == "k", "k"].min()
    k, others = mean.loc["k"].loc[base], mean.loc[["l", "t"]]
    leaks = others[["perfect", "partial"]].sum(axis=1)
    by_releases = frame[frame["criterion"] != "none"].groupby(["criterion", "strength", "n_releases"])
    rising = by_releases["confidence"].mean().groupby(["criterion", "strength"]).diff().dropna()
    counted = [
        (
            "l-diversity and t-closeness do better than k-anonymity",
            k["perfect"] - others["perfect"],
            f"settings of l and t; perfect breaches at k = {base:g}: {k['perfect']:.2%}; with l or t at most "
            f"{others['perfect'].max():.2%}",
        ),
        (
            "l-diversity and t-closeness lose more information",
            k["utility"] - others["utility"],
            f"settings of l and t; utility {k['utility']:.4f} against {others['utility'].min():.4f} to "
            f"{others['utility'].max():.4f}",
        ),
        (
            "severity rises with the number of releases",
            rising,
            f"steps of every setting; mean confidence in the true value, least rise {rising.min():.2g}",
        ),
    ]
    rows = [
        (
            "l-diversity and t-closeness still leak",
            bool((leaks > 0).any()),
            f"perfect or partial breaches up to {leaks.max():.1%}; none at the strictest setting"
            if leaks.min() == 0
            else f"perfect or partial breaches from {leaks.min():.2%} to {leaks.max():.1%}",
        ),
    ]
    # What rounding leaves of two equal means is no difference.
    told = [
        held_in_all(item, effects.round(12), note) if len(effects) else not_run(item, "two numbers of releases")
        for item, effects, note in counted
    ]
    told += [exact(item, str(printed[item]), "yes" if holds else "no", note) for item, holds, note in rows]
    return [*told, entropy_statement(frames["domain"], frames["entropy"])]


def entropy_statement(domain: pd.DataFrame, entropy: pd.DataFrame) -> Reading:
    """Return the reading of the claim about entropy, over Adult: occupations merged here, and attributes as they are.

    It must hold with the number of values and by every measure of severity over the attributes. The attribute that is
    drawn evenly is told, and does not count.
    """
    item = "severity rises with the entropy of the sensitive attribute"
    if domain["n_releases"].nunique() < 2:
        return not_run(item, "two numbers of releases")
    added, ranks = composition_adds(domain), _ranks(entropy)
    merged = added["occupation in"].diff().min()
    note = (
        "the number of merged occupations, and measures over attributes; what further releases add to the confidence "
        f"in the truth, where only the number of values differs ({', '.join(str(size) for size in added.index)}): "
        + "; ".join(f"{kind} " + ", ".join(f"{value:.3f}" for value in added[kind]) for kind in added)
        + ". Rank correlation over attributes of Adult of entropy with "
        + ", ".join(f"{measure} {value:.2f}" for measure, value in ranks.items())
    )
    return held_in_all(item, [merged, *ranks.values()], note, PUBLIC)


def composition_adds(domain: pd.DataFrame) -> pd.DataFrame:
    """Return by how much the confidence in the truth rises from the first release to the last: values by kind."""
    mean = domain.groupby(["sensitive", "n_releases"])["confidence"].mean().unstack("n_releases")  # noqa: PD010
    gain = (mean[mean.columns.max()] - mean[mean.columns.min()]).rename("gain").reset_index()
    gain[["kind", "size"]] = gain["sensitive"].str.rsplit(" ", n=1, expand=True)
    return gain.assign(size=gain["size"].astype(int)).pivot_table(index="size", columns="kind", values="gain")


def _ranks(entropy: pd.DataFrame) -> dict[str, float]:
    """Return the rank correlation of the attributes' entropy with each measure of severity after the last release.

    It is NaN where all attributes are alike.
    """
    last = entropy[(entropy["n_releases"] == entropy["n_releases"].max()) & ~entropy["shuffled"]]
    measures = {
        "perfect breaches": last["perfect"],
        "perfect or partial breaches": last["perfect"] + last["partial"],
        "confidence": last["confidence"],
        "right guesses": last["guessed"],
        "confidence over the commonest value's share": last["confidence"] / last["baseline"],
    }
    return {
        name: float(spearmanr(last["entropy_bits"], values).statistic) if values.max() > values.min() else math.nan
        for name, values in measures.items()
    }


def _mechanisms(printed: pd.Series, frames: dict[str, pd.DataFrame], seed: int) -> list[Reading]:
    rng = np.random.default_rng(trial_seed(seed, "vanhoef2012_tables", {"part": "sensitivity"}, None))
    degrees = degree_sensitivities()
    root = brentq(lambda epsilon: 1 - epsilon / 2 - math.exp(-epsilon), 1, 2)
    printed_loss = pan_privacy_loss(0.1, variant="printed") / 0.1
    corrected_loss = pan_privacy_loss(0.1) / 0.1
    rows = [
        ("counting query at epsilon ln 2: largest ratio", round(frames["neighbours"]["ratio"].max(), 9), ""),
        ("sensitivity of a histogram query", histogram_sensitivity(rng), "largest change found by a search"),
        ("sensitivity of a round of k-means in two dimensions", round(kmeans_sensitivity(rng), 6),
         "largest change found by a search with corner points"),
        ("claim 6.2: upper end of epsilon, three decimals", f"{math.floor(root * 1000) / 1000:.3f}", f"{root:.6f}"),
        ("sensitivity of the degree sequence in units of k", degrees["sequence"], "all graphs on four nodes"),
        ("sensitivity of the degree distribution in units of k", degrees["histogram"],
         "the histogram of degrees has twice the sensitivity (erratum 12)"),
    ]  # fmt: skip
    found = [_exact(printed, *row) for row in rows]
    claim = "algorithm 6.1: loss in units of epsilon, at epsilon .1"
    note = f"as printed; Lap(4 / (epsilon^2 |X|)) instead gives {corrected_loss:.2f}, within the claim (erratum 10)"
    found.append(exact(claim, f"{_number(printed[claim]):g}", f"{printed_loss:.1f}", note))
    claim = "claim 6.4: answers outside its bound at .05, at most"
    outside = claim_failure(100, 0.1, 0.3)
    note = (
        "universe of 100, epsilon .1, corrected noise, exact: the claim ignores the Laplace noise, which our bound "
        f"counts; in a universe of 10,000 {claim_failure(10_000, 0.1, 0.3):.3f} (erratum 10)"
    )
    found.append(exact(claim, f"{_number(printed[claim]):g}", f"{outside:.3f}", note))
    return found
