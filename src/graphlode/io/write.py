"""Writes graphs to files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu.io.metis import format_adjacency
from graphlode.cpu.io.text import Kind, format_edges
from graphlode.errors import InputError, UnsupportedError
from graphlode.execute import call
from graphlode.graph.accept import as_graph
from graphlode.graph.graph import Graph
from graphlode.io.formats import Format, file_kind
from graphlode.io.mark import format_mark
from graphlode.io.parquet import MARK_KEY, arrow_parquet
from graphlode.io.request import named_errors
from graphlode.io.source import open_packed
from graphlode.types import FloatArray, Int64Array

_LINES = 1 << 18  # per block of text; the stop request is checked after each block


def write(graph: Any, path: str | os.PathLike[str], *, format: Format | None = None) -> None:
    """Write a graph to a file that `read` turns into an equal graph.

    `graph` is a Graph, a scipy sparse matrix or a networkx graph. Formats are those of `read`, by suffix or by
    `format`. An existing file is replaced after everything is written. Text, CSV and Parquet keep original ids; they
    keep vertices without edges only if the ids are 0 .. num_vertices - 1. Matrix Market, METIS and DIMACS keep all
    vertices but number them 1 .. num_vertices. npz keeps everything. Raises UnsupportedError if the format cannot hold
    the graph: METIS needs an undirected graph, and the text formats hold one value per edge.

    >>> import graphlode as gl, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "square.mtx.gz"
    >>> g = gl.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> gl.write(g, path)
    >>> gl.read(path) == g
    True
    """
    target = Path(path)
    kind = file_kind(target, format)
    if target.is_dir():
        raise InputError(f"{target}: this is a directory, not a file")
    if not target.parent.is_dir():  # otherwise the error would name the temporary file
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target))
    graph = as_graph(graph).with_ascending_ids()
    if kind.format == "npz":
        with replacing(target) as part:
            _write_npz(graph, part)
        return
    if kind.format == "parquet":
        with replacing(target) as part:
            _write_parquet(graph, part)
        return
    if graph.weights is not None and graph.times is not None:
        raise UnsupportedError(
            f"{target}: {kind.format} files hold one value per edge, this graph has weights and times; npz holds both"
        )
    pieces = _PIECES[kind.format](graph)
    with named_errors(target), replacing(target) as part:
        call(lambda control: _write_pieces(pieces, part, kind.compression, control))


def _write_pieces(pieces: Iterator[bytes], part: Path, compression: Any, control: Control) -> None:
    with open_packed(part, compression) as file:
        for piece in pieces:
            control.check()
            file.write(piece)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A temporary path that replaces the target on success and is removed after an error."""
    if target.exists() and not target.is_file():
        yield target  # a device or a pipe
        return
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _values(graph: Graph) -> tuple[FloatArray | Int64Array | None, Kind | None]:
    if graph.weights is not None:
        return graph.weights, "weights"
    if graph.times is not None:
        return graph.times, "times"
    return None, None


def _is_numbered(graph: Graph) -> bool:
    """Whether the ids are 0 .. num_vertices - 1."""
    n = graph.num_vertices
    return n == 0 or (int(graph.ids[0]) == 0 and int(graph.ids[-1]) == n - 1)  # ids ascend


def _mark(graph: Graph, numbered: bool) -> str:
    return format_mark(graph.num_vertices if numbered else None, graph.directed, _values(graph)[1])


def _edge_pieces(
    src: Int64Array, dst: Int64Array, values: FloatArray | Int64Array | None, **layout: Any
) -> Iterator[bytes]:
    for begin in range(0, src.size, _LINES):
        part = slice(begin, begin + _LINES)
        ends = np.ascontiguousarray(src[part], np.int64), np.ascontiguousarray(dst[part], np.int64)
        yield format_edges(*ends, None if values is None else values[part], **layout)


def _text_pieces(graph: Graph, separator: str = " ") -> Iterator[bytes]:
    edges = graph.edges()
    yield f"# {_mark(graph, _is_numbered(graph))}\n".encode()
    yield from _edge_pieces(edges[:, 0], edges[:, 1], _values(graph)[0], separator=separator)


def _csv_pieces(graph: Graph) -> Iterator[bytes]:
    lines = _text_pieces(graph, ",")
    yield next(lines)
    third = {"weights": ",weight", "times": ",time", None: ""}[_values(graph)[1]]
    yield f"src,dst{third}\n".encode()
    yield from lines


def _mtx_pieces(graph: Graph) -> Iterator[bytes]:
    edges = graph.edges(indices=True)
    values, kind = _values(graph)
    field = {"weights": "real", "times": "integer", None: "pattern"}[kind]
    symmetry = "general" if graph.directed else "symmetric"
    n = graph.num_vertices
    yield f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% {_mark(graph, True)}\n".encode()
    yield f"{n} {n} {graph.num_edges}\n".encode()
    # edges() has the lower position first; entries of the lower triangle have the higher one first
    src, dst = (edges[:, 0], edges[:, 1]) if graph.directed else (edges[:, 1], edges[:, 0])
    yield from _edge_pieces(src, dst, values, base=1)


def _gr_pieces(graph: Graph) -> Iterator[bytes]:
    edges = graph.edges(indices=True)
    values, _ = _values(graph)
    arcs = graph.num_edges if graph.directed else 2 * graph.num_edges
    yield f"c {_mark(graph, True)}\np sp {graph.num_vertices} {arcs}\n".encode()
    lengths = np.ones(graph.num_edges, np.int64) if values is None else values
    yield from _edge_pieces(edges[:, 0], edges[:, 1], lengths, prefix="a ", base=1)
    if not graph.directed:
        yield from _edge_pieces(edges[:, 1], edges[:, 0], lengths, prefix="a ", base=1)


def _metis_pieces(graph: Graph) -> Iterator[bytes]:
    if graph.directed:
        raise UnsupportedError("METIS files hold undirected graphs; write graph.undirected(), or another format")
    values, kind = _values(graph)
    offsets, neighbors = graph.csr
    entry_values = None if values is None else values[_entry_edges(graph)]
    flags = "" if kind is None else " 001"
    yield f"% {_mark(graph, True)}\n{graph.num_vertices} {graph.num_edges}{flags}\n".encode()
    begin = 0
    while begin < graph.num_vertices:
        # Complete rows with about _LINES entries: at least one row and at most _LINES rows.
        reach = int(np.searchsorted(offsets, offsets[begin] + _LINES, "right")) - 1
        end = min(max(reach, begin + 1), begin + _LINES, graph.num_vertices)
        part = slice(int(offsets[begin]), int(offsets[end]))
        row = neighbors[part].astype(np.int64)
        yield format_adjacency(offsets[begin : end + 1], row, None if entry_values is None else entry_values[part])
        begin = end


def _entry_edges(graph: Graph) -> Int64Array:
    """For each entry of an undirected graph's rows, the position of its edge in `edges()`."""
    import scipy.sparse

    edges = graph.edges(indices=True)
    both = np.concatenate([edges, edges[:, ::-1]])
    shape = (graph.num_vertices, graph.num_vertices)
    positions = np.tile(np.arange(len(edges), dtype=np.int64), 2)
    rows = scipy.sparse.coo_array((positions, (both[:, 0], both[:, 1])), shape=shape).tocsr()
    rows.sort_indices()
    found: Int64Array = rows.data
    return found


def _write_npz(graph: Graph, part: Path) -> None:
    offsets, neighbors = graph.csr
    arrays: dict[str, Any] = {"offsets": offsets, "neighbors": neighbors, "directed": np.bool_(graph.directed)}
    if not _is_numbered(graph):
        arrays["ids"] = graph.ids
    arrays |= {name: a for name, a in (("weights", graph.weights), ("times", graph.times)) if a is not None}
    with open(part, "wb") as file:  # numpy would append .npz to a path
        np.savez(file, **arrays)  # not compressed: compression takes a hundred times as long and saves a third


def _write_parquet(graph: Graph, part: Path) -> None:
    parquet = arrow_parquet()
    import pyarrow

    edges = graph.edges()
    columns = {"src": edges[:, 0], "dst": edges[:, 1]}
    columns |= {name: a for name, a in (("weight", graph.weights), ("time", graph.times)) if a is not None}
    table = pyarrow.table(columns).replace_schema_metadata({MARK_KEY: _mark(graph, _is_numbered(graph)).encode()})
    parquet.write_table(table, part, compression="zstd")


_PIECES: dict[str, Callable[[Graph], Iterator[bytes]]] = {
    "text": _text_pieces,
    "csv": _csv_pieces,
    "mtx": _mtx_pieces,
    "metis": _metis_pieces,
    "gr": _gr_pieces,
}
