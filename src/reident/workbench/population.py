"""Consequences of a release for the population, of whom each record stands for as many as its survey weight says."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from reident.methods.release import Knowledge, Release
from reident.workbench.evaluate import RiskReport, individual_risks

__all__ = ["Population", "population_of", "told_of_groups"]


@dataclass(frozen=True)
class Population:
    """The persons for whom the records stand.

    Attributes
    ----------
    persons : float
        The sum of the weights of the persons in the release.
    share_above_limit : float
        The share of them for whom a record stands that is above the limit, the intruder knowing who is in the file.
    risk, worst : float
        The individual risk of Benedetti and Franconi, for an intruder who does not know who is in the file: its mean
        over the records, and the largest.
    sampled_share_above_limit : float
        The share of the population for whom a record stands whose individual risk is above the limit.
    """

    persons: float
    share_above_limit: float
    risk: float
    worst: float
    sampled_share_above_limit: float

    def sentence(self, limit: float) -> str:
        """Say it in a sentence."""
        return (
            f"By their weights the records stand for {self.persons:,.0f} persons, {self.share_above_limit:.1%} of whom "
            f"are above a risk of {limit:.0%}. Who does not know who is in the file finds a record's person with a "
            f"probability of {_told(self.risk)} on average and {_told(self.worst)} at most by the labels released; "
            f"{self.sampled_share_above_limit:.1%} are above the limit by that (Benedetti and Franconi's model)."
        )

    def as_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {name: round(value, 6) for name, value in asdict(self).items()}


def _told(share: float) -> str:
    return "less than 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def population_of(release: Release, knowledge: Knowledge, judged: RiskReport, limit: float) -> Population | None:
    """Return the consequences of a release for the population; None without weights or persons."""
    if knowledge.weights is None or judged.persons.empty:
        return None
    model = individual_risks(release, knowledge)
    weights, found, above = model["weight"], model["risk"], judged.persons["above"].to_numpy(bool)
    total = float(weights.sum())
    return Population(
        total, float(weights[above].sum()) / total, float(found.mean()), float(found.max()),
        float(weights[found > limit + 1e-12].sum()) / total,
    )  # fmt: skip


def told_of_groups(
    knowledge: Knowledge, judged: RiskReport, stands_for: Population | None, limit: float, receipt: str = ""
) -> list[str]:
    """Say what households and weights add, a sentence each, after what was changed in the weights."""
    sentences = [] if stands_for is None else [*filter(None, [receipt]), stands_for.sentence(limit)]
    if not knowledge.knows_presence:
        sentences.append(
            "The intruder is assumed not to know who is in the file: each risk is multiplied by the probability that a "
            "person with the same labels is (by the survey weights, Benedetti and Franconi's model)."
        )
    if knowledge.households is not None:
        n = knowledge.households[knowledge.present].nunique()
        sentences.append(
            f"Who finds one member of a household finds them all ({n} households): {judged.by_household} of the "
            f"{int(judged.persons['above'].sum())} persons above the limit are so for another member."
        )
    return sentences
