"""Figures of Vanhoef (2012), chapters 1 and 3, and the list of all, drawn from the study's frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident.plotting._style import COLOURS, MARKERS, draw_lines, in_house_style, new_figure, ordered_colours
from reident.plotting.rumap import plot_ru_panels
from reident.studies.study import Results
from reident.studies.vanhoef2012_tables import figures_mechanisms
from reident.studies.vanhoef2012_tables.argument import CERTAIN_NATS, METHODS, SURE
from reident.studies.vanhoef2012_tables.figures_mechanisms import means, spreads

__all__ = ["FIGURES"]

_CRITERIA = {"k": "k-anonymity, k", "l": "and l-diversity, l", "t": "and t-closeness, t"}


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
    ax.legend(loc="upper center", bbox_to_anchor=(0.4, -0.16), ncols=2)
    return figure


def intersection_releases(results: Results) -> Figure:
    """Section 3.4: how severe the intersection attack is against the number of releases; mean and 5 to 95 % of runs."""
    frame = results.frames["intersection"]
    figure, axes = new_figure(1, 3, size=(11, 4.2), sharey=True)
    raw = frame[frame["criterion"] == "none"].groupby("n_releases")["perfect"].mean()
    for ax, (criterion, name) in zip(axes, _CRITERIA.items(), strict=True):
        part = frame[frame["criterion"] == criterion]
        what = (part, "n_releases", "strength", "perfect")
        wide, ends = means(*what), spreads(*what)
        series = {f"{strength:g}": 100 * wide[strength] for strength in wide}
        draw_lines(ax, wide.index, series, bars={f"{name:g}": 100 * ends[name] for name in ends}, ordered=True)
        ax.plot(raw.index, 100 * raw, color="0.6", linewidth=1, label="released as they are")
        base = part["k"].min()
        title = name if criterion == "k" else f"k = {base:g} {name}"
        ax.set(xlabel="independent releases", title=title, xticks=list(wide.index))
        ax.set_yscale("symlog", linthresh=0.1)
        ax.set_ylim(bottom=0)
        ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
    axes[0].set_ylabel("occupation disclosed for certain, % of people")
    return figure


def intersection_entropy(results: Results) -> Figure:
    """Section 3.4.2: what further releases add, where only the domain's size differs, and for five attributes."""
    frames = results.frames
    figure, axes = new_figure(1, 2, size=(9.6, 3.8))
    domain = frames["domain"].assign(kind=frames["domain"]["sensitive"].str.rsplit(" ", n=1).str[0])
    last = domain["n_releases"].max()
    for place, (kind, part) in enumerate(domain.groupby("kind", sort=False)):
        gain = _added(part, last).groupby("entropy_bits")["added"]
        _with_spread(axes[0], gain, place, f"{kind} 2, 4, 7, 14 {'groups' if 'in' in str(kind) else 'values'}")
    axes[0].set_title("only the number of values differs")
    axes[0].legend(loc="upper left")
    real = frames["entropy"][~frames["entropy"]["shuffled"]]
    for place, (name, part) in enumerate(real.groupby("sensitive", sort=False)):
        added = _added(part, last)
        _with_spread(axes[1], added.assign(at=added["entropy_bits"].mean()).groupby("at")["added"], place, str(name))
    axes[1].set_title("attributes of Adult: skew differs, too")
    axes[1].legend()
    for ax in axes:
        ax.set(xlabel="entropy of the sensitive attribute, bits", ylabel=f"confidence added by releases 2 to {last}")
    return figure


def _added(frame: pd.DataFrame, last: int) -> pd.DataFrame:
    """Return by how much each run's confidence rose from the first release to the last."""
    keys = ["sensitive", "repetition"]
    first, end = (frame[frame["n_releases"] == n].set_index(keys) for n in (1, last))
    added = (end["confidence"] - first["confidence"]).rename("added")
    # The runs of one attribute differ a little in entropy: one place on the axis for all.
    bits = end["entropy_bits"].groupby("sensitive").transform("mean").round(3)
    return pd.concat([added, bits], axis=1).reset_index()


def _with_spread(ax: Axes, groups: Any, place: int, label: str) -> None:
    """Draw means and the spread from the 5 % to the 95 % quantile over the runs."""
    mean, low, high = groups.mean(), groups.quantile(0.05), groups.quantile(0.95)
    bars = np.abs(np.stack([mean - low, high - mean]))
    ax.errorbar(mean.index, mean, yerr=bars, color=COLOURS[place], marker=MARKERS[place], capsize=2, label=label)


def randomised_responses(results: Results) -> Figure:
    """Section 3.2: the estimates under randomised response, and their variance against its formula."""
    frame = results.frames["responses"]
    figure, axes = new_figure(1, 2, size=(8.6, 3.5))
    groups = frame.groupby("truth_probability")
    colours = ordered_colours(len(groups))
    for place, (probability, part) in enumerate(groups):
        spread = (np.arange(len(part)) / len(part) - 0.5) * 0.06
        axes[0].plot(
            probability + spread,
            part["estimate"],
            MARKERS[place],
            color=colours[place],
            markersize=2,
            alpha=0.6,
            rasterized=True,
        )
    axes[0].axhline(frame["share"].iloc[0], color="0.3", linewidth=0.8, linestyle="--")
    axes[0].set(xlabel="probability of the truth", ylabel="estimated share (true: dashed)", title="one dot a survey")
    measured = groups["error"].apply(lambda error: (error**2).mean())
    draw_lines(
        axes[1],
        measured.index,
        {"measured": measured, "formula": groups["variance_formula"].mean(), "estimated": groups["variance"].mean()},
    )
    axes[1].set(yscale="log", xlabel="probability of the truth", ylabel="variance of the estimate")
    axes[1].legend()
    top = axes[1].secondary_xaxis("top")
    top.set_xticks(list(measured.index), [f"{loss:.1f}" for loss in groups["epsilon"].first()])
    top.set_xlabel("local privacy loss", fontsize=8)
    return figure


def query_systems(results: Results) -> Figure:
    """Section 3.2: what refusals, samples and repeated answers give away."""
    frames = results.frames
    figure, axes = new_figure(1, 3, size=(11.4, 3.4))
    auditing = frames["auditing"].groupby("group_size")
    mean = auditing["learned_share"].mean()
    spread = auditing["learned_share"].apply(lambda share: share.quantile([0.05, 0.95])).to_numpy().reshape(-1, 2)
    axes[0].errorbar(
        mean.index, mean, yerr=np.abs(spread - mean.to_numpy()[:, None]).T, fmt="o", color=COLOURS[0], label="measured"
    )
    axes[0].plot(mean.index, auditing["expected_share"].first(), color=COLOURS[3], label="1 / group size")
    axes[0].set(xlabel="records in a group", ylabel="groups with a value learned", title="auditing: refusals alone")
    axes[0].set_ylim(bottom=0)
    axes[0].legend()
    sampling = frames["sampling"]
    draw_lines(
        axes[1],
        100 * sampling["rate"],
        {
            "of the sampled": 100 * sampling["unique_in_table"],
            "of all people": 100 * sampling["exposed_share"],
        },
    )
    axes[1].set(xscale="log", xlabel="sampled, %", ylabel="unique and exposed, %", title="sampling")
    axes[1].legend()
    averaging = frames["averaging"]
    axes[2].plot(averaging["n_answers"], averaging["estimate"], color=COLOURS[0], marker=".", markersize=3)
    axes[2].axhline(averaging["truth"].iloc[0], color="0.3", linewidth=0.8, linestyle="--")
    axes[2].set(
        xscale="log", xlabel="answers averaged", ylabel="estimate (true: dashed)", title="independent noise, one run"
    )
    top = axes[2].secondary_xaxis("top", functions=(lambda n: n * 0.1, lambda loss: loss / 0.1))
    top.set_xlabel("privacy loss in all", fontsize=8)
    return figure


def ru_map_k_anonymity(results: Results) -> Figure:
    """Risk-utility map of the k-anonymity family under the intersection attack."""
    return plot_ru_panels(results.frames["ru_k_anonymity"])


def netflix_ratings(results: Results) -> Figure:
    """Section 3.1.3: how many roughly known ratings name a person, by what was done to the ratings (simulated)."""
    return _named_by_known(results.frames["ratings"], "ratings", "users")


def searches(results: Results) -> Figure:
    """Section 3.1.1: how many known searches name a person, by what stands in place of the name (simulated)."""
    return _named_by_known(results.frames["searches"], "searches", "people")


def _named_by_known(frame: pd.DataFrame, what: str, whose: str) -> Figure:
    """Draw the shares of people named, and named rightly, over how much of them is known."""
    figure, axes = new_figure(1, 2, size=(9.6, 3.9), sharey=True)
    for ax, measure, title in zip(axes, ("right", "named"), ("named, and rightly", "named at all"), strict=True):
        wide = frame.pivot_table(index="n_known", columns="defence", values=measure, sort=False)
        draw_lines(ax, wide.index, {name: wide[name] for name in wide})
        ax.set(xlabel=f"{what} known", title=title, ylim=(-0.02, 1.02), xticks=list(wide.index))
    axes[0].set_ylabel("share of the people attacked")
    first = frame.iloc[0]
    figure.suptitle(f"{first['n_ratings']:,} simulated {what} by {first['n_users']:,} {whose}", fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7)
    return figure


def releases_and_queries(results: Results) -> Figure:
    """Sections 1.6, 3.4 and 5.4: tables released again and again beside noisy histograms, for one analyst and game.

    The third panel is the map: after one release and after the last, joined by a line.
    """
    frame = results.frames["argument"]
    figure, axes = new_figure(1, 3, size=(12.6, 4.3))
    last = frame["n_releases"].max()
    groups = list(frame.groupby(["method", "strength"], sort=False))
    for (method, strength), part in groups:
        noise = method.startswith("Laplace")
        colour = COLOURS[list(METHODS).index(method)]
        rank = sorted(frame.loc[frame["method"] == method, "strength"].unique()).index(strength)
        name = f"{method}, epsilon {strength:g} each" if noise else f"{method}, k = {strength:g}"
        look = {"color": colour, "marker": MARKERS[rank], "linestyle": "-" if noise else "--", "markersize": 4}
        mean = part.groupby("n_releases")[["gain", "named"]].mean()
        axes[0].plot(mean.index, mean["gain"].clip(upper=CERTAIN_NATS), label=name, **look)
        axes[1].plot(mean.index, 100 * mean["named"], **look)
        ends = part[part["n_releases"].isin([1, last])].groupby("n_releases")[["utility", "right"]].mean()
        axes[2].plot(ends["utility"], ends["right"], **look)
        axes[2].plot(
            ends["utility"].iloc[-1:], ends["right"].iloc[-1:], color=colour, marker="o", markersize=8, mfc="none"
        )
    axes[0].axhline(CERTAIN_NATS, color="0.5", linewidth=0.8, linestyle=":")
    axes[0].set(ylabel="gain in log odds for the truth, nats\n(worst-off twentieth; dotted: certain)", ylim=(0, None))
    axes[1].set_yscale("symlog", linthresh=0.1)
    axes[1].set(ylabel=f"intruder {SURE:.0%} sure, and right, % of people", ylim=(0, 100))
    for ax in axes[:2]:
        ax.set(xlabel="releases about the same people", xticks=range(1, last + 1))
    axes[0].set_title("what the intruder gains")
    axes[1].set_title("who is named")
    axes[2].set(xlabel="utility: 1 - mean error of ten marginals", ylabel="right guesses", xlim=(None, 1.005))
    axes[2].set_title(f"after one release, and after {last} (ringed)")
    figure.legend(loc="outside lower center", ncols=4, fontsize=7)
    return figure


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
