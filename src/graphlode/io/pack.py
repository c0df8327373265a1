"""Compresses what is written."""

from __future__ import annotations

import bz2
import gzip
import lzma
from typing import Any, BinaryIO

from graphlode.io.formats import Compression
from graphlode.io.unpack import arrow_for_zstd, zstd_module


def packed(file: BinaryIO, compression: Compression | None) -> Any:
    """A file that compresses what is written to it into an open file; closing it leaves that open."""
    if compression == "gzip":
        return gzip.GzipFile(fileobj=file, filename="", mode="wb", compresslevel=4)
    if compression == "bzip2":
        return bz2.open(file, "wb")
    if compression == "xz":
        return lzma.open(file, "wb")
    if compression == "zstd":
        module = zstd_module()
        return _ArrowZstd(file) if module is None else module.open(file, "wb")
    return _Plain(file)


class _Plain:
    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write

    def __enter__(self) -> _Plain:
        return self

    def __exit__(self, *error: object) -> None:
        """The file belongs to the caller."""


class _ArrowZstd:
    """zstd by pyarrow, for Python versions without a zstd module. It would close the file below it."""

    def __init__(self, file: BinaryIO) -> None:
        arrow = arrow_for_zstd()
        self._inner = arrow.CompressedOutputStream(arrow.PythonFile(_Open(file), mode="w"), "zstd")
        self.write = self._inner.write

    def __enter__(self) -> _ArrowZstd:
        return self

    def __exit__(self, *error: object) -> None:
        self._inner.close()


class _Open:
    """A file that stays open when it is closed."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.write, self.flush, self.tell = file.write, file.flush, file.tell

    def close(self) -> None:
        """The file belongs to the caller."""
