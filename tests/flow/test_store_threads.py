"""Readers on other threads while batches run."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import graphlode as gl
from stores import even, mixes

NUM_VERTICES = 300
RING = np.arange(NUM_VERTICES)


def batch(step: int) -> gl.Batch:
    """Version 2k + 1 adds a ring of step k to the ring of step 1, version 2k + 2 removes it."""
    k, gone = divmod(step, 2)
    return gl.Batch(RING, (RING + 2 + k % 100) % NUM_VERTICES, delete=bool(gone))


@pytest.mark.parametrize("devices", mixes())
def test_readers_always_see_the_state_after_a_whole_batch(devices: list[str]) -> None:
    store = gl.DynamicGraph(num_vertices=NUM_VERTICES, directed=True, devices=devices, shares=even(devices))
    store.insert(RING, (RING + 1) % NUM_VERTICES)
    steps = 40 if "cuda-emulated" in devices else 200
    stop, progress = threading.Event(), [0, 0, 0]

    def read(reader: int) -> int:
        seen, last = 0, 0
        while not stop.is_set():
            snapshot = store.snapshot()
            assert snapshot.version >= last
            last = snapshot.version
            doubled = snapshot.version % 2 == 0
            assert snapshot.num_edges == NUM_VERTICES * (1 + doubled)
            assert snapshot.degrees().tolist() == [1 + doubled] * NUM_VERTICES
            if seen % 4 == 0:
                assert len(snapshot.edges()) == snapshot.num_edges
            assert snapshot.has_edge(0, 1) and store.has_edge(3, 4)
            seen += 1
            progress[reader] = seen
        return seen

    done = 0
    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read, number) for number in range(3)]
        try:
            while done < steps or (min(progress) <= 3 and done < 100 * steps):
                store.apply(batch(done))
                store.apply(batch(done + 1))
                done += 2
        finally:
            stop.set()
        assert all(reader.result() > 3 for reader in readers)
    store.check()
    assert store.version == done + 1 and store.num_edges == NUM_VERTICES


def test_a_reader_does_not_wait_for_a_long_batch() -> None:
    store = gl.DynamicGraph(devices=["reference", "reference"])
    store.insert(RING, RING + 1)
    with ThreadPoolExecutor(1) as pool:
        before = pool.submit(store.snapshot).result()  # from here on the store has a reader on another thread
        held = threading.Event()
        shard = next(iter(store._shards))
        shard._lane.submit(held.wait)  # the lane is busy: the batch cannot begin
        writing = pool.submit(store.insert, RING, RING + 7)
        assert store.snapshot() is before and store.num_edges == before.num_edges
        held.set()
        assert writing.result().version == 2
    assert store.snapshot().version == 2


def test_batches_from_many_threads_all_count() -> None:
    store = gl.DynamicGraph(devices=["reference", "reference"])
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda k: store.insert(RING * 100 + k, RING * 100 + k + 50_000), range(24)))
    assert sorted(result.version for result in results) == list(range(1, 25))
    assert store.num_edges == 24 * NUM_VERTICES
    store.check()


@pytest.mark.parametrize("scale", [1, 3, 10**15], ids=["positions", "small ids", "scattered ids"])
def test_readers_find_the_ids_of_their_snapshot_while_others_arrive(scale: int) -> None:
    """Version v is a star of v leaves, each from a batch of its own."""
    store = gl.DynamicGraph(devices="cpu", directed=True)
    store.insert([0], [scale])
    stop = threading.Event()

    def read() -> int:
        seen = 0
        while not stop.is_set():
            snapshot = store.snapshot()
            leaves = snapshot.version
            assert snapshot.num_vertices == leaves + 1 and snapshot.ids[-1] == leaves * scale
            assert snapshot.has_edge(0, leaves * scale) and not snapshot.has_edge(0, (leaves + 1) * scale)
            assert (leaves + 1) * scale not in snapshot and leaves * scale in snapshot
            seen += 1
        return seen

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for leaf in range(2, 1500):
                store.insert([0], [leaf * scale])
        finally:
            stop.set()
        assert all(reader.result() > 3 for reader in readers)
    assert store.num_vertices == 1500
