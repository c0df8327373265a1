"""Writes graphs to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu.io.metis import format_adjacency
from graphlode.cpu.io.text import Kind, format_edges
from graphlode.errors import UnsupportedError
from graphlode.execute import call
from graphlode.graph.accept import as_graph
from graphlode.graph.graph import Graph
from graphlode.io.formats import Compression, Format, file_kind
from graphlode.io.mark import format_mark
from graphlode.io.pack import packed
from graphlode.io.parquet import MARK_KEY, arrow_parquet
from graphlode.io.replace import check_target, replacing
from graphlode.io.request import named_errors
from graphlode.io.rows import EntryEdges, entry_blocks, row_blocks
from graphlode.types import AnyArray, FloatArray, Int64Array

_LINES = 1 << 18  # per block of text
_STEP = 1 << 18  # bytes per step of a compressor; the stop request is checked after each step


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
    check_target(target)
    graph = as_graph(graph).with_ascending_ids()
    if kind.format in _ARCHIVES:
        call(lambda control: _write_archive(graph, target, kind.format, control))
        return
    if graph.weights is not None and graph.times is not None:
        raise UnsupportedError(
            f"{target}: {kind.format} files hold one value per edge, this graph has weights and times; npz holds both"
        )
    pieces = _PIECES[kind.format](graph)
    with named_errors(target):
        call(lambda control: _write_pieces(pieces, target, kind.compression, control))


def _write_pieces(pieces: Iterator[bytes], target: Path, compression: Compression | None, control: Control) -> None:
    with replacing(target, control) as file, packed(file, compression) as text:
        for piece in pieces:
            for begin in range(0, len(piece), _STEP):
                control.check()
                text.write(piece[begin : begin + _STEP])


def _write_archive(graph: Graph, target: Path, format: Format, control: Control) -> None:
    with replacing(target, control) as file:
        _ARCHIVES[format](graph, file)


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
    graph: Graph, *, indices: bool = True, backwards: bool = False, values: AnyArray | None = None, **layout: Any
) -> Iterator[bytes]:
    """The edges as text, in the order of `Graph.edges`. `backwards` swaps the ends of every edge."""
    names = None if indices or _is_numbered(graph) else graph.ids
    at = 0
    for tails, heads in entry_blocks(graph, _LINES):
        kept = slice(None) if graph.directed else tails < heads
        ends = [(column if names is None else names[column])[kept] for column in (tails, heads)]
        src, dst = (np.ascontiguousarray(column, np.int64) for column in (reversed(ends) if backwards else ends))
        yield format_edges(src, dst, None if values is None else values[at : at + src.size], **layout)
        at += src.size


def _text_pieces(graph: Graph, separator: str = " ") -> Iterator[bytes]:
    yield f"# {_mark(graph, _is_numbered(graph))}\n".encode()
    yield from _edge_pieces(graph, indices=False, values=_values(graph)[0], separator=separator)


def _csv_pieces(graph: Graph) -> Iterator[bytes]:
    lines = _text_pieces(graph, ",")
    yield next(lines)
    third = {"weights": ",weight", "times": ",time", None: ""}[_values(graph)[1]]
    yield f"src,dst{third}\n".encode()
    yield from lines


def _mtx_pieces(graph: Graph) -> Iterator[bytes]:
    values, kind = _values(graph)
    field = {"weights": "real", "times": "integer", None: "pattern"}[kind]
    symmetry = "general" if graph.directed else "symmetric"
    n = graph.num_vertices
    yield f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% {_mark(graph, True)}\n".encode()
    yield f"{n} {n} {graph.num_edges}\n".encode()
    # edges have the lower position first; entries of the lower triangle have the higher one first
    yield from _edge_pieces(graph, backwards=not graph.directed, values=values, base=1)


def _gr_pieces(graph: Graph) -> Iterator[bytes]:
    values, _ = _values(graph)
    arcs = graph.num_edges if graph.directed else 2 * graph.num_edges
    yield f"c {_mark(graph, True)}\np sp {graph.num_vertices} {arcs}\n".encode()
    lengths = np.broadcast_to(np.int64(1), graph.num_edges) if values is None else values
    yield from _edge_pieces(graph, values=lengths, prefix="a ", base=1)
    if not graph.directed:
        yield from _edge_pieces(graph, backwards=True, values=lengths, prefix="a ", base=1)


def _metis_pieces(graph: Graph) -> Iterator[bytes]:
    if graph.directed:
        raise UnsupportedError("METIS files hold undirected graphs; write graph.undirected(), or another format")
    values, kind = _values(graph)
    flags = "" if kind is None else " 001"
    yield f"% {_mark(graph, True)}\n{graph.num_vertices} {graph.num_edges}{flags}\n".encode()
    if values is None:
        for offsets, neighbors, ended in row_blocks(graph, _LINES):
            yield _adjacency_lines(offsets, neighbors, None, ended)
        return
    edges = EntryEdges(graph)
    for offsets, neighbors, ended in row_blocks(graph, _LINES):
        yield _adjacency_lines(offsets, neighbors, values[edges.next_block(neighbors.size)], ended)


def _adjacency_lines(offsets: Int64Array, neighbors: AnyArray, values: AnyArray | None, ended: bool) -> bytes:
    lines = format_adjacency(offsets, neighbors.astype(np.int64), values)
    return lines if ended else lines[:-1] + b" "


def _write_npz(graph: Graph, file: BinaryIO) -> None:
    offsets, neighbors = graph.csr
    arrays: dict[str, Any] = {"offsets": offsets, "neighbors": neighbors, "directed": np.bool_(graph.directed)}
    if not _is_numbered(graph):
        arrays["ids"] = graph.ids
    arrays |= {name: a for name, a in (("weights", graph.weights), ("times", graph.times)) if a is not None}
    np.savez(file, **arrays)  # not compressed: compression takes a hundred times as long and saves a third


def _write_parquet(graph: Graph, file: BinaryIO) -> None:
    """Arrow gets the open file and not its path: it would remove what it fails to write, even a device."""
    parquet = arrow_parquet()
    import pyarrow

    edges = graph.edges()
    columns = {"src": edges[:, 0], "dst": edges[:, 1]}
    columns |= {name: a for name, a in (("weight", graph.weights), ("time", graph.times)) if a is not None}
    table = pyarrow.table(columns).replace_schema_metadata({MARK_KEY: _mark(graph, _is_numbered(graph)).encode()})
    parquet.write_table(table, file, compression="zstd")


_PIECES: dict[str, Callable[[Graph], Iterator[bytes]]] = {
    "text": _text_pieces,
    "csv": _csv_pieces,
    "mtx": _mtx_pieces,
    "metis": _metis_pieces,
    "gr": _gr_pieces,
}

_ARCHIVES: dict[str, Callable[[Graph, BinaryIO], None]] = {"npz": _write_npz, "parquet": _write_parquet}
