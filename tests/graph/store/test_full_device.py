"""A device whose memory is full: with automatic shares its rows go to others. A batch is applied as a whole or not at
all."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.common.buckets import NUM_BUCKETS
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.errors import DeviceMemoryError

N = 3000
HYBRID = ["cuda-emulated", "cpu"]


class Limit:
    """Limits the bytes of all arrays of emulated devices. These are the fastest devices of the store."""

    def __init__(self, patch: pytest.MonkeyPatch, nbytes: int) -> None:
        self.left, self.refused = nbytes, 0
        patch.setattr(EmulatedDevice, "speed", 100.0)
        for name in ("empty", "zeros"):
            patch.setattr(EmulatedDevice, name, self._limited(getattr(EmulatedDevice, name)))

    def _limited(self, make: Any) -> Any:
        def limited(device: EmulatedDevice, shape: Any, dtype: Any) -> Any:
            nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
            if nbytes > self.left:
                self.refused += 1
                raise DeviceMemoryError(f"{device.name}: no memory, for a test")
            made = make(device, shape, dtype)
            self.left -= nbytes
            weakref.finalize(made, self._give_back, nbytes).atexit = False
            return made

        return limited

    def _give_back(self, nbytes: int) -> None:
        self.left += nbytes

    def lift(self) -> None:
        """Reading all edges at once needs memory for them."""
        self.left += 2**40


def random_edges(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    src, dst = rng.integers(0, N, (2, count))
    return src[src != dst], dst[src != dst]


def assert_has(store: gl.DynamicGraph, edges: set[tuple[int, int]]) -> None:
    store.check()
    graph = store.snapshot()
    offsets, neighbors = graph.csr
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(offsets))
    assert pairs(sources, neighbors) == edges
    assert store.num_edges == len(edges)


def pairs(src: Any, dst: Any) -> set[tuple[int, int]]:
    return set(zip(src.tolist(), dst.tolist(), strict=True))


@pytest.mark.parametrize("num_vertices", [N, None], ids=["positions", "ids"])
def test_a_graph_that_does_not_fit_on_the_device_is_loaded(
    monkeypatch: pytest.MonkeyPatch, num_vertices: int | None
) -> None:
    limit, rng = Limit(monkeypatch, 14_000_000), np.random.default_rng(1)
    with gl.DynamicGraph(directed=True, num_vertices=num_vertices, devices=HYBRID) as store:
        store.insert(np.arange(N - 1), np.arange(1, N))  # ids are positions in either case
        src, dst = random_edges(rng, 400_000)
        store.insert(src, dst)
        assert limit.refused and 0 < store.shares["cuda-emulated"] < NUM_BUCKETS
        limit.lift()
        assert_has(store, pairs(src, dst) | pairs(np.arange(N - 1), np.arange(1, N)))
        levels = gl.bfs(store, 0).levels
        assert (levels >= 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_a_store_grows_beyond_its_device_and_shrinks_again(monkeypatch: pytest.MonkeyPatch, weighted: bool) -> None:
    limit, rng = Limit(monkeypatch, 18_000_000 if weighted else 12_000_000), np.random.default_rng(2)
    with gl.DynamicGraph(directed=True, num_vertices=N, weighted=weighted, devices=HYBRID) as store:
        edges: set[tuple[int, int]] = set()
        version = None
        shares = [NUM_BUCKETS]
        for number in range(8):
            src, dst = random_edges(rng, 60_000)
            version = store.snapshot() if number == 3 else version  # a snapshot that stays for a while
            version = None if number == 6 else version
            store.insert(src, dst)
            edges |= pairs(src, dst)
            shares.append(store.shares["cuda-emulated"])
        assert limit.refused and sorted(shares, reverse=True) == shares and 0 < shares[-1] < NUM_BUCKETS
        gone = np.array(sorted(edges)[::4])
        for begin in range(0, len(gone), 50_000):
            store.delete(gone[begin : begin + 50_000, 0], gone[begin : begin + 50_000, 1])
        limit.lift()
        assert_has(store, edges - pairs(gone[:, 0], gone[:, 1]))


@pytest.mark.parametrize(
    ("devices", "shares"),
    [(HYBRID, {"cuda-emulated": 3, "cpu": 1}), (["cuda-emulated", "cuda-emulated"], "auto"), ("cuda-emulated", "auto")],
    ids=["fixed shares", "one device twice", "one device"],
)
def test_a_batch_is_refused_if_no_device_can_take_rows(
    monkeypatch: pytest.MonkeyPatch, devices: Any, shares: Any
) -> None:
    limit, rng = Limit(monkeypatch, 10_000_000), np.random.default_rng(3)
    with gl.DynamicGraph(directed=True, num_vertices=N, devices=devices, shares=shares) as store:
        src, dst = random_edges(rng, 1000)
        store.insert(src, dst)
        before = dict(store.shares)
        with pytest.raises(DeviceMemoryError, match="no memory"):
            store.insert(*random_edges(rng, 2_000_000))
        assert store.version == 1 and store.shares == before
        limit.lift()
        assert_has(store, pairs(src, dst))


@pytest.mark.gpu
def test_a_graph_that_does_not_fit_on_a_gpu_is_kept_by_both() -> None:
    """CuPy's pool refuses as a smaller GPU would."""
    cupy = pytest.importorskip("cupy")
    pool, rng = cupy.get_default_memory_pool(), np.random.default_rng(4)
    cupy.cuda.Device(0).use()
    pool.free_all_blocks()
    before = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + (120 << 20))
    try:
        with gl.DynamicGraph(directed=True, num_vertices=N, devices=["cuda:0", "cpu"]) as store:
            edges: set[tuple[int, int]] = set()
            for count in (4_000_000, 500_000, 500_000, 500_000):
                src, dst = random_edges(rng, count)
                store.insert(src, dst)
                edges |= pairs(src, dst)
            assert 0 < store.shares["cuda:0"] < NUM_BUCKETS
            pool.set_limit(size=before)
            assert_has(store, edges)
    finally:
        pool.set_limit(size=before)
