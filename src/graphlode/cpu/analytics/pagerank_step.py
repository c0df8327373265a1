"""One shard's part of an iteration of PageRank on the CPU; see native/src/walks/pagerank_pull.hpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.graph.rows import native_rows
from graphlode.types import FloatArray


def begin(device: CpuDevice, view: Mapping[str, Any]) -> Any:
    return native_rows(view)


def pull(device: CpuDevice, part: Any, sent: FloatArray, *, control: Control) -> FloatArray:
    first, second = part
    sums: FloatArray = _native.analytics_pagerank_sums(first, second, sent, device.threads, control.words)
    return sums
