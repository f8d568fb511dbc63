"""Short forms for tests: attack a table whose pairs a column tells, and write a release of one method."""

import numpy as np
import pandas as pd

import reident as rd
from reident.methods.release import LAT, LON, Release
from reident.networks.graph import as_network
from reident.workbench.evaluate import own_order
from reident.workbench.files import with_places
from reident.workbench.microdata import in_columns, is_graph


def records(data, *, kind=None, **given):
    return rd.Dataset(data, **given).records(kind)


def as_release(release, dataset, id=None, lat=None, lon=None):  # noqa: A002
    """Return a release as attacks read it, indexed by the rows of the original, -2 and less for strangers."""
    if is_graph(release):
        network = as_network(release, "release")
        rows = dataset.labels.get_indexer(pd.Index(list(network.nodes)))
        return Release("network", pd.DataFrame(index=pd.Index(rows)), "unknown", {}, len(dataset), network=network)
    if isinstance(release, Release):
        rows = dataset.labels.get_indexer(release.table.index)
        rows = np.where(rows < 0, -2 - np.arange(len(rows)), rows)
        return Release(release.form, release.table.set_axis(rows), release.method, release.options, release.n_original,
                       matrix_km=release.matrix_km, network=release.network)  # fmt: skip
    matrix = None
    if isinstance(release, tuple):
        release, matrix = release
    table = in_columns(with_places(release, lat, lon) if lat in release.columns else release, "release")
    rows = np.arange(len(table)) if id is None else pd.Index(dataset.data[id]).get_indexer(release[id])
    rows = np.where(rows < 0, -2 - np.arange(len(rows)), rows)
    table = table.drop(columns=[] if id is None else [id])
    order = own_order(table)
    form = "distances" if matrix is not None else "points" if {LAT, LON} <= set(table) else "table"
    matrix = None if matrix is None else np.asarray(matrix)[np.ix_(order, order)]
    return Release(form, table.iloc[order].set_axis(rows[order]), "unknown", {}, len(table), matrix_km=matrix)


def attacked(release, original, *, id=None, limit=0.25, attacks=None, seed=0, **given):  # noqa: A002
    """Return the frame of `evaluate` for a release whose column `id` names the pairs; without it they are in order."""
    dataset = rd.Dataset.of(original, **given)
    made = as_release(release, dataset, id, given.get("lat"), given.get("lon"))
    truth = made.table.index.get_indexer(dataset.data.index)
    knowledge = dataset.knowledge(truth, earlier=given.get("earlier", ()))
    return rd.evaluate(made, knowledge, limit=limit, attacks=attacks, seed=seed).frame


def protect_into(
    data, out, *, method=None, options=None, recipe=None, suffix=None, missing="label", keep=(), withhold=(),
    keep_identifiers=False, area=None, candidates=None, public=None, **given,
):  # fmt: skip
    """Write a release of one method, or of a recipe's chain, into a folder; return the folder."""
    inputs = {name: value for name, value in {"area": area, "candidates": candidates}.items() if value is not None}
    if recipe is not None:
        pipeline = rd.Pipeline.of(recipe)
        given.setdefault("recipe", recipe)
        if hasattr(data, "receipts"):
            data = rd.Dataset.of(data, recipe=given.pop("recipe"))
    else:
        pipeline = rd.Pipeline(rd.Step(method, **(options or {})), missing, keep, withhold)
    dataset = rd.Dataset.of(data, **given, public={**inputs, **(public or {})})
    return rd.protect(dataset, pipeline, keep_identifiers=keep_identifiers).save(out, suffix=suffix)
