"""Stops running kernels and counts their progress.

A `Control` owns two 64-bit words in plain memory: word 0 is the stop request, word 1 the number of finished units.
Native kernels access them atomically while the GIL is released. Drivers in Python call `check` and `advance` between
launches.
"""

from __future__ import annotations

import numpy as np


class Control:
    def __init__(self) -> None:
        self.words = np.zeros(2, np.int64)
        self._beside: list[Control] = []

    def stop(self) -> None:
        self.words[0] = 1
        for other in self._beside:
            other.stop()

    def beside(self) -> Control:
        """A control that stops with this one but has its own count, for work that is not the caller's progress."""
        other = Control()
        self._beside.append(other)
        if self.words[0]:
            other.stop()
        return other

    def check(self) -> None:
        """Raise InterruptedError if the caller asked to stop."""
        if self.words[0]:
            raise InterruptedError("stopped by the caller")

    def advance(self, units: int) -> None:
        self.words[1] += units

    @property
    def done(self) -> int:
        return int(self.words[1])
