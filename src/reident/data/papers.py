"""The five documents: citation, and the numbers that they print."""

from __future__ import annotations

import pandas as pd

from reident.base import ParameterError, check_choice, is_key
from reident.data._paths import data_folder

#: Document -> citation.
PAPERS = {
    "kroll2015": "M. Kroll (2015). A graph theoretic linkage attack on microdata in a metric space. "
    "Transactions on Data Privacy 8(3), 217-243.",
    "kroll2016": "M. Kroll and R. Schnell (2016). Anonymisation of geographical distance matrices via Lipschitz "
    "embedding. International Journal of Health Geographics 15:1.",
    "abril2012": "D. Abril, G. Navarro-Arribas and V. Torra (2012). Choquet integral for record linkage. "
    "Annals of Operations Research 195.",
    "holohan2017": "N. Holohan, S. Antonatos, S. Braghin and P. Mac Aonghusa (2017). (k, epsilon)-Anonymity: "
    "k-anonymity with epsilon-differential privacy.",
    "vanhoef2012": "M. Vanhoef (2012). Privacy in Databases. Master's thesis.",
}


def published(stem: str, table: str) -> pd.DataFrame:
    """Return a table of numbers transcribed from a document.

    Parameters
    ----------
    stem : str
        The document, a key of `PAPERS`.
    table : str
        The table's name: the file is ``data/published/<stem>_<table>.csv``.

    Returns
    -------
    DataFrame
        As the file has it.

    Raises
    ------
    ParameterError
        If there is no such stem or table; the message lists the tables there are.
    """
    check_choice(stem, "stem", list(PAPERS))
    tables = {file.stem.removeprefix(f"{stem}_"): file for file in (data_folder() / "published").glob(f"{stem}_*.csv")}
    if not is_key(table) or table not in tables:
        raise ParameterError(f"`table` must be one of {sorted(tables)} for {stem}, got {table!r}")
    return pd.read_csv(tables[table])


def errata(stem: str | None = None) -> pd.DataFrame:
    """Return the known errata of the documents: stem, number, place, printed text, and the correction used here.

    Parameters
    ----------
    stem : str, optional
        A document, a key of `PAPERS`; all of them by default.

    Returns
    -------
    DataFrame
        A row an erratum.

    Raises
    ------
    ParameterError
        If there is no such document.
    """
    table = pd.read_csv(data_folder() / "errata.csv")
    if stem is None:
        return table
    check_choice(stem, "stem", list(PAPERS))
    return table[table["stem"] == stem].reset_index(drop=True)
