"""The time that kernels take on a CUDA device, by its own clock: without launching, waiting and reading back.

A kernel that is launched into an idle stream begins while the host is still in the driver: the time between an event
before it and one after it would include the launch itself. So an idle stream first gets a kernel that does nothing for
about a hundred microseconds; by the time it ends, the events and the kernel between them are all queued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.launcher import CudaModule, CudaPreparedLaunch

_SPIN = KernelSource("spin", ("spin",), root=Path(__file__).parent)
_SPIN_NANOSECONDS = np.uint64(100_000)


class DeviceCopy:
    """A copy within the memory of a CUDA device: half of the bytes are read and half of them written."""

    def __init__(self, device: Any, nbytes: int) -> None:
        self._device = device
        with device.current():
            self._source = device.xp.arange(nbytes // 16, dtype=np.uint64)
            self._target = device.xp.zeros_like(self._source)

    def seconds(self) -> float:
        """Seconds of one copy, by the device's clock: ten copies follow each other, so their launches do not count."""
        device, copies = self._device, 10
        cuda = device.xp.cuda
        with device.current():
            begin, end = cuda.Event(), cuda.Event()
            device.load(_SPIN).launch("spin", 1, 1, (_SPIN_NANOSECONDS,))
            begin.record(device.stream)
            for _ in range(copies):
                self._target.data.copy_from_device_async(self._source.data, self._source.nbytes, device.stream)
            end.record(device.stream)
            end.synchronize()
            return float(cuda.get_elapsed_time(begin, end)) / 1e3 / copies

    def is_right(self) -> bool:
        with self._device.current():
            return bool((self._target == self._source).all())


class DeviceClock:
    """Adds up the launches inside of `running()`. Read `seconds` only after they have ended."""

    def __init__(self) -> None:
        self._marks: list[tuple[Any, Any, Any]] = []  # a function for the time between two events, and the events

    @contextmanager
    def running(self) -> Iterator[None]:
        """Times every launch in this process, on any thread."""
        self._marks = []
        plain, prepared = CudaModule.launch, CudaPreparedLaunch.launch
        CudaModule.launch = self._timed(plain, plain)  # type: ignore[method-assign]
        CudaPreparedLaunch.launch = self._timed(prepared, plain)  # type: ignore[method-assign]
        try:
            yield
        finally:
            CudaModule.launch = plain  # type: ignore[method-assign]
            CudaPreparedLaunch.launch = prepared  # type: ignore[method-assign]

    def seconds(self, _: object = None) -> float:
        """Seconds of the last run. The argument is not used; callers may pass the result of the run."""
        return sum(float(milliseconds(begin, end)) for milliseconds, begin, end in self._marks) / 1e3

    def _timed(self, launch: Callable[..., None], plain: Callable[..., None]) -> Callable[..., None]:
        marks = self._marks

        def timed(launched: CudaModule | CudaPreparedLaunch, *args: Any, **options: Any) -> None:
            device = launched.device
            cuda = device.xp.cuda
            with device.current():
                begin, end = cuda.Event(), cuda.Event()
                if device.stream.done:
                    plain(device.load(_SPIN), "spin", 1, 1, (_SPIN_NANOSECONDS,))
                begin.record(device.stream)
                launch(launched, *args, **options)
                end.record(device.stream)
            marks.append((cuda.get_elapsed_time, begin, end))

        return timed
