"""Words of column names, in English and German, from which roles are proposed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

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
MEANING: dict[str, frozenset[str]] = {role: frozenset(_forms(" ".join(both))) for role, both in _TABLE.items()}
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
