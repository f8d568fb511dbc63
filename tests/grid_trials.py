"""What the tests run in other processes: trials of `reident.sweep`, expenses of a budget."""

import os
import signal
import time
from pathlib import Path

import reident


def noisy(rng, *, mu, sigma=1.0, kind=None):
    return {"mean_km": rng.normal(mu, sigma, 20).mean(), "kind_is_text": isinstance(kind, str)}


def counted(rng, *, mu, folder, seconds=0.0):
    """Leave a file for every execution, so that a test can count them."""
    time.sleep(seconds)
    Path(folder, f"{mu}-{time.time_ns()}").touch()
    return [{"part": 0, "draw": rng.random()}, {"part": 1, "draw": rng.random()}]


def failing(rng, *, mu):
    if mu == 2:
        raise ValueError("two is no number")
    return {"draw": rng.random()}


def deadly(rng, *, mu):
    if mu == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"draw": rng.random()}


def slow(rng, *, mu, ledger):
    """Leave a file for every execution; take as long as TRIAL_S says."""
    name = f"{mu}-{rng.integers(2**60)}"
    Path(ledger, f"{name}-{time.time_ns()}").touch()
    time.sleep(float(os.environ.get("TRIAL_S", 0.0)))
    return {"name": name}


def reads_its_context(rng, *, context, began, seconds):
    Path(began).touch()
    time.sleep(seconds)
    return {"n": len(context), "draw": rng.random()}


def spend_all(budget, granted):
    n_granted = 0
    try:
        while True:
            budget.spend("1/50")
            n_granted += 1
    except reident.ParameterError:
        granted.put(n_granted)
