"""What is interrupted, damaged or crowded out goes on where it was: faults against each kind of work, as one table.

The suite runs the rows that differ most. `REIDENT_KILLS=50` (`make faults`) runs every fault against every kind of
work, and kills 50 times. What a test can bring about without a second process stands in `test_sweep` and `test_runner`.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import grid_trials
import reident as rd
from reident.base import WORK, outputs
from small_notebooks import write_notebook

#: How often what is killed is killed; more than the default: the whole table, too.
KILLS = int(os.environ.get("REIDENT_KILLS", "2"))

#: Seconds after which a step that should end counts as hanging.
PATIENCE_S = 240

SWEEP = """
import sys, grid_trials, reident as rd
if __name__ == "__main__":
    rd.sweep(grid_trials.slow, {"mu": list(range(6)), "ledger": [sys.argv[1]]}, seed=1, repetitions=25,
             cache=sys.argv[2], jobs=int(sys.argv[3]), scheduler=sys.argv[4] or None, progress=False)
"""

SCHEDULER = """
import sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        print(cluster.scheduler_address, flush=True)
        time.sleep(600)
"""

CELL = """
from pathlib import Path
import grid_trials, reident as rd
settings = {"mu": [x, x + 1], "ledger": [ledger]}
frame = rd.sweep(grid_trials.slow, settings, repetitions=20, seed=x, cache=Path(out, "parts"), progress=False)
frame.to_csv(Path(out, "rows.csv"), index=False)
"""


class Work:
    """Work that is begun in a process of its own, and ended in the end."""

    def __init__(self, place: Path):
        self.place, self.out, self.ledger, self.tag = place, place / "out", place / "ledger", uuid.uuid4().hex
        self.ledger.mkdir()

    def begin(self, *command):
        paths = [str(self.place), *(path for path in sys.path if path)]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TRIAL_S": "0.05", "FAULTS_TAG": self.tag}
        kws = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        return subprocess.Popen([sys.executable, *map(str, command)], cwd=self.place, env=env, **kws)

    def start(self):
        return self.begin(*self.command())

    def under_way(self):
        return len(list(self.ledger.iterdir()))

    def orphans(self):
        """Return the processes that this work started and that are still there."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.tag.encode() in (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_text().replace("\0", " ")[:80])
        return found

    def end(self):
        done = self.start()
        said = done.communicate(timeout=PATIENCE_S)[1]
        assert done.returncode == 0, said[-2000:]
        self.check()


class Sweep(Work):
    jobs, address = 1, ""

    def command(self):
        return "-c", SWEEP, self.ledger, self.out, self.jobs, self.address

    def stored(self):
        lines = [line for file in self.out.rglob("*.jsonl") for line in file.read_text().splitlines()]
        keys = []
        for line in lines:  # a line that a kill tore is run again
            with contextlib.suppress(ValueError):
                keys.append(json.loads(line)["key"])
        return keys

    def end(self):
        """Go on in this process: what is stored is not computed again, and the rows are those of one run."""
        settings = {"mu": list(range(6)), "ledger": [str(self.ledger)]}
        options = {"repetitions": 25, "seed": 1, "progress": False}
        frame = rd.sweep(grid_trials.slow, settings, cache=self.out, **options)
        assert len(frame) == 150
        assert not frame.duplicated(["mu", "repetition"]).any()
        keys = self.stored()
        assert len(set(keys)) == len(keys) == 150
        before = self.under_way()
        again = rd.sweep(grid_trials.slow, settings, cache=self.out, **options)
        assert self.under_way() == before, "what is stored was computed again"
        pd.testing.assert_frame_equal(frame, again)
        pd.testing.assert_frame_equal(frame, rd.sweep(grid_trials.slow, settings, **options))


class TwoWorkers(Sweep):
    jobs = 2


class OnAScheduler(Sweep):
    def __init__(self, place):
        super().__init__(place)
        self.there = self.begin("-c", SCHEDULER)
        self.address = self.there.stdout.readline().strip()

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.there.pid, signal.SIGKILL)
        self.there.communicate()
        super().end()


class Batch(Work):
    def __init__(self, place):
        super().__init__(place)
        write_notebook(place / "n.ipynb", CELL, parameters=f"x = 1\nout = ''\nledger = {str(self.ledger)!r}")
        (place / "sweep.yaml").write_text("notebook: n.ipynb\ngrid: {x: [1, 5]}\npages: false")

    def command(self):
        return "-m", "reident.cli", "batch", "sweep.yaml", "--jobs", 1, "--out", self.out

    def check(self):
        assert {entry.name for entry in (self.out / WORK).iterdir()} == {"lock", outputs.RECORD}
        assert len(list(self.out.glob("*/record.json"))) == 2
        for file in self.out.glob("*/rows.csv"):
            frame = pd.read_csv(file)
            assert len(frame) == 40
            assert not frame.duplicated(["mu", "repetition"]).any()


class Reproduce(Work):
    def command(self):
        return "-m", "reident.cli", "reproduce", "kroll2015", "--profile", "smoke", "--jobs", 1, "--out", self.out

    def under_way(self):
        return len(list(self.out.rglob("cells.txt")))

    def check(self):
        assert {entry.name for entry in (self.out / WORK).iterdir()} == {"lock", outputs.RECORD}
        assert len(pd.read_csv(self.out / "kroll2015" / "claims.csv"))


class Assess(Work):
    def __init__(self, place):
        super().__init__(place)
        rng = np.random.default_rng(1)
        people = pd.DataFrame({"age": rng.integers(20, 80, 60), "sex": rng.choice(["f", "m"], 60)})
        people.assign(ill=rng.choice(["flu", "no"], 60)).to_csv(place / "people.csv", index=False)

    def command(self):
        asked = ("--quasi", "age,sex", "--sensitive", "ill", "--profile", "smoke", "--jobs", 1)
        return "-m", "reident.cli", "assess", "people.csv", *asked, "--out", self.out

    def under_way(self):
        return len(list(self.out.rglob("part-*.parquet")))

    def check(self):
        assert (self.out / "report.html").is_file()


KINDS = {
    "a sweep": Sweep, "a sweep on two workers": TwoWorkers, "a sweep on a scheduler": OnAScheduler,
    "batch": Batch, "reproduce": Reproduce, "assess": Assess,
}  # fmt: skip


def begun(work, rng, seconds=1.5):
    """Start the work and wait until it is in the middle."""
    before, running, deadline = work.under_way(), work.start(), time.monotonic() + PATIENCE_S
    while work.under_way() <= before and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(rng.uniform(0.0, seconds))
    return running


def ended(running, work, *, quiet=True):
    """Wait for the end; nobody is left behind, and an error is a sentence."""
    said = running.communicate(timeout=PATIENCE_S)[1]
    if quiet and not isinstance(work, Sweep):
        assert "Traceback" not in said, said[-2000:]
    deadline = time.monotonic() + 30
    while len(work.orphans()) > 2 * isinstance(work, OnAScheduler) and time.monotonic() < deadline:
        time.sleep(0.1)
    if not isinstance(work, OnAScheduler):  # its own scheduler and worker stay
        assert not work.orphans()
    return said


def send(*signals):
    def bring_about(work, rng):
        for _ in range(KILLS if signals == (signal.SIGKILL,) else 1):
            running = begun(work, rng)
            for number in signals:
                with contextlib.suppress(ProcessLookupError):
                    # as a terminal does: to all processes; the others to the one that was started
                    (os.killpg if number == signal.SIGINT else os.kill)(running.pid, number)
                time.sleep(0.3)
            said = ended(running, work, quiet=len(signals) == 1)
            if signals == (signal.SIGINT,):
                there = "of 150 trials finished; they are in" if isinstance(work, Sweep) else "goes on from there"
                assert there in said or running.returncode == 0

    return bring_about


def deleted(work, rng):
    running = begun(work, rng)
    shutil.rmtree(work.out, ignore_errors=True)
    ended(running, work)
    shutil.rmtree(work.out, ignore_errors=True)


def two_writers(work, rng):
    one, other = work.start(), begun(work, rng, 0.2)
    said = [ended(running, work) for running in (one, other)]
    assert any(running.returncode == 0 for running in (one, other)), said
    # The second is refused, unless the first had ended by then.
    refused = any("works here" in text and repr(str(work.out)) in text for text in said)
    assert refused or one.returncode == other.returncode == 0


def damaged(work, rng):
    """Kill, then truncate a part, flip a bit in another, and put a foreign one beside them."""
    send(signal.SIGKILL)(work, rng)
    for number, part in enumerate(sorted(work.out.rglob("part-*.parquet"))[:3]):
        content = part.read_bytes()
        if number == 0:
            part.write_bytes(content[:-9])
        elif number == 1:
            part.write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])
        else:
            part.with_name("part-0123.parquet").write_bytes(content)


def clock(work, rng):
    """Let all that an earlier run wrote come from tomorrow."""
    send(signal.SIGKILL)(work, rng)
    tomorrow = time.time() + 86_400
    for path in work.out.rglob("*"):
        os.utime(path, (tomorrow, tomorrow))


def older(work, rng):
    """Finish, and let the records say that other code did it."""
    work.end()
    for file in work.out.glob("*/record.json"):
        file.write_text(json.dumps({**json.loads(file.read_text()), "key": "older"}))
        outputs.record_files(file.parent)


def scheduler_dies(work, rng):
    running = begun(work, rng)
    os.killpg(work.there.pid, signal.SIGKILL)
    ended(running, work, quiet=False)
    assert running.returncode != 0 or len(work.stored()) == 150


FAULTS = {
    "SIGKILL": send(signal.SIGKILL), "SIGINT": send(signal.SIGINT),
    "SIGINT twice": send(signal.SIGINT, signal.SIGINT), "SIGTERM": send(signal.SIGTERM),
    "folder deleted": deleted, "two writers": two_writers, "damaged parts": damaged, "clock set back": clock,
    "older code": older,
}  # fmt: skip

SHORT = [
    ("a sweep", "SIGKILL"), ("a sweep", "two writers"), ("a sweep", "folder deleted"),
    ("a sweep on two workers", "SIGKILL"), ("a sweep on two workers", "SIGINT"), ("batch", "SIGTERM"),
]  # fmt: skip
WHOLE = [(kind, fault) for kind in KINDS for fault in FAULTS] + [("a sweep on a scheduler", "the scheduler dies")]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "fault"), SHORT if KILLS == 2 else WHOLE)
def test_after_a_fault_nothing_is_lost_doubled_or_left_behind(kind, fault, tmp_path):
    rng = np.random.default_rng(list(f"{kind}{fault}".encode()))
    work = KINDS[kind](tmp_path)
    (FAULTS | {"the scheduler dies": scheduler_dies})[fault](work, rng)
    work.end()
    assert not work.orphans()
