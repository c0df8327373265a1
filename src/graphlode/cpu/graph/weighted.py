"""The rows with their weights on the CPU; see native/src/graph/entry_weights.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.common.weights import require_lengths
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray, FloatArray


def build(device: CpuDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, Any]:
    offsets, neighbors = base["offsets"], base["neighbors"]
    weights: FloatArray = view.edge_weights()
    require_lengths(float(weights.min(initial=0.0)))
    mean = float(weights.mean()) if weights.size else 0.0
    if not view.directed:
        weights = _native.graph_entry_weights(offsets, neighbors, weights, device.threads, control.words)
        weights.flags.writeable = False  # all users of the snapshot share them
    return {"offsets": offsets, "neighbors": neighbors, "weights": weights, "mean_weight": mean}


def memory(device: CpuDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: a weight per entry, and temporarily a position per row."""
    return 8 * (shape["num_entries"] + shape["num_vertices"])
