"""Times the passes of a motif count one by one, for experiments. A normal count has no clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter
from typing import Any, Protocol

from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.motifs.sums import read_sums
from graphlode.types import Pass


class Clock(Protocol):
    def time(self, name: str, work: Any = None, *, gives: tuple[str, ...] = ()) -> AbstractContextManager[None]:
        """Times a pass in a `with` block. The pass adds to the sums in `work`, and to those named by `gives`."""


class NoClock:
    """Does not time: passes are queued without waiting."""

    _nothing = nullcontext()

    def time(self, name: str, work: Any = None, *, gives: tuple[str, ...] = ()) -> AbstractContextManager[None]:
        return self._nothing


class PassClock:
    """Waits for the device before and after each pass, and finds which sums it has changed."""

    def __init__(self, device: KernelDevice) -> None:
        self._device = device
        self.passes: list[Pass] = []

    @contextmanager
    def time(self, name: str, work: Any = None, *, gives: tuple[str, ...] = ()) -> Iterator[None]:
        before = self._sums(work)
        self._device.synchronize()
        started = perf_counter()
        yield
        self._device.synchronize()
        seconds = perf_counter() - started
        changed = tuple(name for name, value in self._sums(work).items() if value != before[name])
        self.passes.append(Pass(name, seconds, changed + gives))

    def _sums(self, work: Any) -> dict[str, int]:
        return {} if work is None else read_sums(self._device.get(work).copy())
