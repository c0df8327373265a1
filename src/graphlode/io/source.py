"""The bytes of a file: mapped if it is not compressed, otherwise unpacked into memory."""

from __future__ import annotations

import bz2
import lzma
import mmap
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphlode.common.control import Control
from graphlode.errors import InputError, UnsupportedError
from graphlode.io.formats import Compression

_BLOCK = 1 << 20
_NO_ZSTD = "reading and writing .zst needs pyarrow (pip install graphlode[arrow]) or Python 3.14"

Text = NDArray[np.uint8]


def load(path: Path, compression: Compression | None, control: Control) -> Text:
    """The (unpacked) bytes of a file. Raises FileNotFoundError if it does not exist, InputError if it is damaged."""
    if path.is_dir():
        raise InputError("this is a directory, not a file")
    with open(path, "rb") as file:
        if compression is not None:
            return np.frombuffer(_unpack(file, compression, control), np.uint8)
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return np.frombuffer(mapped, np.uint8)
        return np.frombuffer(file.read(), np.uint8)  # a pipe, or empty


def _unpack(file: Any, compression: Compression, control: Control) -> bytearray:
    text = bytearray()
    try:
        for block in _unpacked_blocks(file, compression):
            control.check()
            text += block
    except InterruptedError:
        raise
    except (zlib.error, EOFError, ValueError, lzma.LZMAError, OSError, _zstd_error()) as error:
        raise InputError(f"damaged or truncated {compression} data: {error}") from None
    return text


def _unpacked_blocks(file: Any, compression: Compression) -> Iterator[bytes]:
    make = _decompressor(compression)
    if make is None:
        yield from _arrow_blocks(file)
        return
    unpacker = make()
    pending = b""
    started = False  # whether the current member has been fed
    members = 0
    while True:
        block = pending or file.read(_BLOCK)
        pending = b""
        if not block:
            break
        if unpacker.eof:
            if compression == "gzip":
                block = block.lstrip(b"\0")  # padding, as on tapes
            if not block:
                continue
            unpacker = make()
        started = True
        yield unpacker.decompress(block)
        if unpacker.eof:
            pending = unpacker.unused_data
            started = False
            members += 1
    if started or not members:
        raise EOFError("the data ends in the middle" if started else "the file is empty")


def _decompressor(compression: Compression) -> Callable[[], Any] | None:
    if compression == "gzip":
        return lambda: zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    if compression == "bzip2":
        return bz2.BZ2Decompressor
    if compression == "xz":
        return lzma.LZMADecompressor
    module = _zstd_module()
    return None if module is None else lambda: module.ZstdDecompressor()


def _arrow_blocks(file: Any) -> Iterator[bytes]:
    """Unpacks zstd with pyarrow, for Python versions without a zstd module."""
    arrow = _arrow()
    head = file.read(1)
    if not head:
        raise EOFError("the file is empty")
    file.seek(0)
    with arrow.CompressedInputStream(arrow.PythonFile(file, mode="r"), "zstd") as stream:
        while block := stream.read(4 * _BLOCK):
            yield block


def open_packed(path: Path, compression: Compression | None) -> Any:
    """A binary file that compresses what is written to it."""
    if compression == "gzip":
        import gzip

        return gzip.open(path, "wb", compresslevel=4)
    if compression == "bzip2":
        return bz2.open(path, "wb")
    if compression == "xz":
        return lzma.open(path, "wb")
    if compression == "zstd":
        module = _zstd_module()
        if module is not None:
            return module.open(path, "wb")
        arrow = _arrow()
        return arrow.CompressedOutputStream(arrow.OSFile(str(path), "wb"), "zstd")
    return open(path, "wb")


def _zstd_module() -> Any:
    try:
        from importlib import import_module

        return import_module("compression.zstd")
    except ImportError:
        return None


def _zstd_error() -> type[Exception]:
    module = _zstd_module()
    return EOFError if module is None else module.ZstdError


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise UnsupportedError(_NO_ZSTD) from None
    return pyarrow
