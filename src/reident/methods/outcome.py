"""Claims of an attack about each person, and the resulting risk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, IntArray, ParameterError, wilson_interval
from reident.methods.release import Knowledge, Release

#: Claims that are looked at together to learn how often claims of their kind are right.
_KIND, _MOST_KINDS = 200, 10
#: The fewest claims that may be a kind of their own because they are right more often than the others.
_FEWEST = 5
#: The level of the test that an attack is as often right as it is confident, over all kinds together.
_TEST = 0.01


class NotApplicable(Exception):  # noqa: N818 (no error: an answer)
    """An attack does not apply to a release or lacks an input; the message says why."""


@contextmanager
def refused() -> Iterator[None]:
    """Turn an error about the arguments of a function into the reason why an attack does not apply."""
    try:
        yield
    except (DataError, ParameterError) as error:
        raise NotApplicable(str(error)) from error


@dataclass(frozen=True, eq=False)
class Outcome:
    """The claims of an attack about each person.

    Attributes
    ----------
    claims : DataFrame
        One row a person attacked, indexed by the known file's labels: ``claim`` (a record's label, a value, another
        person; None without a claim), ``confidence`` (the probability that the attack itself gives the claim, 0 without
        one), ``right`` (1 or 0, or the share that guessing among ties earns), ``base`` (the probability to be right
        without the release), ``present`` (whether the person is in the file), and for some attacks ``control``
        (whether the same attack is right on a release without the person).
    what : {"identity", "attribute", "link"}
        What is claimed: which record is the person's, which value the person has, which persons are joined.
    assumption : str
        What the intruder knows, and how exactly: a sentence.
    proven : bool
        Whether the confidence follows from the release itself (a share of equal records): it is then not corrected by
        how often claims were right.
    complete : bool
        Whether every search ended by itself.
    """

    claims: pd.DataFrame
    what: str
    assumption: str
    proven: bool = False
    complete: bool = True

    @property
    def links(self) -> pd.DataFrame:
        """The claims made, as ``known``, ``release``, ``right``, ``confidence``."""
        claimed = self.claims[self.claims["confidence"] > 0]
        links = claimed.rename_axis("known").reset_index().rename(columns={"claim": "release"})
        return links[["release", "known", "right", "confidence"]]


def claims_about(
    knowledge: Knowledge, persons: IntArray, claim: Any, confidence: Any, right: Any, base: Any
) -> pd.DataFrame:
    """Build the table of claims of an `Outcome` about the persons of some rows of the known file."""
    return pd.DataFrame(
        {
            "claim": np.asarray(claim, object),
            "confidence": np.asarray(confidence, float),
            "right": np.asarray(right, float),
            "base": np.broadcast_to(np.asarray(base, float), len(persons)),
            "present": knowledge.present[persons],
        },
        index=knowledge.known.index[persons],
    )


def claims_by_row(
    release: Release, knowledge: Knowledge, persons: IntArray, rows: IntArray, confidence: Any, right: Any
) -> pd.DataFrame:
    """Build claims of records by their row, -1 for none; `right` None compares with the truth."""
    if right is None:
        right = (rows == knowledge.truth[persons]) & (rows >= 0)
    confidences = np.where(rows >= 0, confidence, 0.0)
    return claims_about(knowledge, persons, release.labels(rows), confidences, right, 1 / max(1, len(release.table)))


def record_outcome(
    knowledge: Knowledge, persons: IntArray, rows: IntArray, confidence: Any, right: Any,
    assumption: str, **fields: Any,
) -> Outcome:  # fmt: skip
    """Return the outcome of an attack that claims records, see `claims_by_row`."""
    claims = claims_by_row(knowledge.release, knowledge, persons, rows, confidence, right)
    return Outcome(claims, "identity", assumption, **fields)


def knows(columns: Iterable[Any]) -> str:
    """Say that the intruder knows some columns exactly."""
    return f"the intruder knows {', '.join(map(str, columns))} of each person exactly"


def gain(attack: Any, control: Any) -> FloatArray:
    """Return the gain of each attack over its control as a share of the possible gain, at least 0."""
    attack, control = np.asarray(attack, float), np.asarray(control, float)
    return np.clip((attack - control) / np.maximum(1 - control, 1e-12), 0, 1)


def person_risks(
    outcome: Outcome, limit: float, *, presence: pd.Series | None = None
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Turn claims into risks: of all persons in the file, and of each.

    Of each person ``risk``, ``top``, the upper end of it that counts against a limit, and whether that is ``above`` it.

    A person's risk is the confidence of the claim about them; for attributes its gain over guessing, or over the
    control where that is better. Confidence is checked against how often claims of its kind were right, and replaced by
    that if the two differ; confidence that follows from the release itself only where claims are right more often, and
    never by less. Only where the lower end of a risk exceeds guessing does its upper end count against the limit.
    `presence` is the probability that a person is in the file, by person, for an intruder who does not know it: risks
    are multiplied by it.

    Returns
    -------
    tuple of dict and DataFrame
        ``risk`` (mean share of right claims over the persons in the file) with ``low`` and ``high``, ``baseline``,
        ``control`` (the same for releases without the person, or for persons who are not in the file; NaN without
        either), ``residual`` (the gain over the better of baseline and control, at most the worst person's),
        ``worst``, ``share_above_limit``, ``n_above``, ``n``, ``precision`` and ``recall`` of the claims, ``verdict``
        ("above the limit", "within the limit", "not told apart from guessing").
    """
    present = outcome.claims["present"].to_numpy(bool)
    inside, outside = outcome.claims[present], outcome.claims[~present]
    n = len(inside)
    if not n:
        raise NotApplicable("none of the known persons is in the release")
    baseline, control = inside["base"].mean(), np.nan
    if "control" in inside:
        control = inside["control"].mean()
    elif outcome.what == "attribute" and len(outside):
        control = outside["right"].mean()
    rate = wilson_interval(inside["right"].sum(), n)
    risk, top = (_confidence_risks if _is_calibrated(inside, outcome) else _risks_by_kind)(inside, outcome)
    if presence is not None:
        probability = presence.reindex(inside.index).fillna(1.0).to_numpy(float)  # unknown: as if in the file
        risk, top = risk * probability, top * probability
    made = outcome.claims["confidence"].to_numpy(float) > 0
    earned = outcome.claims["right"].to_numpy(float) * made
    # What the mean exceeds the worst person by is chance: confidence that is too low was replaced.
    residual = min(gain(rate.value, np.nanmax([baseline, control])), risk.max())
    over = top > limit + 1e-12
    guessing = not over.any() and rate.low <= baseline
    within = "not told apart from guessing" if guessing else "within the limit"
    summary = {
        "risk": rate.value,
        "low": rate.low,
        "high": rate.high,
        "baseline": baseline,
        "control": control,
        "residual": residual,
        "worst": risk.max(),
        "share_above_limit": over.mean(),
        "n_above": over.sum(),
        "n": n,
        "precision": earned.sum() / made.sum() if made.any() else np.nan,
        "recall": earned[present].mean(),
        "verdict": "above the limit" if over.any() else within,
    }
    return summary, pd.DataFrame({"risk": risk, "top": top, "above": over}, index=inside.index)


def _confidence_risks(claims: pd.DataFrame, outcome: Outcome) -> tuple[FloatArray, FloatArray]:
    """Take the confidence of each claim as the person's risk; return it and its upper end that counts."""
    risk = claims["confidence"].to_numpy(float)
    if outcome.what == "attribute":
        risk = gain(risk, claims["base"])
    top = np.where(outcome.proven | (risk > _guess(claims, outcome)), risk, 0.0)
    if not outcome.proven:  # claims of a kind of which none is right are no better than guessing
        right = claims["right"].to_numpy(float)
        for kind in _kinds(claims["confidence"].to_numpy(float)):
            top[kind] *= right[kind].any()
    return risk, top


def _guess(claims: pd.DataFrame, outcome: Outcome) -> FloatArray:
    """Return the risk of guessing, beyond which a risk counts."""
    return np.zeros(len(claims)) if outcome.what == "attribute" else claims["base"].to_numpy(float)


def _risks_by_kind(claims: pd.DataFrame, outcome: Outcome) -> tuple[FloatArray, FloatArray]:
    """Take how often claims of a kind are right as the risk of its persons; return it and its upper end that counts."""
    confidence, right = claims["confidence"].to_numpy(float), claims["right"].to_numpy(float)
    kinds = _set_apart(_kinds(confidence), confidence, right)
    risk, low, high = _rates(right, kinds)
    if outcome.what == "attribute":
        base = reach = _rates(claims["base"].to_numpy(float), kinds)[0]
        if "control" in claims:  # counted as the claims are: only beyond the upper end of it something is gained
            control = _rates(claims["control"].to_numpy(float), kinds)
            base, reach = np.maximum(base, control[0]), np.maximum(base, control[2])
        risk, low, high = gain(risk, base), gain(low, reach), gain(high, base)
    top = np.where(low > _guess(claims, outcome), high, 0.0)
    if outcome.proven:
        proven = _confidence_risks(claims, outcome)[0]
        risk, top = np.maximum(risk, proven), np.maximum(top, proven)
    return risk, top


def _kinds(confidence: FloatArray) -> list[IntArray]:
    """Return the rows of claims of a kind: of about the same confidence, at least 200 together if there are so many."""
    claimed = np.flatnonzero(confidence > 0)
    if not claimed.size:
        return []
    order = claimed[np.argsort(confidence[claimed], kind="stable")]
    n_kinds = int(np.clip(claimed.size // _KIND, 1, _MOST_KINDS))
    ranks = np.searchsorted(confidence[order], confidence[order], side="left") * n_kinds // claimed.size
    return [order[ranks == rank] for rank in np.unique(ranks)]


def _set_apart(kinds: Sequence[IntArray], confidence: FloatArray, right: FloatArray) -> list[IntArray]:
    """Take off each kind its most confident claims where these are right more often than the others, beyond chance.

    Else few persons who are found, because they stand out, would be averaged away among many who are not.
    """
    from scipy.stats import hypergeom  # not at the top: listing methods needs no statistics

    parts = []
    for kind in kinds:
        rest = kind  # in the order of confidence
        while rest.size > _FEWEST:
            changes = np.flatnonzero(np.diff(confidence[rest])) + 1
            cuts = changes[changes <= rest.size - _FEWEST]
            behind = np.cumsum(right[rest][::-1])[::-1][cuts]
            # How likely so many of all right claims would be among the most confident by chance.
            chance = hypergeom.sf(np.floor(behind) - 1, rest.size, np.ceil(right[rest].sum()), rest.size - cuts)
            if not cuts.size or chance.min() * cuts.size * len(kinds) > _TEST:
                break
            cut = cuts[int(chance.argmin())]
            parts.append(rest[cut:])
            rest = rest[:cut]
        parts.append(rest)
    return parts


def _is_calibrated(claims: pd.DataFrame, outcome: Outcome) -> bool:
    """Tell whether claims of every kind are right as often as they are confident, all tests together at 1 %.

    Proven confidence may be too high for persons who are not found, never too low. Where there is a control claims that
    are not proven are compared to it, never taken at their word.
    """
    if "control" in claims and not outcome.proven:
        return False
    confidence = claims["confidence"].to_numpy(float)
    kinds = _kinds(confidence)
    mean = _rates(confidence, kinds)[0]
    _, low, high = _rates(claims["right"].to_numpy(float), kinds, _TEST)
    return not ((low > mean) | ((mean > high) & (not outcome.proven))).any()


def _rates(right: FloatArray, kinds: Sequence[IntArray], level: float = 0.05) -> FloatArray:
    """Return how often claims of each claim's kind are right, and its interval: 0 without one; all hold together."""
    rates = np.zeros((3, len(right)))
    for kind in kinds:
        rate = wilson_interval(np.clip(right[kind].sum(), 0, kind.size), kind.size, level=1 - level / len(kinds))
        rates[:, kind] = np.array(rate)[:, None]
    return rates
