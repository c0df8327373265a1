"""Estimated seconds to count cliques on a CUDA device, kept with the snapshot like any other view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.mining.cliques import estimate


def build(device: KernelDevice, base: Mapping[str, Any], view: Any, *, control: Control) -> dict[str, Any]:
    return estimate(device, base, control=control, k=view.k, by=view.by)


def memory(device: KernelDevice, shape: Mapping[str, int]) -> int:
    """0: the sample needs less memory than the search that follows."""
    return 0
