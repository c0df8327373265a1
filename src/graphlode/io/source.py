"""The bytes of a file in memory, unpacked if it is compressed.

The bytes are always a copy. A mapping would change, or end the process, when another process writes to the file.
"""

from __future__ import annotations

import io
import os
import select
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphlode.common.control import Control
from graphlode.cpu.io.file import read_file
from graphlode.errors import GraphlodeError, InputError
from graphlode.io.budget import Budget
from graphlode.io.formats import Compression
from graphlode.io.unpack import damage, unpacked_blocks

_BLOCK = 1 << 20
_WAIT_MILLISECONDS = 100

Text = NDArray[np.uint8]


def load(path: Path, compression: Compression | None, control: Control, budget: Budget) -> Text:
    """The (unpacked) bytes of a file.

    Raises FileNotFoundError if it does not exist, InputError if it is damaged, DeviceMemoryError if it is too large.
    """
    with open_input(path, control) as file:
        if compression is not None:
            return _unpack(file, compression, control, budget)
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size:
            budget.take(status.st_size, "the text")
            return read_file(file.fileno(), status.st_size, control)
        return _collect(iter(lambda: file.read(_BLOCK), b""), control, budget)  # a pipe, or empty


def open_input(path: Path, control: Control) -> io.BufferedReader:
    """A file, device or pipe to read from. The control stops waiting for a pipe."""
    if path.is_dir():
        raise InputError("this is a directory, not a file")
    # Without O_NONBLOCK, opening a pipe would wait for its writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    return io.BufferedReader(_Input(descriptor, control), _BLOCK)


@contextmanager
def readable(path: Path, control: Control, what: str) -> Iterator[io.BufferedReader]:
    """A file of a format that is read in no fixed order. Whatever goes wrong with its content is an InputError."""
    with open_input(path, control) as file:
        try:
            if not file.seekable():
                raise InputError(f"this is a pipe or a device; {what} is read from a file")
            yield file
        except (GraphlodeError, InterruptedError, MemoryError):
            raise
        except Exception as error:  # damaged content makes the libraries raise errors of every kind
            message = "".join(c if c.isprintable() else " " for c in str(error)[:500])
            raise InputError(f"this is not a readable {what}: {message}") from None


def _unpack(file: Any, compression: Compression, control: Control, budget: Budget) -> Text:
    try:
        return _collect(unpacked_blocks(file, compression, budget.left), control, budget)
    except (InterruptedError, GraphlodeError):
        raise
    except damage() as error:
        raise InputError(f"damaged or truncated {compression} data: {error}") from None


def _collect(blocks: Iterable[bytes], control: Control, budget: Budget) -> Text:
    text = bytearray()
    for block in blocks:
        control.check()
        budget.take(len(block), f"more than {len(text):,} bytes of text: the next block")
        text += block
    return np.frombuffer(text, np.uint8)


class _Input(io.RawIOBase):
    """Waits for a pipe in short steps, and looks at the control between them."""

    def __init__(self, descriptor: int, control: Control) -> None:
        self._descriptor = descriptor
        self._control = control
        self._waits = not stat.S_ISREG(os.fstat(descriptor).st_mode)

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def seekable(self) -> bool:
        return not self._waits

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        return os.lseek(self._descriptor, position, whence)

    def readinto(self, room: Any) -> int:
        while True:
            self._control.check()
            if self._waits:
                poll = select.poll()
                poll.register(self._descriptor, select.POLLIN)
                if not poll.poll(_WAIT_MILLISECONDS):
                    continue
            try:
                return os.readv(self._descriptor, [room])
            except BlockingIOError:
                continue

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self._descriptor)
