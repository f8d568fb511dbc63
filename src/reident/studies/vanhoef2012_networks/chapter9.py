"""The thesis's statements about figures 9.6 to 9.18, each judged on the graphs that it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reident.studies.comparison import PUBLIC, Reading, held, held_in_all, stand_in
from reident.studies.vanhoef2012_networks.graphs import STAND_INS

__all__ = ["same_runs", "statements"]

Frames = Mapping[str, pd.DataFrame]
#: An effect, positive as it is stated, or its 95 % interval over the runs.
Effect = float | tuple[float, float]
#: Whether a statement holds, or its effect in each of several settings, and what it is judged by.
Verdict = tuple[bool | list[Effect], str]

_LEVEL = 1.96  # standard errors on either side of what an average of runs says

_SIMUL, _RELAXED, _SUPER = "simultaneous", "relaxed", "supergraph"
_SOCIAL = ("caltech36", "bowdoin47")
_ALL = ("enron", "powergrid", *_SOCIAL)


def statements(frames: Frames) -> list[Reading]:
    """Return a reading a statement: judged where its graphs were run, else not comparable.

    One graph that is a stand-in makes a statement about several one about a stand-in.
    """
    rows = []
    for item, frame, graphs, judge in _STATEMENTS:
        if set(graphs) <= set(frames[frame]["graph"]):
            found, note = judge(frames[frame])
            reading = held_in_all(item, found, note) if isinstance(found, list) else held(item, found, note)
            rows.append(replace(reading, got=PUBLIC) if set(graphs) & set(STAND_INS) else reading)
        else:
            note = f"needs {', '.join(graphs)} (REIDENT_DATA, profile full)"
            rows.append(stand_in(Reading(item, "not run", note=note)))
    return rows


def same_runs(probing: pd.DataFrame) -> pd.DataFrame:
    """Keep the graphs and k at which every run of every scheme finished: averages compare over the same runs."""
    return probing[probing.groupby(["graph", "k"])["finished"].transform("all")]


def _told(values: Mapping[str, float], digits: int = 3) -> str:
    return ", ".join(f"{name} {value:.{digits}g}" for name, value in values.items())


def _told_effects(effects: list[Effect]) -> str:
    """Return intervals in words."""
    return ", ".join(f"{one[0]:.3g} to {one[1]:.3g}" if isinstance(one, tuple) else f"{one:.3g}" for one in effects)


# -- figures 9.6 and 9.7: cost of the degree programme ---------------------------------------------------------------


def _deletions_help(costs: pd.DataFrame) -> Verdict:
    wide = costs.pivot_table(index=["graph", "k"], columns="deletions", values="l1")
    share = (wide[True].groupby("graph").sum() / wide[False].groupby("graph").sum()).to_dict()
    return max(share.values()) <= 0.5, f"cost with deletions over cost without: {_told(share)}; greatly: half at most"


def _power_grid_is_easier(costs: pd.DataFrame) -> Verdict:
    both = costs[costs["deletions"]].pivot_table(index="k", columns="graph", values="l1")
    grid, american = both["powergrid"], both["american75"]
    return bool((grid < american).all()), f"mean cost {grid.mean():.0f} against {american.mean():.0f}, at every k"


# -- figures 9.8 to 9.13: probing schemes ----------------------------------------------------------------------------


def _excess(probing: pd.DataFrame, *graphs: str) -> pd.DataFrame:
    """Return the mean L1 above the optimum: graph and k by scheme."""
    chosen = same_runs(probing)
    return chosen[chosen["graph"].isin(graphs)].pivot_table(
        index=["graph", "k"], columns="scheme", values="l1_above_optimum"
    )


def _rise(probing: pd.DataFrame, graph: str) -> float:
    """Return scheme 1's mean excess at the larger half of k over that at the smaller half; k = 2 and 3 left out."""
    excess = _excess(probing, graph)["1"].loc[graph]
    excess = excess[excess.index > 3]
    half = len(excess) // 2
    return float(excess.iloc[half:].mean() / max(excess.iloc[:half].mean(), 1.0))


def _little_effect_of_k(probing: pd.DataFrame) -> Verdict:
    rises = {graph: _rise(probing, graph) for graph in ("enron", "powergrid")}
    return max(rises.values()) < 2, f"excess at the larger k over that at the smaller: {_told(rises)}; little: below 2"


def _grows_with_k(probing: pd.DataFrame) -> Verdict:
    rise = _rise(probing, "caltech36")
    return rise >= 2, f"Caltech: excess at the larger k is {rise:.2g} times that at the smaller; grows: at least 2"


def _scheme_2_at_2_and_3(probing: pd.DataFrame) -> Verdict:
    low = _excess(probing, "enron", "powergrid", "caltech36").query("k <= 3")
    return bool((low["2"] > low["1"]).all()), "; ".join(
        f"{graph} k = {k}: {row['2']:.0f} against {row['1']:.0f}" for (graph, k), row in low.iterrows()
    )


def _scheme_2_now_better_now_worse(probing: pd.DataFrame) -> Verdict:
    excess = _excess(probing, "powergrid", "caltech36")
    better = (excess["2"] < excess["1"]).groupby("graph").sum()
    worse = (excess["2"] > excess["1"]).groupby("graph").sum()
    return bool(
        (better > 0).all() and (worse > 0).all()
    ), f"better at {_told(better)} values of k, worse at {_told(worse)}"


def _spread(frame: pd.DataFrame, by: str, measure: str, *, squared: bool = False) -> pd.DataFrame:
    """Return the mean standard deviation of the runs (or variance) and its standard error, a row a scheme or method."""
    runs = frame.groupby([by, "graph", "k"])[measure]
    deviation, free = runs.std(), runs.count() - 1
    size = deviation**2 if squared else deviation
    error = size * ((2.0 if squared else 0.5) / free) ** 0.5
    of_mean = (error**2).groupby(by).agg(lambda own: own.sum(skipna=False) ** 0.5 / len(own))
    return pd.DataFrame({"mean": size.groupby(by).mean(), "error": of_mean})


def _above(spread: pd.DataFrame, more: str, less: str) -> tuple[float, float]:
    """Return the interval of how much more one varies than another."""
    gap = spread.loc[more, "mean"] - spread.loc[less, "mean"]
    error = _LEVEL * float(np.hypot(spread.loc[more, "error"], spread.loc[less, "error"]))
    return gap - error, gap + error


def _scheme_3_varies_least(probing: pd.DataFrame) -> Verdict:
    spread = _spread(same_runs(probing), "scheme", "l1_above_optimum")["mean"].drop("batch")
    return spread.idxmin() == "3", f"mean standard deviation by scheme: {_told(spread)}"


def _scheme_4_between(probing: pd.DataFrame) -> Verdict:
    spread = _spread(same_runs(probing), "scheme", "l1_above_optimum")
    effects: list[Effect] = [_above(spread, *pair) for pair in (("4", "3"), ("1", "4"), ("2", "4"))]
    told = _told(spread["mean"].drop("batch"))
    return effects, f"more than 3, less than 1, less than 2: {_told_effects(effects)}; by scheme: {told}"


def _scheme_3_adds_fewer(probing: pd.DataFrame) -> Verdict:
    mean = _excess(probing, "powergrid", "caltech36").groupby("graph").mean()
    return bool((mean["3"] < mean["1"]).all()), "; ".join(
        f"{graph}: {row['3']:.0f} against {row['1']:.0f}" for graph, row in mean.iterrows()
    )


def _scheme_3_has_outliers(probing: pd.DataFrame) -> Verdict:
    excess = _excess(probing, "caltech36").loc["caltech36"]
    worse = excess[excess["3"] > excess["1"]]
    return len(worse) > 0, f"worse than scheme 1 at k = {', '.join(map(str, worse.index)) or 'none'} of {len(excess)}"


def _scheme_3_probes_more(probing: pd.DataFrame) -> Verdict:
    probes = same_runs(probing).groupby("scheme")["n_probes"].mean()
    return probes["3"] > probes["1"], f"mean number of probes: {_told(probes[['1', '3']])}"


def _scheme_4_on_caltech(probing: pd.DataFrame) -> Verdict:
    excess = _excess(probing, "caltech36")
    mean = excess.mean()
    third, fourth = (int((excess[name] > excess["1"]).sum()) for name in ("3", "4"))
    better: list[Effect] = [mean["1"] - mean["4"], mean["2"] - mean["4"], third - fourth]
    return better, (
        f"mean excess {_told(mean[['1', '2', '3', '4']])}; worse than scheme 1 at {third} values of k "
        f"(scheme 3) and at {fourth} (scheme 4)"
    )


# -- figures 9.14 to 9.18: properties of the releases ----------------------------------------------------------------


def _errors(releases: pd.DataFrame, measure: str, *, low: int = 2, high: int = 98) -> pd.DataFrame:
    """Return the mean absolute error of a property over k (of the mean over the runs): graph by method."""
    before = releases[releases["method"] == "original"].groupby("graph")[measure].mean()
    runs = _runs(releases, measure, low=low, high=high).mean()
    gap = (runs - before.reindex(runs.index.get_level_values("graph")).to_numpy()).abs()
    return gap.groupby(["graph", "method"]).mean().unstack("method")  # noqa: PD010


def _runs(releases: pd.DataFrame, measure: str, *, low: int = 2, high: int = 98) -> Any:
    chosen = releases[(releases["method"] != "original") & releases["k"].between(low, high)]
    return chosen.groupby(["graph", "method", "k"])[measure]


def _less(releases: pd.DataFrame, measure: str, graph: str, method: str, *others: str) -> tuple[float, float]:
    """Return how much less the error of a method is than the least of the others, with its interval over the runs."""
    errors = _errors(releases, measure).loc[graph]
    of_means = _runs(releases, measure).sem().loc[graph] ** 2
    chance = of_means.groupby("method").agg(lambda own: own.sum(skipna=False) / len(own) ** 2)
    gaps = {
        other: (errors[other] - errors[method], _LEVEL * (chance[other] + chance[method]) ** 0.5) for other in others
    }
    return min(gap - error for gap, error in gaps.values()), min(gap + error for gap, error in gaps.values())


def _compared(errors: pd.DataFrame, first: str, second: str) -> str:
    literal = f"{first}, literal swaps"
    told = "; ".join(
        f"{graph} {row[first]:.3g} against {row[second]:.3g}"
        + (f" (literal swaps {row[literal]:.3g})" if literal in row else "")
        for graph, row in errors.iterrows()
    )
    return f"mean error, {first} against {second}: {told}"


def _best(measure: str, *graphs: str) -> Callable[[pd.DataFrame], Verdict]:
    """Judge that SimulSwap has the least error of the three methods on each of the graphs."""

    def judge(releases: pd.DataFrame) -> Verdict:
        effects: list[Effect] = [_less(releases, measure, graph, _SIMUL, _RELAXED, _SUPER) for graph in graphs]
        told = _compared(_errors(releases, measure).loc[list(graphs)], _SIMUL, _SUPER)
        return effects, f"less than the better other: {_told_effects(effects)}; {told}"

    return judge


def _diameter_varies(releases: pd.DataFrame) -> Verdict:
    runs = releases[releases["graph"].isin(["powergrid", "bowdoin47"]) & (releases["method"] != "original")]
    variance = _spread(runs, "method", "diameter", squared=True)
    effects: list[Effect] = [_above(variance, _SIMUL, other) for other in (_RELAXED, _SUPER)]
    means = variance.loc[[_SIMUL, _RELAXED, _SUPER], "mean"]
    return effects, f"more than Relaxed, than SuperGraph: {_told_effects(effects)}; mean variance {_told(means)}"


def _supergraph_at_low_k(releases: pd.DataFrame) -> Verdict:
    errors = _errors(releases, "average_path_length", high=10).loc[["powergrid"]]
    return bool(errors[_SUPER].iloc[0] < errors[_SIMUL].iloc[0]), (f"k up to 10; {_compared(errors, _SIMUL, _SUPER)}")


def _simul_at_high_k(releases: pd.DataFrame) -> Verdict:
    errors = _errors(releases, "average_path_length", low=50).loc[["powergrid"]]
    return bool(errors[_SIMUL].iloc[0] < errors[_SUPER].iloc[0]), f"k from 50; {_compared(errors, _SIMUL, _SUPER)}"


def _relaxed_is_slightly_better(releases: pd.DataFrame) -> Verdict:
    effects: list[Effect] = [_less(releases, "density", graph, _RELAXED, _SUPER) for graph in _ALL]
    told = _compared(_errors(releases, "density").loc[list(_ALL)], _RELAXED, _SUPER)
    return effects, f"less by {_told_effects(effects)}; {told}"


def _coincide(graph: str, first: str, second: str, tolerance: float) -> Callable[[pd.DataFrame], Verdict]:
    """Judge that the exponents under two methods are alike: `tolerance` is a line's width in the printed figure."""

    def judge(releases: pd.DataFrame) -> Verdict:
        part = releases[(releases["graph"] == graph) & releases["method"].isin([first, second])]
        wide = part.pivot_table(index="k", columns="method", values="exponent")
        gap = (wide[first] - wide[second]).abs()
        return bool(gap.mean() <= tolerance), f"mean gap {gap.mean():.4f}, largest {gap.max():.4f}"

    return judge


def _supergraph_keeps_clustering(releases: pd.DataFrame) -> Verdict:
    effects: list[Effect] = [_less(releases, "clustering", "powergrid", _SUPER, one) for one in (_RELAXED, _SIMUL)]
    told = _compared(_errors(releases, "clustering").loc[["powergrid"]], _SIMUL, _SUPER)
    return effects, f"less than Relaxed, than SimulSwap: {_told_effects(effects)}; {told}"


def _simul_wins_clustering_late(releases: pd.DataFrame) -> Verdict:
    errors = _errors(releases, "clustering", low=80).loc[list(_SOCIAL)]
    return bool(
        (errors[_SIMUL] < errors[_SUPER]).any()
    ), f"k from 80, on either graph; {_compared(errors, _SIMUL, _SUPER)}"


_THREE = ("enron", "caltech36", "bowdoin47")
_PROBED = ("enron", "powergrid", "caltech36")

#: Statement, frame, graphs that it is about, judge.
_STATEMENTS: tuple[tuple[str, str, tuple[str, ...], Callable[[pd.DataFrame], Verdict]], ...] = (
    ("figure 9.6: deletions greatly lower the cost", "costs", _ALL, _deletions_help),
    ("figure 9.7: the power grid is easier to anonymise than American", "costs", ("powergrid", "american75"),
     _power_grid_is_easier),
    ("figure 9.8: k has little effect on Enron and the power grid", "probing", ("enron", "powergrid"),
     _little_effect_of_k),
    ("figure 9.8: on Caltech the excess grows with k", "probing", ("caltech36",), _grows_with_k),
    ("figure 9.9: scheme 2 is much worse at k = 2 and 3", "probing", _PROBED, _scheme_2_at_2_and_3),
    ("figure 9.10: scheme 2 is now better, now worse than scheme 1", "probing", ("powergrid", "caltech36"),
     _scheme_2_now_better_now_worse),
    ("figure 9.11: scheme 3 varies least", "probing", _PROBED, _scheme_3_varies_least),
    ("figure 9.11: scheme 3 adds fewer edges than scheme 1 on average", "probing", ("powergrid", "caltech36"),
     _scheme_3_adds_fewer),
    ("figure 9.11: scheme 3 takes longer than scheme 1", "probing", _PROBED, _scheme_3_probes_more),
    ("figure 9.11: on Caltech scheme 3 has outliers that are worse", "probing", ("caltech36",), _scheme_3_has_outliers),
    ("figure 9.12: scheme 4 varies more than 3 and less than 1 and 2", "probing", _PROBED, _scheme_4_between),
    ("figure 9.13: on Caltech scheme 4 beats 1 and 2 and has fewer outliers than 3", "probing", ("caltech36",),
     _scheme_4_on_caltech),
    ("figure 9.14: SimulSwap keeps the diameter best", "releases", _ALL, _best("diameter", *_ALL)),
    ("figure 9.14: the diameter varies most under SimulSwap", "releases", ("powergrid", "bowdoin47"),
     _diameter_varies),
    ("figure 9.15: SimulSwap keeps the path length best on the three others", "releases", _THREE,
     _best("average_path_length", *_THREE)),
    ("figure 9.15: SuperGraph is better at low k on the power grid", "releases", ("powergrid",), _supergraph_at_low_k),
    ("figure 9.15: SimulSwap is better at high k on the power grid", "releases", ("powergrid",), _simul_at_high_k),
    ("figure 9.16: SimulSwap keeps the density best", "releases", _ALL, _best("density", *_ALL)),
    ("figure 9.16: Relaxed is slightly better than SuperGraph", "releases", _ALL, _relaxed_is_slightly_better),
    ("figure 9.17: Relaxed and SuperGraph coincide on the power grid", "releases", ("powergrid",),
     _coincide("powergrid", _RELAXED, _SUPER, 0.01)),
    ("figure 9.17: SimulSwap and Relaxed coincide on Bowdoin", "releases", ("bowdoin47",),
     _coincide("bowdoin47", _SIMUL, _RELAXED, 0.01)),
    ("figure 9.18: SuperGraph keeps the clustering of the power grid best", "releases", ("powergrid",),
     _supergraph_keeps_clustering),
    ("figure 9.18: SimulSwap might win on Caltech or Bowdoin at very large k", "releases", _SOCIAL,
     _simul_wins_clustering_late),
)  # fmt: skip
