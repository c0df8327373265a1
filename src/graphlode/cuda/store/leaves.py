"""Drives store/leaves.cu: the counts and separators of all leaves of a shard, in the order of its directory.

`store` is the struct packed_store of a version with `num_pages` pages.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.store import PAGE_LEAVES
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape

SOURCE = KernelSource("store/leaves", ("packed_leaf_counts", "packed_leaf_separators", "packed_forget_plan"))


def leaf_counts(device: KernelDevice, store: Any, num_pages: int, *, planned: bool = False) -> Any:
    """The number of entries of every leaf, one row per page. `planned`: after the batch that is being planned."""
    counts = device.empty((num_pages, PAGE_LEAVES), np.uint16)
    _launch(device, "packed_leaf_counts", num_pages * PAGE_LEAVES, (store, np.int32(planned), counts))
    return counts


def leaf_separators(device: KernelDevice, store: Any, num_pages: int) -> Any:
    """The lowest key that each leaf may hold, one row per page."""
    separators = device.empty((num_pages, PAGE_LEAVES), np.uint64)
    _launch(device, "packed_leaf_separators", num_pages * PAGE_LEAVES, (store, separators))
    return separators


def forget_plan(device: KernelDevice, store: Any, num_pages: int) -> None:
    """Reset counts and totals to those before the plan."""
    _launch(device, "packed_forget_plan", num_pages * WARP, (store,))


def _launch(device: KernelDevice, entry: str, items: int, args: tuple[Any, ...]) -> None:
    grid, block = launch_shape(device, items)
    device.load(SOURCE).launch(entry, grid, block, args)
