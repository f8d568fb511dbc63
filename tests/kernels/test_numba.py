import ast
import importlib.util
import os
import pickle
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import box

import reident as rd
from reident.kernels import _numba
from reident.kernels._argsort import argsort
from reident.kernels._cache import cache_folder, remove_damaged
from reident.kernels._numba import in_parts
from reident.workbench.examples import example_places

KERNELS = Path(rd.__file__).parent / "kernels"
compiles = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled without JIT")


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(("n", "least"), [(0, 1), (0, 7), (1, 1), (5, 100), (100, 7), (1000, 64), (13, 0)])
def test_parts_hold_every_row_once_and_whole_multiples(monkeypatch, n_threads, n, least):
    monkeypatch.setattr(numba, "get_num_threads", lambda: n_threads)
    parts = in_parts(lambda part: part, n, least)
    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    assert parts
    assert all((part.stop - part.start) % max(1, least) == 0 for part in parts[:-1])
    assert n_threads > 1 or len(parts) == 1


_N = 600 if not numba.config.DISABLE_JIT else 3
_PEOPLE = example_places(_N, rng=1)
_PLACES = _PEOPLE["lat_deg"].to_numpy(), _PEOPLE["lon_deg"].to_numpy()
_AREA = box(6, 47, 15, 55)
_SETS = {"n_reference_sets": 5, "area": _AREA, "rng": 0}


def _registered():
    release = rd.MetricMicrodata(_PEOPLE[["sex"]], rd.great_circle_km(*_PLACES))
    return rd.location.registration_attack(release, _PEOPLE, quasi="sex", n_pairs=40, rng=0)


@pytest.mark.parametrize(
    "compute",
    [
        lambda: rd.great_circle_km(*_PLACES),
        lambda: rd.great_circle_km(_PLACES[0] / 100, _PLACES[1] / 100),
        lambda: rd.places.great_circle_pairs_km(*(np.tile(one, 100) for one in (*_PLACES, *_PLACES[::-1]))),
        lambda: rd.embed_distances(*_PLACES, reference_set_size=4, **_SETS),
        lambda: rd.embed_distances(*_PLACES, reference_set_size=300, **_SETS),
        lambda: rd.places.tolerance_intervals(
            *(one[:40] for one in _PLACES), reference_set_size=4, alpha=0.5, n_simulations=20, **_SETS
        ),
        lambda: _registered().positions,
        lambda: rd.networks.path_lengths(nx.gnp_random_graph(200, 0.03, seed=0)),
        lambda: rd.link_records(_PEOPLE[["lat_deg", "lon_deg"]], _PEOPLE[["lat_deg", "lon_deg"]] + 0.01).links,
    ],
)
@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, compute):
    def bits(n_threads):
        monkeypatch.setattr(numba, "get_num_threads", lambda: n_threads)
        return pickle.dumps(compute())

    shared = []
    in_threads = _numba.in_threads
    monkeypatch.setattr(_numba, "in_threads", lambda task, items: shared.append(len(items)) or in_threads(task, items))
    alone = bits(1)
    assert set(shared) == {1}
    shared.clear()
    assert bits(3) == alone
    assert max(shared) > 1


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*/[a-z]*.py")), ids=lambda path: path.stem)
def test_no_kernel_uses_a_sorting_routine_of_numba(path):
    """They are closures that get one name for several functions where two processes fill one cache (numba 10486)."""
    attributes = [node.attr for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Attribute)]
    assert not {"sort", "argsort", "unique", "median", "percentile", "quantile"} & {*attributes}


#: Kernels with closures of numba in them, each in a file of its own, and their value for 0, 1, 2, 3.
USES = {
    "sums": ("np.cumsum(values)[-1] + values.max()", 9.0),
    "filled": ("np.full(values.shape[0], values[0]).sum() + np.zeros(3).sum() + values.argmin()", 0.0),
    "ranks": ("argsort(values)[0] + argsort(-values)[0]", 3),
    "counts": ("np.count_nonzero(values) + np.flatnonzero(values)[-1]", 6),
}


@compiles
@pytest.mark.slow
def test_a_process_that_loads_what_two_others_compiled_runs_the_right_code(tmp_path):
    """Numba numbers what it compiles from 1 in each process."""

    def run(names, more=""):
        code = f"import numpy as np, {', '.join(names)}; "
        code += "; ".join(f"assert {name}.{name}(np.arange(4.0)) == {USES[name][1]}" for name in names)
        subprocess.run([sys.executable, "-c", code + more], cwd=tmp_path, check=True, env=environment)

    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for name, (formula, _) in USES.items():
        (tmp_path / f"{name}.py").write_text(
            "import numpy as np\nfrom reident.kernels._argsort import argsort\n"
            f"from reident.kernels._numba import jit\n\n\n@jit\ndef {name}(values):\n    return {formula}\n"
        )
    run(["sums", "ranks"])
    run(["filled", "counts"])
    run(USES, "".join(f"; assert not {name}.{name}.stats.cache_misses" for name in USES))


@compiles
@pytest.mark.parametrize("damage", [lambda file: b"", lambda file: file[:-1], lambda file: file[: len(file) // 2],
                                    lambda file: b"\x93garbage", lambda file: file + b"."])  # fmt: skip
def test_a_damaged_entry_of_the_cache_is_compiled_again(tmp_path, monkeypatch, damage):
    def hits():
        remove_damaged.cache_clear()
        spec = importlib.util.spec_from_file_location("twice", tmp_path / "twice.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.twice(3.0) == 6.0
        return sum(module.twice.stats.cache_hits.values())

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "twice.py").write_text(
        "from reident.kernels._numba import jit\n\n\n@jit\ndef twice(x):\n    return 2 * x\n"
    )
    assert [hits(), hits()] == [0, 1]
    for entry in (tmp_path / "cache").rglob("*.nb?"):
        entry.write_bytes(damage(entry.read_bytes()))
        assert [hits(), hits()] == [0, 1]


def test_importing_kernels_changes_no_setting_of_other_packages(tmp_path):
    (tmp_path / "other.py").write_text("import numba\n\n\n@numba.njit(cache=True)\ndef f(x):\n    return x\n")
    code = "import gc, numba; before = dict(vars(numba.config)); import reident.kernels.networks.network, other; "
    code += "assert dict(vars(numba.config)) == before; assert gc.isenabled(); print(other.f.stats.cache_path)"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, env=environment, capture_output=True, text=True
    )
    assert Path(done.stdout.strip()) == tmp_path / "__pycache__"


def test_the_cache_folder_follows_from_the_sources(tmp_path):
    code = (KERNELS / "_cache.py").read_text(encoding="utf-8")
    (tmp_path / "_cache.py").write_text(code)
    folders = set()
    for text in ("a = 1\n", "a = 2\n", "a = 1\n"):
        (tmp_path / "helper.py").write_text(text)
        folders.add(subprocess.check_output([sys.executable, tmp_path / "_cache.py"], text=True))
    assert len(folders) == 2
    assert len(cache_folder().name) == 16


FLOATS = st.floats(allow_nan=False)
VECTORS = st.lists(FLOATS, max_size=70) | st.lists(st.integers(-3, 3), max_size=70)


def _vector(values):
    return np.array(values, dtype=float if any(isinstance(v, float) for v in values) else np.int64)


@given(VECTORS)
def test_positions_are_those_of_a_stable_sort(values):
    assert argsort(_vector(values)).tolist() == sorted(range(len(values)), key=values.__getitem__)
