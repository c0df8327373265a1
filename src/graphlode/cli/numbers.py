"""Formats numbers for people."""

from __future__ import annotations


def count(value: int) -> str:
    return f"{value:,}"


def size(value: int) -> str:
    """Bytes, in the unit that leaves one to three digits before the point."""
    amount = float(value)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{value} B" if unit == "B" else f"{amount:.3g} {unit}" if amount < 100 else f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:,.1f} TB"


def duration(seconds: float) -> str:
    """Seconds, in the unit that leaves one to three digits before the point."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 100 else f"{seconds:,.0f} s"


def rate(per_second: float) -> str:
    """A number per second, in millions or thousands."""
    if per_second >= 1e6:
        return f"{per_second / 1e6:.1f} M/s"
    return f"{per_second / 1e3:.1f} k/s" if per_second >= 1e3 else f"{per_second:.0f} /s"


def real(value: float) -> str:
    """A measured or computed number with three significant digits; whole numbers in full."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"
