"""Attack. The attacks on a person's sensitive value by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import BoolArray, FloatArray, IntArray, Real, Whole, quiet
from reident.methods.outcome import NotApplicable, Outcome, claims_about, knows, refused
from reident.methods.release import Knowledge, Release
from reident.tables.agreement import KEPT
from reident.tables.classes import encode_column
from reident.tables.labels import common_texts, places_among, with_gaps


@dataclass(frozen=True, eq=False)
class _Shares:
    """How the sensitive values are spread over the records that agree with each person.

    Persons with whom the same classes agree share a row. Of each row only the values that occur are listed, the
    commonest first; among equally common ones the first in the order of the values.
    """

    knowledge: Knowledge
    spread: pd.DataFrame  # "row", "code" of the value, "count", "total" of the row, "share"
    of: IntArray  # the row of each person
    prior: FloatArray
    labels: pd.Index
    truth: IntArray
    kept: bool  # whether released values are the persons' own

    def of_persons(self, chosen: pd.DataFrame) -> tuple[IntArray, FloatArray]:
        """Return the value chosen for the row of each person, -1 for none, and its share."""
        each = chosen.set_index("row").reindex(self.of)
        return each["code"].fillna(-1).to_numpy(np.int64), each["share"].fillna(0.0).to_numpy(float)

    def outcome(self, claim: IntArray, confidence: FloatArray, description: str, base: Any = None) -> Outcome:
        """Return claims of values (codes, -1 for none) about each person with their confidence."""
        is_claimed = claim >= 0
        labels = np.where(is_claimed, self.labels.to_numpy(object)[claim], None)
        base = np.where(is_claimed, self.prior[claim], self.prior.max()) if base is None else base
        return self.claimed(labels, confidence, is_claimed & (self.truth == claim), base, description)

    def claimed(self, claim: Any, confidence: Any, right: Any, base: Any, description: str) -> Outcome:
        """Return claims with the confidence that the released values prove, compared to guessing if perturbed."""
        claims = claims_about(self.knowledge, np.arange(len(self.of)), claim, confidence, right, base)
        claims = claims if self.kept else claims.assign(control=claims["base"])
        assumption = f"{knows(self.knowledge.unperturbed)}, and {description}"
        return Outcome(claims, "attribute", assumption, proven=self.kept)


def _shares(knowledge: Knowledge) -> _Shares:
    """Weigh the sensitive values of the records that agree with each person in the columns left as they were."""
    sensitive = str(knowledge.sensitive)
    return knowledge.once(f"shares of {sensitive}", lambda: _weighed(knowledge, sensitive))


def _weighed(knowledge: Knowledge, sensitive: str) -> _Shares:
    from scipy.sparse import coo_array

    agreement = knowledge.agreement
    codes, values = encode_column(knowledge.release.table[sensitive].astype(object))
    inside = agreement.classes >= 0
    shape = len(agreement.sizes), len(values)
    table = coo_array((np.ones(inside.sum()), (agreement.classes[inside], codes[inside])), shape=shape).tocsr()
    agree, of = agreement.patterns()
    counts = (agree @ table).tocoo()
    spread = pd.DataFrame({"row": counts.row.astype(np.int64), "code": counts.col, "count": counts.data})
    spread["total"] = spread.groupby("row")["count"].transform("sum")
    spread["share"] = spread["count"] / spread["total"]
    spread = spread[_is_secret(values, knowledge)[spread["code"]]]
    spread = spread.sort_values(["row", "count", "code"], ascending=[True, False, True])
    truth = places_among(knowledge.secret, values)
    prior = np.bincount(codes, minlength=len(values)) / len(codes)
    persons, records = knowledge.pairs()
    is_held = truth[persons] >= 0  # else the release has no such value: it is generalised
    own = truth[persons][is_held] == codes[records][is_held]
    kept = not own.size or own.mean() >= KEPT
    return _Shares(knowledge, spread, of, prior, values, truth, kept)


def _is_secret(values: Any, knowledge: Knowledge) -> BoolArray:
    """Tell which values of the sensitive column are a secret."""
    secret = knowledge.guarded.get(str(knowledge.sensitive))
    if secret is None:
        return np.ones(len(values), dtype=bool)
    return places_among(pd.Series(values, dtype=object), pd.Index(secret, dtype=object)) >= 0


def homogeneity(knowledge: Knowledge) -> Outcome:
    """Learn the value that all records that agree with the person have.

    Notes
    -----
    Vanhoef (2012), section 3.3.2. l-diversity with l > 1 prevents it.
    """
    shares = _shares(knowledge)
    whole = shares.of_persons(shares.spread[shares.spread["share"] == 1])
    return shares.outcome(*whole, "claims a value where all agree")


def modal_value(knowledge: Knowledge) -> Outcome:
    """Claim the commonest value of the records that agree with the person, sure or not (TCAP's question)."""
    shares = _shares(knowledge)
    return shares.outcome(*shares.of_persons(shares.spread.drop_duplicates("row")), "claims the commonest value")


def skewness(
    knowledge: Knowledge,
    *,
    min_gain: Annotated[float, Real(0, 1, open_low=True, open_high=True)] = 0.25,
) -> Outcome:
    """Claim the value that the records that agree make much more probable than it is among all.

    Notes
    -----
    Vanhoef (2012), section 3.3.2; t-closeness bounds what it can gain.
    """
    shares = _shares(knowledge)
    spread = shares.spread.assign(gain=shares.spread["share"] - shares.prior[shares.spread["code"]])
    best = spread.sort_values(["row", "gain", "code"], ascending=[True, False, True]).drop_duplicates("row")
    chosen = shares.of_persons(best[best["gain"] >= min_gain])
    return shares.outcome(*chosen, f"claims a value that becomes more probable by {min_gain:g}")


def similarity(
    knowledge: Knowledge,
    *,
    width: Annotated[float, Real(0, 1, unit="share of the range", open_low=True)] = 0.1,
) -> Outcome:
    """Learn a number to within a small interval where the values of all records that agree lie close together.

    Parameters
    ----------
    width : float in (0, 1]
        How wide the interval may be, as a share of the range of the values.

    Notes
    -----
    Vanhoef (2012), section 3.3.2. A class with a single value counts too: it lies in an interval of no width. Missing
    values lie nowhere: the claim is then as sure as the share of the records that have a value.
    """
    if str(knowledge.sensitive) in knowledge.guarded:
        raise NotApplicable("the secret is some values, and no interval")
    shares = _shares(knowledge)
    numbers = pd.to_numeric(pd.Series(shares.labels), errors="coerce").to_numpy(float)
    gaps = pd.isna(shares.labels)
    if gaps.all() or not np.isfinite(numbers[~gaps]).all():
        raise NotApplicable("the sensitive values are no numbers: which of them are alike is not known")
    reach = width * np.ptp(numbers[~gaps])
    code = shares.spread["code"]
    spread = shares.spread.assign(value=numbers[code], count=shares.spread["count"].where(~gaps[code], 0.0))
    rows = spread.groupby("row").agg({"value": ["min", "max"], "count": "sum", "total": "first"})
    low, high, count, total = rows.reindex(shares.of).to_numpy(float).T
    close = high - low <= reach
    # The prior of an interval so wide, where it lies best, is what guessing earns.
    order = np.argsort(numbers)[: np.count_nonzero(~gaps)]
    mass, line = np.concatenate([[0.0], np.cumsum(shares.prior[order])]), numbers[order]
    ends = np.searchsorted(line, line + reach, side="right")
    likely = mass[np.searchsorted(line, high, side="right")] - mass[np.searchsorted(line, low)]
    base = np.where(close, likely, (mass[ends] - mass[np.arange(len(order))]).max())
    claim = np.array(
        [f"{a:g} to {b:g}" if is_close else None for a, b, is_close in zip(low, high, close, strict=True)], object
    )
    true_numbers = numbers[shares.truth]
    right = np.where(close & (shares.truth >= 0), (true_numbers >= low) & (true_numbers <= high), 0.0)
    description = f"claims an interval where all values lie within {width:.0%} of the range"
    return shares.claimed(claim, np.where(close, count / total, 0.0), right, base, description)


def background_knowledge(
    knowledge: Knowledge,
    *,
    excluded: Annotated[int, Whole(1, unit="values")] = 1,
) -> Outcome:
    """Rule out values that the person is known not to have, and claim the commonest of the rest.

    Parameters
    ----------
    excluded : int
        How many wrong values the intruder can rule out for each person, those that hide the true one best.

    Notes
    -----
    Vanhoef (2012), section 3.3.2; Machanavajjhala et al. (2007). l distinct values withstand l - 2 exclusions. Which
    values are ruled out depends on the true one: this intruder is right where it is among the ``excluded + 1``
    commonest of the class, and without the release where it is among the commonest of all. These shares are the
    confidence and the guess.
    """
    shares = _shares(knowledge)
    spread, n = shares.spread, len(shares.labels)
    spread = spread[spread.groupby("row").cumcount() <= excluded]
    counts = spread.groupby("row")["count"].transform("sum")
    last = spread.assign(share=counts / spread["total"]).drop_duplicates("row", keep="last")
    claim, confidence = shares.of_persons(last)
    found = np.isin(n * shares.of + shares.truth, n * spread["row"] + spread["code"]) & (shares.truth >= 0)
    guess = np.sort(shares.prior[np.unique(shares.spread["code"])])[::-1][: excluded + 1].sum()
    return shares.outcome(
        np.where(found, shares.truth, claim), confidence, f"rules out {excluded} wrong value(s) of each person", guess
    )


def intersection(release: Release, knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Intersect the possible values of this release and others of the same persons.

    Notes
    -----
    See `reident.tables.intersection_attack`.
    Without earlier releases one more is made by the same method, from other records with the same persons in it.
    """
    from reident.tables.intersection import intersection_attack

    columns, sensitive = list(knowledge.compared), str(knowledge.sensitive)
    others = knowledge.earlier
    if not others and knowledge.repeat is not None:
        rows = rng.permutation(release.n_original)[: max(2, round(0.8 * release.n_original))]
        others = [knowledge.repeat(rng, rows=np.sort(rows))]
    tables = [other.table for other in (release, *others) if sensitive in other.table.columns]
    tables = [table.assign(**{sensitive: with_gaps(table[sensitive])}) for table in tables]  # a gap is a value, too
    if len(tables) < 2:
        raise NotApplicable("no other release of the same persons is given, and the method is not known")
    with refused():
        attack = intersection_attack(
            tables, knowledge.known[columns], quasi=columns, sensitive=sensitive,
            hierarchies={c: h for c, h in knowledge.hierarchies.items() if c in columns},
        )  # fmt: skip
    guess = attack.table["guess"].astype(object)
    prior = tables[0][sensitive].value_counts(normalize=True)
    true_texts, guessed_texts = common_texts(with_gaps(knowledge.secret), guess)
    is_secret = _is_secret(guess, knowledge)
    guess, confidence = guess.where(is_secret, None), attack.table["posterior"].where(is_secret).fillna(0.0)
    right = (true_texts.to_numpy() == guessed_texts.to_numpy()) * is_secret.astype(float)
    base = guess.map(prior).astype(float).fillna(prior.max())
    claims = claims_about(knowledge, np.arange(len(guess)), guess, confidence, right, base)
    return Outcome(claims, "attribute", f"{knows(columns)}, and that the person is in all {len(tables)} releases")


def attribute_inference(release: Release, knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Predict the sensitive value by a model trained on the release; the control is a model without the person.

    Notes
    -----
    Predictions for persons whose record the model never saw are statistics, not disclosure: every person is predicted
    by forests trained on all records, and by forests trained without a third of them that holds the person's own. The
    gain of the first over the second is the risk.
    """
    from sklearn.ensemble import RandomForestClassifier

    columns, sensitive = list(knowledge.compared), str(knowledge.sensitive)
    rows = np.flatnonzero(release.table[sensitive].notna().to_numpy())
    target, values = encode_column(release.table[sensitive].iloc[rows].astype(object))
    if not 2 <= len(values) <= 50:
        raise NotApplicable(f"the sensitive column has {len(values)} values: a model is trained for 2 to 50")
    persons = knowledge.sample(rng)
    released, background = _features(knowledge, columns, rows, persons)
    sampled = rng.permutation(len(rows))[: 2 * knowledge.n_persons]

    def shares(train: IntArray, who: IntArray) -> FloatArray:
        forest = RandomForestClassifier(30, min_samples_leaf=3, random_state=int(rng.integers(2**31)), n_jobs=1)
        with quiet(Warning):
            forest.fit(released[train], target[train])
        probabilities = np.zeros((len(who), len(values)))
        probabilities[:, forest.classes_] = forest.predict_proba(background[who])
        return np.where(is_secret, probabilities, 0.0)

    truth = places_among(knowledge.secret.iloc[persons], values)
    is_secret = _is_secret(values, knowledge)
    attack = shares(sampled, np.arange(len(persons)))
    prior = np.bincount(target, minlength=len(values)) / len(target)
    claim = attack.argmax(axis=1)
    right = (truth == claim).astype(float)
    fold_of_row, folds = np.full(len(release.table) + 1, -1), np.arange(len(sampled)) % 3
    fold_of_row[rows[sampled]] = folds
    fold = fold_of_row[knowledge.truth[persons]]
    control = right.copy()
    for part in range(3):
        who = np.flatnonzero(fold == part)
        if who.size:
            left_out = shares(sampled[folds != part], who)
            control[who] = left_out.argmax(axis=1) == truth[who]
    claims = claims_about(knowledge, persons, values.take(claim), attack.max(axis=1), right, prior[claim])
    return Outcome(claims.assign(control=control), "attribute", f"{knows(columns)}, and trains a forest on the release")


def _features(
    knowledge: Knowledge, columns: list[str], rows: IntArray, persons: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return records and persons as the numbers that a model reads: codes of the labels that agree, numbers as such."""
    released, known = knowledge.release.table[columns].copy(), knowledge.known[columns].copy()
    for column in columns:
        if all(pd.api.types.is_numeric_dtype(table[column]) for table in (known, released)):
            continue
        compared = knowledge.compared[column]
        label_of = compared.label_of
        if label_of is None:
            assert compared.covers is not None
            frequent = np.bincount(compared.record_codes, minlength=compared.covers.shape[1])
            label_of = np.where(compared.covers.any(axis=1), (compared.covers * frequent).argmax(axis=1), -1)
        released[column], known[column] = compared.record_codes, label_of[compared.person_codes]
    tables = released.iloc[rows], known.iloc[persons]
    return tuple(np.nan_to_num(table.to_numpy(float), nan=-1.0) for table in tables)  # type: ignore[return-value]
