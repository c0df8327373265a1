"""The peak of the device memory that drivers use: the bytes of their arrays, without unused memory of the pool."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from graphlode.cuda.interface import KernelDevice


@dataclass
class Peak:
    """Filled when the `with` block ends."""

    bytes: int = 0


@contextmanager
def memory_peak(device: KernelDevice) -> Iterator[Peak]:
    """Measure the peak of what the calling thread, the device's worker, allocates in the `with` block."""
    watch = _watch_pool if hasattr(device.xp, "cuda") else _watch_host
    with watch(device.xp) as peak:
        yield peak


@contextmanager
def _watch_pool(cupy: Any) -> Iterator[Peak]:
    peak = Peak()

    class Hook(cupy.cuda.MemoryHook):  # type: ignore[misc]
        name = "graphlode peak"
        taken = 0

        def malloc_postprocess(self, **facts: int) -> None:
            self.taken += facts["mem_size"]
            peak.bytes = max(peak.bytes, self.taken)

        def free_postprocess(self, **facts: int) -> None:
            self.taken -= facts["mem_size"]

    with Hook():
        yield peak


@contextmanager
def _watch_host(_: Any) -> Iterator[Peak]:
    """An emulated device has numpy's arrays, which tracemalloc records."""
    peak = Peak()
    tracemalloc.start()
    try:
        before, _most = tracemalloc.get_traced_memory()
        yield peak
        peak.bytes = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
