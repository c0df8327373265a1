"""Cliques of every size on the CPU; see native/src/mining/all_cliques.cpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from graphlode.common.control import Control
from graphlode.common.counts import sizes_of_leaves
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.mining.cliques import halves, longest_row, search_bytes
from graphlode.types import AnyArray, Task

_NO_BOUND = 2**31 - 1


def launch(
    device: CpuDevice, view: Mapping[str, AnyArray], tasks: Iterator[Task], *, control: Control, max_k: int | None
) -> dict[str, Any]:
    bound = _NO_BOUND if max_k is None else min(max_k, _NO_BOUND)
    counts: list[int] = []
    for task in tasks:
        leaves = _native.mining_all_cliques(
            view["offsets"], view["neighbors"], view["roots"], task.begin, task.end, bound, device.threads,
            control.words,
        )  # fmt: skip
        for part, shift in halves(*leaves):
            sizes = [size << shift for size in sizes_of_leaves(part, max_k, control.check)]
            counts = [a + b for a, b in zip_longest(counts, sizes, fillvalue=0)]
    return {"counts": counts}


def memory(device: CpuDevice, shape: Mapping[str, int], *, max_k: int | None) -> int:
    """Bytes in addition to the view, for the longest possible row of a graph of this size; see `cliques.memory`."""
    longest = longest_row(shape["num_edges"])
    held = longest // 2 + 4 if max_k is None else min(max_k, longest // 2 + 4)
    return search_bytes(device.threads, shape["num_vertices"], longest, held)
