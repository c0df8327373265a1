"""Reads raw edges from a file of any format."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from graphlode.errors import InputError
from graphlode.execute import call
from graphlode.io.dimacs import read_gr
from graphlode.io.edge_list import EdgeList
from graphlode.io.formats import FileKind, Format, file_kind
from graphlode.io.matrix_market import read_mtx
from graphlode.io.metis import read_metis
from graphlode.io.npz import read_npz
from graphlode.io.parquet import read_parquet
from graphlode.io.request import Request, Values, named_errors
from graphlode.io.source import Text, load
from graphlode.io.text import read_csv, read_text

__all__ = ["EdgeList", "read_edges"]

_TEXT_READERS: dict[Format, Callable[[Text, Request], EdgeList]] = {
    "text": read_text,
    "csv": read_csv,
    "mtx": read_mtx,
    "metis": read_metis,
    "gr": read_gr,
}


def read_edges(
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,
    values: Values | None = "auto",
    comments: str = "#%",
) -> EdgeList:
    """The edges of a file in their order, including self-loops, duplicates and repeated events.

    Parameters
    ----------
    path
        Text (.txt .edges .el .tsv), CSV (.csv), Matrix Market (.mtx), METIS (.metis .graph), DIMACS (.gr), each also
        compressed with a second suffix .gz .bz2 .xz .zst; .npz; .parquet.
    format
        "text", "csv", "mtx", "metis", "gr", "npz" or "parquet", if the suffix does not say.
    values
        Meaning of a third column: "weights" (finite float64), "times" (int64, exact) or None (ignored). "auto" uses
        what the file says (npz, Parquet and files written by graphlode do), else "weights".
    comments
        Lines of a text or CSV file that start with one of these characters are skipped.

    Raises FileNotFoundError, InputError "FILE, line N: ..." for a malformed file, UnsupportedError for a kind of file
    that is not offered, and DeviceMemoryError for a file that needs more than the setting `memory_limit` or the free
    memory. Cost: linear in the size of the file. Memory: the edges and the unpacked text.

    >>> import graphlode as gl, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "calls.txt"
    >>> _ = path.write_text("# from to time\\n7 9 1700000000\\n9 7 1700000060\\n")
    >>> gl.read_edges(path, values="times").times.tolist()
    [1700000000, 1700000060]
    """
    if values not in ("auto", "weights", "times", None):
        raise InputError(f'values must be "auto", "weights", "times" or None, got {values!r}')
    if not comments.isascii() or any(c.isalnum() or c in "+-., \t\r\n" for c in comments):
        raise InputError(f"comments must be ASCII characters that no line of edges starts with, got {comments!r}")
    file = Path(path)
    kind = file_kind(file, format)
    return call(lambda control: _read(file, kind, Request(file, values, comments, control)))


def _read(path: Path, kind: FileKind, request: Request) -> EdgeList:
    with named_errors(path):
        if kind.format == "npz":
            found = read_npz(request)
        elif kind.format == "parquet":
            found = read_parquet(request)
        else:
            text = load(path, kind.compression, request.control, request.budget)
            found = _TEXT_READERS[kind.format](text, request)
    return replace(found, source=str(path), format=kind.format)
