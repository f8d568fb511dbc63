"""Load the data sets of the documents, embedded or supplied by the user, and the numbers that they print.

Nothing is fetched at import or in a default run. A file that may not be embedded is looked for in the folder named by
the environment variable ``REIDENT_DATA``, then in pooch's cache, then at its URL; its sha256 must be the one in
``data/registry.toml``. Embedded files are part of the package and are checked against ``data/registry.toml`` in the
tests.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, check_choice

if TYPE_CHECKING:
    import geopandas as gpd


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


def _folder(name: str) -> Path:
    """Return a folder that travels with the package: in an installed wheel, or in the checkout around it."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / f"_{name}", package.parents[1] / name):
        if folder.is_dir():
            return folder
    raise DataError(f"the folder `{name}` came neither with the package nor with a checkout around it")


def data_folder() -> Path:
    """Return the folder of the small committed data files."""
    return _folder("data")


def notebooks_folder() -> Path:
    """Return the folder of the notebooks."""
    return _folder("notebooks")


@cache
def registry() -> dict[str, dict[str, Any]]:
    """Return the content of ``data/registry.toml``: file name -> sha256, url (remote files), licence, source."""
    with (data_folder() / "registry.toml").open("rb") as file:
        return tomllib.load(file)


def embedded_file(name: str) -> Path:
    """Return the path of a file that travels with the package."""
    path = data_folder() / name
    if not path.is_file():
        raise DataError(f"the embedded file {name!r} is missing from {data_folder().name}/: is the checkout complete?")
    return path


def remote_file(name: str) -> Path:
    """Return the path of a file named in ``data/registry.toml``, embedded, supplied or fetched, its checksum verified.

    The `DataError` of a file that is nowhere to be had, or is not the one it should be, says where to put it.
    """
    entry = registry()[check_choice(name, "name", sorted(registry()))]
    if entry.get("embedded"):
        return embedded_file(name)
    folder = os.environ.get("REIDENT_DATA")
    if folder and (supplied := Path(folder) / name).is_file():
        digest = hashlib.sha256(supplied.read_bytes()).hexdigest()
        if digest != entry["sha256"]:
            raise DataError(
                f"the file {supplied.name!r} has sha256 {digest}, expected {entry['sha256']}: it is damaged or another "
                "edition"
            )
        return supplied
    advice = (
        f"put it at $REIDENT_DATA/{name} (sha256 {entry['sha256']}; source: {entry['source']}; "
        f"licence: {entry['licence']}; REIDENT_DATA is {folder or 'not set'})"
    )
    if not entry.get("url"):
        raise DataError(f"the data set {name!r} is not here and is never downloaded: {advice}")
    import pooch

    known_hash, cache_folder = f"sha256:{entry['sha256']}", pooch.os_cache("reident")
    try:
        return Path(pooch.retrieve(entry["url"], known_hash, fname=name.replace("/", "_"), path=cache_folder))
    except Exception as error:
        raise DataError(
            f"the data set {name!r} could not be fetched from {entry['url']} ({error}): {advice}"
        ) from error


def load_places(country: str = "germany") -> pd.DataFrame:
    """Return the populated places of a country (GeoNames): name, lat_deg, lon_deg, population (persons)."""
    check_choice(country, "country", ["england", "germany"])
    return pd.read_csv(embedded_file(f"places_{country}.csv.gz"), keep_default_na=False)


def load_boundary(country: str) -> gpd.GeoDataFrame:
    """Return the outline of ``"germany"``, ``"united_kingdom"`` or ``"england"`` (Natural Earth 1:50m), EPSG:4326."""
    import geopandas as gpd

    outlines = gpd.read_file(embedded_file("boundaries.geojson"))
    check_choice(country, "country", sorted(outlines["name"]))
    return outlines[outlines["name"] == country].reset_index(drop=True)


def load_census_shares() -> pd.DataFrame:
    """Return the share of each sex and census age class in Germany, 2011: sex, age_class, share (sum 1).

    Eleven age classes as in Kroll (2015). The shares are reconstructed from the United Nations' World Population
    Prospects 2019; the census' own table was not available.
    """
    counts = pd.read_csv(embedded_file("census2011_age_sex.csv"))
    shares = counts.melt("age_class", ["male", "female"], var_name="sex", value_name="share")
    shares["share"] /= shares["share"].sum()
    return shares[["sex", "age_class", "share"]]


def load_poets() -> tuple[tuple[pd.DataFrame, FloatArray], tuple[pd.DataFrame, FloatArray]]:
    """Return the poets of Kroll (2015), Example 10: target and identification file, each (table, distances in km).

    Tables are numbered from 1 as in the paper. The target file still has the names, which only the custodian has;
    the quasi-identifiers are ``cob`` (century of birth) and ``language``.
    """
    target, identification = (
        (
            pd.read_csv(embedded_file(f"poets_{name}.csv")).set_axis(range(1, 11)).rename_axis("record"),
            np.loadtxt(embedded_file(f"poets_{name}_km.csv"), delimiter=","),
        )
        for name in ("target", "identification")
    )
    return target, identification


def load_example2() -> pd.DataFrame:
    """Return the four persons of Kroll (2015), Example 2, with the coordinates of their birth places in degrees."""
    return pd.read_csv(embedded_file("kroll2015_example2.csv"))


def load_nhs_hospitals() -> pd.DataFrame:
    """Return the located hospitals of England in the NHS Choices list of about January 2020. Embedded.

    A successor of the list behind Kroll and Schnell (2016), which had 847 hospitals and is no longer available. One row
    a hospital, in the order of the file: code, name, sector, trust (code of the trust or provider), trust_prefix (its
    first two characters), lat_deg, lon_deg.
    """
    columns = {
        "OrganisationCode": "code", "OrganisationName": "name", "Sector": "sector", "ParentODSCode": "trust",
        "Latitude": "lat_deg", "Longitude": "lon_deg",
    }  # fmt: skip
    # One trust prefix is the text "NA": no text here means "missing".
    file = embedded_file("hospitals_england/nhs_choices_hospital.csv")
    listed = pd.read_csv(file, dtype=str, keep_default_na=False)[[*columns]].rename(columns=columns)
    listed.insert(4, "trust_prefix", listed["trust"].str[:2])
    located = listed[(listed["lat_deg"] != "") & (listed["lon_deg"] != "")]
    return located.astype({"lat_deg": float, "lon_deg": float}).reset_index(drop=True)


#: The order of columns in CASC's own file of the census; some files in circulation are ordered by alphabet.
_CENSUS = "AFNLWGT AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA WSALVAL ERNVAL"


def load_casc(name: str) -> pd.DataFrame:
    """Return a reference microdata set of the CASC project, its records and columns in the order of the CASC file.

    "census": 1,080 persons x 13 amounts in dollars a year (AFNLWGT is a survey weight), US 1995, embedded; "tarragona":
    834 companies x 13 amounts, 1995; "eia": 4,092 months of electric utilities x 15 (five of them keys), US 1996 and
    1997. The last two are supplied by the user in the folder named by ``REIDENT_DATA``, else `DataError`.

    The order matters: Abril et al. (2012) protect "the first variables" of the census file. In the order of the CASC
    documentation these are AFNLWGT, AGI, EMCONTRB, FEDTAX, ..., and the ratios printed in their table 1 come out; in
    the alphabetical order of some copies they do not.
    """
    check_choice(name, "name", ("census", "tarragona", "eia"))
    table = pd.read_csv(remote_file(f"casc/{name}.csv"))
    return table[_CENSUS.split()] if name == "census" else table


def load_vanhoef2012_table(table: str) -> pd.DataFrame:
    """Return an anonymised example of Vanhoef (2012), ``"3.1"`` or ``"3.2"``, records numbered from 1 as in print.

    The quasi-identifiers are ``zip``, ``age`` and ``nationality``, the sensitive attribute is ``condition``.
    """
    check_choice(table, "table", ["3.1", "3.2"])
    file = embedded_file(f"vanhoef2012_table_{table.replace('.', '_')}.csv")
    return pd.read_csv(file, index_col="record", keep_default_na=False)


def load_adult() -> pd.DataFrame:
    """Return the training set of UCI Adult: 32,561 persons of the US census of 1994, 15 columns, as they are.

    Unknown values are the label ``"?"`` (workclass 1,836, occupation 1,843, native-country 583). Kohavi and Becker
    (1996), CC BY 4.0. Embedded.
    """
    return pd.read_csv(embedded_file("adult_train.csv.gz"), keep_default_na=False)


def load_body_measures() -> pd.DataFrame:
    """Return means and standard deviations of height (cm) and log-weight (kg) by sex and age (years) in the US.

    NHANES 2009-2010, weighted: sex, age_low, age_high (both inclusive), height_cm_n, height_cm_mean, height_cm_sd,
    weight_kg_n, ln_weight_mean, ln_weight_sd. Embedded.
    """
    return pd.read_csv(embedded_file("nhanes_height_weight.csv"))


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
    return pd.read_csv(tables[check_choice(table, "table", sorted(tables))])


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
