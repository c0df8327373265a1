"""The time that kernels take on a CUDA device, by its own clock: without launching, waiting and reading back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from graphlode.cuda.device import CudaModule


class DeviceClock:
    """Adds up the launches inside of `running()`; they must be over before `seconds` is asked."""

    def __init__(self) -> None:
        self._marks: list[tuple[Any, Any, Any]] = []  # how to tell the time between two events, and these

    @contextmanager
    def running(self) -> Iterator[None]:
        """Times every launch in this process, from whatever thread."""
        self._marks = marks = []
        plain = CudaModule.launch

        def timed(
            module: CudaModule, entry: str, grid: int, block: int, args: Sequence[Any], shared_bytes: int = 0
        ) -> None:
            cuda = module.device.xp.cuda
            begin, end = cuda.Event(), cuda.Event()
            begin.record()
            plain(module, entry, grid, block, args, shared_bytes)
            end.record()
            marks.append((cuda.get_elapsed_time, begin, end))

        CudaModule.launch = timed  # type: ignore[method-assign]
        try:
            yield
        finally:
            CudaModule.launch = plain  # type: ignore[method-assign]

    def seconds(self, _: object = None) -> float:
        """Of the last run; the argument is for callers that pass what was computed."""
        return sum(float(milliseconds(begin, end)) for milliseconds, begin, end in self._marks) / 1e3
