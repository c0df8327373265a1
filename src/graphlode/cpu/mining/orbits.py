"""Raw arrays of orbits on the CPU; see native/src/mining/orbits.cpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.mining import motifs
from graphlode.types import AnyArray, Task


def launch(
    device: CpuDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    size: int,
    edges: bool,
) -> dict[str, AnyArray]:
    """The contributions of the tasks' rows to the arrays of `graphlode.mining.orbits`."""
    counter = _native.OrbitCounter(
        view["offsets"], view["neighbors"], view["lower"], view["edges"], view["triangles"], size, edges
    )
    for task in tasks:
        counter.count(task.begin, task.end, device.threads, control.words)
    found: dict[str, AnyArray] = counter.take(device.threads, control.words)
    return found


def memory(device: CpuDevice, shape: Mapping[str, int], *, size: int, edges: bool) -> int:
    """Bytes in addition to the view: the arrays, the memory of motifs, and a number per thread and edge (5-cycles)."""
    n, m = shape["num_vertices"], shape["num_edges"]
    arrays = {(4, False): (1, 2), (4, True): (0, 5), (5, False): (25, 4), (5, True): (0, 31)}[size, edges]
    threads = device.threads * (8 * m + 24 * n)
    return 8 * (arrays[0] * n + arrays[1] * m) + threads + motifs.memory(device, shape, size=size, method="fused")
