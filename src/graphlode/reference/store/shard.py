"""A shard as two sorted arrays that every batch replaces: the oracle for the packed arrays of the other devices.

There are no gaps, pages or windows here, so every path does the same: remove the deleted entries, add the inserted
ones, sort. Arrays are never written after they are made, so an immutable version shares them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from graphlode.common.buckets import bucket_of
from graphlode.common.control import Control
from graphlode.common.store import LEVELS, PAGE_SLOTS, Change, Fullness, Pairs, Path, keys_of, neighbors_of, rows_of
from graphlode.errors import InputError
from graphlode.types import AnyArray, BoolArray, FloatArray, Int64Array

MOST_BRIEF = 2048
TAKES_RESIDENT = False


@dataclass
class State:
    """`keys` ascending, each once; `weights` beside them, or None."""

    num_rows: int
    keys: AnyArray
    weights: FloatArray | None


@dataclass(frozen=True)
class Plan:
    state: State
    keys: AnyArray
    weights: FloatArray | None
    change: Change


def create(device: Any, *, num_rows: int, weighted: bool) -> State:
    return State(num_rows, np.empty(0, np.uint64), np.empty(0, np.float64) if weighted else None)


def apply(
    device: Any,
    state: State,
    entries: AnyArray | Pairs,
    deletes: Any,
    weights: FloatArray | None,
    *,
    path: Path,
    control: Control,
) -> Change:
    return commit(device, prepare(device, state, entries, deletes, weights, path=path, control=control))


def finish(device: Any, state: State) -> None:
    """A commit has written everything."""


def prepare(
    device: Any,
    state: State,
    entries: AnyArray | Pairs,
    deletes: Any,
    weights: FloatArray | None,
    *,
    path: Path,
    control: Control,
) -> Plan:
    begun = perf_counter()
    control.check()
    keys, deletes, weights, self_loops = _checked(entries, deletes, weights, state)
    updated, last = _last_writes(keys)
    removes = np.zeros(updated.size, bool) if deletes is None else deletes[last]
    there = np.isin(updated, state.keys)
    kept = ~np.isin(state.keys, updated[removes])
    added = ~removes & ~there
    changed = 0
    new_weights = None
    if state.weights is not None:
        old = state.weights.copy()
        if weights is not None:
            overwritten = updated[~removes & there]
            at = np.searchsorted(state.keys, overwritten)
            written = weights[last][~removes & there]
            changed = int((old[at].view(np.uint64) != written.view(np.uint64)).sum())  # 0.0 and -0.0 are two weights
            old[at] = written
        fresh = np.ones(int(added.sum())) if weights is None else weights[last][added]
        new_weights = np.concatenate([old[kept], fresh])
    new_keys = np.concatenate([state.keys[kept], updated[added]])
    order = np.argsort(new_keys)
    control.advance(keys.size)
    change = Change(
        inserted=int(added.sum()),
        deleted=int((~kept).sum()),
        changed=changed,
        path=path,
        slots_written=new_keys.size,
        seconds=perf_counter() - begun,
        self_loops=self_loops,
    )
    return Plan(state, new_keys[order], None if new_weights is None else new_weights[order], change)


def _checked(
    entries: AnyArray | Pairs, deletes: Any, weights: FloatArray | None, state: State
) -> tuple[AnyArray, BoolArray | None, FloatArray | None, int]:
    """Keys, their delete flags and weights, and the number of entries that are self-loops."""
    if not isinstance(entries, Pairs):
        return entries, deletes, weights, 0
    ends = np.stack([entries.rows, entries.neighbors], axis=1)
    if ends.size and not (ends.min() >= 0 and ends.max() < min(entries.num_rows, state.num_rows)):
        raise InputError(f"a batch names rows that are not in the shard, which has {state.num_rows} rows")
    kept = ends[:, 0] != ends[:, 1]
    if deletes is not None:
        deletes = np.full(len(ends), deletes, bool) if deletes is True else deletes
        deletes = deletes[kept]
    weights = None if weights is None else weights[kept]
    keys = keys_of(ends[kept, 0], ends[kept, 1])
    copies = 2 if entries.both else 1
    if entries.both:
        keys = np.stack([keys, keys_of(ends[kept, 1], ends[kept, 0])], axis=1).ravel()
        deletes = None if deletes is None else np.repeat(deletes, 2)
        weights = None if weights is None else np.repeat(weights, 2)
    return keys, deletes, weights, copies * int((~kept).sum())


def _last_writes(keys: AnyArray) -> tuple[AnyArray, Int64Array]:
    """Each key once, ascending, and the index where it was written last."""
    updated, first_from_the_end = np.unique(keys[::-1], return_index=True)
    return updated, keys.size - 1 - first_from_the_end


def commit(device: Any, plan: Plan) -> Change:
    plan.state.keys, plan.state.weights = plan.keys, plan.weights
    return plan.change


def resize(device: Any, state: State, num_rows: int) -> None:
    state.num_rows = max(state.num_rows, num_rows)


def fork(device: Any, state: State) -> State:
    return replace(state)


def csr(device: Any, state: State) -> dict[str, AnyArray]:
    offsets = np.zeros(state.num_rows + 1, np.int64)
    np.cumsum(np.bincount(rows_of(state.keys), minlength=state.num_rows), out=offsets[1:])
    arrays: dict[str, AnyArray] = {"offsets": offsets, "neighbors": neighbors_of(state.keys).astype(np.int32)}
    return arrays if state.weights is None else arrays | {"weights": state.weights}


def degrees(device: Any, state: State) -> Int64Array:
    counts: Int64Array = np.bincount(rows_of(state.keys), minlength=state.num_rows).astype(np.int64)
    return counts


def contains(device: Any, state: State, keys: AnyArray) -> BoolArray:
    found: BoolArray = np.isin(keys, state.keys)
    return found


def row(device: Any, state: State, row: int) -> tuple[AnyArray, FloatArray | None]:
    here = rows_of(state.keys) == row
    return neighbors_of(state.keys[here]).astype(np.int32), None if state.weights is None else state.weights[here]


def rows_in(device: Any, state: State, buckets: BoolArray) -> tuple[AnyArray, FloatArray | None]:
    here = buckets[bucket_of(rows_of(state.keys))]
    return state.keys[here], None if state.weights is None else state.weights[here]


def num_entries(state: State) -> int:
    return int(state.keys.size)


def fullness(state: State) -> Fullness:
    return Fullness(num_entries(state))


def nbytes(device: Any, state: State) -> int:
    return state.keys.nbytes + (0 if state.weights is None else state.weights.nbytes)


def statistics(device: Any, state: State) -> dict[str, Any]:
    """There are no gaps, so the capacity is the number of entries."""
    entries = num_entries(state)
    return {
        "entries": entries,
        "capacity": entries,
        "pages": -(-entries // PAGE_SLOTS),
        "density": 1.0 if entries else 0.0,
        "density_by_level": [1.0 if entries else 0.0] * LEVELS,
        "shared_pages": 0,
    }


def check(device: Any, state: State) -> None:
    assert (state.keys[1:] > state.keys[:-1]).all(), "keys must ascend, each once"
    assert not state.keys.size or int(rows_of(state.keys[-1:])[0]) < state.num_rows, "a row is outside the shard"
    assert state.weights is None or state.weights.size == state.keys.size, "every key must have one weight"
