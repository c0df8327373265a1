"""Any sequence of batches, snapshots and migrations, against Python's own sets, on every mix of devices.

Small batches use few vertices, so they name the same edges. Loads are as large as several pages: pages split and merge,
the row of a hub spans several pages, and new vertices make the rows grow.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import graphlode as gl
from graphlode.graph.store.shard import Strategy
from stores import even, mixes

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.sampled_from((0, 1, 2, 31, 32, 33, 200))
# The ends of the edges of a batch: anywhere, at one hub, in one leaf, or new ids far away.
SHAPES = st.sampled_from(("random", "hub", "leaf", "descending", "far"))
FEW, MANY = 200, 5000  # vertices
Edges = dict[tuple[int, int], float]


def drawn(shape: str, size: int, span: int, seed: int, fixed: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, span, (2, size))
    if shape == "hub":
        src[:] = seed % FEW
    elif shape == "leaf":
        src, dst = src % 2, dst % 30
    elif shape == "descending":
        src = np.sort(src)[::-1]
    elif shape == "far" and not fixed:
        src = src * 10**12 - 5 * 10**13
    return src.astype(np.int64), dst.astype(np.int64)


class StoreMachine(RuleBasedStateMachine):
    devices: list[str]

    @initialize(
        directed=st.booleans(),
        weighted=st.booleans(),
        num_vertices=st.sampled_from((None, FEW, MANY)),
        strategy=st.just("auto") | st.sampled_from(get_args(Strategy)),
        begin=st.sampled_from((0, 500, 6000)),
    )
    def make(self, directed: bool, weighted: bool, num_vertices: int | None, strategy: Strategy, begin: int) -> None:
        self.fixed = num_vertices is not None
        self.store = gl.DynamicGraph(
            directed,
            weighted=weighted,
            num_vertices=num_vertices,
            devices=self.devices,
            shares=even(self.devices),
            strategy=strategy,
        )
        self.edges: Edges = {}
        self.vertices: list[int] = list(range(num_vertices or 0))
        self.version = 0
        self.snapshots: list[tuple[gl.Snapshot, Edges, list[int]]] = []
        if begin:  # Hypothesis leaves rules out, `load` among them
            self.load("random", begin, begin)

    @rule(shape=SHAPES, size=SIZES, seed=SEEDS, deletes=st.sampled_from((0.0, 0.3, 0.9)))
    def apply(self, shape: str, size: int, seed: int, deletes: float) -> None:
        src, dst = drawn(shape, size, FEW, seed, self.fixed)
        rng = np.random.default_rng(seed + 1)
        self._apply(src, dst, rng.random(size) < deletes if deletes else None, rng)

    @rule(shape=st.sampled_from(("random", "hub", "descending")), size=st.sampled_from((1025, 4000, 8000)), seed=SEEDS)
    def load(self, shape: str, size: int, seed: int) -> None:
        src, dst = drawn(shape, size, len(self.vertices) if self.fixed else MANY, seed, self.fixed)
        self._apply(src, dst, None, np.random.default_rng(seed + 1))

    @rule(count=st.sampled_from((1025, 2500)), seed=SEEDS)
    @precondition(lambda self: not self.fixed)
    def bring_many_vertices(self, count: int, seed: int) -> None:
        """Each with an edge to an existing or another new vertex; some with none."""
        rng = np.random.default_rng(seed)
        src = rng.integers(-(2**63), 2**63 - 1, count)
        dst = rng.choice(np.concatenate([src, np.array(self.vertices, np.int64)]), count)
        dst[::5] = src[::5]
        self._apply(src, dst, None, rng)

    @rule(seed=SEEDS, part=st.sampled_from((0.1, 0.7, 0.95, 1.0)), together=st.booleans())
    @precondition(lambda self: self.edges)
    def delete_what_is_there(self, seed: int, part: float, together: bool) -> None:
        src, dst = np.array(sorted(self.edges), np.int64).T
        rng = np.random.default_rng(seed)
        chosen = np.roll(np.arange(src.size), rng.integers(src.size)) if together else rng.permutation(src.size)
        chosen = chosen[: max(1, int(part * src.size))]
        src, dst = src[chosen], dst[chosen]
        before = self._write(src, dst, None, np.ones(src.size, bool))
        result = self.store.delete(src, dst)
        assert result.deleted == src.size
        self._applied(before, result)

    @rule(outside=st.sampled_from((-(2**32), -1, FEW, 2**31, 2**32, 2**40)))
    @precondition(lambda self: self.fixed)
    def fail_out_of_range(self, outside: int) -> None:
        outside = max(outside, len(self.vertices)) if outside > 0 else outside
        with pytest.raises(gl.InputError, match=f"vertex {outside} is outside"):
            self.store.insert([1, outside], [2, 3])

    @rule()
    @precondition(lambda self: len(self.snapshots) < 4)
    def keep_a_snapshot(self) -> None:
        self.snapshots.append((self.store.snapshot(), dict(self.edges), list(self.vertices)))

    @rule()
    @precondition(lambda self: self.snapshots)
    def look_at_the_oldest_snapshot(self) -> None:
        self._compare(*self.snapshots.pop(0))

    @rule(seed=SEEDS)
    @precondition(lambda self: len(self.devices) > 1)
    def move_rows(self, seed: int) -> None:
        weights = np.random.default_rng(seed).integers(0, 4, len(self.devices)).tolist()
        if any(weights):
            self.store._shards.move(weights, hysteresis=0.0)

    @invariant()
    def all_is_well(self) -> None:
        if hasattr(self, "store"):
            self.store.check()
            assert self.store.version == self.version
            assert self.store.num_edges == len(self.edges) and self.store.num_vertices == len(self.vertices)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self._compare(self.store.snapshot(), self.edges, self.vertices)
            for kept in self.snapshots:
                self._compare(*kept)
            self.store.close()

    def _apply(self, src: Any, dst: Any, delete: Any, rng: np.random.Generator) -> None:
        weights = rng.integers(0, 5, src.size) / 4 if self.store.weighted else None
        before = self._write(src, dst, weights, delete)
        self._applied(before, self.store.apply(gl.Batch(src, dst, weights, delete)))

    def _write(self, src: Any, dst: Any, weights: Any, delete: Any) -> Edges:
        """Apply the batch to the model; returns the previous state."""
        before = dict(self.edges)
        inserted = np.ones(src.size, bool) if delete is None else ~delete
        self.vertices += sorted({*src[inserted].tolist(), *dst[inserted].tolist()} - set(self.vertices))
        values = np.ones(src.size) if weights is None else weights
        for is_inserted, edge, value in zip(inserted.tolist(), self._names(src, dst), values.tolist(), strict=True):
            if not is_inserted:
                self.edges.pop(edge, None)
            elif edge[0] != edge[1]:
                self.edges[edge] = value
        return before

    def _names(self, src: Any, dst: Any) -> list[tuple[int, int]]:
        if not self.store.directed:
            src, dst = np.minimum(src, dst), np.maximum(src, dst)
        return list(zip(src.tolist(), dst.tolist(), strict=True))

    def _applied(self, before: Edges, result: gl.BatchResult) -> None:
        self.version += 1
        assert result.version == self.version
        kept = before.keys() & self.edges.keys()
        assert result.inserted == len(self.edges) - len(kept) and result.deleted == len(before) - len(kept)
        changed = sum(before[edge] != self.edges[edge] for edge in kept) if self.store.weighted else 0
        assert result.changed == changed

    def _compare(self, snapshot: gl.Snapshot, edges: Edges, vertices: list[int]) -> None:
        assert snapshot.ids.tolist() == vertices
        for u, v in list(edges)[:3]:
            assert snapshot.has_edge(u, v) and v in snapshot.neighbors(u)
        degrees = snapshot.degrees()  # by the shards; the next call makes rows
        src, dst = snapshot.edges().T
        pairs = self._names(src, dst)
        values = [1.0] * len(pairs) if snapshot.weights is None else snapshot.weights.tolist()
        assert dict(zip(pairs, values, strict=True)) == edges and len(pairs) == len(edges)
        ends = np.sort(src if snapshot.directed else np.concatenate([src, dst]))
        counts = np.searchsorted(ends, snapshot.ids, "right") - np.searchsorted(ends, snapshot.ids, "left")
        assert np.array_equal(degrees, counts)


@pytest.mark.parametrize("devices", mixes())
def test_a_store_is_a_set_of_edges_after_any_sequence(devices: list[str]) -> None:
    machine: Any = type("Machine", (StoreMachine,), {"devices": devices})
    few = 10 if "cuda-emulated" in devices else 20 if devices == ["reference"] else 30
    run_state_machine_as_test(machine, settings=settings(max_examples=few, stateful_step_count=12))


@pytest.mark.parametrize("strategy", get_args(Strategy))
@pytest.mark.parametrize("devices", mixes())
def test_every_shard_splits_pages_grows_rows_and_gives_pages_back(devices: list[str], strategy: Strategy) -> None:
    """Run the rules of the machine in a fixed order and check their effects."""
    machine: Any = type("Machine", (StoreMachine,), {"devices": devices})()
    machine.make(directed=False, weighted=True, num_vertices=None, strategy=strategy, begin=4000)
    pages = [shard_pages(machine.store)]
    assert min(pages[0]) >= 1 and machine.store.num_vertices > 1024
    room = min(shard.num_rows for shard in machine.store._shards)
    machine.keep_a_snapshot()
    for step in (
        lambda: machine.load("hub", 8000, 1),
        lambda: machine.bring_many_vertices(2500, 2),
        lambda: machine.load("descending", 8000, 3),
        lambda: machine.delete_what_is_there(4, 0.95, together=True),
    ):
        step()
        machine.all_is_well()
        pages.append(shard_pages(machine.store))
    assert np.all(np.array(pages[3]) > np.array(pages[0])) and np.all(np.array(pages[4]) < np.array(pages[3]))
    assert min(shard.num_rows for shard in machine.store._shards) > room > 1024
    machine.teardown()


def shard_pages(store: gl.DynamicGraph) -> list[int]:
    return [shard["pages"] for shard in store.statistics().values()]
