"""Peak memory of a piece of work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphlode.cpu.memory import live_bytes, peak_bytes, reset_peak_bytes

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


@dataclass
class PeakMemory:
    """Peak number of bytes allocated inside a `with` block, beyond those held before it.

    `core` counts allocations of the native core, including its results. `resident` is the growth of the whole process
    as the system reports it, including numpy and other libraries; None if the system does not report it.
    """

    core: int = 0
    resident: int | None = None

    def __enter__(self) -> PeakMemory:
        self._core_before = live_bytes()
        reset_peak_bytes()
        self._resident_before = _reset_resident_peak()
        return self

    def __exit__(self, *_: object) -> None:
        self.core = peak_bytes() - self._core_before
        peak = _status("VmHWM")
        if peak is not None and self._resident_before is not None:
            self.resident = max(0, peak - self._resident_before)


def _reset_resident_peak() -> int | None:
    """Resets the system's record of the peak; returns the resident bytes now."""
    try:
        _RESET.write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def _status(name: str) -> int | None:
    try:
        for line in _STATUS.read_text("utf-8").splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None
