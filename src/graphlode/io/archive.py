"""The arrays of an .npz archive, read by name.

NumPy's own loader allocates what the header of an array claims, and unpacks every member to the end. Here both are
compared with the size of the member and with the budget first. Pickles are never loaded.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

import numpy as np
from numpy.typing import NDArray

from graphlode.errors import InputError, UnsupportedError
from graphlode.io.request import Request
from graphlode.io.source import readable
from graphlode.types import AnyArray

_STEP = 1 << 22
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class Archive:
    def __init__(self, zipped: zipfile.ZipFile, request: Request) -> None:
        self._zip = zipped
        self._request = request
        self._members = {each.filename.removesuffix(".npy"): each for each in zipped.infolist()}

    @property
    def names(self) -> Sequence[str]:
        return list(self._members)

    def load(self, names: Sequence[str]) -> dict[str, AnyArray]:
        """Those of the named arrays that the archive has."""
        return {name: self._array(name) for name in names if name in self._members}

    def _array(self, name: str) -> AnyArray:
        member = self._members[name]
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack without a bound
            raise UnsupportedError(f"the array {name} is compressed by a method that NumPy does not use")
        with self._zip.open(member) as file:
            magic = np.lib.format.read_magic(file)
            if magic not in _HEADERS:
                raise InputError(
                    f"the array {name} has a header of version {magic[0]}.{magic[1]}; 1.0 and 2.0 are read"
                )
            shape, by_columns, dtype = _HEADERS[magic](file)
            if dtype.hasobject:
                raise ValueError(f"the array {name} holds Python objects")
            count, room = math.prod(shape), member.file_size - file.tell()
            if any(length < 0 for length in shape) or count * dtype.itemsize != room:
                raise InputError(f"the array {name} should have the shape {str(shape)[:80]}, but has {room:,} bytes")
            self._request.budget.take(room, f"the array {name}")
            data = np.empty(room, np.uint8)
            self._fill(data, file)
        return data.view(dtype).reshape(shape, order="F" if by_columns else "C") if room else np.empty(shape, dtype)

    def _fill(self, data: NDArray[np.uint8], file: IO[bytes]) -> None:
        done = 0
        while done < data.size:
            self._request.control.check()
            block = file.read(min(_STEP, data.size - done))
            if not block:
                raise EOFError("the data of an array ends too early")
            data[done : done + len(block)] = np.frombuffer(block, np.uint8)
            done += len(block)
        file.read(1)  # at the end, the checksum is compared


@contextmanager
def open_archive(request: Request) -> Iterator[Archive]:
    """The archive at the path of a request."""
    with readable(request.path, request.control, ".npz archive") as file:
        if file.peek(6)[:6] == np.lib.format.MAGIC_PREFIX:
            raise InputError("this is a single array, not an .npz archive")
        with zipfile.ZipFile(file) as zipped:
            yield Archive(zipped, request)
