"""Core numbers on the CPU; see native/src/analytics/cores.cpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray, Task


def launch(
    device: CpuDevice, view: Mapping[str, AnyArray], tasks: Iterator[Task], *, control: Control
) -> dict[str, Any]:
    for _ in tasks:  # one task: the whole graph
        core, rounds = _native.analytics_cores(view["offsets"], view["neighbors"], device.threads, control.words)
    return {"core": core, "round": rounds}


def memory(device: CpuDevice, shape: Mapping[str, int]) -> int:
    """Bytes in addition to the view: degree, list, core, round and two frontiers per vertex."""
    return shape["num_vertices"] * (4 * shape["vertex_bytes"] + 8)
