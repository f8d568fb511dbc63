"""The intruder's knowledge, an attack's claims about each person, and the resulting risk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from reident.base import BoolArray, DataError, FloatArray, IntArray, ParameterError, wilson_interval
from reident.methods.release import LAT, LON, Release
from reident.networks.graph import Network
from reident.tables.agreement import Agreement, ComparedColumn, agreement, compare_columns, kept_columns

__all__ = [
    "LIMITS", "Knowledge", "NotApplicable", "Outcome", "claims_about", "claims_by_row", "gain", "judge",
    "judge_persons", "refused", "shares_above",
]  # fmt: skip

#: Limits at which the share of persons above is told: hundredths.
LIMITS = np.arange(101) / 100

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
class Knowledge:
    """The intruder's knowledge.

    Attributes
    ----------
    known : DataFrame
        One row a person: the quasi-identifiers, and the places if these are known (``lat_deg``, ``lon_deg``).
    quasi : sequence of str
        Columns of `known` that the intruder uses beside places.
    truth : ndarray of int64, shape (n_known,), or None
        The row of the release that is each person's, -1 for who is not in it; None where nobody can tell. It serves to
        judge claims, never to make them, except where an attack says so.
    sensitive : str or None
        The column to be learned, and
    secrets : Series or None
        its true values, a person a row, to judge claims.
    further : mapping of str to Series
        Other columns to be learned, with their true values.
    households : Series or None
        The household of each person; missing for who lives alone.
    weights : Series or None
        How many persons of the population each person stands for.
    persons : Series or None
        Whose each record is, by the labels of `known` and of the release; None where each is a person's. Then a row of
        `known` is a record, and attacks count persons (`reident.methods.persons`).
    hierarchies : mapping
        How categories are generalised, column -> Hierarchy.
    network : Network or None
        The relations that the intruder knows; node i is the person of row i of `known`.
    windows : callable or None
        ``windows(alpha, n_simulations, rng, rule)`` returns the deviations of distances that the intruder tolerates
        (``window_km`` or ``intervals_km``), because they know the method.
    again : callable or None
        ``again(rng, rows=None, network=None)`` makes another release by the same method, of some records or of a
        changed network if these are given.
    earlier : sequence of Release
        Releases of the same persons from before.
    register : DataFrame or None
        A public list of the population with the quasi-identifiers.
    file : DataFrame or None
        The records of everybody in the file, which only the strongest intruder knows but for the person attacked.
    public : mapping of str to DataFrame
        Public inputs of attacks, as `reident.methods.given.read_public` returns them.
    n_persons : int
        Persons on whom costly attacks are tried; drawn at random.
    """

    known: pd.DataFrame
    quasi: Sequence[str]
    truth: IntArray | None = None
    sensitive: str | None = None
    secrets: pd.Series | None = None
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    network: Network | None = None
    windows: Callable[..., dict[str, Any]] | None = None
    again: Callable[..., Release] | None = None
    earlier: Sequence[Release] = ()
    register: pd.DataFrame | None = None
    file: pd.DataFrame | None = None
    public: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    n_persons: int = 2000
    further: Mapping[str, pd.Series] = field(default_factory=dict)
    households: pd.Series | None = None
    weights: pd.Series | None = None
    persons: pd.Series | None = None

    @property
    def has_places(self) -> bool:
        """Whether the intruder knows where the persons live."""
        return {LAT, LON} <= set(self.known.columns)

    @property
    def present(self) -> BoolArray:
        """Mask of the persons in the release; all True where the truth is unknown."""
        return np.ones(len(self.known), dtype=bool) if self.truth is None else self.truth >= 0

    @property
    def who(self) -> pd.Index:
        """Person of each row of `known`: its label, or the person column where persons have several records."""
        return self.who_of(self.known.index)

    def who_of(self, labels: pd.Index) -> pd.Index:
        """Return the persons of some records; an unknown person counts as different from all others."""
        if self.persons is None:
            return labels
        persons = self.persons.reindex(labels).to_numpy(object)
        return pd.Index(np.where(pd.isna(persons), labels.to_numpy(object), persons), dtype=object)

    def pairs(self) -> tuple[IntArray | None, IntArray | None]:
        """Return the rows of the true pairs, (known, release); None twice where the truth is unknown."""
        if self.truth is None:
            return None, None
        persons = np.flatnonzero(self.truth >= 0)
        return persons, self.truth[persons]

    def of(self, persons: IntArray) -> Knowledge:
        """Return the knowledge of some persons, given by their rows, without their relations."""
        return replace(
            self,
            known=self.known.iloc[persons],
            truth=None if self.truth is None else self.truth[persons],
            secrets=None if self.secrets is None else self.secrets.iloc[persons],
            further={name: column.iloc[persons] for name, column in self.further.items()},
            households=None if self.households is None else self.households.iloc[persons],
            weights=None if self.weights is None else self.weights.iloc[persons],
            network=None,
        )

    def about(self, column: str) -> Knowledge:
        """Return the same knowledge of an intruder with another sensitive column as the target."""
        if column == self.sensitive:
            return self
        other = replace(self, sensitive=column, secrets=self.further[column])
        other.__dict__["_made"] = self._made  # what is compared is the same
        return other

    def compared(self, release: Release) -> dict[str, ComparedColumn]:
        """Compare the quasi-identifiers that the release has; done once a release."""
        return _memo(self, release)[0]

    def kept(self, release: Release) -> list[str]:
        """Return the quasi-identifiers that the release left as they were, generalised or rounded."""
        return _memo(self, release)[1]

    def agreement(self, release: Release) -> Agreement:
        """Return which released records agree with each person in the columns kept."""
        return _memo(self, release)[2]

    def once(self, release: Release, name: str, make: Callable[[], Any]) -> Any:
        """Return an intermediate result that several attacks on a release need, computed once."""
        _memo(self, release)
        memo = self._made[id(release)][-1]
        if name not in memo:
            memo[name] = make()
        return memo[name]

    def sample(self, rng: np.random.Generator) -> IntArray:
        """Draw the rows of the persons for a costly attack, in order."""
        n = len(self.known)
        return np.sort(rng.choice(n, self.n_persons, replace=False)) if n > self.n_persons else np.arange(n)

    @cached_property
    def _made(self) -> dict[int, Any]:
        return {}


def _memo(knowledge: Knowledge, release: Release) -> tuple[dict[str, ComparedColumn], list[str], Agreement]:
    memo = knowledge._made
    if id(release) not in memo:
        table = release.table
        columns = [column for column in knowledge.quasi if column in table.columns]
        compared = compare_columns(knowledge.known, table, columns, knowledge.hierarchies)
        usable = kept_columns(compared, *knowledge.pairs())
        # The release is kept beside what was made of it, so that its id stays its own.
        memo[id(release)] = compared, usable, agreement(compared, usable, table, len(knowledge.known)), release, {}
    stored: tuple[Any, ...] = memo[id(release)]
    return stored[0], stored[1], stored[2]


@dataclass(frozen=True, eq=False)
class Outcome:
    """The claims of an attack about each person.

    Attributes
    ----------
    claims : DataFrame
        One row a person attacked, indexed by the known file's labels: ``claim`` (a record's label, a value, another
        person; None without a claim), ``confidence`` (the probability that the attack itself gives the claim, 0 without
        one), ``right`` (1 or 0, or the share that guessing among ties earns; NaN where nobody can tell), ``base`` (the
        probability to be right without the release), ``present`` (whether the person is in the file), and for some
        attacks ``control`` (whether the same attack is right on a release without the person).
    what : {"identity", "attribute", "link"}
        What is claimed: which record is the person's, which value the person has, who is joined to whom.
    assumption : str
        Who knows what, how exactly: a sentence.
    proven : bool
        Whether the confidence follows from the release itself (a share of equal records): it is then not corrected by
        how often claims were right.
    complete : bool
        Whether every search ended by itself.
    of_records : bool
        Whether the claims are indexed by the labels of the release, since they are about its records.
    """

    claims: pd.DataFrame
    what: str
    assumption: str
    proven: bool = False
    complete: bool = True
    of_records: bool = False

    @property
    def links(self) -> pd.DataFrame:
        """The claims made, as ``known``, ``release``, ``right``, ``confidence``."""
        claimed = self.claims[self.claims["confidence"] > 0]
        return pd.DataFrame(
            {
                "release": claimed["claim"].to_numpy(object),
                "known": claimed.index,
                "right": claimed["right"].to_numpy(float),
                "confidence": claimed["confidence"].to_numpy(float),
            }
        )


def claims_about(
    knowledge: Knowledge,
    persons: IntArray,
    claim: Any,
    confidence: Any,
    right: Any,
    base: Any,
) -> pd.DataFrame:
    """Build the table of claims of an `Outcome` about the persons of some rows of the known file."""
    return pd.DataFrame(
        {
            "claim": pd.Series([None] * len(persons) if claim is None else claim, dtype=object).to_numpy(),
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
        right = np.nan if knowledge.truth is None else (rows == knowledge.truth[persons]) & (rows >= 0)
    base = 1 / max(1, len(release.table))
    confidences = np.where(rows >= 0, confidence, 0.0)
    return claims_about(
        knowledge, persons, release.labels(rows), confidences, np.broadcast_to(right, len(persons)), base
    )


def gain(attack: Any, control: Any) -> FloatArray:
    """Return the gain of each attack over its control as a share of the possible gain, at least 0."""
    attack, control = np.asarray(attack, float), np.asarray(control, float)
    gained: FloatArray = np.clip((attack - control) / np.maximum(1 - control, 1e-12), 0, 1)
    return gained


def judge(outcome: Outcome, limit: float) -> dict[str, Any]:
    """Turn claims into the risk of all persons in the file; see `judge_persons`."""
    return judge_persons(outcome, limit)[0]


def judge_persons(outcome: Outcome, limit: float) -> tuple[dict[str, Any], pd.DataFrame]:
    """Turn claims into risks: of all persons in the file, and of each.

    Of each person ``risk``, ``top``, the upper end of it that counts against a limit, and whether that is ``above`` it.

    A person's risk is the confidence of the claim about them; for attributes what it gains over guessing, or over the
    control where that is better. Confidence is checked against how often claims of its kind were right, and replaced by
    that if the two differ; confidence that follows from the release itself only where claims are right more often, and
    never by less. Only where the lower end of a risk exceeds guessing does its upper end count against the limit.

    Returns
    -------
    tuple of dict and DataFrame
        ``risk`` (mean share of right claims over the persons in the file; of confidence where nobody can tell right
        from wrong), ``measure``, which of the two it is ("success", "confidence"), with ``low`` and ``high``,
        ``baseline``, ``control`` (the same for releases without the person, or for persons who are not in the file; NaN
        without either), ``residual`` (the gain over the better of baseline and control, at most the worst person's),
        ``confidence`` (mean), ``worst``, ``share_above_limit``, ``n_above``, ``n``, ``calibrated`` (whether confidence
        could be kept), ``verdict``
        ("above the limit", "within the limit", "not told apart from guessing").
    """
    inside, outside = (
        outcome.claims[outcome.claims["present"].to_numpy(bool) == is_present] for is_present in (True, False)
    )
    n = len(inside)
    if not n:
        raise NotApplicable("none of the known persons is in the release")
    is_known = bool(inside["right"].notna().all())
    baseline, control = float(inside["base"].mean()), float("nan")
    if "control" in inside:
        control = float(inside["control"].mean())
    elif outcome.what == "attribute" and len(outside):
        control = float(outside["right"].mean())
    rate = wilson_interval(float((inside["right"] if is_known else inside["confidence"]).sum()), n)
    risks = _confidence_risks(inside, outcome)
    if is_known and not _borne_out(inside, outcome):
        risks = _risks_by_kind(inside, outcome)
    # What the mean exceeds the worst person by is chance: confidence that is too low was replaced.
    residual = min(float(gain(rate.value, np.nanmax([baseline, control]))), float(risks.risk.max()))
    over = risks.top > limit + 1e-12
    guessing = not over.any() and rate.low <= baseline
    within = "not told apart from guessing" if guessing else "within the limit"
    persons = pd.DataFrame({"risk": risks.risk, "top": risks.top, "above": over}, index=inside.index)
    return {
        "risk": rate.value,
        "measure": "success" if is_known else "confidence",
        "low": rate.low,
        "high": rate.high,
        "baseline": baseline,
        "control": control,
        "residual": residual,
        "confidence": float(inside["confidence"].mean()),
        "worst": float(risks.risk.max()),
        "share_above_limit": float(over.mean()),
        "n_above": int(over.sum()),
        "n": n,
        "calibrated": risks.is_confidence,
        "verdict": "above the limit" if over.any() else within,
    }, persons


def shares_above(persons: pd.DataFrame) -> FloatArray:
    """Return the share of persons, as `judge_persons` returns them, above each of `LIMITS`."""
    shares: FloatArray = (persons["top"].to_numpy(float) > LIMITS[:, None] + 1e-12).mean(axis=1)
    return shares


@dataclass(frozen=True, eq=False)
class _Risks:
    """Each person's risk, the upper end of it that counts, and whether it is the confidence of the attack."""

    risk: FloatArray
    top: FloatArray
    is_confidence: bool


def _confidence_risks(claims: pd.DataFrame, outcome: Outcome) -> _Risks:
    """Take the confidence of each claim as the person's risk."""
    risk = claims["confidence"].to_numpy(float)
    if outcome.what == "attribute":
        risk = gain(risk, claims["base"])
    beyond = outcome.proven | (risk > _least(claims, outcome))
    return _Risks(risk, np.where(beyond, risk, 0.0), is_confidence=True)


def _least(claims: pd.DataFrame, outcome: Outcome) -> FloatArray:
    """Return the risk of guessing, beyond which a risk counts."""
    return np.zeros(len(claims)) if outcome.what == "attribute" else claims["base"].to_numpy(float)


def _risks_by_kind(claims: pd.DataFrame, outcome: Outcome) -> _Risks:
    """Take how often claims of a kind are right as the risk of its persons."""
    confidence, right = claims["confidence"].to_numpy(float), claims["right"].to_numpy(float)
    kinds = _set_apart(_kinds(confidence), confidence, right)
    risk, low, high = _rates(right, kinds)
    if outcome.what == "attribute":
        base = reach = _rates(claims["base"].to_numpy(float), kinds)[0]
        if "control" in claims:  # counted as the claims are: only beyond the upper end of it something is gained
            control = _rates(claims["control"].to_numpy(float), kinds)
            base, reach = np.maximum(base, control[0]), np.maximum(base, control[2])
        risk, low, high = gain(risk, base), gain(low, reach), gain(high, base)
    top = np.where(low > _least(claims, outcome), high, 0.0)
    if outcome.proven:
        proven = _confidence_risks(claims, outcome).risk
        risk, top = np.maximum(risk, proven), np.maximum(top, proven)
    return _Risks(risk, top, is_confidence=False)


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


def _borne_out(claims: pd.DataFrame, outcome: Outcome) -> bool:
    """Tell whether claims of every kind are right as often as they are confident, all tests together at 1 %.

    Proven confidence may be too high for persons who are not found, never too low. Where there is a control claims that
    are not proven are compared to it, never taken at their word.
    """
    if "control" in claims and not outcome.proven:
        return False
    confidence, right = claims["confidence"].to_numpy(float), claims["right"].to_numpy(float)
    kinds = _kinds(confidence)
    for kind in kinds:
        rate = wilson_interval(float(right[kind].sum()), kind.size, level=1 - _TEST / len(kinds))
        mean = confidence[kind].mean()
        if rate.low > mean or (mean > rate.high and not outcome.proven):
            return False
    return True


def _rates(right: FloatArray, kinds: Sequence[IntArray]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return how often claims of each claim's kind are right, 0 without one; all intervals hold together."""
    rates = np.zeros((3, len(right)))
    for kind in kinds:
        rate = wilson_interval(float(np.clip(right[kind].sum(), 0, kind.size)), kind.size, level=1 - 0.05 / len(kinds))
        rates[:, kind] = np.array(rate)[:, None]
    return rates[0], rates[1], rates[2]
