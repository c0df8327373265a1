"""Unpacks compressed data in small steps: the caller can stop between two of them, and knows the size of each."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, BinaryIO

from graphlode.errors import DeviceMemoryError, UnsupportedError
from graphlode.io.formats import Compression

_FEED = 1 << 16  # packed bytes per step; a file may hold a member in every few bytes, and each step copies what is left
_STEP = 1 << 20  # unpacked bytes per step, at most
_NO_ZSTD = "reading and writing .zst needs pyarrow (pip install graphlode[arrow]) or Python 3.14"


def unpacked_blocks(file: BinaryIO, compression: Compression, most_bytes: int) -> Iterator[bytes]:
    """The unpacked data in blocks of at most 1 MiB. The decompressor itself takes up to `most_bytes`.

    Raises EOFError for truncated data, and the errors of `damage()`.
    """
    make = _decompressor(compression, most_bytes)
    if make is None:
        yield from _arrow_blocks(file)
        return
    unpacker = None
    members = 0
    pending = b""
    while block := pending or file.read(_FEED):
        pending = b""
        if unpacker is None:
            if members and compression == "gzip":
                block = block.lstrip(b"\0")  # padding, as on tapes
                if not block:
                    continue
            unpacker = make()
        yield unpacker.decompress(block, _STEP)
        while not (unpacker.eof or unpacker.needs_input):
            yield unpacker.decompress(b"", _STEP)
        if unpacker.eof:
            pending = unpacker.unused_data
            unpacker = None
            members += 1
    if unpacker is not None or not members:
        raise EOFError("the data ends in the middle" if unpacker is not None else "the file is empty")


def damage() -> tuple[type[Exception], ...]:
    """What the decompressors raise for damaged data."""
    module = zstd_module()
    errors = (zlib.error, EOFError, ValueError, lzma.LZMAError, OSError)
    return errors if module is None else (*errors, module.ZstdError)


def zstd_module() -> Any:
    try:
        return import_module("compression.zstd")
    except ImportError:
        return None


def arrow_for_zstd() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise UnsupportedError(_NO_ZSTD) from None
    return pyarrow


class _Gzip:
    """A decompressor of one gzip member with the methods of those of `bz2` and `lzma`."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        found = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self.needs_input = len(found) < max_length
        return found

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


class _Xz:
    """As `lzma`, which reports that its limit of memory does not suffice like damaged data."""

    def __init__(self, most_bytes: int) -> None:
        self._inner = lzma.LZMADecompressor(memlimit=max(1, most_bytes))

    def decompress(self, data: bytes, max_length: int) -> bytes:
        try:
            return self._inner.decompress(data, max_length)
        except lzma.LZMAError as error:
            if "limit" not in str(error):
                raise
            raise DeviceMemoryError(f"unpacking needs more memory than is free: {error}") from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _decompressor(compression: Compression, most_bytes: int) -> Callable[[], Any] | None:
    if compression == "gzip":
        return _Gzip
    if compression == "bzip2":
        return bz2.BZ2Decompressor
    if compression == "xz":
        return lambda: _Xz(most_bytes)
    module = zstd_module()
    return None if module is None else lambda: module.ZstdDecompressor()


def _arrow_blocks(file: Any) -> Iterator[bytes]:
    """Unpacks zstd with pyarrow, for Python versions without a zstd module."""
    arrow = arrow_for_zstd()
    if not file.peek(1):
        raise EOFError("the file is empty")
    with arrow.CompressedInputStream(arrow.PythonFile(file, mode="r"), "zstd") as stream:
        while block := stream.read(_STEP):
            yield block
