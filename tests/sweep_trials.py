"""Trials for the tests of the sweep engine; a module of their own, so that workers can import them."""

import os
import signal
import time
from pathlib import Path


def noisy(params, rng):
    time.sleep(params.get("sleep_s", 0.0))
    draws = rng.normal(params.get("mu", 0.0), 1.0, size=50)
    return {"mean_km": draws.mean(), "largest_km": float(draws.max()), "n": draws.size, "large": bool(draws.max() > 2)}


def counted(params, rng):
    """Leave a file for every execution, so that a test can count them; take as long as TRIAL_S says."""
    name = f"{params['mu']}-{rng.integers(2**60)}"
    Path(params["ledger"], f"{name}-{time.time_ns()}").touch()
    time.sleep(params.get("sleep_s", float(os.environ.get("TRIAL_S", 0.0))))
    return {"name": name}


def kills_its_worker_once(params, rng):
    marker = Path(params["marker"])
    if params["mu"] == 3 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"draw": rng.random()}


def kills_every_worker(params, rng):
    if params["mu"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"draw": rng.random()}


def raises_at_two(params, rng):
    if params["mu"] == 2:
        raise ValueError("no such place")
    return {"draw": rng.random()}


def whose(params, rng):
    time.sleep(0.01)
    return {"pid": os.getpid(), "draw": rng.random()}


def threads(params, rng):
    import numba

    return {name.lower(): os.environ.get(name, "") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")} | {
        "numba": numba.get_num_threads()
    }


HELD = {}


def hold(name, value):
    HELD[name] = value


def drop():
    HELD.clear()


def reads_what_is_held(params, rng):
    Path(params["began"]).touch()
    time.sleep(params["sleep_s"])
    return {"value": HELD["x"], "draw": rng.random()}
