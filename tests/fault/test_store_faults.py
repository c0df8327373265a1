"""A batch that fails half way, for lack of memory or because of Ctrl-C, leaves the store unchanged."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.cpu import _native

RNG = np.random.default_rng(5)
FIRST = RNG.integers(0, 3000, (2, 20_000))
SECOND = RNG.integers(0, 4000, (2, 6000))
DELETE = RNG.random(6000) < 0.5
WEIGHTS = RNG.random(6000)


@pytest.fixture(autouse=True)
def _no_failure_is_left_behind() -> Any:
    yield
    _native.fail_allocation(0)


def filled(devices: list[str], strategy: Any, weighted: bool) -> gl.DynamicGraph:
    store = gl.DynamicGraph(devices=devices, strategy=strategy, weighted=weighted)
    store.insert(*FIRST)
    return store


@pytest.mark.parametrize("strategy", ["in place", "merge"])
@pytest.mark.parametrize(("devices", "weighted"), [(["cpu"], True), (["cpu", "cpu"], False)], ids=str)
def test_each_allocation_of_a_batch_may_fail(devices: list[str], weighted: bool, strategy: Any) -> None:
    batch = gl.Batch(SECOND[0], SECOND[1], WEIGHTS if weighted else None, DELETE)
    done = filled(devices, strategy, weighted)
    done.apply(batch)
    expected = done.snapshot()
    store = filled(devices, strategy, weighted)
    before = store.snapshot()
    failures = 0
    for n in range(1, 400):
        _native.fail_allocation(n)
        try:
            store.apply(batch)
        except MemoryError:
            failures += 1
        finally:
            _native.fail_allocation(0)
        if store.version == 2:
            break
        assert store.snapshot() is before and store.num_vertices == before.num_vertices
        if n % 5 == 1:
            store.check()
            assert store.num_edges == before.num_edges
    assert failures >= 2 and store.version == 2
    store.check()
    assert store.snapshot() == expected


@pytest.mark.parametrize("devices", [["cpu"], ["cpu", "cpu"]], ids="+".join)
def test_closing_gives_the_memory_back(devices: list[str]) -> None:
    filled(devices, "auto", weighted=False).close()  # the memory that stays
    gc.collect()
    before = int(_native.live_bytes())
    store = filled(devices, "auto", weighted=True)
    snapshot = store.snapshot()
    store.apply(gl.Batch(SECOND[0], SECOND[1], WEIGHTS, DELETE))
    assert int(_native.live_bytes()) > before
    store.close()
    del snapshot, store
    gc.collect()
    assert int(_native.live_bytes()) == before


INTERRUPTED = """
import os, signal, threading
import numpy as np
import graphlode as gl

N = 20_000
ring = np.arange(N)
store = gl.DynamicGraph(num_vertices=N, devices={devices}, directed=True)
store.insert(ring, (ring + 1) % N)
pieces = [ring, ring[:500], ring[:3]]

def step():
    # Every other version takes away what the one before it has brought.
    k, gone = divmod(store.version - 1, 2)
    piece = pieces[k % 3]
    store.apply(gl.Batch(piece, (piece + 2) % N, delete=bool(gone)))

rng = np.random.default_rng(1)
interrupted = 0
for _ in range(40):
    timer = threading.Timer(float(rng.random() * 0.02), os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        while True:
            step()
    except KeyboardInterrupt:
        interrupted += 1
    timer.join()
    k, there = divmod(store.version - 1, 2)
    assert store.num_edges == N + there * pieces[k % 3].size, (store.version, store.num_edges)
    store.check()
    assert len(store.snapshot().edges()) == store.num_edges
print(interrupted)
"""


@pytest.mark.parametrize("devices", [["cpu"], ["cpu", "cpu"], ["reference", "cpu"]], ids="+".join)
def test_ctrl_c_never_breaks_a_batch_in_two(devices: list[str], run_python: Any) -> None:
    assert int(run_python(INTERRUPTED.format(devices=devices))) == 40
