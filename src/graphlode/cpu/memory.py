"""Memory statistics and build information of the native core."""

from __future__ import annotations

from graphlode.cpu import _native


def live_bytes() -> int:
    """Bytes that the core holds now, including arrays that it has returned."""
    return int(_native.live_bytes())


def peak_bytes() -> int:
    """The largest number of bytes that the core held since `reset_peak_bytes`."""
    return int(_native.peak_bytes())


def reset_peak_bytes() -> None:
    _native.reset_peak_bytes()


def compiler() -> str:
    """The compiler that built the core, such as "GCC 12.2.0"."""
    return str(_native.compiler)
