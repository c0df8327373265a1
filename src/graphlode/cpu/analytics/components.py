"""Components on the CPU; see native/src/walks/components_union.hpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.graph.rows import native_rows
from graphlode.types import AnyArray, Task


def launch(
    device: CpuDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    symmetric: bool,
) -> dict[str, Any]:
    for _ in tasks:  # one task: the whole graph
        labels, count = _native.analytics_components(*native_rows(view), symmetric, device.threads, control.words)
    return {"labels": labels, "count": count}


def join(device: CpuDevice, labels: Sequence[AnyArray], *, control: Control) -> dict[str, Any]:
    """The components of the union of several graphs on the same vertices, from the labels of each graph."""
    joined, count = _native.analytics_join_components(list(labels), device.threads, control.words)
    return {"labels": joined, "count": count}


def memory(device: CpuDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: a pointer and a label per vertex."""
    return 2 * shape["vertex_bytes"] * shape["num_vertices"]
