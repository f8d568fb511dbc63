"""Figures of Vanhoef (2012), chapters 1 and 3, and the list of all, drawn from the study's frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident import plot_ru_panels
from reident.base import wilson_interval
from reident.plotting._style import (
    COLOURS,
    LINES,
    MARKERS,
    draw_lines,
    handles_of,
    in_house_style,
    new_figure,
    ordered_colours,
)
from reident.studies.captions import rests_on
from reident.studies.comparison import DRAWN, OWN
from reident.studies.study import Results
from reident.studies.vanhoef2012_tables import STUDY, figures_mechanisms
from reident.studies.vanhoef2012_tables.argument import CERTAIN_NATS, SURE
from reident.studies.vanhoef2012_tables.figures_mechanisms import (
    draw_spread,
    means,
    methods_with_values,
    spreads,
    varied,
    whole,
)
from reident.studies.vanhoef2012_tables.tables import N_AUDITED

__all__ = ["FIGURES"]

_CRITERIA = {"k": "k-anonymity", "l": "l-diversity", "t": "t-closeness"}

#: What is kept of the time of a rating, or of the name behind a search: ever less.
_COARSER = (
    *("as they are", "dates by month", "dates by year", "no dates"),
    *("one number a person", "another number each year", "another number each month", "another number each day"),
)


def class_attacks(results: Results) -> Figure:
    """Section 3.3: prior and posterior of the records that each attack breaches."""
    frame = results.frames["breaches"]
    groups = frame.groupby(["example", "attack", "value"], sort=False)
    listed = groups[["prior", "posterior"]].mean().assign(records=groups["record"].nunique()).reset_index()
    figure, ax = new_figure(size=(6.6, 0.55 * len(listed) + 1.3))
    for place, row in listed.iterrows():
        ax.annotate(
            "", (row["posterior"], place), (row["prior"], place), arrowprops={"arrowstyle": "->", "color": "0.4"}
        )
    ax.plot(listed["prior"], listed.index, "o", color=COLOURS[0], label="among all records")
    ax.plot(listed["posterior"], listed.index, "s", color=COLOURS[3], label="in the person's class")
    names = [
        f"{row.example}: {row.attack}\n{row.value}, {row.records} record{'s' if row.records != 1 else ''}"
        for row in listed.itertuples()
    ]
    ax.set_yticks(listed.index, names)
    ax.set(xlim=(-0.03, 1.05), ylim=(len(listed) - 0.5, -0.5), xlabel="probability of the sensitive value")
    figure.legend(loc="outside lower center", ncols=2)
    return rests_on(figure, frame, data=OWN)


def intersection_releases(results: Results) -> Figure:
    """Section 3.4: how severe the intersection attack is against the number of releases; mean and 5 to 95 % of runs."""
    frame = results.frames["intersection"]
    figure, axes = new_figure(1, 3, size=(11, 4.2), sharey=True)
    raw = 100 * frame[frame["criterion"] == "none"].set_index("n_releases")["perfect"]
    for ax, (criterion, name) in zip(axes, _CRITERIA.items(), strict=True):
        part = frame[frame["criterion"] == criterion]
        what = (part, "n_releases", "strength", "perfect")
        wide, ends = means(*what), spreads(*what)
        series = {f"{strength:g}": 100 * wide[strength] for strength in wide}
        draw_lines(ax, wide.index, series, bars={f"{name:g}": 100 * ends[name] for name in ends}, ordered=True)
        draw_spread(ax, raw.groupby("n_releases"), color="0.5", linewidth=1, label="as they are")
        title = name if criterion == "k" else f"k = {part['k'].min():g} and {name}"
        ax.set(xlabel="independent releases", title=title, xticks=list(wide.index))
        ax.set_yscale("symlog", linthresh=0.1)
        ax.set_ylim(bottom=0)
        ax.legend(title=criterion, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2)
    axes[0].set_ylabel("occupation disclosed for certain,\n% of people")
    asked: dict[str, Any] = {rule: whole(frame.loc[frame["criterion"] == rule, "strength"]) for rule in ("l", "t")}
    return rests_on(figure, frame, data=OWN, **asked)


def intersection_entropy(results: Results) -> Figure:
    """Section 3.4.2: what releases add, by number of values (evenly drawn, or merged) and attribute; 5 to 95 %."""
    frames = results.frames
    figure, axes = new_figure(1, 2, size=(9.6, 3.8))
    domain = frames["domain"].assign(kind=frames["domain"]["sensitive"].str.rsplit(" ", n=1).str[0])
    last = domain["n_releases"].max()
    for place, (kind, part) in enumerate(domain.groupby("kind", sort=False)):
        gain = _added(part, last).groupby("entropy_bits")["added"]
        sizes = ", ".join(str(name).rsplit(" ", 1)[1] for name in dict.fromkeys(part["sensitive"]))
        told = f"occupation in {sizes} groups" if "in" in str(kind).split() else f"drawn evenly from {sizes} values"
        draw_spread(axes[0], gain, color=COLOURS[place], marker=MARKERS[place], label=told)
    axes[0].set_title("only the number of values differs")
    axes[0].legend(loc="upper left")
    real = frames["entropy"][~frames["entropy"]["shuffled"]]
    for place, (name, part) in enumerate(real.groupby("sensitive", sort=False)):
        added = _added(part, last)
        look = {"color": COLOURS[place], "marker": MARKERS[place], "label": STUDY.words.get(name, name)}
        draw_spread(axes[1], added.assign(at=added["entropy_bits"].mean()).groupby("at")["added"], linestyle="", **look)
    axes[1].set_title("attributes of Adult: skew differs, too")
    axes[1].legend()
    for ax in axes:
        ax.set(xlabel="entropy of the sensitive attribute, bits", ylabel=f"confidence added by releases 2 to {last}")
    return rests_on(figure, domain, real, data=(OWN, DRAWN), n_releases=[1, last])


def _added(frame: pd.DataFrame, last: int) -> pd.DataFrame:
    """Return by how much each run's confidence rose from the first release to the last."""
    keys = ["sensitive", "repetition"]
    first, end = (frame[frame["n_releases"] == n].set_index(keys) for n in (1, last))
    added = (end["confidence"] - first["confidence"]).rename("added")
    # The runs of one attribute differ a little in entropy: one place on the axis for all.
    bits = end["entropy_bits"].groupby("sensitive").transform("mean").round(3)
    return pd.concat([added, bits], axis=1).reset_index()


def randomised_responses(results: Results) -> Figure:
    """Section 3.2: the estimates under randomised response, and their variance with its 95 % interval and formula."""
    frame = results.frames["responses"]
    figure, axes = new_figure(1, 2, size=(8.6, 3.5))
    groups = frame.groupby("truth_probability")
    colours = ordered_colours(len(groups))
    for place, (probability, part) in enumerate(groups):
        spread = (np.arange(len(part)) / len(part) - 0.5) * 0.06
        axes[0].plot(probability + spread, part["estimate"], MARKERS[place], color=colours[place], markersize=2,
                     alpha=0.6, rasterized=True)  # fmt: skip
    axes[0].axhline(frame["share"].iloc[0], color="0.3", linewidth=0.8, linestyle="--")
    axes[0].set(
        xlabel="probability of the truth", ylabel="estimated share of yes (true: dashed)", title="one dot a survey"
    )
    squares = frame.assign(square=frame["error"] ** 2).groupby("truth_probability")["square"]
    measured = squares.mean()
    formula, estimated = groups["variance_formula"].mean(), groups["variance"].mean()
    axes[1].plot(formula.index, formula, color="0.5", linewidth=1, label="formula")
    axes[1].plot(estimated.index, estimated, "s", color=COLOURS[1], markersize=8, mfc="none", label="estimated, mean")
    axes[1].errorbar(
        measured.index, measured, yerr=1.96 * squares.sem(), fmt="o", color=COLOURS[0], markersize=3, capsize=3,
        elinewidth=0.8, label="measured, 95 % interval",
    )  # fmt: skip
    axes[1].set(yscale="log", xlabel="probability of the truth", ylabel="variance of the estimate")
    axes[1].legend()
    top = axes[1].secondary_xaxis("top")
    top.set_xticks(list(measured.index), [f"{loss:.1f}" for loss in groups["epsilon"].first()])
    top.set_xlabel("local privacy loss", fontsize=8)
    return rests_on(figure, frame, data=DRAWN, n_answers=sorted(frame["n"].unique()))


def query_systems(results: Results) -> Figure:
    """Section 3.2: what refusals (5 to 95 % of repetitions), samples (one each) and repeated answers (one run) tell."""
    frames = results.frames
    figure, axes = new_figure(1, 3, size=(11.4, 3.8))
    auditing, sampling, averaging = frames["auditing"], frames["sampling"], frames["averaging"]
    groups = auditing.groupby("group_size")
    draw_spread(axes[0], groups["learned_share"], color=COLOURS[0], marker="o", linestyle="", label="measured")
    axes[0].plot(groups["expected_share"].first(), color=COLOURS[3], label="1 / group size")
    axes[0].set(xlabel="records in a group", ylabel="share of groups with a value learned")
    axes[0].set_title(f"refusals of {N_AUDITED} records:\n{auditing['repetition'].nunique()} repetitions, 5 to 95 %")
    axes[0].set_ylim(bottom=0)
    axes[0].legend()
    unique = [wilson_interval(row.unique_in_table * row.n_sampled, row.n_sampled) for row in sampling.itertuples()]
    ends = np.array([(rate.low, rate.high) for rate in unique]).T
    of_all = (sampling["n_sampled"] / sampling["n"]).to_numpy()
    draw_lines(
        axes[1],
        100 * sampling["rate"],
        {"of the sampled": 100 * sampling["unique_in_table"], "of all people": 100 * sampling["exposed_share"]},
        bars={"of the sampled": 100 * ends, "of all people": 100 * ends * of_all},
    )
    axes[1].set(xscale="log", xlabel="sampled, %", ylabel="unique and exposed, %", ylim=(0, None))
    axes[1].set_title(f"one sample a rate, {sampling['n'].iloc[0]:,} people:\n95 % Wilson intervals")
    axes[1].legend()
    truth, n, loss = averaging["truth"], averaging["n_answers"], averaging["epsilon_spent"]
    kept = np.exp(-(loss / n).iloc[0])  # the ratio of neighbouring probabilities of discrete Laplace noise
    reach = 1.96 * np.sqrt(2 * kept / (1 - kept) ** 2 / n)
    axes[2].fill_between(n, truth - reach, truth + reach, color="0.9", linewidth=0, label="95 % of means, normal")
    axes[2].plot(n, averaging["estimate"], color=COLOURS[0], marker=".", markersize=3, label="this run")
    axes[2].axhline(truth.iloc[0], color="0.3", linewidth=0.8, linestyle="--", label="true count")
    axes[2].set(xscale="log", xlabel="answers averaged", ylabel="estimated count", title="independent noise, one run")
    axes[2].legend(loc="upper right", fontsize=7)
    top = axes[2].secondary_xaxis("top", functions=(lambda n: n * 0.1, lambda loss: loss / 0.1))
    top.set_xlabel("privacy loss in all", fontsize=7)
    return rests_on(figure, auditing, averaging, data=(OWN, DRAWN), n_people=sampling["n"].iloc[0])


def ru_map_k_anonymity(results: Results) -> Figure:
    """Risk-utility map of the k-anonymity family under the intersection attack; l and t beside the least k."""
    frame, trials = results.frames["ru_k_anonymity"], results.frames["intersection"]
    figure = plot_ru_panels(frame, names=methods_with_values(frame))
    people = {name: trials[name].iloc[0] for name in ("n_common", "n_own")}
    ranges: dict[str, Any] = {name: varied(frame, name) for name in "klt"}
    return rests_on(figure, frame, data=OWN, **people, **ranges)


def netflix_ratings(results: Results) -> Figure:
    """Section 3.1.3: how many roughly known ratings name a person, by protection (simulated); 95 % Wilson intervals."""
    return _named_by_known(results.frames["ratings"], "ratings", "users")


def searches(results: Results) -> Figure:
    """Section 3.1.1: how many known searches name a person, by protection (simulated); 95 % Wilson intervals."""
    return _named_by_known(results.frames["searches"], "searches", "people")


def _named_by_known(frame: pd.DataFrame, what: str, whose: str) -> Figure:
    """Draw the shares of people named, and named rightly, over how much of them is known."""
    figure, axes = new_figure(1, 2, size=(9.6, 4.4), sharey=True)
    defences = list(dict.fromkeys(frame["defence"]))
    coarser = [name for name in defences if name in _COARSER]
    colours = dict(zip(coarser, ordered_colours(len(coarser)), strict=True))
    others = iter([COLOURS[1], COLOURS[3], COLOURS[5], COLOURS[6]])
    for ax, measure, title in zip(axes, ("right", "named"), ("named, and rightly", "named at all"), strict=True):
        for place, name in enumerate([*coarser, *(name for name in defences if name not in coarser)]):
            part = frame[frame["defence"] == name]
            hits = (part[measure] * part["attacks"]).groupby(part["n_known"]).sum()
            attacks = part.groupby("n_known")["attacks"].sum()
            rates = [wilson_interval(float(hit), int(n)) for hit, n in zip(hits, attacks, strict=True)]
            bars = np.array([(rate.value - rate.low, rate.high - rate.value) for rate in rates]).T
            colour = colours.setdefault(name, next(others)) if name not in colours else colours[name]
            # Side by side, so that the bars do not hide one another.
            ax.errorbar(
                hits.index + 0.03 * (place - (len(defences) - 1) / 2), [rate.value for rate in rates],
                yerr=np.clip(bars, 0, None), color=colour, marker=MARKERS[place], linestyle=LINES[place], markersize=4,
                linewidth=1.2, elinewidth=0.8, capsize=2, label=name,
            )  # fmt: skip
        ax.set(xlabel=f"{what} known", title=title, ylim=(-0.02, 1.02), xticks=sorted(frame["n_known"].unique()))
    axes[0].set_ylabel("share of the people attacked")
    first = frame.iloc[0]
    figure.suptitle(f"{first['n_ratings']:,} simulated {what} by {first['n_users']:,} {whose}", fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7)
    return rests_on(figure, frame, data=DRAWN)


def releases_and_queries(results: Results) -> Figure:
    """Sections 1.6, 3.4 and 5.4: tables released again and again beside noisy histograms; mean and 5 to 95 % of runs.

    The third panel is the map: after one release and after the last, joined by a line.
    """
    frame, last = results.frames["argument"], results.frames["argument"]["n_releases"].max()
    figure, axes = new_figure(1, 3, size=(12.6, 4.6))
    is_noise = frame["method"].str.startswith("Laplace")
    tables = list(dict.fromkeys(frame.loc[~is_noise, "method"]))
    epsilons = sorted(frame.loc[is_noise, "strength"].unique())
    ks = sorted(frame.loc[~is_noise, "strength"].unique())
    shades = dict(zip(epsilons, ordered_colours(len(epsilons)), strict=True))
    groups = list(frame.groupby(["method", "strength"], sort=False))
    for place, ((method, strength), part) in enumerate(groups):
        look: dict[str, Any] = {"color": shades.get(strength), "linestyle": "-", "marker": MARKERS[0], "linewidth": 1.2}
        name = f"{method}, epsilon {strength:g} each"
        if method in tables:
            # Methods that give the same table lie on one another: the first of them is the widest ring.
            rank = tables.index(method)
            look |= {"color": COLOURS[(1, 3, 5)[rank]], "linestyle": "--", "mfc": "none", "markersize": 8 - 2 * rank}
            look["marker"] = MARKERS[1 + ks.index(strength)]
            name = f"{method}, k = {strength:g}"
        shift = 0.03 * (place - (len(groups) - 1) / 2)
        at = part["n_releases"] + shift
        draw_spread(axes[0], part["gain"].clip(upper=CERTAIN_NATS).groupby(at), **look, label=name)
        draw_spread(axes[1], (100 * part["named"]).groupby(at), **look)
        _draw_course(axes[2], part[part["n_releases"].isin([1, last])], look)
    axes[0].axhline(CERTAIN_NATS, color="0.5", linewidth=0.8, linestyle=":")
    axes[0].set(ylabel="log odds gained, nats (worst-\noff twentieth; dotted: certain)", ylim=(0, None))
    axes[1].set_yscale("symlog", linthresh=0.1)
    axes[1].set(ylabel=f"intruder {SURE:.0%} sure, and right,\n% of people", ylim=(0, 100))
    for ax in axes[:2]:
        ax.set(xlabel="releases about the same people", xticks=range(1, last + 1))
    axes[0].set_title("what the intruder gains")
    axes[1].set_title("who is named")
    guess = results.frames["intersection"]["baseline"].mean()
    axes[2].axhline(guess, color="0.5", linewidth=0.8, linestyle=":", label="guessing the commonest occupation")
    axes[2].set(xlabel="utility: 1 - mean error\nof ten marginals", ylabel="share of people guessed rightly")
    axes[2].set_xlim(right=1.005)
    axes[2].set_title(f"after one release, after {last} (dot)")
    handles = handles_of((axes[0], axes[2]))
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=3, fontsize=7)
    return rests_on(figure, frame, data=OWN, k=whole(ks), epsilon=whole(epsilons))


def _draw_course(ax: Axes, part: pd.DataFrame, look: dict[str, Any]) -> None:
    """Draw how often the intruder guesses rightly after one release and after the last, over utility."""
    runs = part.groupby("n_releases")
    mean = runs[["utility", "right"]].mean()
    spread = {name: runs[name].quantile([0.05, 0.95]).unstack().to_numpy() for name in mean}  # noqa: PD010
    bars = {name: np.abs(ends.T - mean[name].to_numpy()) for name, ends in spread.items()}
    ax.errorbar(mean["utility"], mean["right"], xerr=bars["utility"], yerr=bars["right"], elinewidth=0.8, **look)
    ax.plot(mean["utility"].iloc[-1:], mean["right"].iloc[-1:], ".", color="black", markersize=3, zorder=5)


#: Every figure of the study, in the order of the document.
FIGURES: dict[str, Callable[[Results], Figure]] = in_house_style(
    {
        "section-3-1-searches": searches,
        "section-3-1-netflix": netflix_ratings,
        "section-3-2-query-systems": query_systems,
        "section-3-2-randomised-response": randomised_responses,
        "section-3-3-class-attacks": class_attacks,
        "section-3-4-intersection-releases": intersection_releases,
        "section-3-4-intersection-entropy": intersection_entropy,
        "section-1-6-releases-and-queries": releases_and_queries,
        "ru-map-k-anonymity": ru_map_k_anonymity,
        "figure-5-1-laplace-noise": figures_mechanisms.laplace_noise,
        "figure-5-2-neighbouring-counts": figures_mechanisms.neighbouring_counts,
        "section-5-2-privacy-loss": figures_mechanisms.privacy_losses,
        "section-5-6-k-means": figures_mechanisms.kmeans,
        "figure-6-1-hyperplane": figures_mechanisms.hyperplane,
        "section-6-2-density-loss": figures_mechanisms.density_loss,
        "section-6-2-density-error": figures_mechanisms.density_error,
        "section-7-4-degrees": figures_mechanisms.degrees,
        "section-7-4-node-privacy": figures_mechanisms.node_privacy,
        "ru-map-mechanisms": figures_mechanisms.ru_map_mechanisms,
    }
)
