"""The test kernels of `kernels/`, a bench to run kernels on, and hand-made views with slow answers about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.cuda.interface import KernelModule

KERNELS = Path(__file__).parent / "kernels"

WORDS = ("int32", "uint32", "uint64")
INTEGERS = ("int32", "uint32", "int64", "uint64")
NUMBERS = (*INTEGERS, "float32", "float64")

_ENTRIES = {
    "arguments": ["arguments_all", "arguments_none"],
    "atomics": [
        *(f"atomics_order_{name}" for name in INTEGERS),
        *(f"atomics_logic_{name}" for name in WORDS),
        *(f"atomics_sum_{name}" for name in (*WORDS, "float32", "float64")),
        *(f"atomics_difference_{name}" for name in ("int32", "uint32")),
        *(f"atomics_swap_{name}" for name in WORDS),
        "atomics_exchange_float",
    ],
    "barriers": [
        f"barrier_{name}" for name in ("votes", "reverse_and_sum", "keep_apart", "unwritten", "within_warps", "indices")
    ],
    "bits": ["bits_of_words", "bits_of_long_words", "bits_fences", *(f"bits_extremes_{name}" for name in NUMBERS)],
    "faults": [
        f"fault_{name}"
        for name in (
            *("none", "leaves_before_the_vote", "does_not_name_itself", "meets_in_another_collective"),
            *("meets_on_another_line", "masks_differ", "never_arrives", "leaves_before_the_barrier"),
            *("barrier_in_a_branch", "another_barrier", "stack"),
        )
    ],
    "headers": [f"headers_{name}" for name in ("warp", "append", "draw", "last_block", "raise")],
    "packed_layout": ["packed_layout_words"],
    "reductions": ["reduce_int32", "reduce_uint32"],
    "shuffles": ["shuffle_whole_warp", *(f"shuffle_{name}" for name in NUMBERS)],
    "votes": [f"vote_{name}" for name in ("together", "in_groups", "without_the_first", "activemask")],
}

SOURCES = {stem: KernelSource(stem, tuple(entries), root=KERNELS) for stem, entries in _ENTRIES.items()}


class Bench:
    """A device and what tests do with it: launch a test kernel on host arrays and look at them afterwards."""

    def __init__(self, device: Any) -> None:
        self.device = device

    @property
    def emulated(self) -> bool:
        return isinstance(self.device, EmulatedDevice)

    def do(self, work: Callable[[], Any]) -> Any:
        """The result of `work` on the device's worker, where drivers run."""
        return self.device.submit(work).result()

    def load(self, stem: str) -> KernelModule:
        module: KernelModule = self.do(lambda: self.device.load(SOURCES[stem]))
        return module

    def launch(self, stem: str, entry: str, grid: int, block: int, *args: Any, shared_bytes: int = 0) -> None:
        """Arrays among the arguments are changed in place, as if the device worked in the host's memory."""
        module = self.load(stem)

        def work() -> None:
            there = [self.device.asarray(x) if isinstance(x, np.ndarray) else x for x in args]
            module.launch(entry, grid, block, there, shared_bytes)
            for here, array in zip(args, there, strict=True):
                if isinstance(here, np.ndarray):
                    here[...] = self.device.get(array)

        self.do(work)


def warps(grid: int, block: int) -> list[list[int]]:
    """The numbers of the threads of each warp, lane by lane; the last warp of a block may be cut short."""
    return [
        list(range(b * block + first, b * block + min(block, first + 32)))
        for b in range(grid)
        for first in range(0, block, 32)
    ]


Rows = list[list[int]]


def csr(rows: Iterable[Iterable[int]], dtype: Any = np.int32) -> dict[str, Any]:
    """Rows as the arrays of a view."""
    lists = [sorted(row) for row in rows]
    offsets = np.zeros(len(lists) + 1, np.int64)
    offsets[1:] = np.cumsum([len(row) for row in lists])
    neighbors = np.array([v for row in lists for v in row], dtype)
    return {"offsets": offsets, "neighbors": neighbors, "vertices": np.arange(len(lists), dtype=dtype)}


def symmetric(num_vertices: int, edges: Iterable[tuple[int, int]]) -> list[set[int]]:
    rows: list[set[int]] = [set() for _ in range(num_vertices)]
    for u, v in edges:
        rows[u].add(v)
        rows[v].add(u)
    return rows


def triangles_of(rows: Rows) -> tuple[int, list[int], list[int]]:
    """All triangles of an oriented graph, per vertex and per entry, one at a time."""
    sets = [set(row) for row in rows]
    first = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).tolist()
    entry = {(u, v): first[u] + i for u, row in enumerate(rows) for i, v in enumerate(row)}
    total, by_vertex, by_edge = 0, [0] * len(rows), [0] * first[-1]
    for u, row in enumerate(rows):
        for v in row:
            for w in sets[u] & sets[v]:
                total += 1
                for corner in (u, v, w):
                    by_vertex[corner] += 1
                for edge in ((u, v), (v, w), (u, w)):
                    by_edge[entry[edge]] += 1
    return total, by_vertex, by_edge
