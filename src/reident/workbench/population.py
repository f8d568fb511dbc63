"""Risks of the population for which the records stand by their survey weights."""

from __future__ import annotations

from dataclasses import dataclass

from reident.methods.release import Knowledge, Release
from reident.workbench.evaluate import RiskReport, individual_risks


@dataclass(frozen=True)
class Population:
    """Risks in the population that the records represent by their weights.

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
            f"are above a risk of {limit:.0%}. An intruder who does not know which persons are in the file finds a "
            f"record's person with a probability of {_percent(self.risk)} on average and {_percent(self.worst)} at "
            f"most by the labels released; {self.sampled_share_above_limit:.1%} are above the limit by that (Benedetti "
            "and Franconi's model)."
        )


def _percent(share: float) -> str:
    return "less than 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def population_of(release: Release, knowledge: Knowledge, judged: RiskReport, limit: float) -> Population | None:
    """Return the risks in the population; None without weights or persons."""
    if knowledge.weights is None or judged.persons.empty:
        return None
    model = individual_risks(release, knowledge)
    weights, risks, above = model["weight"], model["risk"], judged.persons["above"].to_numpy(bool)
    total = float(weights.sum())
    return Population(
        total, float(weights[above].sum()) / total, float(risks.mean()), float(risks.max()),
        float(weights[risks > limit + 1e-12].sum()) / total,
    )  # fmt: skip


def group_notes(
    knowledge: Knowledge, judged: RiskReport, stands_for: Population | None, limit: float, receipt: str = ""
) -> list[str]:
    """Return sentences about the weights and their changes, the intruder, and households."""
    notes = [] if stands_for is None else [*filter(None, [receipt]), stands_for.sentence(limit)]
    if not knowledge.knows_presence:
        notes.append(
            "The intruder is assumed not to know which persons are in the file: each risk is multiplied by the "
            "probability that a person with the same labels is (by the survey weights, Benedetti and Franconi's model)."
        )
    if knowledge.households is not None:
        n = knowledge.households[knowledge.present].nunique()
        notes.append(
            f"Finding one member of a household finds them all ({n} households): {judged.by_household} of the "
            f"{int(judged.persons['above'].sum())} persons above the limit are so for another member."
        )
    return notes
