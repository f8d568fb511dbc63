"""What the guest's study sweeps, and what it makes of the trials."""

import numpy as np

from reident.studies.comparison import compare, exact


def trial(params, rng):
    ages = rng.integers(18, 90, 50) // params["width"]
    return {"unique": float((np.unique(ages, return_counts=True)[1] == 1).sum() / ages.size)}


def sweeps(plan, _seed):
    return {"ages": {"grid": {"width": plan.widths}, "trial": trial, "repetitions": plan.repetitions}}


def frames(_plan, _seed, trials):
    return {"ages": trials["ages"]}


def claims(plan, _seed, frames):
    means = frames["ages"].groupby("width")["unique"].mean()
    falls = means[max(plan.widths)] < means[min(plan.widths)]
    return compare([exact("unique ages are fewer by the decade", True, bool(falls))])
