"""A shard's entries on the CPU: sorted pages with gaps, shared between versions; see native/src/graph/packed_*.cpp."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, overload

import numpy as np

from graphlode.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.packed import Change, Pairs, Path
from graphlode.types import AnyArray, Int64Array

State = _native.PackedRows
TAKES_PAIRS = True
"""Batches may be `Pairs` of the host."""


@dataclass
class Plan:
    """An update that is ready to be committed; what it will write is taken already."""

    native: Any
    path: Path
    seconds: float
    self_loops: int = 0  # entries of pairs that were dropped


def create(device: CpuDevice, *, num_rows: int, weighted: bool) -> State:
    return State(num_rows, weighted)


def prepare(
    device: CpuDevice,
    state: State,
    batch: AnyArray | Pairs,
    deletes: Any,
    weights: AnyArray | None,
    *,
    path: Path,
    control: Control,
) -> Plan:
    """Sort and locate the batch, and write whatever nobody can see yet; `state` must not change before the commit."""
    begin = perf_counter()
    self_loops = 0
    if isinstance(batch, Pairs):
        batch, deletes, weights, self_loops = _entries(batch, deletes, weights, state.num_rows, device.threads)
    native = _native.packed_prepare(
        state, _whole(batch), _whole(deletes), _whole(weights), path, device.threads, control.words
    )
    return Plan(native, path, perf_counter() - begin, self_loops)


def _entries(
    pairs: Pairs, deletes: Any, weights: AnyArray | None, num_rows: int, threads: int
) -> tuple[AnyArray, AnyArray | None, AnyArray | None, int]:
    """Keys, what goes with each of them, and how many entries of pairs of equals are left out."""
    rows, neighbors, both = pairs.rows, pairs.neighbors, pairs.both
    keys, self_loops = _native.packed_pair_keys(rows, neighbors, num_rows, both, threads)

    def for_entries(values: AnyArray) -> AnyArray:
        return _native.packed_pair_values(rows, neighbors, np.ascontiguousarray(values), both, threads)

    if deletes is True:
        deletes = np.ones(keys.size, np.bool_)
    elif deletes is not None:
        deletes = for_entries(deletes)
    return keys, deletes, None if weights is None else for_entries(weights), self_loops << both


@overload
def _whole(array: AnyArray) -> AnyArray: ...
@overload
def _whole(array: AnyArray | None) -> AnyArray | None: ...
def _whole(array: AnyArray | None) -> AnyArray | None:
    return None if array is None else np.ascontiguousarray(array)


def commit(device: CpuDevice, plan: Plan) -> Change:
    begin = perf_counter()
    inserted, deleted, changed, slots_written, rebalances = plan.native.commit()
    seconds = plan.seconds + perf_counter() - begin
    return Change(inserted, deleted, changed, plan.path, slots_written, rebalances, seconds, plan.self_loops)


def resize(device: CpuDevice, state: State, num_rows: int) -> None:
    state.resize(num_rows)


def fork(device: CpuDevice, state: State) -> State:
    return state.fork()


def csr(device: CpuDevice, state: State) -> dict[str, AnyArray]:
    offsets, neighbors, weights = state.compressed(device.threads, Control().words)
    arrays = {"offsets": offsets, "neighbors": neighbors}
    return arrays if weights is None else {**arrays, "weights": weights}


def degrees(device: CpuDevice, state: State) -> Int64Array:
    return state.degrees(device.threads, Control().words)


def contains(device: CpuDevice, state: State, keys: AnyArray) -> AnyArray:
    found = np.empty(keys.size, np.bool_)
    state.contains(_whole(keys), found)
    return found


def row(device: CpuDevice, state: State, row: int) -> tuple[AnyArray, AnyArray | None]:
    keys, weights = state.row(row)
    return keys.astype(np.int32), weights  # the low half of a key is the neighbor


def rows_in(device: CpuDevice, state: State, slots: AnyArray) -> tuple[AnyArray, AnyArray | None]:
    keys, weights = state.rows_in(_whole(slots), device.threads, Control().words)
    return keys, weights


def num_entries(state: State) -> int:
    return state.num_entries


def nbytes(device: CpuDevice, state: State) -> int:
    """Bytes of the state and of all versions that share pages with it."""
    return state.nbytes


def statistics(device: CpuDevice, state: State) -> dict[str, Any]:
    return state.statistics()


def check(device: CpuDevice, state: State) -> None:
    """Look at every rule of the structure; for tests."""
    broken = state.check()
    if broken:
        raise AssertionError(broken)
