"""What words in the names of columns mean, in several languages: the one table from which roles are proposed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

__all__ = ["MEANING", "meant", "words"]

#: Role or kind -> language -> words, as they are written. Accents, capitals and ue for ü make no difference.
_TABLE: dict[str, dict[str, str]] = {
    "person": {  # a name of these words alone says whose a record is, where its values repeat
        "": "id ids uuid guid ssn mrn pid hash key pseudonym",
        "en": "number record person personid patient patientid subject subjectid participant respondent customer "
        "customerid client clientid member memberid case caseid",
        "de": "nr nummer persnr patientnr patientennummer patienten patnr patid pat proband versicherter "
        "versichertennummer kvnr svnr kunde kundennr fall fallnr fallnummer",
        "fr": "identifiant numéro personne assuré client",
        "es": "identificador número persona paciente cliente",
        "it": "identificativo numero persona paziente cliente",
        "nl": "persoon patiënt klant nummer bsn",
        "pl": "identyfikator numer osoba pacjent klient pesel",
    },
    "household": {
        "en": "household hh hhid family famid",
        "de": "haushalt hhnr haushaltsnummer haushaltsnr familie",
        "fr": "ménage foyer famille",
        "es": "hogar familia",
        "it": "famiglia",
        "nl": "huishouden gezin",
        "pl": "gospodarstwo rodzina",
        "sv": "hushåll familj",
    },
    "weight": {
        "en": "wgt wt fnlwgt afnlwgt pweight sampling weighting",
        "de": "hochrechnung hochrechnungsfaktor gewichtung",
        "fr": "pond pondération",
        "es": "ponderación ponderador elevación",
        "it": "ponderazione",
        "nl": "weging wegingsfactor weegfactor",
    },
    "weight of a survey or a body": {
        "en": "weight weights",
        "de": "gewicht",
        "fr": "poids",
        "es": "peso",
        "it": "peso",
        "nl": "gewicht",
        "pl": "waga wagi",
        "sv": "vikt",
    },
    "identifier": {
        "": "id ids uuid guid ssn mrn iban url ip email mail fax",
        "en": "number passport name names surname lastname firstname forename phone tel mobile account address street "
        "patient patientid record key",
        "de": "nr nummer svnr kvnr vorname nachname telefon handy konto adresse anschrift strasse hausnummer "
        "fallnummer fallnr patientnr",
        "fr": "identifiant numéro nom prénom téléphone courriel rue",
        "es": "identificador número apellido apellidos nombre dirección teléfono correo calle",
        "it": "identificativo cognome indirizzo telefono",
        "nl": "naam achternaam voornaam adres telefoon straat bsn",
        "pl": "identyfikator imię nazwisko numer ulica pesel",
        "sv": "namn efternamn förnamn adress gata personnummer",
    },
    "name of a person": {  # whose values tell who somebody is, however often they occur
        "en": "surname surnames lastname firstname forename familyname",
        "de": "vorname nachname familienname zuname",
        "fr": "prénom patronyme",
        "es": "apellido apellidos",
        "it": "cognome",
        "nl": "achternaam voornaam",
        "pl": "nazwisko imię",
        "sv": "efternamn förnamn",
    },
    "sensitive": {
        "en": "diagnosis diag icd disease illness ill condition income salary wage earnings pay revenue wealth "
        "religion party vote hiv drug medication result outcome debt crime sexuality orientation",
        "de": "diagnose krankheit einkommen lohn gehalt umsatz vermögen konfession partei medikament befund schulden "
        "delikt",
        "fr": "diagnostic maladie revenu revenus salaire dette dettes médicament",
        "es": "diagnóstico enfermedad ingreso ingresos salario sueldo religión deuda medicamento",
        "it": "diagnosi malattia reddito stipendio religione farmaco",
        "nl": "ziekte inkomen salaris godsdienst schuld",
        "pl": "diagnoza rozpoznanie choroba dochód wynagrodzenie pensja religia wyznanie lek",
        "sv": "sjukdom inkomst diagnos",
    },
    "quasi-identifier": {
        "en": "sex gender age birth born dob birthday year zip zipcode postcode postal town city region state land "
        "county country district nation nationality race ethnicity ethnie marital civil education degree school job "
        "occupation profession employer workclass industry height weight children language date admission hospital "
        "ward",
        "de": "geschlecht alter geburt geboren geburtsdatum geburtsjahr jahr plz postleitzahl ort wohnort stadt "
        "gemeinde kreis staat bezirk staatsangehörigkeit herkunft familienstand bildung schulabschluss abschluss "
        "schule beruf arbeitgeber branche größe gewicht kinder religionszugehörigkeit sprache datum aufnahmedatum "
        "entlassdatum klinik",
        "fr": "sexe âge naissance année ville commune département pays nationalité profession métier employeur enfants "
        "langue taille poids hôpital",
        "es": "sexo edad nacimiento año ciudad municipio provincia país nacionalidad profesión ocupación estudios "
        "hijos idioma fecha peso hospital",
        "it": "sesso età nascita anno città comune provincia paese nazionalità professione istruzione figli lingua "
        "peso ospedale",
        "nl": "geslacht leeftijd geboorte geboortedatum jaar gemeente provincie nationaliteit beroep opleiding "
        "kinderen taal gewicht ziekenhuis",
        "pl": "płeć wiek urodzenia urodzenie rok miasto gmina powiat województwo kraj obywatelstwo zawód wykształcenie "
        "dzieci język waga szpital pocztowy",
        "sv": "kön ålder födelse födelsedatum stad kommun land yrke utbildning barn språk vikt",
    },
    "latitude": {
        "": "lat latitude lat_deg ylat",
        "de": "breite breitengrad geobreite",
        "es": "latitud",
        "it": "latitudine",
    },
    "longitude": {
        "": "lon lng long longitude",
        "de": "länge längengrad geolänge",
        "es": "longitud",
        "it": "longitudine",
    },
    "east": {"": "east easting eastings utme xutm x utmx e", "de": "ostwert rechtswert rechts"},
    "north": {"": "north northing northings utmn yutm y utmy n", "de": "nordwert hochwert hoch"},
    "code": {  # digits that are no quantity, to be kept as they are written
        "": "nuts icd ops isco nace fips siren insee iban id",
        "en": "zip zipcode postcode postal code key phone tel",
        "de": "plz postleitzahl ags gemeinde gemeindekennziffer kreis kennziffer schlüssel nr nummer telefon konto",
        "fr": "numéro téléphone",
        "es": "código número teléfono",
        "it": "cap codice telefono",
        "nl": "telefoon",
        "pl": "kod numer telefon pesel",
    },
}
#: Languages that put words together, the one that says what is meant last (Hauptdiagnose), and its fewest letters.
_COMPOUNDS, _LONG = ("de", "nl", "sv"), 5
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


#: What each role or kind is called, in all languages together.
MEANING: dict[str, frozenset[str]] = {
    role: frozenset(form for listed in by_language.values() for form in _forms(listed))
    for role, by_language in _TABLE.items()
}
_LAST = {
    role: frozenset(form for one in _COMPOUNDS for form in _forms(by_language.get(one, "")) if len(form) >= _LONG)
    for role, by_language in _TABLE.items()
}


def words(name: Any) -> set[str]:
    """Return the words of a column's name, in small letters without accents: "Fall-Nr" and "fallNr" have fall and nr.

    Examples
    --------
    >>> sorted(words("fallNr_2020")), sorted(words("identifiant_ménage"))
    (['2020', 'fall', 'nr'], ['identifiant', 'menage'])
    """
    whole = unicodedata.normalize("NFC", str(name))
    parted = re.sub(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])", " ", whole)
    return {_folded(word) for word in re.findall(r"[^\W\d_]+|\d+", parted)}


def meant(name: Any, role: str) -> list[str]:
    """Return the words of a column's name that mean a role, sorted.

    Examples
    --------
    >>> meant("Hauptdiagnose", "sensitive"), meant("année de naissance", "quasi-identifier")
    (['hauptdiagnose'], ['annee', 'naissance'])
    """
    ends = tuple(_LAST[role])
    return sorted(word for word in words(name) if word in MEANING[role] or (ends and word.endswith(ends)))
