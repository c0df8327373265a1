"""Writes lists of cliques to files, batch by batch. Memory is that of a few batches, for any number of cliques."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import numpy as np

from graphlode.errors import InputError
from graphlode.io.parquet import arrow_parquet
from graphlode.io.replace import check_target, replacing
from graphlode.types import AnyArray, Int64Array

_ROWS = 1 << 17  # per row group or block of text; smaller batches are collected first
_COPY_BYTES = 1 << 22


def write_cliques(batches: Iterable[AnyArray], k: int, path: str | os.PathLike[str]) -> int:
    """Write batches of cliques, as `list_cliques` returns them, to a file; returns the number of cliques.

    The suffix decides the format. `.parquet` and `.csv` have the columns v1 .. vk and a row per clique, `.npz` has an
    array `cliques` of that shape. An existing file is replaced after everything is written; after an error it is
    unchanged.

    Raises InputError for another suffix or a batch of another shape, UnsupportedError for Parquet without pyarrow.

    >>> import graphlode as gl, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "triangles.csv"
    >>> write_cliques(gl.list_cliques(gl.complete(4), 3), 3, path)
    4
    >>> path.read_text().splitlines()[0]
    'v1,v2,v3'
    """
    target = check_clique_file(path)
    with replacing(target) as file:
        return _WRITERS[target.suffix.lower()](_regrouped(batches, k), k, file, target.parent)


def check_clique_file(path: str | os.PathLike[str]) -> Path:
    """The path, if cliques can be written there. Callers use it to fail before a long search."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in _WRITERS:
        raise InputError(f"{target}: cliques are written as {', '.join(_WRITERS)}, got {suffix or 'no suffix'!r}")
    if suffix == ".parquet":
        arrow_parquet()
    check_target(target)
    return target


def columns_of(k: int) -> list[str]:
    """The names of the columns of a file of k-cliques."""
    return [f"v{place}" for place in range(1, k + 1)]


def _regrouped(batches: Iterable[AnyArray], k: int) -> Iterator[Int64Array]:
    """The same rows in arrays of a size that suits files."""
    waiting: list[AnyArray] = []
    rows = 0
    for batch in batches:
        if batch.ndim != 2 or batch.shape[1] != k or batch.dtype.kind not in "iu":
            raise InputError(f"batches are arrays of integers with {k} columns, got {batch.dtype}{list(batch.shape)}")
        waiting.append(batch)
        rows += len(batch)
        if rows >= _ROWS:
            yield np.concatenate(waiting, dtype=np.int64)
            waiting, rows = [], 0
    if rows:
        yield np.concatenate(waiting, dtype=np.int64)


def _write_csv(batches: Iterator[Int64Array], k: int, file: BinaryIO, folder: Path) -> int:
    total = 0
    line = ",".join(["%d"] * k) + "\n"
    file.write(f"{','.join(columns_of(k))}\n".encode())
    for batch in batches:
        file.write((line * len(batch) % tuple(batch.ravel().tolist())).encode())
        total += len(batch)
    return total


def _write_parquet(batches: Iterator[Int64Array], k: int, file: BinaryIO, folder: Path) -> int:
    parquet = arrow_parquet()
    import pyarrow

    total = 0
    schema = pyarrow.schema([(name, pyarrow.int64()) for name in columns_of(k)])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in batches:
            columns = [pyarrow.array(np.ascontiguousarray(batch[:, place])) for place in range(k)]
            writer.write_batch(pyarrow.record_batch(columns, schema=schema))
            total += len(batch)
    return total


def _write_npz(batches: Iterator[Int64Array], k: int, file: BinaryIO, folder: Path) -> int:
    """The array's header needs its length, which is known last, so the rows first go to an unnamed temporary file."""
    total = 0
    with TemporaryFile(dir=folder) as rows:
        for batch in batches:
            rows.write(batch.astype("<i8", copy=False).data)
            total += len(batch)
        rows.seek(0)
        with (
            zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
            archive.open("cliques.npy", "w", force_zip64=True) as member,
        ):
            header = {"descr": "<i8", "fortran_order": False, "shape": (total, k)}
            np.lib.format.write_array_header_1_0(member, header)
            shutil.copyfileobj(rows, member, _COPY_BYTES)
    return total


_WRITERS: dict[str, Callable[[Iterator[Int64Array], int, BinaryIO, Path], int]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".npz": _write_npz,
}
