"""How kernels are compiled: once for what they are called with, and without looking for garbage meanwhile."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys

import networkx as nx
import numba
import numpy as np
import pytest
from numba.core import event, types
from numba.core.codegen import CPUCodegen, CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler import Flags
from numba.core.postproc import PostProcessor
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction
from shapely import box

import reident as rd
from reident.kernels import _jit
from reident.kernels._jit import _by_kind, in_parts, jit, unrolled_jit
from reident.kernels._thrift import thrift
from reident.workbench.examples import example_places

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


@pytest.mark.parametrize(
    "compute",
    [
        lambda: rd.great_circle_km(*_PLACES),
        lambda: rd.great_circle_km(_PLACES[0] / 100, _PLACES[1] / 100),
        lambda: rd.great_circle_pairs_km(*(np.tile(one, 100) for one in (*_PLACES, *_PLACES[::-1]))),
        lambda: rd.embed_distances(*_PLACES, reference_set_size=4, **_SETS),
        lambda: rd.embed_distances(*_PLACES, reference_set_size=300, **_SETS),
        lambda: rd.tolerance_intervals(
            *(one[:40] for one in _PLACES), reference_set_size=4, alpha=0.5, n_simulations=20, **_SETS
        ),
        lambda: (
            rd.registration_attack(
                rd.MetricMicrodata(_PEOPLE[["sex"]], rd.great_circle_km(*_PLACES)),
                _PEOPLE,
                quasi="sex",
                n_pairs=40,
                rng=0,
            ).positions
        ),
        lambda: rd.path_lengths(nx.gnp_random_graph(200, 0.03, seed=0)),
        lambda: rd.link_records(_PEOPLE[["lat_deg", "lon_deg"]], _PEOPLE[["lat_deg", "lon_deg"]] + 0.01).links,
    ],
)
@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, compute):
    def bits(n_threads):
        monkeypatch.setattr(numba, "get_num_threads", lambda: n_threads)
        return pickle.dumps(compute())

    shared = []
    in_threads = _jit.in_threads
    monkeypatch.setattr(_jit, "in_threads", lambda task, items: shared.append(len(items)) or in_threads(task, items))
    alone = bits(1)
    assert set(shared) == {1}
    shared.clear()
    assert bits(3) == alone
    assert max(shared) > 1


@compiles
def test_what_a_kernel_calls_is_translated_with_it_alone():
    @jit
    def inner(values, i):
        return values[i] * 2

    @jit
    def outer(values):
        work = np.zeros(values.shape[0])
        for i in range(values.shape[0]):
            work[i] = inner(values, i)
        return work

    translated = []
    finish = JITCodeLibrary._finalize_specific

    def spy(library):
        translated.append(library.name)
        finish(library)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JITCodeLibrary, "_finalize_specific", spy)
        assert outer(np.arange(3.0)).tolist() == [0, 2, 4]
        assert [name.rpartition(".")[2] for name in translated] == ["outer"]
        # Python may call what kernels call, and other packages compile as numba alone does.
        assert inner(np.arange(3.0), 2) == 4.0
        foreign = numba.njit(lambda n: np.zeros(n).sum())
        assert foreign(3) == 0.0


_TABLE = np.arange(24.0).reshape(4, 6)

_SHORTCUTS = [
    (TargetConfig, "__eq__"),
    (TargetConfig, "__hash__"),
    (BaseFunction, "get_call_type"),
    (PostProcessor, "run"),
    (CPUCodeLibrary, "_optimize_functions"),
    (CPUCodegen, "_pass_builder"),
    (event, "start_event"),
    (event, "end_event"),
]


@compiles
@pytest.mark.parametrize("table", [_TABLE, np.asfortranarray(_TABLE), _TABLE[:, ::-1][:, :5], _TABLE.astype(np.int16)])
@pytest.mark.parametrize("i", [0, -1, np.uint8(1), np.int32(-2)])
def test_an_array_is_indexed_as_python_does(table, i):
    @jit
    def read(of, i):
        line = of[i]
        part = of[:i, 1:]
        return (
            of[i, i],
            of[-1, 0],
            line[i],
            line[::-1][0],
            line[5:2].shape[0],
            part.sum(),
            of[i, ::2].sum(),
            of[1:][0, 1],
        )

    @jit
    def write(of, values, i):
        of[i, i] = 70
        of[-1, 0] = values[i]
        row = of[0]
        row[i] += 1
        of[1, :2] = values[:2]
        of[2] = -1
        return of[i]

    values = np.arange(6) + 100
    assert read(table, i) == read.py_func(table, i)
    given, wanted = table.copy("K"), table.copy("K")
    np.testing.assert_array_equal(write(given[:3], values, i), write.py_func(wanted[:3], values, i))
    np.testing.assert_array_equal(given, wanted)


@compiles
def test_what_numba_works_out_once_is_what_it_works_out():
    def usual():
        return [vars(of).get(name) for of, name in _SHORTCUTS]

    @jit
    def refused(a):
        return a.nothing

    before = usual()
    with pytest.raises(numba.core.errors.TypingError, match="nothing"):
        refused(np.zeros(3))
    assert usual() == before
    flags = [Flags() for _ in range(3)]
    flags[1].error_model = "numpy"
    flags[2].error_model = Flags().error_model  # set, and as it is where nobody sets it
    same = [[one == other for other in flags] for one in flags], [hash(one) for one in flags]
    with thrift(unrolled=False):
        assert usual() != before
        assert ([[one == other for other in flags] for one in flags], [hash(one) for one in flags]) == same
        assert flags[0] != "flags"
        # A call is resolved for its arguments alone, and nobody changes what another is given.
        context = numba.core.registry.cpu_target.typing_context
        least = context.resolve_value_type(min)
        known = [least.get_call_type(context, (one, one), {}) for one in (types.int64, types.float64, types.int64)]
        assert [one.return_type for one in known] == [types.int64, types.float64, types.int64]
        assert known[0] is not known[2]
    assert usual() == before


@compiles
@pytest.mark.parametrize("kind", ["numba:llvm_lock", "numba:run_pass"])
def test_who_listens_to_numba_hears_it_compile(kind):
    with thrift(unrolled=False), event.install_recorder(kind) as heard:
        assert numba.njit(lambda a: 2 * a)(2) == 4
    begun = sum(one.is_start for _, one in heard.buffer)
    assert begun > 0
    assert len(heard.buffer) == 2 * begun


@compiles
def test_rounds_of_a_loop_are_written_out_where_a_kernel_asks_for_it():
    def folded(a):
        kept = 0
        for i in range(a.shape[0]):
            kept = (kept >> 1) ^ a[i]
        return kept

    array, xors = np.arange(1001), {}
    for unrolled in (False, True):
        kernel = numba.njit(folded)
        with thrift(unrolled):
            assert kernel(array) == folded(array)
        (code,) = kernel.inspect_asm().values()
        xors[unrolled] = code.count("xor")
    assert xors[False] < xors[True]
    assert [one._compiler.pipeline_class._unrolled for one in (jit(folded), unrolled_jit(folded))] == [0, 1]


@compiles
def test_borrowed_arguments_stay_as_many_as_they_were():
    @jit
    def same(a, b):
        return b

    @jit
    def swapped(a, b, times):
        for _ in range(times):
            a, b = b, a
        return a

    @jit
    def tails(a, times):
        for _ in range(times):
            a = a[1:]
        return a

    @jit
    def views(a, b, pick):
        for i in range(a.shape[0]):
            if a[i] > pick:
                return same(swapped(a, b, i), tails(b, i))
        return np.concatenate((a, tails(b, 1)))

    def count(array):
        return sys.getrefcount(array)

    a, b = np.arange(4.0), np.arange(4.0) * 10
    owners = count(a), count(b)
    for _ in range(100):
        assert same(a, b).tolist() == [0, 10, 20, 30]
        assert swapped(a, b, 3).tolist() == [0, 10, 20, 30]
        assert tails(a, 2).tolist() == [2, 3]
        assert views(a, b, 1).tolist() == [20, 30]
        assert views(a, b, 9).tolist() == [0, 1, 2, 3, 10, 20, 30]
    assert (count(a), count(b)) == owners
    kept = [tails(np.arange(1000.0) + i, 1) for i in range(200)]
    del a, b
    gc.collect()
    fresh = [np.full(1000, -1.0) for _ in range(400)]
    assert all(one.tolist() == (np.arange(1.0, 1000) + i).tolist() for i, one in enumerate(kept))
    assert len(fresh) == 400


@compiles
def test_two_processes_compile_a_kernel_once(tmp_path):
    (tmp_path / "kernels_of_two.py").write_text(
        "from reident.kernels._jit import jit\n\n\n@jit\ndef square(x):\n    return x * x\n"
    )
    code = (
        "import sys, kernels_of_two as two\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "assert two.square(3.0) == 9.0\n"
        "print(sum(two.square.stats.cache_misses.values()))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, text=True, stdin=-1, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("\n")
        process.stdin.flush()
    assert sorted(process.communicate(timeout=120)[0].strip() for process in both) == ["0", "1"]


@compiles
def test_a_kernel_is_compiled_once_for_constants_and_for_all_lengths_of_whole_numbers():
    @_by_kind
    @numba.njit
    def add(out, at, value):
        out[at] += value

    @numba.njit
    def add_everywhere(out, places):
        add(out, 0, 1)
        for i in range(places.shape[0]):
            add(out, i, places[i])
            add(out, places[i], i)

    out = np.zeros(3, np.int64)
    add_everywhere(out, np.array([2, 1], np.int32))
    assert out.tolist() == [3, 2, 0]
    assert len(add.signatures) == 1


@compiles
def test_garbage_is_looked_for_again_behind_a_compilation_that_ended_and_one_that_failed():
    class Spy(numba.core.event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            pass

    @numba.njit
    def no_sum(values):
        return values + "text"

    @numba.njit
    def double(values):
        return values * 2

    seen = []
    spy = Spy()
    numba.core.event.register("numba:compile", spy)
    try:
        with pytest.raises(numba.TypingError):
            no_sum(np.zeros(2))
        assert gc.isenabled()
        double(np.zeros(2))
        assert gc.isenabled()
        gc.disable()
        double(np.zeros((2, 2)))
        assert not gc.isenabled()
    finally:
        gc.enable()
        numba.core.event.unregister("numba:compile", spy)
    assert seen
    assert not any(seen)
