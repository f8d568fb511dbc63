"""Every attack by name; each takes a release and the intruder's knowledge, and returns claims about persons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reident.methods._entry import Entry

_VANHOEF = "Vanhoef (2012), section 3.3.2"
_LEARNED = "Abril et al. (2012), section 3"
_BILINEAR = "Abril, Torra and Navarro-Arribas (2015)"
_PASSIVE = "Narayanan and Shmatikov (2009); Vanhoef (2012), chapter 10"


def _of(data: str, module: str, needs: str = "") -> Callable[..., Entry]:
    """Return a maker of entries for a kind of data; links are read by the share of claims that are right."""

    def entry(name: str, label: str, source: str, measure: str = "", **fields: Any) -> Entry:
        return Entry(
            name, "attack", data, f"methods.attacks_{module}:{name}", "claims", source=source, label=label,
            takes="release knowledge", start={"measure": measure} if measure else {}, needs=fields.pop("needs", needs),
            **fields,
        )  # fmt: skip

    return entry


_table, _value = _of("table", "tables"), _of("table", "values", "sensitive")
_place, _network, _query = _of("places", "places"), _of("network", "networks"), _of("queries", "answers", "sensitive")
_distance, _link = _of("places", "distances"), _of("network", "links")


#: In the order in which a panel lists them. Links are read by the share of claims that are right, unless asked else.
ATTACKS: tuple[Entry, ...] = (
    _table(
        "exact_join", "join by all that was left as it was", "Sweeney (2002); the simplest intruder",
        usual="places table", needs="labels",
    ),
    _table("class_risk", "re-identification inside classes", "El Emam and Dankar (2008)", usual="table"),
    _of("table", "households")(
        "household_join", "whole households at once", "household risk, Hundepool et al. (2012)", needs="households"
    ),
    _table(
        "register_join", "look-up in a register", "the journalist's risk, El Emam and Dankar (2008)", needs="register"
    ),
    _table("nearest_record", "nearest record, numbers and categories", "Gower (1971)", usual="table"),
    _table("record_assignment", "records assigned one to one", "Herranz et al. (2015)"),
    _table("record_linkage", "linkage to the nearest record", "Abril et al. (2012), section 2.1", measure="precision"),
    _table(
        "probabilistic_linkage", "probabilistic linkage", "Fellegi and Sunter (1969)", measure="precision", costly=True,
        seconds=30.0,
    ),
    _table(
        "weighted_mean_linkage", "linkage by a learned weighted mean", _LEARNED, measure="precision", costly=True,
        seconds=15.0,
    ),
    _table(
        "choquet_linkage", "linkage by a learned Choquet integral", _LEARNED, measure="precision", costly=True,
        seconds=15.0,
    ),
    _table(
        "bilinear_linkage", "linkage by a learned bilinear form", _BILINEAR, measure="precision", costly=True,
        seconds=20.0,
    ),
    _table("nearest_in_class", "nearest value inside the class", "Holohan et al. (2017), section V-B"),
    _value("homogeneity", "sensitive value of a whole class", _VANHOEF, usual="table"),
    _value("modal_value", "commonest sensitive value of a class", "TCAP: Taub et al. (2018)"),
    _value("skewness", "sensitive value made much more probable", _VANHOEF, usual="table"),
    _value("similarity", "sensitive values alike in a class", _VANHOEF),
    _value("background_knowledge", "sensitive value once others are ruled out", _VANHOEF),
    _value("attribute_inference", "sensitive value by a trained model", "Giomi et al. (2023)"),
    _value("minimality", "what an optimal generalisation gives away", "Wong et al. (2007)", needs="sensitive method"),
    _value("intersection", "intersection of releases", "Vanhoef (2012), Algorithm 3.1", needs="sensitive earlier"),
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
    _network("planted_subgraph", "active attack by planted nodes", "Backstrom et al. (2007); Vanhoef (2012), ch. 8"),
    _network(
        "coalition", "passive attack of a coalition", "Backstrom et al. (2007); Vanhoef (2012), section 8.9",
        usual="network",
    ),
    _network("passive", "passive attack from every start at hand", "Vanhoef (2012), sections 10.3 and 10.4"),
    _network("propagation", "passive attack from seeds", _PASSIVE),
    _network("seedless_propagation", "passive attack without seeds", _PASSIVE, usual="network"),
    _link("edge_disclosure", "links given away by degrees", "Vanhoef (2012), sections 7.2 and 9.2"),
    _network("spectral_propagation", "passive attack by spectra", "Fan et al. (2019); Vanhoef (2012), section 10.4"),
    _link("likely_links", "links guessed back", "Vanhoef (2012), section 9.9"),
    _link("dropped_edges", "added links undone", "Vanhoef (2012), section 9.9"),
    _query("query_differences", "difference of answers", "Vanhoef (2012), section 3.2", usual="queries"),
    _query("repeated_queries", "average of repeated answers", "Vanhoef (2012), section 3.2", usual="queries"),
    _query("table_from_answers", "a table that explains the answers", "Dinur and Nissim (2003)", usual="queries"),
)  # fmt: skip
