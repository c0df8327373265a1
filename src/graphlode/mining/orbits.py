"""Orbits: how often each vertex or edge takes each place in the connected patterns of up to 4 or 5 vertices.

Kernels return raw arrays, which `orbit_formulas` turns into orbits. They are the main terms that need more than one look
at each edge; everything else is made of them, of degrees and of the triangles at each edge. Names are those of the orbits
whose main terms they are: "o12" is of vertices, by rank, "e9" of edges, by edge id; both are int64. d, t, W, c3 and K4 are
as in `motifs`; C4(e), K4(e) are the 4-cycles and 4-cliques at an edge, D(u, v) the edges among the common neighbours of u
and v; "triangles vab" stands for every triangle at v once, "w" for every common neighbour of the ends of the edge uv, so that
uvw is a triangle. All arrays are exact numbers of a vertex or edge, independent of ranks. One device does it all: half of
the sums have the other half as weights.

Always: e5 = C4(uv), e11 = K4(uv).

Vertices (edges=False), at v:

====  =============================================================================================================
o12   triangles vab: t(ab) - 1
====  =============================================================================================================

and with size 5

====  =============================================================================================================
o25   triangles vab: (d(a) - 2) (d(b) - 2)
o34   5-cycles through v, exactly
o36   u != v: C(W(u, v), 2) (d(u) - 2)
o40   triangles vab: (t(ab) - 1) (d(a) + d(b) - 6)
o46   u != v: D(u, v) (d(u) - 2)
o48   triangles vab: (t(va) - 1) (d(b) - 2) + (t(vb) - 1) (d(a) - 2)
o49   a < b neighbours of v: C(W(a, b) - 1, 2)
o50   u != v: C(W(u, v), 3)
o51   x neighbour of v, y != v neighbour of x: t(xy) (W(v, y) - 1)
o52   triangles vab: C4(ab)
o54   triangles vab: C(t(ab) - 1, 2)
o59   triangles vab: g(a, b) + g(b, a), where g(h, b) is the sum of t(hc) - 1 over the common neighbours c of h and b
o60   triangles vab: (t(ab) - 1) (t(va) - 1 + t(vb) - 1)
o61   triangles vab: (t(va) - 1) (t(vb) - 1)
o62   a < b neighbours of v: D(a, b)
o63   u != v: D(u, v) (W(u, v) - 2)
o64   a < b neighbours of v: c3(v, a, b) (W(a, b) - 2)
o65   triangles vab: K4(ab)
o66   triangles vab: K4(vab) (t(ab) - 2)
o68   h neighbour of v, u != v neighbour of h: C(c3(v, h, u), 2)
o69   a < b neighbours of v: C(c3(v, a, b), 2), twice the wheels with hub v
o70   triangles abc among the neighbours of v: K4(abc) - 1
o71   triangles vab: C(K4(vab), 2)
o72   5-cliques at v
====  =============================================================================================================

Edges (edges=True), at uv:

====  =============================================================================================================
e7    w: d(w) - 2
fans  by entry, not by edge: for the entry v in row u, w: t(uw) - 1
====  =============================================================================================================

and with size 5

====  =============================================================================================================
e23   w: the sum of d(x) - 1 over the neighbours x of w
e26   w: C(d(w) - 2, 2)
e28   5-cycles through uv, exactly
e30   4-cycles u-v-c-d: d(c) + d(d) - 4
e33   w: (t(uw) + t(vw) - 2) (d(w) - 3)
e36   w: t(w)
e39   w: e7(uw) + e7(vw)
e42   y != u neighbour of v: C(W(u, y) - 1, 2), and y != v neighbour of u: C(W(v, y) - 1, 2)
e43   4-cycles u-v-c-d: t(cd)
e44   4-cycles u-v-c-d: t(vc) + t(ud)
e45   w: C4(uw) + C4(vw)
e47   w: C(t(uw) - 1, 2) + C(t(vw) - 1, 2)
e50   4-cliques uvab: d(a) + d(b) - 6
e52   w: f(w, u) + f(w, v), where f(a, b) is `fans` at the entry b of row a
e53   w: f(u, w) + f(v, w)
e54   w: (t(uw) - 1) (t(vw) - 1)
e56   y != u neighbour of v: D(u, y), and y != v neighbour of u: D(v, y)
e57   w: sum of W(u, y) - 2 over the common neighbours y != u of v and w, and the same with u and v exchanged
e58   a < b common neighbours of u and v: W(a, b) - 2
e59   w: K4(uw) + K4(vw)
e60   4-cliques uvab: t(ab) - 2
e61   w: K4(uvw) (t(uw) + t(vw) - 4)
e63   4-wheels with uv on the rim, exactly
e64   4-wheels with uv as a spoke, exactly
e65   4-cliques uvab: K4(uab) + K4(vab) - 2
e66   w: C(K4(uvw), 2)
e67   5-cliques at uv
====  =============================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from graphlode.config import settings
from graphlode.errors import InputError
from graphlode.execute.devices import Devices
from graphlode.execute.operation import Operation
from graphlode.execute.run import Shares, run
from graphlode.execute.wait import Progress
from graphlode.graph.accept import as_undirected
from graphlode.mining.exact import convert, narrowed
from graphlode.mining.motifs import work_per_row
from graphlode.mining.orbit_counts import OrbitCounts
from graphlode.mining.orbit_formulas import EdgeOrbits, vertex_orbits
from graphlode.mining.orbit_layout import Layout
from graphlode.mining.patterns import (
    NUM_EDGE_ORBITS,
    NUM_VERTEX_ORBITS,
    edge_orbit_matrix,
    inverse,
    vertex_orbit_matrix,
)
from graphlode.mining.supports import Supported
from graphlode.types import MAX_NARROW_VERTICES, AnyArray, Int64Array

_CHUNK = 1 << 14  # vertices or edges at a time, so that their columns stay in the cache


def _check(*, size: int, edges: bool) -> None:
    if size not in (4, 5) or isinstance(size, bool):
        raise InputError(f"size must be 4 or 5, got {size!r}")
    if not isinstance(edges, bool):
        raise InputError(f"edges must be True or False, got {edges!r}")


def _combine(partials: Sequence[Mapping[str, AnyArray]]) -> dict[str, AnyArray]:
    (only,) = partials
    return {name: array.astype(np.int64, copy=False) for name, array in only.items()}


def _finish(
    value: Mapping[str, AnyArray],
    fetch: Callable[[str], AnyArray],
    *,
    size: int,
    edges: bool,
    induced: bool = False,
    columns: Sequence[int] | None = None,
) -> AnyArray:
    """The orbits asked for, one per row, in the order of the graph's vertices or edges."""
    layout = Layout.of({name: fetch(name) for name in ("offsets", "neighbors", "edges", "triangles")})
    number = (NUM_EDGE_ORBITS if edges else NUM_VERTEX_ORBITS)[size]
    wanted = list(range(number) if columns is None else columns)
    matrix = inverse(edge_orbit_matrix() if edges else vertex_orbit_matrix())[:number, :number]
    vertices = fetch("vertices")
    columns_of: Callable[[AnyArray], list[AnyArray]]
    if edges:
        order, columns_of = _edge_order(layout, vertices), EdgeOrbits(value, layout, size).columns
    else:
        order, columns_of = np.argsort(vertices), partial(_parts, vertex_orbits(value, layout, size))

    def chosen(part: AnyArray) -> list[AnyArray]:
        found = columns_of(part)
        return convert(matrix, found, wanted) if induced else [found[i] for i in wanted]

    return _filled(order, chosen, len(wanted))


def _parts(columns: list[AnyArray], part: AnyArray) -> list[AnyArray]:
    return [narrowed(column[part]) for column in columns]


def _filled(order: Int64Array, columns_of: Callable[[AnyArray], list[AnyArray]], number: int) -> AnyArray:
    """The columns of everything in `order`, one per row; some at a time, on all threads."""
    rows: AnyArray = np.empty((number, order.size), np.int64)

    def fill(begin: int) -> list[AnyArray] | None:
        """Writes one part, or gives it back if it does not fit 64 bits."""
        columns = columns_of(order[begin : begin + _CHUNK])
        if any(column.dtype == object for column in columns):
            return columns
        for row, column in zip(rows, columns, strict=True):
            row[begin : begin + _CHUNK] = column
        return None

    begins = range(0, order.size, _CHUNK)
    with ThreadPoolExecutor(settings().threads) as pool:
        given_back = {begin: columns for begin, columns in zip(begins, pool.map(fill, begins), strict=True) if columns}
    if given_back:
        rows = rows.astype(object)
    for begin, columns in given_back.items():
        for row, column in zip(rows, columns, strict=True):
            row[begin : begin + _CHUNK] = column
    return rows


def _edge_order(layout: Layout, vertices: AnyArray) -> Int64Array:
    """The edge id of each edge in the order of `Graph.edges()`."""
    a, b = (vertices[end].astype(np.int64) for end in layout.ends)
    low, high = np.minimum(a, b), np.maximum(a, b)
    if vertices.size <= MAX_NARROW_VERTICES:  # one sort of composed keys takes a third of the time
        return np.argsort(low << 32 | high)
    return np.lexsort((high, low))


ORBITS = Operation(
    name="mining.orbits",
    view=Supported(),
    unit="vertex",
    combine=_combine,
    finish=_finish,
    splits=False,
    work=work_per_row,
    check=_check,
)


def count_orbits(
    graph: Any,
    size: Literal[4, 5] = 5,
    *,
    edges: bool = False,
    induced: bool = True,
    columns: Sequence[int] | None = None,
    devices: Devices = "auto",
    shares: Shares = "auto",
    progress: Progress | None = None,
) -> OrbitCounts:
    """How often each vertex, or edge, takes each place in the connected patterns of up to `size` vertices, exactly.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph; of a directed graph the undirected form is used.
    size
        4: 15 orbits of vertices or 12 of edges; 5: 73 or 68, in the usual numbering.
    edges
        Whether to count at edges instead of at vertices.
    induced
        Whether to count induced copies, in which no further edge joins the vertices, or all of them.
    columns
        Numbers of the orbits to give, in this order; None: all.
    devices, shares
        Where to run ("auto", "cpu", "cuda:0", ...); orbits run on one device.
    progress
        Called as progress(done, total) now and then, in vertices.

    Counts are 64-bit integers, or Python integers (dtype object) if one does not fit. Raises InputError for a wrong
    argument, CountOverflowError if 64-bit terms of the formulas may overflow. Cost: as many steps as there are
    wedges and diamonds, and directed paths of three edges for the 5-cycles; memory: 8 bytes per vertex or edge and orbit,
    and about half of that again while counting.

    >>> import graphlode as gl
    >>> gl.count_orbits(gl.star(4), 4).values[0, :8].tolist()
    [4, 0, 6, 0, 0, 0, 0, 4]
    """
    _check(size=size, edges=edges)
    number = (NUM_EDGE_ORBITS if edges else NUM_VERTEX_ORBITS)[size]
    wanted = tuple(range(number)) if columns is None else _checked_columns(columns, number)
    undirected, notes = as_undirected(graph)
    outcome = run(
        replace(ORBITS, finish=partial(_finish, induced=bool(induced), columns=wanted)),
        undirected,
        devices,
        shares=shares,
        progress=progress,
        notes=notes,
        label="fused",
        size=size,
        edges=edges,
    )
    return OrbitCounts(
        size=size,
        of="edges" if edges else "vertices",
        counted="induced" if induced else "noninduced",
        columns=wanted,
        values=outcome.value.T,
        provenance=outcome.provenance,
        graph=undirected,
    )


def _checked_columns(columns: Sequence[int], number: int) -> tuple[int, ...]:
    wanted = tuple(int(column) for column in columns)
    wrong = [column for column in wanted if not 0 <= column < number]
    if wrong:
        raise InputError(f"columns are orbits 0 to {number - 1}, got {wrong[0]}")
    return wanted
