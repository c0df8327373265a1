"""The arguments of every reader, and small functions that readers share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from graphlode.common.control import Control
from graphlode.cpu.io.text import Kind
from graphlode.errors import DeviceMemoryError, InputError, UnsupportedError
from graphlode.io.budget import Budget
from graphlode.io.mark import Mark
from graphlode.io.source import Text
from graphlode.types import FloatArray, Int64Array

Values = Literal["auto", "weights", "times"]

_LONGEST_HEAD_LINE = 1 << 20


@dataclass(frozen=True)
class Request:
    path: Path
    values: Values | None
    comments: str
    control: Control
    budget: Budget = field(default_factory=Budget)

    def kind(self, mark: Mark) -> Kind | None:
        """The meaning of the third column; None: it is ignored."""
        if self.values == "auto":
            return mark.kind if mark.known else "weights"
        return self.values


def as_values(values: FloatArray | Int64Array | None, kind: Kind | None) -> dict[str, FloatArray | Int64Array]:
    """The arguments of an EdgeList that hold the third column."""
    return {} if values is None or kind is None else {kind: values}


def trusted_size(size: int | None, src: Int64Array, dst: Int64Array) -> int | None:
    """The number of vertices that a mark states; None if edges added later contradict it."""
    if size is None or not src.size:
        return size
    fits = min(int(src.min()), int(dst.min())) >= 0 and max(int(src.max()), int(dst.max())) < size
    return size if fits else None


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Puts the name of the file in front of error messages."""
    try:
        yield
    except (InputError, UnsupportedError, DeviceMemoryError) as error:
        message = str(error)
        separator = ", " if message.startswith("line ") else ": "
        raise type(error)(f"{path}{separator}{message}") from None
    except MemoryError as error:  # numpy's, the core's
        raise DeviceMemoryError(f"{path}: the memory does not suffice: {error}") from None


def head_lines(text: Text) -> Iterator[tuple[int, bytes, int]]:
    """The lines at the start of a text: number, content without the line end, position of the next line."""
    at = 3 if text[:3].tobytes() == b"\xef\xbb\xbf" else 0
    number = 1
    while at < text.size:
        length = 256
        while (stop := text[at : at + length].tobytes().find(b"\n")) < 0 and at + length < text.size:
            length *= 4
            if length > _LONGEST_HEAD_LINE:
                raise InputError(f"line {number}: the line is too long for a header")
        line = text[at : at + stop].tobytes() if stop >= 0 else text[at:].tobytes()
        at = at + stop + 1 if stop >= 0 else text.size
        yield number, line.rstrip(b"\r"), at
        number += 1


def header_numbers(line: bytes, number: int, what: str) -> list[int]:
    """The integers of a header line."""
    fields = line.split()
    if not all(field.isdigit() and len(field) <= 15 for field in fields):
        raise InputError(f"line {number}: expected {what}, found {shown(line)}")
    return [int(field) for field in fields]


def shown(line: bytes) -> str:
    """The line as it appears in messages: quoted, shortened, only printable characters."""
    text = "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in line[:60].decode("latin-1"))
    return f'"{text}{"..." if len(line) > 60 else ""}"'
