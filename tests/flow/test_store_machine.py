"""Any sequence of batches, snapshots and migrations, against Python's own sets, on every mix of devices."""

from __future__ import annotations

from typing import Any

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
from stores import even, mixes

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.sampled_from((0, 1, 2, 31, 32, 33, 200))
# Where the ends of a batch's edges lie: anywhere, at one hub, in one leaf, among ids that are new and far away.
SHAPES = st.sampled_from(("random", "hub", "leaf", "descending", "far"))
NUM_VERTICES = 200


def drawn(shape: str, size: int, seed: int, fixed: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, NUM_VERTICES, (2, size))
    if shape == "hub":
        src[:] = seed % NUM_VERTICES
    elif shape == "leaf":
        src, dst = src % 2, dst % 30
    elif shape == "descending":
        src = np.sort(src)[::-1]
    elif shape == "far" and not fixed:
        src = src * 10**12 - 5 * 10**13
    return src.astype(np.int64), dst.astype(np.int64)


class StoreMachine(RuleBasedStateMachine):
    devices: list[str]

    @initialize(directed=st.booleans(), weighted=st.booleans(), fixed=st.booleans())
    def make(self, directed: bool, weighted: bool, fixed: bool) -> None:
        self.fixed = fixed
        self.store = gl.DynamicGraph(
            directed,
            weighted=weighted,
            num_vertices=NUM_VERTICES if fixed else None,
            devices=self.devices,
            shares=even(self.devices),
        )
        self.edges: dict[tuple[int, int], float] = {}
        self.vertices: list[int] = list(range(NUM_VERTICES)) if fixed else []
        self.version = 0
        self.snapshots: list[tuple[gl.Snapshot, dict[tuple[int, int], float], list[int]]] = []

    @rule(shape=SHAPES, size=SIZES, seed=SEEDS, deletes=st.sampled_from((0.0, 0.3, 0.9)))
    def apply(self, shape: str, size: int, seed: int, deletes: float) -> None:
        src, dst = drawn(shape, size, seed, self.fixed)
        rng = np.random.default_rng(seed + 1)
        delete = rng.random(size) < deletes if deletes else None
        weights = rng.integers(0, 5, size) / 4 if self.store.weighted else None
        self._write(src, dst, weights, delete)
        self._applied(self.store.apply(gl.Batch(src, dst, weights, delete)))

    @rule(seed=SEEDS, part=st.sampled_from((0.1, 0.7, 1.0)))
    @precondition(lambda self: self.edges)
    def delete_what_is_there(self, seed: int, part: float) -> None:
        chosen = [edge for edge in self.edges if np.random.default_rng([seed, *map(abs, edge)]).random() < part]
        src, dst = np.array(chosen, np.int64).reshape(-1, 2).T
        self._write(src, dst, None, np.ones(src.size, bool))
        result = self.store.delete(src, dst)
        assert result.deleted == len(chosen)
        self._applied(result)

    @rule(outside=st.sampled_from((-1, NUM_VERTICES, 2**40)))
    @precondition(lambda self: self.fixed)
    def fail_out_of_range(self, outside: int) -> None:
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

    def _name(self, u: int, v: int) -> tuple[int, int]:
        return (u, v) if self.store.directed or u < v else (v, u)

    def _write(self, src: Any, dst: Any, weights: Any, delete: Any) -> None:
        inserted = np.ones(src.size, bool) if delete is None else ~delete
        new = {*src[inserted].tolist(), *dst[inserted].tolist()} - set(self.vertices)
        self.vertices += sorted(new)
        for i, (u, v) in enumerate(zip(src.tolist(), dst.tolist(), strict=True)):
            if u == v:
                continue
            if inserted[i]:
                self.edges[self._name(u, v)] = 1.0 if weights is None else float(weights[i])
            else:
                self.edges.pop(self._name(u, v), None)

    def _applied(self, result: gl.BatchResult) -> None:
        self.version += 1
        assert result.version == self.version

    def _compare(self, snapshot: gl.Snapshot, edges: dict[tuple[int, int], float], vertices: list[int]) -> None:
        assert snapshot.ids.tolist() == vertices
        for u, v in list(edges)[:3]:
            assert snapshot.has_edge(u, v) and v in snapshot.neighbors(u)
        degrees = dict.fromkeys(vertices, 0)
        for u, v in edges:
            degrees[u] += 1
            degrees[v] += not snapshot.directed
        assert snapshot.degrees().tolist() == list(degrees.values())
        pairs = [self._name(u, v) for u, v in snapshot.edges().tolist()]
        values = [1.0] * len(pairs) if snapshot.weights is None else snapshot.weights.tolist()
        assert dict(zip(pairs, values, strict=True)) == edges and len(pairs) == len(edges)


@pytest.mark.parametrize("devices", mixes())
def test_a_store_is_a_set_of_edges_after_any_sequence(devices: list[str]) -> None:
    machine: Any = type("Machine", (StoreMachine,), {"devices": devices})
    few = 8 if "cuda-emulated" in devices else 20
    run_state_machine_as_test(machine, settings=settings(max_examples=few, stateful_step_count=12))
