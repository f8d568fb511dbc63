"""The five documents: citation, studies, and the numbers that they print."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from reident._paths import data_folder, notebooks_folder
from reident._validation import check_choice
from reident.errors import ParameterError

__all__ = ["PAPERS", "STUDIES", "Paper", "Study", "available_studies", "errata", "published", "select_studies"]


@dataclass(frozen=True)
class Paper:
    """A reproduced document."""

    stem: str
    citation: str


@dataclass(frozen=True)
class Study:
    """A reproduction: one module of `reident.experiments`, one of `reident.plotting`, one notebook, one name."""

    name: str
    stem: str
    notebook: str
    title: str


PAPERS = {
    paper.stem: paper
    for paper in (
        Paper(
            "kroll2015",
            "M. Kroll (2015). A graph theoretic linkage attack on microdata in a metric space. "
            "Transactions on Data Privacy 8(3), 217-243.",
        ),
        Paper(
            "kroll2016",
            "M. Kroll and R. Schnell (2016). Anonymisation of geographical distance matrices via Lipschitz "
            "embedding. International Journal of Health Geographics 15:1.",
        ),
        Paper(
            "abril2012",
            "D. Abril, G. Navarro-Arribas and V. Torra (2012). Choquet integral for record linkage. "
            "Annals of Operations Research 195.",
        ),
        Paper(
            "holohan2017",
            "N. Holohan, S. Antonatos, S. Braghin and P. Mac Aonghusa (2017). (k, epsilon)-Anonymity: k-anonymity with "
            "epsilon-differential privacy.",
        ),
        Paper("vanhoef2012", "M. Vanhoef (2012). Privacy in Databases. Master's thesis."),
    )
}

#: Every study there is, in the order in which they run and are shown. One line each.
STUDIES = {
    study.name: study
    for study in (
        Study("kroll2015", "kroll2015", "01-kroll2015-graph-linkage", "Graph linkage attack on distances"),
        Study("kroll2016", "kroll2016", "02-kroll2016-lipschitz-embedding", "Lipschitz embedding of distances"),
        Study("abril2012", "abril2012", "03-abril2012-choquet-linkage", "Record linkage with learned weights"),
        Study("holohan2017", "holohan2017", "04-holohan2017-k-epsilon", "k-anonymity and (k, epsilon)-anonymity"),
        Study("vanhoef2012_tables", "vanhoef2012", "05-vanhoef2012-tables", "Tables and differential privacy"),
        Study(
            "vanhoef2012_networks",
            "vanhoef2012",
            "06-vanhoef2012-networks",
            "Networks anonymised and attacked",
        ),
    )
}


def available_studies() -> list[Study]:
    """Return the studies whose notebook is there, in order."""
    folder = notebooks_folder()
    return [study for study in STUDIES.values() if (folder / f"{study.notebook}.ipynb").is_file()]


def select_studies(names: list[str] | None = None) -> list[Study]:
    """Return the available studies with these names or paper stems; all of them for none given.

    Raises
    ------
    ParameterError
        If a name is neither a study nor a stem.
    """
    available = available_studies()
    if not names:
        return available
    for name in names:
        check_choice(name, "stem", sorted({study.name for study in available} | {study.stem for study in available}))
    return [study for study in available if study.name in names or study.stem in names]


def published(stem: str, table: str) -> pd.DataFrame:
    """Return a table of numbers transcribed from a document.

    Parameters
    ----------
    stem : str
        The document, a key of `PAPERS`.
    table : str
        The table's name: the file is ``data/published/<stem>_<table>.csv``.

    Raises
    ------
    ParameterError
        If there is no such stem or table; the message lists the tables there are.
    """
    check_choice(stem, "stem", list(PAPERS))
    folder = data_folder() / "published"
    path = folder / f"{stem}_{table}.csv"
    if not path.is_file():
        tables = sorted(file.stem.removeprefix(f"{stem}_") for file in folder.glob(f"{stem}_*.csv"))
        raise ParameterError(f"`table` must be one of {tables} for {stem}, got {table!r}")
    return pd.read_csv(path)


def errata(stem: str | None = None) -> pd.DataFrame:
    """Return the known slips of the documents: stem, number, place, what is printed, what is used here instead.

    `stem` selects one document.
    """
    table = pd.read_csv(data_folder() / "errata.csv")
    if stem is None:
        return table
    check_choice(stem, "stem", list(PAPERS))
    return table[table["stem"] == stem].reset_index(drop=True)
