"""The oriented view on the CPU: an order, then one native pass; see native/src/graph/oriented.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.graph.order import order_by_round
from graphlode.types import AnyArray


def build(device: CpuDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, AnyArray]:
    offsets, neighbors = base["offsets"], base["neighbors"]
    if view.by == "degeneracy":
        _, rounds = _native.analytics_cores(offsets, neighbors, device.threads, control.words)
        order = order_by_round(rounds, like=neighbors)
    else:
        order = _native.graph_order(offsets, neighbors, view.by, device.threads, control.words)
    oriented = _native.graph_orient(offsets, neighbors, order, device.threads, control.words)
    arrays = {"offsets": oriented[0], "neighbors": oriented[1], "vertices": order}
    for array in arrays.values():
        array.flags.writeable = False  # all users of the snapshot share them
    return arrays


def memory(device: CpuDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: the view itself, and temporarily a rank per vertex."""
    n, width = shape["num_vertices"], shape["vertex_bytes"]
    return 8 * (n + 1) + width * (2 * n + shape["num_edges"])
