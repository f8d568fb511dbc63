"""Directions and promises of chapters 2 to 7 that no table prints: each judged on this run's frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from reident import MedianMechanism, discrete_laplace, impossibility_game, self_information
from reident.queries.median_mechanism import small_databases
from reident.studies._seeded import seeded_noise
from reident.studies.comparison import Reading, exact, held, not_run, stand_in

__all__ = ["promises"]

Frames = Mapping[str, pd.DataFrame]
Row = tuple[str, bool, str] | Reading


def promises(frames: Frames) -> list[Reading]:
    """Return a reading a claim: holds or does not hold."""
    numbers = [
        exact("2.2.1: information of a fair coin, bits", 1, round(self_information(1 / 2), 3)),
        exact("2.2.1: information of a face of a die, bits", 2.585, round(self_information(1 / 6), 3)),
    ]
    rows = [
        *_query_systems(frames),
        *_impossible(),
        *_composition(frames),
        *_better_mechanisms(frames),
        *_nodes(frames),
    ]
    return [
        *numbers,
        *_histories(frames["searches"], frames["ratings"]),
        *(row if isinstance(row, Reading) else held(*row) for row in rows),
    ]


def _histories(searches: pd.DataFrame, ratings: pd.DataFrame) -> list[Reading]:
    """Return what 3.1.1 and 3.1.3 say of searches and ratings, on simulated ones: not comparable."""
    found, right = (
        frame.pivot_table(index="n_known", columns="defence", values="right") for frame in (searches, ratings)
    )
    numbered = found["one number a person"]
    most = right.index.max()
    whole, altered = right["as they are"], right["5 of 229 altered"]
    told, searched = (", ".join(f"{n}: {share:.2f}" for n, share in one.items()) for one in (whole, numbered))
    rows = [
        (
            "3.1.1: who searched is found, though a number stands for the name",
            numbered[most] >= 0.5,
            f"rightly named by searches known: {searched}",
        ),
        ("3.1.3: very little has to be known", whole[most] >= 0.5, f"rightly named by ratings known: {told}"),
        (
            "3.1.3: altering 5 of 229 ratings does not matter much",
            (whole - altered).mean() <= 0.1,
            f"mean loss of right names {(whole - altered).mean():.3f}",
        ),
    ]
    return [stand_in(held(*row)) for row in rows]


def _query_systems(frames: Frames) -> Iterator[Row]:
    sets, auditing, sampling = (frames[name] for name in ("query_sets", "auditing", "sampling"))
    yield (
        "3.2: two large queries give one person's value away",
        bool((sets["learned"] == sets["truth"]).all()),
        f"learned {sets['learned'].iloc[0]:g}, true {sets['truth'].iloc[0]:g}, every query over 1,000 people or more",
    )
    shares = auditing.groupby("group_size")["learned_share"].mean()
    yield (
        "3.2: a refusal may itself be disclosive",
        bool(shares.min() > 0),
        "groups with a value learned by refusals: "
        + ", ".join(f"{share:.2f} of size {n}" for n, share in shares.items()),
    )
    yield (
        "3.2: who is sampled is exposed",
        bool((sampling["exposed_share"] > 0).all()),
        "unique in the table among the sampled: " + ", ".join(f"{share:.0%}" for share in sampling["unique_in_table"]),
    )
    responses = frames["responses"].groupby("truth_probability")["error"].agg(["mean", "sem", "std"])
    bias = float((responses["mean"].abs() / responses["sem"]).max())
    spread = responses["std"]
    yield (
        "3.2: randomised response estimates well, and the noisier the better it hides",
        bias <= 3.5 and bool(spread.is_monotonic_decreasing),
        f"bias at most {bias:.1f} standard errors; spread {', '.join(f'{value:.3f}' for value in spread)}, truth from "
        f"{spread.index[0]:g} to {spread.index[-1]:g}",
    )
    averaging = frames["averaging"]
    error = (averaging["estimate"] - averaging["truth"]).abs()
    yield (
        "3.2: answers to one query average to the truth",
        bool(error.iloc[-1] < 2),
        f"off by {error.iloc[-1]:.2f} after {averaging['n_answers'].iloc[-1]:,} answers, each with noise of scale 10",
    )


def _impossible() -> Iterator[Row]:
    game = impossibility_game(np.full((128, 4), 1 / 512))
    yield (
        "4.4: who asks the sanitiser learns the breach",
        game.with_sanitiser >= 1 - 1e-12,
        f"probability {game.with_sanitiser:.3f}, 7 bits of utility, 2 of breach, by enumeration",
    )
    yield (
        "4.4: without the sanitiser the side information tells next to nothing",
        game.without <= game.baseline + game.distance and game.distance <= 2 ** -((game.utility_entropy - 2) / 2),
        f"best guess {game.without:.4f}, {game.baseline:.2f} without it, and {game.distance:.4f} is allowed",
    )


def _composition(frames: Frames) -> Iterator[Row]:
    crossed = frames["intersection"].query("criterion == 'k'").groupby(["strength", "n_releases"])["perfect"].mean()
    wide = crossed.unstack("n_releases")  # noqa: PD010
    claim = "5.1: k-anonymity done twice can lose all privacy"
    if {1, 2} <= {*wide.columns}:
        yield (
            claim,
            bool((wide[2] > wide[1]).any()),
            "occupation certain after one release and after two: "
            + ", ".join(f"k = {k:g} {row[1]:.2%}, {row[2]:.2%}" for k, row in wide.iterrows()),
        )
    else:
        yield not_run(claim, "one release and two")
    frame = frames["argument"]
    noise = frame[frame["method"].str.startswith("Laplace")]
    # Each of ten marginals has a tenth of epsilon, and only one of them tells the occupation.
    room = noise["n_releases"] * noise["strength"] / 10
    yield (
        "5.1: differential privacy is composable",
        bool((noise["most"] <= room + 1e-9).all()),
        f"largest gain of any person {(noise['most'] / room).max():.4f} of the sum of the marginal's epsilons",
    )
    at = frame[frame["n_releases"] == frame["n_releases"].max()].groupby(["method", "strength"])[["utility", "gain"]]
    mean = at.mean()
    tables = mean.drop(index="Laplace histograms", level="method")
    rivals = mean.loc[["Laplace histograms"]]
    beaten = [
        bool(((rivals["utility"] >= row["utility"]) & (rivals["gain"] < row["gain"])).any())
        for _, row in tables.iterrows()
    ]
    yield (
        "1.6: for what an analyst asks, answers give away less than tables do",
        all(beaten),
        f"{sum(beaten)} of {len(beaten)} kinds of table have a histogram of no less utility that gives less gain after "
        f"{frame['n_releases'].max()} releases; tables: {tables['gain'].min():.1f} to {tables['gain'].max():.1f} nats",
    )


def _better_mechanisms(frames: Frames) -> Iterator[Row]:
    data = np.array([3, 0, 1, 2])
    unit, n_queries, epsilon = 300, 200, 5
    rng = np.random.default_rng(2012)
    queries = rng.integers(0, 2, (n_queries, 4))
    truth = queries @ (data * unit)
    with seeded_noise():
        median = MedianMechanism(
            data * unit, small_databases(4, 6), epsilon=epsilon, max_hard=10, tolerance=140, unit=unit, rng=2012
        )
        answers = [median.answer(query) for query in queries]
        noise = discrete_laplace(n_queries / epsilon, 1.0, n_queries, rng=rng)
    error = float(np.abs([one.value for one in answers] - truth).mean())
    hard = sum(one.is_hard for one in answers)
    yield (
        "5.7: only a fraction of the queries is hard",
        hard <= n_queries / 4,
        f"{hard} of {n_queries} over 210 small tables, the true one among them; a fraction: a quarter at most",
    )
    yield (
        "5.7: the median mechanism outperforms the Laplace mechanism",
        error < float(np.abs(noise).mean()),
        f"mean error {error:.1f} against {np.abs(noise).mean():.1f} of 1,800 at equal epsilon",
    )
    planes = frames["hyperplane"].groupby(["epsilon", "method"])["accuracy"].mean().unstack("method")  # noqa: PD010
    ahead = planes["exponential mechanism"] > planes["noise on coordinates"]
    claim = "6.1.1: noise on the coordinates of a hyperplane makes no sense"
    if (planes.index <= 1).any():
        yield (
            claim,
            bool(ahead[planes.index <= 1].all()),
            "accuracy, exponential mechanism against noise: "
            + ", ".join(
                f"{row['exponential mechanism']:.2f}, {row['noise on coordinates']:.2f} at {epsilon:g}"
                for epsilon, row in planes.iterrows()
            ),
        )
    else:
        yield not_run(claim, "an epsilon up to 1")
    losses = frames["density_losses"].query("variant == 'corrected'")
    yield (
        "claim 6.3: memory and answer together lose 2 epsilon at most",
        bool((losses["loss"] <= losses["promised"] + 1e-9).all()),
        f"with the corrected noise at most {(losses['loss'] / losses['promised']).max():.3f} of it (erratum 10)",
    )


def _nodes(frames: Frames) -> Iterator[Row]:
    frame = frames["nodes"].query("epsilon <= 1")
    meaningless, possible = (
        "7.4.1: node privacy makes the answer meaningless",
        "7.4.1: edge privacy makes more analysis possible",
    )
    if frame.empty:
        yield not_run(meaningless, "an epsilon up to 1")
        yield not_run(possible, "an epsilon up to 1")
        return
    mean = frame.groupby(["hidden", "graph", "epsilon"])[["degrees_error", "blind_error"]].mean()
    worse = mean["degrees_error"] > mean["blind_error"]
    ratio = mean["degrees_error"] / mean["blind_error"]
    yield (
        meaningless,
        bool(worse["a node"].all()),
        f"error of the degrees {ratio['a node'].min():.1f} to {ratio['a node'].max():.0f} times that of one number for "
        "all, at epsilon up to 1",
    )
    large = ratio["an edge"].drop(index=["karate club", "les miserables"], level="graph")
    best = large.groupby("graph").min()
    yield (
        possible,
        bool((best < 1).all()),
        "error over that of one number for all: " + ", ".join(f"{name} {value:.2f}" for name, value in best.items()),
    )
