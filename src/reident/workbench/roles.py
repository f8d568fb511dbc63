"""Propose the role of each column by the words of its name and by its values, to be confirmed by the custodian."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, ParameterError, check_real
from reident.networks._reading import end_columns
from reident.places.points import check_crs
from reident.tables.classes import text_of

#: Role or kind -> its words in English and in German, as they are written. Accents and capitals make no difference.
_TABLE = {
    # A name of these words alone says that equal values are one person's records.
    "person": (
        "id ids uuid guid ssn mrn pid hash key pseudonym number record person personid patient patientid subject "
        "subjectid participant respondent customer customerid client clientid member memberid case caseid",
        "nr nummer persnr patientnr patientennummer patienten patnr patid pat proband versicherter versichertennummer "
        "kvnr svnr kunde kundennr fall fallnr fallnummer",
    ),
    "household": ("household hh hhid family famid", "haushalt hhnr haushaltsnummer haushaltsnr familie"),
    "weight": (
        "wgt wt fnlwgt afnlwgt pweight sampling weighting", "hochrechnung hochrechnungsfaktor gewichtung",
    ),
    "weight of a survey or a body": ("weight weights", "gewicht"),
    "identifier": (
        "id ids uuid guid ssn mrn iban url ip email mail fax number passport name names surname lastname firstname "
        "forename phone tel mobile account address street patient patientid record key",
        "nr nummer svnr kvnr vorname nachname telefon handy konto adresse anschrift strasse hausnummer fallnummer "
        "fallnr patientnr",
    ),
    "name of a person": (
        "surname surnames lastname firstname forename familyname", "vorname nachname familienname zuname",
    ),
    "sensitive": (
        "diagnosis diag icd disease illness ill condition income salary wage earnings pay revenue wealth religion "
        "party vote hiv drug medication result outcome debt crime sexuality orientation depression disability",
        "diagnose krankheit einkommen lohn gehalt umsatz vermögen konfession partei medikament befund schulden delikt "
        "behinderung",
    ),
    "quasi-identifier": (
        "sex gender age birth born dob birthday year zip zipcode postcode postal town city region state land county "
        "country district nation nationality race ethnicity ethnie marital civil education degree school job "
        "occupation profession employer workclass industry height weight children language date admission hospital "
        "ward",
        "geschlecht alter geburt geboren geburtsdatum geburtsjahr jahr plz postleitzahl ort wohnort stadt gemeinde "
        "kreis staat bezirk staatsangehörigkeit herkunft familienstand bildung schulabschluss abschluss schule beruf "
        "arbeitgeber branche größe gewicht kinder religionszugehörigkeit sprache datum aufnahmedatum entlassdatum "
        "klinik",
    ),
    "latitude": ("lat latitude lat_deg ylat", "breite breitengrad geobreite"),
    "longitude": ("lon lng long longitude", "länge längengrad geolänge"),
    "east": ("east easting eastings utme xutm x utmx e", "ostwert rechtswert rechts"),
    "north": ("north northing northings utmn yutm y utmy n", "nordwert hochwert hoch"),
    # Digits that are no quantity, to be kept as they are written.
    "code": (
        "nuts icd ops isco nace fips siren insee iban id zip zipcode postcode postal code key phone tel",
        "plz postleitzahl ags gemeinde gemeindekennziffer kreis kennziffer schlüssel nr nummer telefon konto",
    ),
}  # fmt: skip
#: A German word of at least so many letters gives a compound that ends with it its meaning: Hauptdiagnose.
_LONG = 5
_LETTERS = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "æ": "ae", "œ": "oe", "đ": "d"})
_SPELT = {"ä": "ae", "ö": "oe", "ü": "ue"}


def _folded(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word.lower().translate(_LETTERS))
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def _forms(listed: str) -> Iterator[str]:
    """Yield words as `words` returns them, umlauts by two letters, too."""
    for word in listed.split():
        yield _folded(word)
        yield _folded("".join(_SPELT.get(sign, sign) for sign in word))


#: The words of each role or kind, as `words` returns them.
MEANING = {role: frozenset(_forms(" ".join(both))) for role, both in _TABLE.items()}
_ENDS = {role: tuple(form for form in _forms(german) if len(form) >= _LONG) for role, (_, german) in _TABLE.items()}


def words(name: Any) -> set[str]:
    """Return the words of a column's name, in small letters without accents: "Fall-Nr" and "fallNr" have fall and nr.

    Examples
    --------
    >>> sorted(words("fallNr_2020")), sorted(words("Größe_Haushalt"))
    (['2020', 'fall', 'nr'], ['grosse', 'haushalt'])
    """
    whole = unicodedata.normalize("NFC", str(name))
    parted = re.sub(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])", " ", whole)
    return {_folded(word) for word in re.findall(r"[^\W\d_]+|\d+", parted)}


def meant(name: Any, role: str) -> list[str]:
    """Return the words of a column's name that mean a role, sorted.

    Examples
    --------
    >>> meant("Hauptdiagnose", "sensitive"), meant("Jahr der Geburt", "quasi-identifier")
    (['hauptdiagnose'], ['geburt', 'jahr'])
    """
    return sorted(word for word in words(name) if word in MEANING[role] or word.endswith(_ENDS[role]))


_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}")
#: Values of which so large a share occurs once tell who a record is.
_NEARLY_ALL = 0.98
#: The fewest persons that a column may tell apart, and the most records that each may have on average.
_FEWEST_PERSONS, _MOST_A_PERSON = 8, 100


#: Where a table's places are: ``lat``, ``lon``, ``crs`` (of these columns) and a ``reason``.
PlaceColumns = dict[str, Any]


def place_columns(table: pd.DataFrame, crs: str | None = None) -> PlaceColumns | None:
    """Find the two columns of a table that hold places, in degrees or in metres, which need a CRS."""
    for lat, lon in _pairs(table, "latitude", "longitude"):
        if _within(table[lat], -90, 90) and _within(table[lon], -180, 360):
            reason = "degrees of latitude and longitude by name and range"
            return PlaceColumns(lat=lat, lon=lon, crs=crs or "EPSG:4326", reason=reason)
    for north, east in _pairs(table, "north", "east"):
        if _within(table[north], 0, 1e7) and _within(table[east], -1e7, 6e7) and table[north].abs().max() > 1000:
            reason = "metres east and north by name and range" + ("" if crs else ": name a CRS, such as EPSG:25832")
            return PlaceColumns(lat=north, lon=east, crs=crs, reason=reason)
    return None


#: Texts that are places: WKT, degrees with minutes or a letter, two numbers.
_PLACE_TEXT = re.compile(
    r"(SRID=\d+; ?)?POINT ?(Z |M |ZM )?\(.+\)|[NSEOW+-]? ?\d{1,3} ?°.*|\d{1,3}[.,]\d+ ?°? ?[NSEOW]"
    r"|[(\[]?[+-]?\d{1,3}\.\d+ ?[,;/ ] ?[+-]?\d{1,3}\.\d+[)\]]?", re.IGNORECASE,
)  # fmt: skip


def place_notes(table: pd.DataFrame, schema: Any) -> list[str]:
    """Return notes for a custodian: texts that are places, where the places lie, those at 0, 0 or exchanged."""
    notes = []
    for name, column in schema.columns.items():
        cells = [str(cell).strip() for cell in table[name].dropna().head(200)] if column.type == "text" else []
        if cells and all(map(_PLACE_TEXT.fullmatch, cells)):
            notes.append(
                f"{name}: texts of places; as two columns of numbers, latitude and longitude in degrees, they would be "
                "taken as places"
            )
    if hasattr(table, "to_crs"):
        return notes + [f"{table.geometry.name}: {note}" for note in _odd_geometry(table.geometry)]
    if schema.places is not None:
        lat, lon = schema.places
        north, east = table[[lat, lon]].astype(float).to_numpy(float).T
        note = _odd_places(north, east, f"--lat {lon} --lon {lat}", degrees=schema.crs in (None, "EPSG:4326"))
        return notes + [f"{lat}, {lon}: {line}" for line in note]
    return notes + [
        f"{lat}, {lon}: named as latitude and longitude, but no degrees: --lat {lon} --lon {lat} exchanges them, --crs "
        "names the CRS of metres"
        for lat, lon in _pairs(table, "latitude", "longitude")
    ]


def _odd_geometry(geometry: Any) -> list[str]:
    """Return notes about the places of a geographic file."""
    if shapes := sorted(set(geometry.geom_type.dropna()) - {"Point"}):
        return [f"holds {', '.join(shapes)}, no points where records are: the role other leaves it out"]
    if geometry.crs is None:
        return []
    try:
        check_crs(geometry.crs, "crs")
    except ParameterError as error:
        return [str(error)]
    places = geometry.to_crs("EPSG:4326")
    return _odd_places(places.y.to_numpy(float), places.x.to_numpy(float), "correct the file")


def _odd_places(north: FloatArray, east: FloatArray, advice: str, *, degrees: bool = True) -> list[str]:
    """Return where the places lie, and which are impossible, at 0, 0, or seem to have their coordinates exchanged."""
    records = np.flatnonzero(~np.isnan(north) & ~np.isnan(east))
    north, east = north[records], east[records]
    if not north.size:
        return []
    form = ".6g" if np.abs(north).max() <= 360 else ".0f"
    ranges = f"{north.min():{form}} to {north.max():{form}} north, {east.min():{form}} to {east.max():{form}} east"
    notes = [f"places from {ranges}; {advice} if these are exchanged"]
    if n := ((north == 0) & (east == 0)).sum():
        notes.append(f"{n} record(s) at 0, 0: perhaps without a place")
    impossible = (np.abs(north) > 90) | (east < -180) | (east > 360)
    if degrees and 0 < impossible.mean() <= 0.5:  # else they are metres
        record = records[impossible][0] + 1
        notes.append(
            f"{impossible.sum()} record(s) with an impossible place, such as record {record}: left out as a place"
        )
    # Twice the span of the middle four fifths holds the bulk: a place outside it in both coordinates that lies within
    # it once they are exchanged.
    quantiles = (np.quantile(values, [0.1, 0.9]) for values in (north, east))
    (south, top), (west, right) = ((low - (high - low) / 2, high + (high - low) / 2) for low, high in quantiles)
    outside = ((north < south) | (north > top)) & ((east < west) | (east > right))
    if n := (outside & (south <= east) & (east <= top) & (west <= north) & (north <= right)).sum():
        notes.append(f"{n} record(s) lie among the others with their two coordinates exchanged")
    return notes


def _pairs(table: pd.DataFrame, one_role: str, other_role: str) -> list[tuple[Any, Any]]:
    """Return the pairs of columns of numbers that are named by one role each, and share all other words."""
    names = [name for name in table.columns if pd.api.types.is_numeric_dtype(table[name])]
    first, second = MEANING[one_role], MEANING[other_role]
    return [
        (one, two)
        for one, two in itertools.permutations(names, 2)
        if words(one) & first and words(two) & second and words(one) - first == words(two) - second
    ]


def _within(values: pd.Series, low: float, high: float) -> bool:
    known = values.dropna()
    return len(known) > 0 and known.between(low, high).mean() > 0.9


def propose(
    table: pd.DataFrame, types: Mapping[Any, str] | None = None, places: PlaceColumns | None = None
) -> dict[Any, tuple[str, str]]:
    """Return a role and a reason for each column; the types default to those of the table."""
    types = {name: _type_of(table[name]) for name in table.columns} if types is None else types
    roles = {}
    ends, person = _relations(table, types), repeated_ids(table)[:1]
    for name in table.columns:
        if ends is not None:
            end = ("node", "one end of a relation")
            roles[name] = end if name in ends else ("other", "of a relation, not a person")
        elif places is not None and name in (places["lat"], places["lon"]):
            roles[name] = ("latitude" if name == places["lat"] else "longitude", str(places["reason"]))
        elif types[name] == "geometry":
            roles[name] = ("place", "the geometry of the file")
        elif name in person:
            records_each = table[name].notna().sum() / table[name].nunique()
            roles[name] = ("person", f"the name, and {records_each:.1f} records a value: whose they are")
        else:
            roles[name] = _role(name, table[name].dropna(), types[name], len(table))
    return roles


def _type_of(column: pd.Series) -> str:
    kinds = {"integer": "integer", "numeric": "number", "datetime64_any": "date"}
    return next((kind for name, kind in kinds.items() if getattr(pd.api.types, f"is_{name}_dtype")(column)), "text")


#: Of a list of relations at least this share of the rows are pairs not met before, at most that share are loops.
_ONCE, _LOOPS = 0.4, 0.05


def _relations(table: pd.DataFrame, types: Mapping[Any, str]) -> tuple[str, str] | None:
    """Return the two columns of an edge list: named so, or the only ones and about the same.

    Each edge stands once; of columns that are named so it may stand in both directions, and some loops may be there.
    """
    stated = end_columns([str(name) for name in table.columns])
    ends = stated or (tuple(table.columns) if len(table.columns) == 2 else None)
    if ends is None or types[ends[0]] != types[ends[1]] or types[ends[0]] not in ("integer", "text"):
        return None
    pairs = pd.DataFrame(np.sort(table[list(ends)].dropna().astype("str").to_numpy(str), axis=1))
    if not len(pairs) or table[ends[0]].isna().any():
        return None
    first_values, right = (set(table[name].dropna()) for name in ends)
    alike = len(first_values & right) / min(len(first_values), len(right))
    once, loops = 1 - pairs.duplicated().mean(), (pairs[0] == pairs[1]).mean()
    if (once < 1 or loops) and (stated is None or alike < 0.5 or once < _ONCE or loops > _LOOPS):
        return None
    return ends if alike >= (0.5 if stated is None else 0.1) and (stated is not None or len(table) >= 20) else None


def repeated_ids(table: pd.DataFrame) -> list[Any]:
    """Return the columns that by name and values say which records are one person's, that of most persons first."""
    counts = {}
    for name in table.columns:
        name_words, known = words(name), table[name].dropna()
        if not name_words or not name_words <= MEANING["person"] or known.dtype.kind not in "iuOT":
            continue
        n = known.nunique()
        if n >= _FEWEST_PERSONS and n < _NEARLY_ALL * len(known) and len(known) < _MOST_A_PERSON * n:
            counts[name] = n
    return sorted(counts, key=lambda name: -counts[name])


def person_notes(table: pd.DataFrame, person: str | None) -> list[str]:
    """Say whether persons or records are counted, where persons may have several records."""
    if person is not None:
        n = table[person].nunique() + table[person].isna().sum()
        sentence = f"{len(table)} records of {n} persons by {person}: classes and risks are counted in persons"
        return [f"{sentence}, each at risk if one of the records is."] if n < len(table) else []
    return [
        f"Records are counted, not persons: {name} has {table[name].nunique()} values in {len(table)} records. If it "
        f"says which records are one person's, --person {name} of check, in a recipe the role person, counts persons."
        for name in repeated_ids(table)[:1]
    ]


def _role(name: Any, known: pd.Series, kind: str, n: int) -> tuple[str, str]:
    if not len(known):
        return "other", "no record has a value"
    counts = known.value_counts()
    if len(counts) == 1 and n > 1:
        return "other", "one value for all records"
    share, name_words = len(counts) / len(known), words(name)
    if kind == "text" and not pd.api.types.is_bool_dtype(known):
        texts = known.astype(str)
        if texts.head(200).str.fullmatch(_EMAIL.pattern).mean() > 0.8:
            return "identifier", "addresses of e-mail"
        if texts.str.len().mean() > 40 and texts.head(200).str.contains(" ").mean() > 0.5 and share > 0.2:
            return "free text", f"long texts, {texts.str.len().mean():.0f} letters on average"
    if name_words & MEANING["household"] and share < 0.98 and len(known) / len(counts) < 20:
        return "household", f"the name, and {len(known) / len(counts):.1f} records a value"
    if _is_weight(name_words, known, kind):
        return "weight", "the name, and positive numbers with a mean of 1 or more"
    of_person = "name" in name_words and name_words & {"last", "first", "family"}
    if kind == "text" and (of_person or name_words & MEANING["name of a person"]):
        return "identifier", "the name of a person"
    for role, least in (("sensitive", 0.0), ("identifier", 0.5), ("quasi-identifier", 0.0)):
        if (meanings := meant(name, role)) and share > least:
            distinct = f", and {share:.0%} of the values are distinct" if role == "identifier" else ""
            return role, f"the name says {meanings[0]}{distinct}"
    if kind == "date":
        return "quasi-identifier", "dates, which others may know"
    single = share >= _NEARLY_ALL and len(known) > 1
    if single and n >= 20 and (kind == "text" or _is_numbered(known, kind)):
        return "identifier", f"{share:.0%} of the values are distinct"
    if kind == "text":
        return "quasi-identifier", f"{len(counts)} categories, which others may know"
    if kind == "integer" and (len(counts) <= 120 or share < 0.2):
        return "quasi-identifier", f"whole numbers with {len(counts)} values, which others may know"
    return "other", "measurements; no sign that others know them"


def _is_numbered(known: pd.Series, kind: str) -> bool:
    """Tell running numbers and numbers of one length from measurements that happen to be distinct."""
    if kind != "integer":
        return False
    return np.ptp(known.to_numpy(np.int64)) < 10 * len(known) or np.ptp(known.astype(str).str.len()) == 0


def _is_weight(name: set[str], known: pd.Series, kind: str) -> bool:
    """Tell a survey's weight, not negative and 1 or more on average, from a body's by name and range."""
    survey = name & MEANING["weight"]
    if kind not in ("integer", "number") or not (survey or name & MEANING["weight of a survey or a body"]):
        return False
    numbers = known.to_numpy(float)
    sure = survey or name & {"survey", "sample", "design", "person", "weights"}
    body = name & {"kg", "body", "korper", "koerper", "lb", "lbs", "g"} or (not sure and 2 < np.median(numbers) < 150)
    return not body and (numbers >= 0).all() and numbers.mean() > 0.9


def survey_weights(column: pd.Series, population: float | None = None) -> tuple[pd.Series, str]:
    """Return the number of persons that each record stands for, at least 1, and a note about changes.

    Weights are scaled to the size of the population where it is given. Those below 1 (normalised ones have a mean of
    1), and missing ones, count as 1: the fewest persons that the weights allow, so that no risk is underestimated.

    Raises
    ------
    DataError
        If weights are negative, no numbers, or all missing or 0.
    ParameterError
        If the population is smaller than the number of records.
    """
    weights = pd.to_numeric(column, errors="coerce").astype(float)
    bad = (weights.isna() & column.notna()) | (weights < 0) | np.isinf(weights)
    if bad.any():
        raise DataError(
            f"`weight` must be a column of numbers of at least 0, not all 0, got {bad.sum()} others in "
            f"{column.name!r}, such as {text_of(column[bad].iloc[0])!r}: give that column another role, or correct them"
        )
    if not (weights > 0).any():
        raise DataError(
            f"`weight` must be a column with numbers above 0, got none in {column.name!r}: give it another role"
        )
    changes, scaled = [], weights.fillna(0)
    if population is not None:
        check_real(population, "population", low=len(weights), why="it holds the records of the file, one person each")
        scaled = scaled * population / scaled.sum()
        changes.append(f"they were scaled from a sum of {weights.sum():,.6g} to a population of {population:,.0f}")
    if small := (scaled < 1 - 1e-9).sum():
        changes.append(f"{small} below 1 or missing count as 1, since a record stands for itself")
        if population is None:
            changes.append(
                f"the records then stand for the fewest persons that the weights allow (their mean is "
                f"{weights.mean():.2f}): --population, in the recipe population, scales them to the persons there are"
            )
    return scaled.clip(lower=1), f"Weights in {column.name}: {'; '.join(changes)}." if changes else ""
