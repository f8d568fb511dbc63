"""Pipeline and Release: apply registered methods, count guarantees on the released cells, keep the pairs apart."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import reident
from reident.base import (
    DataError,
    IntArray,
    ParameterError,
    RNGLike,
    check_choice,
    check_columns,
    check_flag,
    check_rng,
    check_several,
    publish_folder,
    system_rng,
)
from reident.methods import release as attacked
from reident.methods.forms import check_public_used
from reident.networks.files import write_graph
from reident.networks.graph import Network
from reident.networks.perturbation import naive_anonymise
from reident.workbench.composition import class_sizes
from reident.workbench.dataset import Dataset
from reident.workbench.evaluate import as_attacked
from reident.workbench.files import WRITTEN, write_file
from reident.workbench.making import MISSING, Made, Step, make
from reident.workbench.microdata import LAT, LON, in_columns, without_geometry
from reident.workbench.protecting import RANDOM_NUMBERS, manifest_of, refuse_identifiers, released_columns
from reident.workbench.readers import GEOGRAPHIC


@dataclass
class Pipeline:
    """Steps in their order, the policy for missing values, and columns that are released or left out as they are.

    Attributes
    ----------
    steps : sequence of Step
    missing : {"label", "wildcard", "drop", "suppress"}
        What becomes of missing values in the columns that a step changes.
    keep : sequence of str
        Further columns, released as they are.
    withhold : sequence of str
        Columns to leave out of the release, whatever their role.
    """

    steps: Sequence[Step]
    missing: str = "label"
    keep: Sequence[str] = ()
    withhold: Sequence[str] = ()

    def __post_init__(self) -> None:
        steps = [self.steps] if isinstance(self.steps, Step) else self.steps
        if not isinstance(steps, Sequence) or not all(isinstance(step, Step) for step in steps):
            raise ParameterError(f"`steps` must be steps, as `Step` makes them, got {steps!r}")
        self.steps = list(steps)
        check_choice(self.missing, "missing", MISSING)
        self.keep, self.withhold = check_several(self.keep, "keep"), check_several(self.withhold, "withhold")
        if not self.steps:
            raise ParameterError("`steps` must have at least one step: name a method, or take the recipe of `assess`")

    @classmethod
    def of(cls, steps: Any, chosen: Sequence[Step] = ()) -> Pipeline:
        """Return a pipeline: as it is, of steps, or of a recipe, with its chain or the chosen steps."""
        if isinstance(steps, Pipeline):
            return steps
        if hasattr(steps, "chain"):
            return cls(chosen or list(map(Step.of, steps.chain)), steps.missing_values, steps.keep, steps.withhold)
        return cls(steps)


@dataclass(frozen=True, eq=False)
class Release(attacked.Release):
    """A release as attacks read it, with the written cells, their guarantees, and the pairs.

    Attributes
    ----------
    dataset : Dataset
        The confidential records.
    cells : DataFrame or GeoDataFrame
        The released cells under the original's names, in the order of the release.
    manifest : mapping
        What may be published about the release.
    rows : ndarray of int64
        The original row of each released row: confidential. `save` writes it beside the release, never inside.
    """

    dataset: Dataset = field(repr=False, default=None)  # type: ignore[assignment]
    cells: Any = field(repr=False, default=None)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    rows: IntArray = field(repr=False, default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def guarantee(self) -> str:
        """The guarantees, counted on the released cells."""
        return self.manifest["guarantee"]

    @property
    def pairs(self) -> pd.DataFrame:
        """The original row and the released row of each record; of a network the names of each node."""
        if self.network is not None:
            return pd.DataFrame(
                {"original_node": self.dataset.names[self.rows], "released_node": list(self.network.nodes)}
            )
        return pd.DataFrame({"original_row": self.rows, "released_row": np.arange(len(self.rows))})

    def save(self, folder: str | Path, *, suffix: str | None = None) -> Path:
        """Write the release and its manifest into a new folder, and the pairs beside it (mode 0600).

        Parameters
        ----------
        folder : path
            It must not exist yet.
        suffix : str, optional
            The kind of file: ".csv", ".parquet", ".xlsx", ".gpkg". Default: that of the original file, where a release
            can be of that kind.

        Returns
        -------
        Path
            The folder.
        """
        target, pairs = Path(folder), pairs_path(folder)
        for path in (target, pairs):
            if path.exists():
                raise ParameterError(f"`out` must not exist yet, got {str(path)!r}: a release is never overwritten")
        kind = check_choice(suffix or self._kind(), "suffix", WRITTEN)
        manifest = dict(self.manifest)
        manifest["receipts"] = list(manifest.get("receipts", []))
        if kind in GEOGRAPHIC and not hasattr(self.cells, "to_crs"):
            manifest["receipts"].append(f"no place is released: a CSV file, not {kind}")
            kind = ".csv"

        def fill(temporary: Path) -> None:
            if isinstance(self.network, Network):
                write_graph(self.network, temporary / "release.csv")
            else:
                opened = self.dataset.opened
                manifest["receipts"] += write_file(
                    self.cells, temporary / f"release{kind}", None if opened is None else opened.source
                )
            if self.matrix_km is not None:
                np.save(temporary / "distances_km.npy", self.matrix_km, allow_pickle=False)
            text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
            (temporary / "manifest.json").write_text(text, "utf-8")

        publish_folder(target, fill)
        try:
            number = os.open(pairs, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(number, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([list(self.pairs), *self.pairs.itertuples(index=False)])
        except OSError as error:
            raise DataError(f"the pairs could not be written to {str(pairs)!r}: {error}") from error
        return target

    def _kind(self) -> str:
        if self.network is not None:
            return ".csv"
        opened = self.dataset.opened
        kind = f".{opened.source['kind']}" if opened is not None else ""
        return kind if kind in WRITTEN else ".gpkg" if hasattr(self.cells, "to_crs") else ".csv"


def pairs_path(folder: str | Path) -> Path:
    """Return where the pairs of a release lie: beside it, never inside."""
    path = Path(folder)
    path = path if path.name not in ("", "..") else path.resolve()
    return path.with_name(f"{path.name}.pairs.csv")


def protect(
    data: Any, pipeline: Any, *, rng: RNGLike | None = None, keep_identifiers: bool = False, **keywords: Any
) -> Release:
    """Apply a pipeline to a data set, and count its guarantees on the released cells.

    Every draw comes from ChaCha20 under a key of the operating system, unless `rng` is given (for simulations).
    Records are shuffled and lose their index; columns that are neither known to intruders nor sensitive nor kept are
    left out. Whether the release is safe enough is not judged here: see `check`.

    Parameters
    ----------
    data : Dataset, or a table, file or network with the keywords of `Dataset`
        Not modified.
    pipeline : Pipeline, Step, sequence of Step, or Recipe
    rng : Generator or int, optional
    keep_identifiers : bool
        Whether `keep` may name columns that tell who a record is.
    **keywords
        Keywords of `Dataset`, such as ``quasi``.

    Returns
    -------
    Release
        Nothing is written yet: `Release.save` does.

    Raises
    ------
    ParameterError, DataError
        If a step cannot be applied, leaves no record, or its promise does not hold of the released cells; if an
        identifier would be released.

    Examples
    --------
    >>> people = Dataset(pd.DataFrame({"age": [30, 31, 33, 41, 42, 47, 52, 58]}), quasi="age")
    >>> protect(people, Step("mondrian", k=4), rng=1).guarantee
    'every released record shares age with at least 3 others, counted on the released cells'
    """
    dataset, pipeline = Dataset.of(data, **keywords), Pipeline.of(pipeline)
    source = None if rng is None else check_rng(rng)
    if dataset.network is not None and not len(dataset.data.columns):
        return _protect_network(dataset, pipeline, source)
    check_public_used(dataset.public, [step.entry for step in pipeline.steps])
    for name in ("withhold", "keep"):
        check_columns(dataset.data, getattr(pipeline, name), name, table_name="data", min_columns=0)
    shown = dataset.without(pipeline.withhold)
    others = [*shown.sensitive, *pipeline.keep]
    if not check_flag(keep_identifiers, "keep_identifiers"):
        refuse_identifiers(dataset, list(dict.fromkeys(others)))
    result = make(shown, pipeline.steps, missing=pipeline.missing, rng=source)
    released = released_columns(dataset, result, [*shown.quasi, *others])
    order = (source or system_rng()).permutation(len(released))
    manifest = manifest_of(dataset, result, released)
    manifest["guarantee"] += _with_place(result, dataset, released)
    return Release(
        **vars(as_release(result, pipeline.steps, len(dataset), [*released], order)), dataset=dataset,
        cells=released.iloc[order].reset_index(drop=True), manifest=manifest,
        rows=released.index.to_numpy(np.int64)[order],
    )  # fmt: skip


def as_release(
    result: Made, steps: Sequence[Step], n_original: int, names: Collection[str], order: IntArray | None = None
) -> attacked.Release:
    """Return the named columns of the result of a chain as attacks read them, with places that were moved.

    `order` is that of the rows; default: by their cells.
    """
    if result.network is not None:
        step = steps[0]
        return attacked.Release(
            "network", result.table, step.entry.name, step.settings, n_original, network=result.network
        )  # fmt: skip
    table, moved = result.table, result.places == "moved"
    table = in_columns(table, "release") if moved else without_geometry(table)
    listed = [name for name in table.columns if name in names and name not in (LAT, LON)]
    table = pd.DataFrame(table[[*listed, *([LAT, LON] if moved else [])]])
    law = next((step for step in steps if step.entry.data == "places"), steps[-1])
    return as_attacked(table, law.entry.name, law.settings, n_original, matrix_km=result.matrix_km, order=order)


def _protect_network(dataset: Dataset, pipeline: Pipeline, rng: Any) -> Release:
    """Release a network as an edge list under random numbers."""
    rng = rng or system_rng()
    result = make(dataset, pipeline.steps, rng=rng)
    renamed = naive_anonymise(result.network, rng=rng)
    manifest = {
        "chain": result.done,
        "guarantee": result.done[0]["guarantee"],
        "nodes_released": renamed.network.n_nodes,
        "edges_released": renamed.network.n_edges,
        "random_numbers": RANDOM_NUMBERS,
        "order": "nodes renamed at random",
        "made_with": f"reident {reident.__version__}",
    }
    new_names = [renamed.mapping[node] for node in result.network.nodes]
    rows = pd.Series(result.table.index, new_names)[list(renamed.network.nodes)].to_numpy(np.int64)
    step, table = pipeline.steps[0], pd.DataFrame(index=rows)
    return Release(
        "network", table, step.entry.name, step.settings, len(dataset), network=renamed.network, dataset=dataset,
        manifest=manifest, rows=rows,
    )  # fmt: skip


def _with_place(result: Made, dataset: Dataset, released: Any) -> str:
    """Say how many records share their class and their place, where both are released."""
    columns = [name for name in dataset.quasi if name in released.columns]
    counted = any("counted on the released cells" in step["guarantee"] for step in result.done)
    if result.places != "moved" or not counted or not columns:
        return ""
    least = class_sizes(in_columns(result.table, "release")[[*columns, LAT, LON]]).min()
    return f"; together with its place a record shares {', '.join(map(str, columns))} with at least {least - 1} others"
