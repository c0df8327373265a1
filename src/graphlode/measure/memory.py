"""Peak memory of a piece of work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphlode.cpu.memory import live_bytes, peak_bytes, reset_peak_bytes

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


@dataclass
class PeakMemory:
    """Most bytes taken inside a `with` block, beyond what was held before it.

    `core` counts what the native core allocated, its results included. `resident` is the growth of the whole process as
    the system sees it, numpy and other libraries included; None where the system does not tell.
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
    """Resident bytes now; the system's record of the peak starts again from here."""
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
