"""Every attack by name; each takes a release and the intruder's knowledge, and returns claims about persons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reident.methods._entry import Entry

_VANHOEF = "Vanhoef (2012), section 3.3.2"
_PASSIVE = "Narayanan and Shmatikov (2009); Vanhoef (2012), chapter 10"


def _of(data: str, module: str, needs: str = "") -> Callable[..., Entry]:
    """Return a maker of entries for a kind of data; links are read by the share of claims that are right."""

    def entry(name: str, label: str, source: str, measure: str = "", function: str = "", **fields: Any) -> Entry:
        return Entry(
            name, "attack", data, f"methods.attacks_{module}:{function or name}", "claims", source=source, label=label,
            takes="release knowledge", start={"measure": measure} if measure else {}, needs=fields.pop("needs", needs),
            **fields,
        )  # fmt: skip

    return entry


_table, _value = _of("table", "tables", "labels"), _of("table", "values", "labels sensitive")
_place, _network = _of("places", "places"), _of("network", "networks")
_distance = _of("places", "distances")


#: In the order in which a panel lists them. Links are read by the share of claims that are right, unless asked else.
ATTACKS: tuple[Entry, ...] = (
    _table(
        "exact_join", "join by all that was left as it was", "Sweeney (2002); the simplest intruder",
        usual="places table",
    ),
    _table("class_risk", "re-identification inside classes", "El Emam and Dankar (2008)", usual="table"),
    _of("table", "households")(
        "household_join", "whole households at once", "household risk, Hundepool et al. (2012)", needs="households"
    ),
    _table(
        "register_join", "look-up in a register", "the journalist's risk, El Emam and Dankar (2008)",
        needs="labels register",
    ),
    _table("nearest_record", "nearest record, numbers and categories", "Gower (1971)", usual="table"),
    _table("record_assignment", "records assigned one to one", "Herranz et al. (2015)"),
    _table("record_linkage", "linkage to the nearest record", "Abril et al. (2012), section 2.1", measure="precision"),
    _table(
        "probabilistic_linkage", "probabilistic linkage", "Fellegi and Sunter (1969)", measure="precision", costly=True,
        seconds=30.0,
    ),
    *(
        _table(
            f"{model}_linkage", f"linkage by a learned {words}", source, measure="precision",
            function="learned_linkage", fixed={"model": model}, costly=True, seconds=seconds,
        )
        for model, words, source, seconds in (
            ("weighted_mean", "weighted mean", "Abril et al. (2012), section 3", 15.0),
            ("choquet", "Choquet integral", "Abril et al. (2012), section 3", 15.0),
            ("bilinear", "bilinear form", "Abril, Torra and Navarro-Arribas (2015)", 20.0),
        )
    ),
    _table("nearest_in_class", "nearest value inside the class", "Holohan et al. (2017), section V-B"),
    _value("homogeneity", "sensitive value of a whole class", _VANHOEF, usual="table"),
    _value("modal_value", "commonest sensitive value of a class", "TCAP: Taub et al. (2018)"),
    _value("skewness", "sensitive value made much more probable", _VANHOEF, usual="table"),
    _value("similarity", "sensitive values alike in a class", _VANHOEF),
    _value("background_knowledge", "sensitive value once others are ruled out", _VANHOEF),
    _value("attribute_inference", "sensitive value by a trained model", "Giomi et al. (2023)"),
    _value(
        "intersection", "intersection of releases", "Vanhoef (2012), Algorithm 3.1", needs="labels sensitive earlier"
    ),
    _place(
        "nearest_place", "nearest place of the same labels", "the simplest intruder on a map", usual="places",
        needs="points",
    ),
    _place("known_mask", "place by the law of the mask", "Kerckhoffs' principle", needs="points method"),
    _place("place_assignment", "places assigned one to one", "global linkage of places", needs="points"),
    _place("spatial_k", "persons within the displacement", "Cassa et al. (2006)", needs="points"),
    _place("repeated_masks", "average of repeated masks", "Cassa et al. (2008)", needs="points earlier"),
    _distance(
        "label_linkage", "linkage by labels alone", "Kroll (2015), section 4", measure="precision", usual="places",
        needs="labels",
    ),
    _distance(
        "common_subgraph", "linkage by labels and distances",
        "Kroll (2015), section 4; with intervals Kroll and Schnell (2016)", measure="precision", usual="places",
        by_pairs=True, costly=True, seconds=25.0,
    ),
    _distance(
        "quasi_clique", "linkage by a nearly consistent match", "Kroll (2015), section 5", measure="precision",
        by_pairs=True, costly=True, seconds=25.0,
    ),
    _distance(
        "reference_sets", "location of all by exact equalities", "beyond Kroll and Schnell (2016)", measure="precision",
    ),
    _distance("registration", "location of all by their shape", "registration of point clouds", measure="precision"),
    _distance(
        "multilateration", "location of records by distances to linked ones", "multilateration from linked records",
        measure="precision",
    ),
    _distance("population", "location by where people live", "beyond Kroll and Schnell (2016)"),
    _network("degree", "number of relations known", "Liu and Terzi (2008)", usual="network"),
    _network("neighbourhood", "relations of the friends known", "Zhou and Pei (2008)", usual="network"),
    _network(
        "coalition", "passive attack of a coalition", "Backstrom et al. (2007); Vanhoef (2012), section 8.9",
        usual="network",
    ),
    _network("passive", "passive attack from every start at hand", "Vanhoef (2012), sections 10.3 and 10.4"),
    _network("propagation", "passive attack from seeds", _PASSIVE),
    _network("seedless_propagation", "passive attack without seeds", _PASSIVE, usual="network"),
    _network("edge_disclosure", "links given away by degrees", "Vanhoef (2012), sections 7.2 and 9.2"),
    _network("spectral_propagation", "passive attack by spectra", "Fan et al. (2019); Vanhoef (2012), section 10.4"),
)  # fmt: skip
