"""Methods for tables of numbers and categories."""

from __future__ import annotations

from reident.methods._entry import Entry

_K_ANONYMOUS = "every released record shares its quasi-identifiers with at least {others} others"
_VANHOEF = "Vanhoef (2012), section 3.3.2"

TABLES: tuple[Entry, ...] = (
    Entry(
        "k_anonymity_lattice", "anonymiser", "table", "tables.k_anonymity:k_anonymise", "table",
        source="El Emam et al. (2009)", label="k-anonymity, one level a column", fixed={"method": "ola"},
        start={"k": 5, "suppression_limit": 0.05}, grid={"k": (2, 5, 10, 25)}, guarantee=_K_ANONYMOUS, classes=True,
    ),
    Entry(
        "mondrian", "anonymiser", "table", "tables.k_anonymity:k_anonymise", "table",
        source="LeFevre et al. (2006)", label="k-anonymity, Mondrian", fixed={"method": "mondrian"},
        takes="suppression_limit charge_suppressed", start={"k": 5}, grid={"k": (2, 5, 10, 25)},
        guarantee=_K_ANONYMOUS, classes=True, law="minimal",
    ),
    Entry(
        "k_epsilon", "anonymiser", "table", "tables.k_epsilon:k_epsilon_anonymise", "table",
        source="Holohan et al. (2017), Algorithm 1", label="(k, epsilon)-anonymity",
        takes="identifiers bounds granularity criteria",
        start={"k": 5, "epsilon": 1.0}, grid={"k": (2, 5, 10, 25), "epsilon": (2.0, 0.5)},
        exact=True, guarantee=(
            "{k}-anonymous in the columns generalised; the noise is scaled to ranges from the data and is not "
            "differential privacy"
        ),
    ),
    Entry(
        "microaggregation", "anonymiser", "table", "tables.microaggregation:microaggregate", "table",
        source="Domingo-Ferrer and Torra (2005)", label="microaggregation",
        start={"k": 5, "scale": "std"}, grid={"k": (3, 10, 25, 50)}, classes=True,
        guarantee="every combination of released numbers occurs at least {k} times; other columns are as they were",
    ),
    Entry(
        "additive_noise", "anonymiser", "table", "tables.perturbation:add_noise", "table",
        source="Kim (1986)", label="additive noise", start={"amount": 0.2}, grid={"amount": (0.05, 0.2, 0.5, 1.0)},
    ),
    Entry(
        "rank_swapping", "anonymiser", "table", "tables.perturbation:swap_ranks", "table",
        source="Moore (1996)", label="rank swapping", start={"percent": 5.0}, grid={"percent": (1.0, 5.0, 15.0)},
    ),
    Entry(
        "rounding", "anonymiser", "table", "tables.perturbation:round_values", "table",
        source="official statistics' rounding", label="rounding", start={"base": 5.0}, grid={"base": (2.0, 10.0)},
    ),
)  # fmt: skip
