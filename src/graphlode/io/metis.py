"""METIS files: a line with the sizes, then one line per vertex with its neighbors. Vertices start at 1.

Every edge must be listed by both of its ends. This is checked, and each edge is returned once.
"""

from __future__ import annotations

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu.io.metis import parse_adjacency
from graphlode.errors import InputError
from graphlode.io.edge_list import EdgeList
from graphlode.io.mark import Mark, parse_mark
from graphlode.io.request import Request, as_values, head_lines, header_numbers, shown
from graphlode.io.source import Text
from graphlode.types import AnyArray, FloatArray, Int64Array

_BLOCK = 1 << 20


def read_metis(text: Text, request: Request) -> EdgeList:
    mark = Mark()
    number, line, at = 1, b"", 0
    for number, line, at in head_lines(text):  # noqa: B007  (used below)
        if line.startswith(b"%"):
            mark = parse_mark(line[1:]) if mark == Mark() else mark
        elif line.strip():
            break
    vertices, edges, skipped, weighted = _parse_header(line, number)
    body = text[at:]
    if vertices > body.size + 1:
        raise InputError(f"line {number}: {vertices} vertices are announced, the file is too short for as many lines")
    kind = request.kind(mark) if weighted else None
    offsets, neighbors, values, symmetric = parse_adjacency(
        body,
        vertices,
        kind,
        skipped=skipped,
        weighted=weighted,
        first_line=number + 1,
        max_bytes=request.budget.left,
        control=request.control,
    )
    fault = None if symmetric else _first_asymmetric(offsets, neighbors, values)
    if fault is not None:
        vertex, message = fault
        raise InputError(f"line {_line_of(body, vertex, number + 1, request.control)}: {message}")
    if neighbors.size != 2 * edges:
        raise InputError(f"line {number}: {edges} edges are announced, the file has {neighbors.size // 2}")
    request.control.check()
    request.budget.require(16 * neighbors.size, "the list of edges")
    tails = np.repeat(np.arange(vertices), np.diff(offsets))
    once = tails < neighbors
    kept = None if values is None else values[once]
    return EdgeList(
        tails[once],
        neighbors[once],
        num_vertices=vertices,
        directed=False,
        **as_values(kept, kind),  # type: ignore[arg-type]
    )


def _parse_header(line: bytes, number: int) -> tuple[int, int, int, bool]:
    """Vertices, edges, numbers to skip at the start of each line, whether edges have weights."""
    expected = "vertices, edges and optionally a format of three binary digits and a number of constraints"
    numbers = header_numbers(line, number, expected)
    fields = line.split()
    flags = fields[2].decode().zfill(3) if len(fields) > 2 else "000"
    if not 2 <= len(fields) <= 4 or len(flags) > 3 or set(flags) - {"0", "1"}:
        raise InputError(f"line {number}: expected {expected}, found {shown(line)}")
    constraints = numbers[3] if len(fields) == 4 else 1
    if constraints > 1000:
        raise InputError(f"line {number}: {constraints} weights per vertex are more than the 1000 accepted")
    return numbers[0], numbers[1], int(flags[0]) + int(flags[1]) * constraints, flags[2] == "1"


def _first_asymmetric(
    offsets: Int64Array, neighbors: Int64Array, values: FloatArray | Int64Array | None
) -> tuple[int, str] | None:
    """The first vertex with an edge that the other end does not list equally, and the rest of the message."""
    import scipy.sparse

    if not neighbors.size:
        return None
    size = offsets.size - 1
    entries = scipy.sparse.csr_array((np.arange(neighbors.size), neighbors, offsets), shape=(size, size))
    mirrored = entries.T.tocsr()  # rows of a transpose are sorted
    forward = mirrored.T.tocsr()
    if np.array_equal(forward.indptr, mirrored.indptr) and np.array_equal(forward.indices, mirrored.indices):
        if values is None:
            return None
        differing = np.flatnonzero(values[forward.data] != values[mirrored.data])
        if not differing.size:
            return None
        u = int(np.searchsorted(forward.indptr, differing[0], "right")) - 1
        v = int(forward.indices[differing[0]])
        return u, f"vertex {u + 1} gives the edge to {v + 1} another weight than vertex {v + 1} does"
    # The rows differ first where an offset or an entry does.
    shorter = min(forward.indices.size, mirrored.indices.size)
    entry = _first(forward.indices[:shorter] != mirrored.indices[:shorter], shorter)
    u = min(
        int(np.searchsorted(forward.indptr, entry, "right")) - 1,
        _first(forward.indptr[1:] != mirrored.indptr[1:], size),
    )
    row = forward.indices[forward.indptr[u] : forward.indptr[u + 1]]
    back = mirrored.indices[mirrored.indptr[u] : mirrored.indptr[u + 1]]
    listed, listing = np.unique(row, return_counts=True), np.unique(back, return_counts=True)
    ours = dict(zip(*(part.tolist() for part in listed), strict=True))
    theirs = dict(zip(*(part.tolist() for part in listing), strict=True))
    v = min(w for w in ours.keys() | theirs.keys() if ours.get(w) != theirs.get(w))
    a, b = (u, v) if ours.get(v, 0) > theirs.get(v, 0) else (v, u)
    return a, f"vertex {a + 1} lists {b + 1} more often than vertex {b + 1} lists {a + 1}"


def _first(found: AnyArray, otherwise: int) -> int:
    """The first place where it is true."""
    return int(found.argmax()) if found.any() else otherwise


def _line_of(body: Text, vertex: int, first_line: int, control: Control) -> int:
    """The line number of a vertex: lines that start with % are not vertices."""
    line, seen = first_line, 0
    before = np.uint8(10)  # the last byte of the block before
    for begin in range(0, body.size, _BLOCK):
        control.check()
        block = body[begin : begin + _BLOCK]
        starts = np.flatnonzero(np.concatenate([[before], block[:-1]]) == 10)
        rows = np.flatnonzero(block[starts] != ord("%"))
        if seen + rows.size > vertex:
            return line + int(rows[vertex - seen])
        line, seen, before = line + starts.size, seen + rows.size, block[-1]
    return line  # the last line may lack its newline
