"""Check a release that anybody made against the original: a verdict that a pipeline can read."""

from __future__ import annotations

import hashlib
import math
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    ParameterError,
    check_instance,
    check_listed,
    check_path,
    check_real,
    check_seed,
    check_several,
    check_table,
    check_text,
)
from reident.methods.attacks import check_attacks
from reident.methods.outcome import Knowledge
from reident.methods.release import Release
from reident.networks.graph import Network, as_network, by_name
from reident.networks.marks import Relations, relations_of
from reident.places.points import check_crs
from reident.tables.labels import texts_of
from reident.workbench.audit import audit_bytes
from reident.workbench.cell_audit import Finding
from reident.workbench.files import part_of, read_like, without_apostrophes, without_impossible_places
from reident.workbench.hierarchies import hierarchies_of
from reident.workbench.identifiers_kept import identifiers_kept, identifiers_of
from reident.workbench.knowledge import priced
from reident.workbench.microdata import is_graph
from reident.workbench.panel import knowledge_of, panel
from reident.workbench.population import population_of, told_of_groups
from reident.workbench.readers import GEOGRAPHIC
from reident.workbench.recipe import Recipe, read_recipe
from reident.workbench.released import Calls, read_any, read_network, read_records, with_marks
from reident.workbench.released_computed import is_read
from reident.workbench.roles import NO_WEIGHT, place_columns, survey_weights, told_of_persons
from reident.workbench.verdict import REFUSING, Verdict

__all__ = ["check"]

#: The share of labels that nobody can read from which on they are told.
_FEW = 0.02
#: The same from which on the column was not judged.
_MOST = 0.5
#: The share of a column's cells that must be values of the original for the column to be released as it is.
_KEPT = 0.99


def check(
    release: Any,
    original: Any,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] | None = None,
    lat: str | None = None,
    lon: str | None = None,
    id: str | None = None,  # noqa: A002 (the word of the command line)
    crs: str | None = None,
    release_crs: str | None = None,
    names: str | Sequence[str] = (),
    release_names: str | Sequence[str] = (),
    table: str | None = None,
    release_table: str | None = None,
    aside: str | Sequence[str] = (),
    person: str | None = None,
    household: str | None = None,
    weight: str | None = None,
    population: float | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    called: Mapping[str, str] | None = None,
    new: str | Sequence[str] = (),
    recipe: Any = None,
    register: Any = None,
    earlier: Sequence[Any] = (),
    network: Any = None,
    limit: float | None = None,
    tolerate: float | None = None,
    out: str | Path | None = None,
    attacks: Sequence[str] | None = None,
    seed: int = 0,
) -> Verdict:
    """Judge a release that anybody made: every attack for which it offers evidence, and an audit of its bytes.

    Passing says that these attacks by an intruder who knows what the original says of everybody put at most the
    tolerated share of persons above the limit. It bounds no other attack.

    Parameters
    ----------
    release : path, or whatever `attack_panel` takes
        A file of any kind that `reident open` reads, or a folder that `reident protect` wrote: then the distances in
        it are attacked too, and the manifest tells the intruder the method. Files are audited by their bytes.
    original : path, DataFrame, GeoDataFrame or graph
        With a graph, whatever `as_network` takes, the release is a network too, or the path of one. Who is who is
        known where it has names of the original, which refuses it; numbers are nobody's names.
    quasi, sensitive, lat, lon, id, hierarchies, network
        As for `attack_panel`.
    crs : str, optional
        What the original's coordinates mean where they are no degrees and its file does not say: then `lat` and `lon`
        name the columns of north and east. Default the recipe's.
    release_crs : str, optional
        The same of the release, and of earlier ones, where it differs.
    names, release_names : str or sequence of str
        What the columns of the original, and of the release, are called where the file has no line of names; default of
        the original's the recipe's.
    table, release_table : str, optional
        The sheet or layer of the original, and of the release, that holds the records; default the recipe's, else the
        one with most in it.
    aside : str or sequence of str
        Sheets or layers of the release that hold no records, such as a legend or `layer_styles`.
    person : str, optional
        The original's column that says which records are one person's, where persons have several: classes are then
        counted in persons, and a person is at risk if one of the records is. Default the recipe's.
    household : str, optional
        The original's column of households: who finds one member finds them all, so that everybody has the risk of the
        member most at risk.
    weight : str, optional
        The original's column of survey weights: for how many persons of the population a record stands, 1 at least.
    population : float, optional
        The size of the population, to which the weights are scaled: normalised ones need it. Default the recipe's.
    called : mapping of str to str, optional
        What columns of the original are called in the release, where they are renamed. Others are found by names that
        differ in their letters only, or by their values; a note says so.
    new : str or sequence of str
        Columns of the release that the original lacks and that say nothing of what an intruder knows: measured
        afterwards, or drawn. Others with many values refuse it where columns that are known are not in it.
    recipe : path or Recipe, optional
        Says what is not named here: the roles of columns, the CRS of places, hierarchies, limit and tolerance.
    register : path or DataFrame, optional
        A public list of the population.
    earlier : sequence of path or table
        Earlier releases of the same persons.
    limit : float, optional
        The tolerable risk of a person; default the recipe's, else 0.25.
    tolerate : float, optional
        The share of persons who may lie above it; default the recipe's, else 0.
    out : path, optional
        A folder for ``verdict.json``.
    attacks, seed
        As for `attack_panel`.

    Returns
    -------
    Verdict

    Raises
    ------
    ParameterError, DataError
        As for `attack_panel`; if a file cannot be read or `out` cannot be written.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [30, 30, 30, 30, 41, 41], "sex": list("ffffmm")})
    >>> found = check(people, people, quasi=["age", "sex"], attacks=["exact_join"])
    >>> found.passed, found.n_above, found.worst
    (False, 2, 0.5)
    """
    unsaid = recipe is None  # then values and names tell what an identifier is
    recipe = Recipe() if unsaid else recipe
    recipe = read_recipe(recipe) if isinstance(recipe, str | Path) else recipe
    check_instance(recipe, "recipe", Recipe, "`read_recipe` gives it")
    if out is not None:
        check_path(out, "out")
    limit = recipe.limit if limit is None else limit
    tolerate = recipe.tolerate if tolerate is None else tolerate
    limit = check_real(limit, "limit", low=0, high=1, why=_percent(limit))
    tolerate = check_real(tolerate, "tolerate", low=0, high=1, why=_percent(tolerate))
    check_seed(seed)
    quasi, sensitive = check_several(quasi, "quasi"), check_several(sensitive, "sensitive") or None
    names, release_names = check_several(names, "names"), check_several(release_names, "release_names")
    roles = _roles(recipe, quasi, sensitive, lat, lon, id)
    roles |= {"crs": check_crs(crs, "crs") or roles["crs"], "release_crs": check_crs(release_crs, "release_crs")}
    check_text(table, "table")
    check_text(release_table, "release_table")
    aside = check_several(aside, "aside")
    roles |= {"release_names": release_names, "release_table": release_table}
    new = check_several(new, "new")
    check_text(person, "person")
    check_text(household, "household")
    check_text(weight, "weight")
    person = person or recipe.first("person")
    household, weight = household or recipe.first("household"), weight or recipe.first("weight")
    if population is not None and weight is None:
        raise ParameterError(NO_WEIGHT)
    population = recipe.population if population is None else population
    named: dict[str, Any] = {name: roles[name] for name in ("lat", "lon", "id", "crs")}
    shown = named | {"crs": roles["release_crs"] or roles["crs"]}
    told: bool | None = isinstance(release, Release) or None
    findings: list[dict[str, Any]] = []
    if recipe.ends and not is_graph(original):
        original = relations_of(read_records(original, recipe.reading), recipe.ends, "original")
    marks = pd.DataFrame()
    if isinstance(original, Relations):
        original, marks = original.network, original.marks
    if is_graph(original):
        network = by_name(as_network(original, "original"))
        said, theirs = read_network(release)
        said, judged, marked = with_marks(said, theirs, marks.reindex(list(network.nodes)))
        data, roles["quasi"] = judged, list(judged.columns)
        calls = Calls(data, roles, called)
        calls.told += marked
        findings = _names_kept(said, network)
        told = bool(findings)
    else:
        data = check_table(read_records(original, _reading(recipe, original, crs, names, table)), "original")
        if crs is not None and lat is None and not hasattr(data, "to_crs") and recipe.places is None:
            raise ParameterError(
                f"`crs` must come with `lat` and `lon`, the columns of north and east, got {crs!r} alone"
            )
        impossible = (recipe.places or {}).get("impossible", "leave out")
        judged = data = without_impossible_places(data, named["lat"], named["lon"], named["crs"], impossible)
        if not unsaid and recipe.shapes(data) and data.geometry.name not in recipe.named("place"):
            judged = pd.DataFrame(data.drop(columns=data.geometry.name))
        calls = Calls(judged, roles | {"person": person, "household": household}, called, new)
        said = read_any(release, shown, calls)
        if calls.unmet:
            raise ParameterError(f"`new` must name columns of the release, got {sorted(map(str, calls.unmet))}")
    before = [read_any(one, shown, calls) for one in check_listed(earlier, "earlier")]
    if hierarchies is None:
        hierarchies = hierarchies_of(recipe.hierarchies(), pd.DataFrame(data))
    known = knowledge_of(
        calls.known_of(without_apostrophes(judged)), said, quasi=calls.quasi, sensitive=roles["sensitive"],
        person=person, household=household, weight=weight, population=population, hierarchies=hierarchies,
        network=network, register=calls.register(read_records(register)), earlier=before, told=told, **named,
    )  # fmt: skip
    attacks, path = check_attacks(attacks), Path(release) if isinstance(release, str | Path) else None
    if path is not None and not is_graph(original):
        released = None
        if path.is_file() and (release_names or release_table):
            released = read_like(path, data, names=release_names, table=release_table)
        found_there = audit_bytes(path, data, released, lat=named["lat"], lon=named["lon"], aside=aside)
        findings = [one.as_dict() for one in found_there]
    found = panel(said, known, limit=limit, names=attacks, seed=seed)
    if not is_graph(original):
        who, listed = pd.DataFrame(data), roles["sensitive"] or ()
        others = {*known.quasi, *listed, *named.values(), household, weight, person}
        if unsaid:
            keys = identifiers_of(who, others)
        else:
            keys = [name for name in recipe.named("identifier") if name in who.columns and name not in others]
        keys += [person] if person is not None and person not in known.quasi else []
        findings = findings + identifiers_kept(who, pd.DataFrame(said.table), keys)
    unread, unknown = _unread(known, said)
    findings = findings + unknown + calls.findings
    share = found.share_above_limit
    stands_for = population_of(said, known, found, limit)
    receipt = "" if weight is None else survey_weights(data[weight], population)[1]
    verdict = Verdict(
        passed=share <= tolerate and not any(one["kind"] in REFUSING for one in findings),
        share_above_limit=share,
        n_above=math.ceil(share * len(found.persons) - 1e-9),
        n=len(found.persons),
        worst=found.worst,
        limit=limit,
        tolerate=tolerate,
        attacks=found.attacks,
        persons=found.persons,
        findings=findings,
        notes=[
            *_notes(known, said, found.attacks, path, calls.computed_from, unread),
            *([] if is_graph(original) or known.has_places else _unasked_places(data)),
            *([] if is_graph(original) else _unnamed(who, said.table, {*others, *keys, *new, *recipe.keep})),
            *calls.told,
            *([] if is_graph(original) else told_of_persons(pd.DataFrame(data), person)),
            *told_of_groups(known, found, stands_for, limit, receipt),
        ],
        seed=seed,
        knowledge=priced(said, known, limit=limit),
        population=stands_for,
        release_sha256="" if path is None or not path.is_file() else hashlib.sha256(path.read_bytes()).hexdigest(),
    )
    if out is not None:
        verdict.save(out)
    return verdict


def _reading(
    recipe: Recipe, original: Any, crs: str | None, names: str | Sequence[str], table: str | None
) -> Mapping[str, Any]:
    """Return how the original's file is read: as the recipe and what is named say, one without a CRS by it."""
    geographic = isinstance(original, str | Path) and Path(original).suffix.lower() in GEOGRAPHIC
    told = {"crs": crs} if geographic and crs is not None else {}
    told |= part_of(Path(original), table) if isinstance(original, str | Path) else {}
    return {**recipe.reading, **told, **({"names": names} if names else {})}


def _percent(value: Any) -> str:
    small = isinstance(value, int | float) and 1 < value <= 100
    return f"did you mean {value / 100:g}?" if small else ""


def _roles(
    recipe: Recipe,
    quasi: Any,
    sensitive: Any,
    lat: str | None,
    lon: str | None,
    id: str | None,  # noqa: A002
) -> dict[str, Any]:
    """Return who is what: what is named here, else what the recipe says."""
    places = recipe.places if recipe.places and lat is None and lon is None else {"lat": lat, "lon": lon}
    return {
        "quasi": quasi or recipe.named("quasi-identifier"),
        "sensitive": sensitive or recipe.named("sensitive"),
        "id": id,
        **{name: places.get(name) for name in ("lat", "lon", "crs")},
    }


def _names_kept(release: Release, network: Network) -> list[dict[str, Any]]:
    """Find nodes that are released under their names: texts, since numbers are given anew."""
    assert release.network is not None
    named = {name for name in network.nodes if isinstance(name, str)}
    kept = sum(name in named for name in release.network.nodes)
    if not kept:
        return []
    finding = Finding("release", "nodes", "hidden value", (), kept, f"{kept} nodes are released under their names")
    return [finding.as_dict()]


def _notes(
    knowledge: Any,
    release: Release,
    attacks: pd.DataFrame,
    path: Path | None,
    told_anew: Collection[Any],
    unread: Sequence[str],
) -> list[str]:
    """Say what the verdict does not cover."""
    told = [
        "The intruder is given what the original says about everybody in it, exactly; these attacks bound no other one."
    ]
    if knowledge.truth is None:
        told.append(
            "Without an id nobody can tell who is who: confidence is judged, right claims cannot be told from wrong "
            "ones, and attacks whose confidence rests on true pairs were not run."
        )
    else:
        absent = int((knowledge.truth < 0).sum())
        if absent:
            told.append(f"{absent} persons of the original are not in the release: their risk is not counted.")
    told += unread
    missing = [name for name in knowledge.quasi if name not in release.table.columns and name not in told_anew]
    if missing:
        told.append(f"Not in the release, so no evidence: {', '.join(map(str, missing))}.")
    sampled = attacks[
        attacks["n"].notna() & (attacks["n"] < knowledge.who[knowledge.present].nunique()) & (attacks["what"] != "link")
    ]
    if len(sampled):
        named = ", ".join(f"{row['name']} ({row['n']})" for _, row in sampled.iterrows())
        told.append(f"Run on a sample of the persons or on those whom the attack concerns: {named}.")
    if release.network is not None:
        told.append(
            "Directions and other columns of a list of relations are joined as counts and values of each person; the "
            "attacks on the structure see none: who follows directions from person to person finds more."
        )
    if path is None and release.network is None:
        told.append("The release was given as a table: no bytes were audited.")
    return told


def _unnamed(original: pd.DataFrame, released: pd.DataFrame, named: Collection[Any]) -> list[str]:
    """Name the columns that are released as they are, and of which nobody says that others know them or must not."""
    shared = [name for name in original.columns if name in released.columns and name not in named]
    shared = [name for name in shared if original[name].dtype.name != "geometry"]
    exact = []
    for name in shared:
        own, shown = texts_of(original[name]).dropna().unique(), texts_of(released[name]).dropna()
        if len(own) > 1 and len(shown) and shown.isin(own).mean() > _KEPT:
            exact.append(str(name))
    if not exact:
        return []
    return [
        f"Released as they are and named neither as quasi-identifiers nor as sensitive, so no attack uses them: "
        f"{', '.join(exact)}. Who knows one finds more: --quasi names what others may know, --sensitive what they must "
        "not learn."
    ]


def _unread(knowledge: Knowledge, release: Release) -> tuple[list[str], list[dict[str, Any]]]:
    """Name the labels that stand for no value that can be told; a column that nobody can read is a finding.

    They are no evidence to who cannot read them, and nobody can say what they are to who can.
    """
    told, found = [], []
    for name, column in knowledge.compared(release).items():
        if column.label_of is not None:
            read = np.isin(column.theirs, column.label_of)
        else:
            read = np.atleast_1d(np.any(np.asarray(column.covers), axis=0))[column.theirs]
        labels, own = release.table[name][~read], knowledge.known[name]
        if pd.api.types.is_numeric_dtype(own):  # noise on numbers is no label
            digits = pd.to_numeric(labels.astype(object), errors="coerce").notna()
            labels = labels[~digits | (not is_read(release.table[name], own))]
        labels = labels.dropna()
        if len(labels) <= _FEW * len(release.table):
            continue
        sentence = (
            f"{name}: {len(labels)} labels of the release, such as {str(labels.iloc[0])!r}, stand for no value of "
            "the original that can be told, and are no evidence to a join: a hierarchy of the column in the recipe "
            "says what they stand for."
        )
        told.append(sentence)
        if len(labels) > _MOST * release.table[name].notna().sum():
            found.append(Finding("release", "cells", "unread column", (name,), len(labels), sentence).as_dict())
    return told, found


def _unasked_places(original: Any) -> list[str]:
    """Say that the original has places, where nobody says that an intruder knows them."""
    found = place_columns(pd.DataFrame(original))
    if found is None:
        return []
    lat, lon = (shlex.quote(str(found[name])) for name in ("lat", "lon"))
    crs = "" if found["crs"] == "EPSG:4326" else f" --crs {found['crs'] or 'EPSG:...'}"
    said = f"--lat {lat} --lon {lon}{crs}"
    return [f"The original has places, which nobody is said to know: {said} lets them be attacked."]
