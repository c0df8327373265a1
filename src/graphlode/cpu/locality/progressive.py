"""Progressive reordering on the CPU; see native/src/locality/progressive_pass.hpp."""

from __future__ import annotations

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import Int64Array


def reorder(device: CpuDevice, edges: Int64Array, lanes: int, level: int, control: Control) -> None:
    """One pass over packed edges, in place."""
    _native.locality_reorder(edges, lanes, level, device.threads, control.words)
