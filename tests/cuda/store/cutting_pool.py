"""An emulated device with a pool that keeps its memory and cuts pieces from it, like that of CuPy."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.errors import DeviceMemoryError


class CuttingPool(EmulatedDevice):
    """Allocations return only addresses, without memory. `asked` are the sizes in bytes of the allocations from the
    device itself. The device has memory for `room` pages."""

    page_bytes = 1

    def __init__(self, room: int = 2**40) -> None:
        super().__init__()
        self._room = room
        self.asked: list[int] = []
        self._free: dict[int, int] = {}  # bytes by address
        self._begins: set[int] = set()  # of memory from the device
        self._end = 1 << 20

    def pooled_bytes(self) -> int:
        return sum(self.asked)

    def unpooled_bytes(self) -> int:
        return self._room * self.page_bytes - self.pooled_bytes()

    def allocate(self, nbytes: int) -> tuple[Any, int]:
        begin = self._cut(nbytes)
        memory = np.empty(0, np.uint8)
        weakref.finalize(memory, self._take_back, begin, nbytes)
        return memory, begin

    def forget_free(self) -> None:
        """Return free memory to the device."""
        self._free.clear()

    def _cut(self, nbytes: int) -> int:
        """Allocate from the smallest free piece that is large enough."""
        found = min((size, begin) for begin, size in [*self._free.items(), (self._end, 2**62)] if size >= nbytes)[1]
        if found == self._end:
            if nbytes > self.unpooled_bytes():
                raise DeviceMemoryError("no memory, for a test")
            self.asked.append(nbytes)
            self._begins.add(found)
            self._end += nbytes
        else:
            size = self._free.pop(found)
            if size > nbytes:
                self._free[found + nbytes] = size - nbytes
        return found

    def _take_back(self, begin: int, nbytes: int) -> None:
        """Join the piece with its free neighbors, if they are from one allocation of the device."""
        end = begin + nbytes
        if end in self._free and end not in self._begins:
            nbytes += self._free.pop(end)
        before = next((at for at, size in self._free.items() if at + size == begin), None)
        if before is not None and begin not in self._begins:
            nbytes += self._free.pop(before)
            begin = before
        self._free[begin] = nbytes
