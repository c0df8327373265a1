"""A shard's entries on the CPU: sorted pages with gaps, shared between versions; see native/src/store/*.cpp."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, overload

import numpy as np

from graphlode.common.control import Control
from graphlode.common.store import Change, Fullness, Pairs, Path
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.store.pairs import entries_of
from graphlode.types import AnyArray, Int64Array

State = _native.PackedRows
MOST_BRIEF = 2048
TAKES_RESIDENT = False


@dataclass(slots=True)
class Plan:
    """A batch that is ready to be committed. All memory that it will write is allocated."""

    native: Any
    path: Path
    seconds: float
    self_loops: int  # entries of pairs that were dropped


def create(device: CpuDevice, *, num_rows: int, weighted: bool) -> State:
    return State(num_rows, weighted)


def apply(
    device: CpuDevice,
    state: State,
    entries: AnyArray | Pairs,
    deletes: Any,
    weights: AnyArray | None,
    *,
    path: Path,
    control: Control,
) -> Change:
    return commit(device, prepare(device, state, entries, deletes, weights, path=path, control=control))


def finish(device: CpuDevice, state: State) -> None:
    """A commit returns when it is written."""


def prepare(
    device: CpuDevice,
    state: State,
    entries: AnyArray | Pairs,
    deletes: Any,
    weights: AnyArray | None,
    *,
    path: Path,
    control: Control,
) -> Plan:
    """Sort and locate the batch, and write what no reader can see yet. `state` must not change before the commit."""
    begin = perf_counter()
    self_loops = 0
    if isinstance(entries, Pairs):
        entries, deletes, weights, self_loops = entries_of(entries, deletes, weights, device.threads)
    native = _native.packed_prepare(
        state, _whole(entries), _whole(deletes), _whole(weights), path, device.threads, control.words
    )
    return Plan(native, path, perf_counter() - begin, self_loops)


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


def rows_in(device: CpuDevice, state: State, buckets: AnyArray) -> tuple[AnyArray, AnyArray | None]:
    keys, weights = state.rows_in(_whole(buckets), device.threads, Control().words)
    return keys, weights


def num_entries(state: State) -> int:
    return state.num_entries


def fullness(state: State) -> Fullness:
    """A batch splits and joins pages while it writes them, so only the number of entries matters."""
    return Fullness(state.num_entries)


def nbytes(device: CpuDevice, state: State) -> int:
    """Bytes of the state and of all versions that share pages with it."""
    return state.nbytes


def statistics(device: CpuDevice, state: State) -> dict[str, Any]:
    return state.statistics()


def check(device: CpuDevice, state: State) -> None:
    """Check every rule of the structure; for tests."""
    broken = state.check()
    if broken:
        raise AssertionError(broken)
