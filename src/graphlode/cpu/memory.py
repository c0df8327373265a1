"""What the native core says about its memory and its making."""

from __future__ import annotations

from graphlode.cpu import _native


def live_bytes() -> int:
    """Bytes that the core holds now, arrays that it handed over included."""
    return int(_native.live_bytes())


def peak_bytes() -> int:
    """Most bytes that the core held since `reset_peak_bytes`."""
    return int(_native.peak_bytes())


def reset_peak_bytes() -> None:
    _native.reset_peak_bytes()


def compiler() -> str:
    """The compiler that built the core, such as "GCC 12.2.0"."""
    return str(_native.compiler)
