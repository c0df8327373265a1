"""What the fake driver (fake_driver.cpp) was called with."""

from __future__ import annotations

import ctypes

CONTEXT = 4096
SECTION = 1 << 20  # bytes of a queue's ring that are reused together, of four


def take(fake: ctypes.CDLL) -> tuple[tuple[int, ...], bytes] | None:
    """The oldest launch: grid, block and shared bytes, and the bytes of its arguments."""
    shape, room = (ctypes.c_uint * 3)(), (ctypes.c_ubyte * 1024)()
    size = fake.fake_take_launch(shape, room)
    return None if size < 0 else (tuple(shape), bytes(room)[:size])
