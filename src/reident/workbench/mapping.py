"""One map for any methods, attacks and analyses of the registry."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from reident._old_sweep import grid
from reident.workbench.map_plan import Plan
from reident.workbench.microdata import microdata
from reident.workbench.planning import Spec, plan
from reident.workbench.release_trial import run_release

__all__ = ["claims", "risk_utility"]


def risk_utility(
    data: Any,
    methods: Sequence[Spec] | None = None,
    attacks: Sequence[Spec] | None = None,
    utilities: Sequence[Spec] | None = None,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | None = None,
    kind: str | None = None,
    n_known: int | None = None,
    overlap: float | None = None,
    n_released: int | None = None,
    limit: float = 0.25,
    known: Any = None,
    area: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
    epsilon_quasi: str | Sequence[str] = (),
    public: Mapping[str, Any] | None = None,
    repetitions: int = 10,
    seed: int = 0,
    jobs: int = 1,
    scheduler: str | None = None,
    folder: str | Path | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Protect data by several methods over a grid, attack every release, and return the points of a map.

    In each repetition persons are drawn from the data into two files: one is released, the other is what the intruder
    knows, and only a stated share of the intruder's persons is in the release. All methods see the same files, and the
    intruder knows the method and its parameters (not its random numbers). What is measured is the success of these
    attacks by this intruder; it is no bound for others.

    Parameters
    ----------
    data : GeoDataFrame, DataFrame or graph
        Points with a CRS, a table with the columns ``lat_deg`` and ``lon_deg``, a table, or a network: whatever
        `as_network` takes.
    methods, attacks, utilities : sequence of str or mapping, optional
        Names in the registry (`reident.methods.methods_table`), or mappings with "name" and a value, for methods also
        a list of values, a parameter: ``{"name": "coordinate_noise", "sigma_deg": [0.01, 0.05]}``. A method that is
        only named is tried over the registry's grid, its lengths scaled to the data. Default: all that fit the data.
        Attacks of any kind of data may be named; a release that offers one no evidence has no point in its panel.
        All take the option ``measure``, what is shown as the risk: "risk" (success by person in the release),
        "precision" (how many claims are right; the default of linkages) or "recall" (how many persons are found). The
        attack by distances takes ``alpha``, the share of deviations it tolerates.
    quasi : str or sequence of str
        The columns that the intruder knows. Places are known in any case.
    sensitive : str, optional
        The column that attacks on classes try to learn.
    kind : {"places", "table", "network", "queries"}, optional
        Default: "places" if the data have them, "network" for a graph. "queries" releases no records of a table but
        answers to counting queries about every two columns; methods for tables may be named beside.
    n_known : int, optional
        Persons that the intruder knows. Default: such that the attack by distances stays searchable, else a quarter
        of the records, at most 500.
    overlap : float, default 0.5
        The share of these persons who are in the release. Of a network all persons and relations are known by default.
    n_released : int, optional
        Records released in each repetition, drawn from the data. Default: all that are not kept for the intruder; for
        the attack by distances such that its product graph has about 2,500 vertices.
    limit : float, default 0.25
        The tolerable risk of a person: the columns ``above`` and ``above_high`` tell the share of persons above it.
    known : GeoDataFrame or DataFrame, optional
        The intruder's real file instead of a simulated one; equal index labels tell who is who.
    area : polygon, optional
        Where reference places of an embedding are drawn. Short for ``public={"area": ...}``.
    hierarchies : mapping of str to Hierarchy, optional
        For generalisation; made automatically by default.
    epsilon_quasi : str or sequence of str
        Numeric quasi-identifiers that "k_epsilon" gives noise instead of generalising them.
    public : mapping of str to object, optional
        What methods need beside the data and is public: "candidates" of a swap, the "area" of an embedding. Where it
        is lacking, a method that is named is an error, and one that is not is left out: see ``attrs["left_out"]``.
    repetitions, seed, jobs, scheduler, folder, progress
        As for `reident._old_sweep.grid.run`: `folder` keeps finished trials, never the data.

    Returns
    -------
    DataFrame
        As `reident.ru_frame`, one panel a pair of attack and utility, with the anchors "original" and "nothing
        released", and the columns ``setting`` (all options as JSON), ``precision``, ``recall``, ``incomplete``
        (share of repetitions whose search ended at its limit; the risk is then what the best match so far gave),
        ``above`` and ``above_high`` (share of persons above the limit: the mean, and what one release in twenty
        exceeds), ``baseline`` (the success of guessing).
        ``attrs["left_out"]`` tells which methods were left out, and why; so of attacks that say nothing about any
        release.

    Raises
    ------
    ParameterError, DataError
        Before anything runs, if a name, a parameter or a column is wrong or the sizes do not fit.

    Warns
    -----
    UserWarning
        If an attack that is named says nothing about any release.

    Notes
    -----
    Duncan, Keller-McNulty and Stokes (2001). For a published map take 30 or more repetitions.
    """
    described = microdata(
        data, quasi=quasi, sensitive=sensitive, kind=kind, area=area, hierarchies=hierarchies, known=known,
        epsilon_quasi=epsilon_quasi, public=public,
    )  # fmt: skip
    made = plan(
        described, methods, attacks, utilities, n_known=n_known, overlap=overlap, n_released=n_released, limit=limit
    )
    made.check_public({**({} if area is None else {"area": area}), **(public or {})})
    trials = made.run(
        repetitions=repetitions, seed=seed, jobs=jobs, scheduler=scheduler, folder=folder, progress=progress
    )
    if attacks:
        for name, why in made.silent(trials).items():
            warnings.warn(f"`{name}` says nothing about any of these releases: {why}", UserWarning, stacklevel=2)
    return made.frame(trials)


def claims(made: Plan, trials: pd.DataFrame, row: int, *, seed: int = 0) -> dict[str, pd.DataFrame]:
    """Run one trial again and return what each attack claimed: links with the column ``right``, or breached records."""
    trial = trials.iloc[row]
    params = {
        "method": trial["method"],
        "options": trial["options"],
        "attacks": made.attacks,
        "utilities": [],
        "intruder": asdict(made.intruder),
        "limit": made.limit,
    }
    return run_release(made.data, params, grid.trial_rng(seed, trial["seed_key"]))[1]
