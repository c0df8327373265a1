"""Times the passes of a motif count one by one, for those who ask where the time goes; a usual count has no clock at all."""

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
        """A pass inside of a `with` block: it adds to the sums in `work`, and `gives` others."""


class NoClock:
    """Passes are queued one behind the other, and nobody waits."""

    _nothing = nullcontext()

    def time(self, name: str, work: Any = None, *, gives: tuple[str, ...] = ()) -> AbstractContextManager[None]:
        return self._nothing


class PassClock:
    """Waits for the device before and after each pass, and looks which sums it has changed."""

    def __init__(self, device: KernelDevice) -> None:
        self._device = device
        self.passes: list[Pass] = []

    @contextmanager
    def time(self, name: str, work: Any = None, *, gives: tuple[str, ...] = ()) -> Iterator[None]:
        before = self._sums(work)
        self._device.synchronize()
        begun = perf_counter()
        yield
        self._device.synchronize()
        seconds = perf_counter() - begun
        changed = tuple(name for name, value in self._sums(work).items() if value != before[name])
        self.passes.append(Pass(name, seconds, changed + gives))

    def _sums(self, work: Any) -> dict[str, int]:
        return {} if work is None else read_sums(self._device.get(work).copy())
