"""Raw sums of motifs on the CPU; see native/src/mining/motifs.cpp."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.mining.cliques import longest_row, search_bytes
from graphlode.errors import UnsupportedError
from graphlode.types import AnyArray, Pass, Task

METHODS = ("fused",)


def launch(
    device: CpuDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    size: int,
    method: str,
) -> dict[str, int]:
    """The sums of `graphlode.mining.motifs` over the rows of the tasks.

    All rows in one task are counted faster than in several: see the native code.
    """
    return _count(_counter(view, size, method), device, tasks, control)


def time_passes(
    device: CpuDevice, view: Mapping[str, AnyArray], *, control: Control, size: int, method: str
) -> tuple[dict[str, int], list[Pass]]:
    """The sums of all vertices, and what each pass took of the time."""
    counter = _counter(view, size, method)
    sums = _count(counter, device, iter([Task(0, len(view["offsets"]) - 1)]), control)
    return sums, [Pass(*each) for each in counter.passes()]


def _counter(view: Mapping[str, AnyArray], size: int, method: str) -> _native.MotifCounter:
    if method not in METHODS:
        raise UnsupportedError(f"method {method!r} is not there on the CPU; it has {', '.join(METHODS)}")
    return _native.MotifCounter(
        view["offsets"], view["neighbors"], view["lower"], view["edges"], view["triangles"], size
    )


def _count(counter: _native.MotifCounter, device: CpuDevice, tasks: Iterator[Task], control: Control) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for task in tasks:
        for name, (low, high) in counter.count(task.begin, task.end, device.threads, control.words).items():
            sums[name] += low + (high << 64)
    return dict(sums)


def memory(device: CpuDevice, shape: Mapping[str, int], *, size: int, method: str) -> int:
    """Bytes beside the view: two numbers per entry, a few per vertex and thread; and the neighborhoods.

    How many triangles those hold is not known before the view is built, so they are reckoned with as many as there are
    edges: graphs in which they take far more than the rest have more triangles, but are small.
    """
    n, m = shape["num_vertices"], shape["num_edges"]
    if size == 3:
        return 0
    cliques = search_bytes(device.threads, n, longest_row(m), size) + 12 * n + 4 * m
    return 16 * m + 8 * n + max(cliques, (8 + 16) * m + 25 * n + device.threads * 40 * n)
