"""Estimated seconds to count cliques on the CPU, kept with the snapshot like any other view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.mining.cliques import estimate


def build(device: CpuDevice, base: Mapping[str, Any], view: Any, *, control: Control) -> dict[str, Any]:
    return estimate(device, base, control=control, k=view.k, by=view.by)


def memory(device: CpuDevice, shape: Mapping[str, int]) -> int:
    """0: the sample needs less memory than the search that follows."""
    return 0
