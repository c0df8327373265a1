"""Batches whose pairs lie on the device of the store: their effect, their allocations, and their failures."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from resident_store import N, ResidentStore, counted_requests, pairs_of

import graphlode as gl
from graphlode.errors import DeviceMemoryError, InputError, KernelFaultError, StateError

Make = Callable[..., ResidentStore]


@pytest.fixture(params=["cuda-emulated", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def make(device: str) -> Make:
    return lambda *given, **how: ResidentStore(device, *given, **how)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_batches_on_the_device_come_to_what_a_set_does(make: Make, directed: bool, dtype: type) -> None:
    of, rng = make(directed=directed), np.random.default_rng(11)
    known = of.edges
    for turn in range(40):
        size = (40, 200, 2500, 250)[turn % 4]  # also more than one block sorts
        src, dst = rng.integers(0, N, (2, size)).astype(dtype)
        if turn % 20 >= 10:  # a hot spot, whose pages are split, and then emptied
            src[:] = 7
            dst = np.sort(dst)[::-1].copy()
        delete = True if turn % 20 in (3, 15, 17) else None
        if delete and turn % 20 > 3:
            src, dst = np.array(sorted(edge for edge in known if 7 in edge)[:size], dtype).T.copy()
        result, before = of.apply(src, dst, delete), len(known)
        named = pairs_of(src, dst, directed=directed)
        known = known - named if delete else known | named
        assert result.inserted - result.deleted == len(known) - before and of.store.num_edges == len(known)
        assert result.self_loops == (src == dst).sum()
        if turn % 6 == 5:
            of.store.check()
            assert of.edges == known
    tally = of.shard.tally
    assert tally.rebalances > 0 and tally.paths["in place"] > 30  # others are merged for their gaps


def test_batches_on_the_device_may_have_deletes_and_weights_and_alternate_with_others(make: Make) -> None:
    of, rng = make(weighted=True), np.random.default_rng(12)
    known = dict.fromkeys(of.edges, 1.0)
    for turn, size in enumerate([0, 50, 700, 3000] * 2):
        src, dst = rng.integers(0, N, (2, size)).astype(np.int32)
        weights, delete = rng.random(size), rng.random(size) < 0.4
        given = src, dst, weights if turn % 3 else None, delete if turn % 2 else None
        of.store.apply(of.batch(*given) if turn % 5 else gl.Batch(*given))
        for place in range(size):
            pair = int(src[place]), int(dst[place])
            if turn % 2 and delete[place]:
                known.pop(pair, None)
            elif pair[0] != pair[1]:
                known[pair] = float(weights[place]) if turn % 3 else 1.0
    of.store.check()
    found = of.store.snapshot()
    assert of.edges == known.keys()
    assert all(found.weight(*pair) == known[pair] for pair in list(known)[-200:])


@pytest.mark.parametrize("size", [600, N - 1])
def test_pages_are_split_and_merged_without_memory_being_asked_for(
    make: Make, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, pages, known = make(120_000), [], None
    per_row = -(-(N - 1) // size)
    of.settle()
    with counted_requests(of, monkeypatch) as asked:
        for turn in range(6 * per_row):  # rows are filled, each with all other vertices, and emptied again
            number, part = divmod(turn, per_row)
            row = number % 3 * 700
            others = np.delete(np.arange(N, dtype=np.int32), row)[part * size :][:size]
            result = of.apply(np.full(others.size, row, np.int32), others, True if number >= 3 else None)
            assert result.paths[of.shard.name] == "in place"
            pages.append(of.pages)
            if turn == 3 * per_row - 1:
                of.store.check()
                known = of.edges
    of.store.check()
    assert known is not None and len(of.edges) < len(known)
    assert pages[0] < max(pages) > pages[-1] and of.shard.tally.rebalances > 3
    assert sum(count > 0 for count in asked) <= 2  # the first of its size, and the first after `edges` held a version


def test_a_snapshot_stays_what_it_was_while_batches_go_on(make: Make) -> None:
    of, ids = make(), np.arange(50, dtype=np.int32)
    of.settle()
    held, before = of.store.snapshot(), of.edges
    for more in (77, 99):
        of.apply(ids, ids + more)
        assert set(map(tuple, held.edges(indices=True).tolist())) == before
    del held
    for more in (101, 102, 103):
        of.apply(ids, ids + more)
    of.store.check()
    assert of.edges == before.union(*(pairs_of(ids, ids + more) for more in (77, 99, 101, 102, 103)))


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["with all rows", "with some rows"])
def test_batches_on_a_device_beside_a_cpu_come_to_what_a_set_does(make: Make, device: str, share: float) -> None:
    """A device that has all rows reads them; otherwise they are copied to the host."""
    of, rng = make(shares={device: 1.0, "cpu": share}), np.random.default_rng(13)
    assert of.store._shards.takes_resident == (share == 0)
    known = of.edges
    for turn in range(16):
        src, dst = rng.integers(0, N, (2, 150)).astype(np.int32)
        if turn % 3 == 2:
            src[:] = turn // 4
        of.apply(src, dst)
        known |= pairs_of(src, dst)
        assert of.store.num_edges == len(known)
    of.store.check()
    assert of.edges == known


def test_an_error_half_way_leaves_the_store_as_it_was_and_usable(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    of = make(120_000)
    step, turns = np.arange(N, dtype=np.int32), iter(range(60))

    def next_batch() -> gl.BatchResult:
        turn = next(turns)
        return of.apply(np.full(500, turn // 5 * 300, np.int32), step[1 + turn % 5 * 500 :][:500])

    def refuse(*_: Any) -> None:
        raise DeviceMemoryError("no memory for a directory")

    of.settle()
    while not of.shard.state.has_spare(of.pages + 8):
        next_batch()  # until pages can be split without memory
    version, before = of.store.version, of.store.num_edges
    with monkeypatch.context() as patch:
        patch.setattr(of.shard.state, "unfilled_directory", refuse)
        with pytest.raises(DeviceMemoryError):
            while True:
                next_batch()
                version, before = of.store.version, of.store.num_edges
    assert of.store.version == version and of.store.num_edges == before
    of.store.check()
    for _ in range(5):
        next_batch()
        of.store.check()
    assert of.store.num_edges == len(of.edges) > before


def test_a_wait_that_fails_breaks_the_store(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    of, ids = make(), np.arange(9, dtype=np.int32)

    def fault(*_: Any) -> None:
        raise KernelFaultError("an illegal memory access")

    monkeypatch.setattr(of.shard.kernels, "finish", fault)
    with pytest.raises(KernelFaultError):
        of.apply(ids, ids + 1)
    with pytest.raises(StateError, match="broke in the middle"):
        of.apply(ids, ids + 1)
    of.store.close()


def test_an_interrupt_while_the_host_waits_takes_effect_after_the_batch(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, ids = make(), np.arange(9, dtype=np.int32)
    version, finish, finished = of.store.version, of.shard.kernels.finish, []

    def interrupted(*given: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        finish(*given)
        finished.append(given)

    with monkeypatch.context() as patch:
        patch.setattr(of.shard.kernels, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            of.apply(ids, ids + 1)
    assert finished and not of.store._shards.broken
    assert of.store.version == version + 1 and pairs_of(ids, ids + 1) <= of.edges
    of.apply(ids, ids + 2)
    of.store.check()
    assert pairs_of(ids, ids + 2) <= of.edges


@pytest.mark.parametrize("size", [50, 2500])
def test_an_id_out_of_range_changes_nothing(make: Make, size: int) -> None:
    of, ids = make(), np.arange(size, dtype=np.int32)
    of.settle()
    version, before = of.store.version, of.store.num_edges
    for wrong in (N, -1):
        bad = ids.copy()
        bad[20] = wrong
        for pair in ((ids, bad), (bad, ids)):
            with pytest.raises(InputError, match=f"vertex {wrong} is outside 0 .. {N - 1}"):
                of.apply(*pair)
            assert of.store.version == version and of.store.num_edges == before
        of.store.check()
    assert of.apply(ids, N - 1 - ids).inserted > 0
    of.store.check()
