"""Several shards: each row is on one of them, a batch changes all or none, and buckets move."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.errors import DeviceMemoryError, InputError, StateError
from graphlode.execute.shares import NUM_BUCKETS
from graphlode.graph.store import balance
from stores import even, mixes, several


@pytest.fixture(params=[*mixes(several), pytest.param(["reference"] * 4, id="four reference")])
def mix(request: pytest.FixtureRequest) -> list[str]:
    return request.param


def filled(devices: list[str], **options: Any) -> gl.DynamicGraph:
    src, dst = np.random.default_rng(2).integers(0, 400, (2, 3000))
    store = gl.DynamicGraph(devices=devices, shares=even(devices), **options)
    store.insert(src * 3, dst * 3, *([np.arange(3000) / 8] if options.get("weighted") else []))
    return store


def broken_at(store: gl.DynamicGraph, number: int, **functions: Callable[..., Any]) -> None:
    """Replace kernel functions of one shard."""
    shard = list(store._shards)[number]
    shard.kernels = SimpleNamespace(**{**vars(shard.kernels), **functions})


def fail(*arguments: Any, **options: Any) -> Any:
    raise DeviceMemoryError("no memory left on this one")


@pytest.mark.parametrize("number", [0, 1])
def test_a_batch_that_one_shard_cannot_take_changes_nothing_anywhere(mix: list[str], number: int) -> None:
    store = filled(mix)
    before, memory = store.snapshot(), store.num_vertices
    kernels = list(store._shards)[number].kernels
    broken_at(store, number, prepare=fail)
    with pytest.raises(DeviceMemoryError, match="no memory left"):
        store.apply(gl.Batch(np.arange(300), np.arange(300) + 5000, delete=np.arange(300) % 3 == 0))
    assert store.version == 1 and store.snapshot() is before and store.num_vertices == memory and 5001 not in store
    list(store._shards)[number].kernels = kernels
    store.check()
    assert store.snapshot() == before and store.insert([5001], [5002]).version == 2
    store.check()


def test_an_undirected_edge_is_in_both_rows_on_any_shards(mix: list[str]) -> None:
    store = filled(mix)
    matrix = store.snapshot().to_scipy()
    assert (matrix != matrix.T).nnz == 0
    entries = [shard["entries"] for shard in store.statistics().values()]
    assert sum(entries) == 2 * store.num_edges
    store.check()  # also that every row is where the table says


@pytest.mark.parametrize("weighted", [False, True])
def test_moving_buckets_keeps_the_graph(mix: list[str], weighted: bool) -> None:
    store = filled(mix, weighted=weighted)
    before = store.snapshot()
    names = list(dict.fromkeys(store.devices))
    for shares in ({name: i + 1.0 for i, name in enumerate(names)}, {name: float(name == names[0]) for name in names}):
        version, latest = store.version, store.snapshot()
        moved = store.rebalance(shares)
        assert (moved > 0 or len(names) == 1) and store.rebalance(shares) == 0
        assert store.version == version and store.snapshot() is latest
        store.check()
        store.insert([], [])  # a new snapshot, from the new owners
        assert store.snapshot() == before and store.snapshot() is not latest
        assert store.has_edge(*before.edges()[-1].tolist())


def test_moving_buckets_is_all_or_nothing(mix: list[str]) -> None:
    store = filled(mix)
    before, shares = store.snapshot().edges().tolist(), store._shards.table.owners.copy()
    broken_at(store, 1, prepare=fail)
    with pytest.raises(DeviceMemoryError):
        store._shards.move([1.0] + [0.0] * (len(mix) - 1))
    assert np.array_equal(store._shards.table.owners, shares)
    store.check()
    assert store.snapshot().edges().tolist() == before


def test_shares_are_fixed_by_the_user() -> None:
    store = gl.DynamicGraph(devices=["reference", "reference", "cpu"], shares={"reference": 6, "cpu": 2})
    assert dict(store.shares) == {"reference": 768, "cpu": 256}
    with pytest.raises(InputError, match="shares must name the devices"):
        store.rebalance({"cpu": 1})
    assert store.rebalance({"cpu": 1, "reference": 1}) > 0
    assert dict(store.shares) == {"reference": 512, "cpu": 512}


def test_automatic_shares_go_to_the_faster_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balance, "EVERY", 4)
    store = gl.DynamicGraph(devices=["reference", "reference"], num_vertices=400)
    slow = list(store._shards)[1]
    real = slow.kernels.prepare

    def slowly(*arguments: Any, **options: Any) -> Any:
        threading.Event().wait(2e-4 * arguments[2].size)
        return real(*arguments, **options)

    broken_at(store, 1, prepare=slowly)
    rng = np.random.default_rng(4)
    kept: set[tuple[int, int]] = set()
    counts = store._shards.table.counts()
    for _ in range(60):  # a dozen is enough, unless the machine is busy
        src, dst = rng.integers(0, 400, (2, 60))
        store.insert(src, dst)
        kept |= {(min(p), max(p)) for p in zip(src.tolist(), dst.tolist(), strict=True) if p[0] != p[1]}
        counts = store._shards.table.counts()
        if counts[0] > 2 * counts[1]:
            break
    assert counts[0] > 2 * counts[1] and sum(counts) == NUM_BUCKETS
    store.check()
    assert {tuple(pair) for pair in store.snapshot().edges().tolist()} == kept


def test_rebalancing_by_what_was_seen_needs_no_numbers(mix: list[str]) -> None:
    store = filled(mix)
    before = store.snapshot().edges().tolist()
    assert store.rebalance() >= 0
    store.check()
    assert store.snapshot().edges().tolist() == before


def test_a_device_that_breaks_while_committing_closes_the_store_to_batches() -> None:
    store = filled(["reference", "reference"])
    before = store.snapshot()

    def burn(*arguments: Any) -> Any:
        raise RuntimeError("the device is on fire")

    broken_at(store, 1, commit=burn)
    with pytest.raises(RuntimeError, match="on fire"):
        store.insert(np.arange(50), np.arange(50) + 1)
    with pytest.raises(StateError, match="broke in the middle of a batch"):
        store.insert([1], [2])
    assert before.num_edges == len(before.edges())


def test_a_store_of_many_rows_grows_on_every_shard(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix))
    for begin in (0, 1000, 5000):
        store.insert(np.arange(begin, begin + 1000), np.arange(begin, begin + 1000) + 10**9)
        store.check()
    snapshot = store.snapshot()
    assert store.num_vertices == 6000 and snapshot.csr[0].size == 6001 and int(snapshot.degrees().max()) == 1


def test_a_batch_that_loads_a_store_does_not_count_for_the_shares() -> None:
    store = gl.DynamicGraph(devices=["cpu", "cpu"], num_vertices=500)
    balance = store._shards._balance
    assert balance is not None
    rng = np.random.default_rng(7)
    store.insert(*rng.integers(0, 500, (2, 5000)))
    assert not balance._rates
    store.insert(*rng.integers(0, 500, (2, 800)))
    assert set(balance._rates) == {0, 1}


def test_self_loops_are_counted_whatever_the_shards(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix), num_vertices=50)
    found = store.insert([1, 2, 3, 3], [1, 3, 2, 3])
    assert (found.self_loops, found.inserted, found.unchanged) == (2, 1, 1)
