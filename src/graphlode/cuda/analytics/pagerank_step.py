"""One shard's part of an iteration of PageRank on a CUDA device, by the kernels of analytics/pagerank.cu."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.walks.pagerank_sums import ArrivingSums
from graphlode.types import FloatArray


def begin(device: KernelDevice, view: Mapping[str, Any]) -> Any:
    return ArrivingSums(device, view)


def pull(device: KernelDevice, part: Any, sent: FloatArray, *, control: Control) -> FloatArray:
    control.check()
    sums: FloatArray = device.get(part.sums(device.asarray(sent)))
    return sums
