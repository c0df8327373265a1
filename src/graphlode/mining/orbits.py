"""Orbits: how often each vertex or edge occurs at each position in the connected patterns of up to 4 or 5 vertices.

Kernels return raw arrays, which native formulas turn into orbits (native/src/orbits/vertices.cpp, orbits/edges.cpp).
The arrays are the main terms that need more than one pass over the edges. All others follow from these, from degrees
and from the triangles at each edge. An array has the name of the orbit whose main term it is: "o12" is for vertices, by
rank; "e9" is for edges, by edge id. Both are int64. d, t, W, c3 and K4 are as in `motifs`. C4(e) and K4(e) are the
4-cycles and 4-cliques at an edge, D(u, v) the edges among the common neighbors of u and v. "triangles vab" means every
triangle at v once; "w" means every common neighbor of the ends of the edge uv, so that uvw is a triangle. All rows
together give exact numbers for a vertex or edge, independent of ranks. o12, o34, o49, o54, o62, o64, o66, o69 and e58
are exactly twice these numbers.

A row contributes the terms that it is the first to see, so that the partials of any partition of the rows add up:

- to itself, sums over u != v; to its lower neighbors, the contributions of edges to their higher ends;
- to its neighbors, or to edges, the terms found from this row: o12 from a, with the common neighbors of a and v, and
  so on. Sums that are symmetric in the ends of an edge take half of their terms from each end;
- 5-cycles are counted from their highest vertex, 5-cliques from their lowest, and o70 from the highest of a, b and c.

Sums over triangles of values from other arrays (o52, o59, o65, e39, e45, e52, e53, e59) need all rows. A device that
has processed all rows may return them. Otherwise they are composed when all partials have arrived.

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
o49   a < b neighbors of v: C(W(a, b) - 1, 2)
o50   u != v: C(W(u, v), 3)
o51   x neighbor of v, y != v neighbor of x: t(xy) (W(v, y) - 1)
o52   triangles vab: C4(ab)
o54   triangles vab: C(t(ab) - 1, 2)
o59   triangles vab: g(a, b) + g(b, a), where g(h, b) is the sum of t(hc) - 1 over the common neighbors c of h and b
o60   triangles vab: (t(ab) - 1) (t(va) - 1 + t(vb) - 1)
o61   triangles vab: (t(va) - 1) (t(vb) - 1)
o62   a < b neighbors of v: D(a, b)
o63   u != v: D(u, v) (W(u, v) - 2)
o64   a < b neighbors of v: c3(v, a, b) (W(a, b) - 2)
o65   triangles vab: K4(ab)
o66   triangles vab: K4(vab) (t(ab) - 2)
o68   h neighbor of v, u != v neighbor of h: C(c3(v, h, u), 2)
o69   a < b neighbors of v: C(c3(v, a, b), 2), twice the wheels with hub v
o70   triangles abc among the neighbors of v: K4(abc) - 1
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
e23   w: the sum of d(x) - 1 over the neighbors x of w
e26   w: C(d(w) - 2, 2)
e28   5-cycles through uv, exactly
e30   4-cycles u-v-c-d: d(c) + d(d) - 4
e33   w: (t(uw) + t(vw) - 2) (d(w) - 3)
e36   w: t(w)
e39   w: e7(uw) + e7(vw)
e42   y != u neighbor of v: C(W(u, y) - 1, 2), and y != v neighbor of u: C(W(v, y) - 1, 2)
e43   4-cycles u-v-c-d: t(cd)
e44   4-cycles u-v-c-d: t(vc) + t(ud)
e45   w: C4(uw) + C4(vw)
e47   w: C(t(uw) - 1, 2) + C(t(vw) - 1, 2)
e50   4-cliques uvab: d(a) + d(b) - 6
e52   w: f(w, u) + f(w, v), where f(a, b) is `fans` at the entry b of row a
e53   w: f(u, w) + f(v, w)
e54   w: (t(uw) - 1) (t(vw) - 1)
e56   y != u neighbor of v: D(u, y), and y != v neighbor of u: D(v, y)
e57   w: sum of W(u, y) - 2 over the common neighbors y != u of v and w, and the same with u and v exchanged
e58   a < b common neighbors of u and v: W(a, b) - 2
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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from graphlode.common.control import Control
from graphlode.common.numbers import one_of_sizes
from graphlode.common.wait import Progress
from graphlode.config import settings
from graphlode.cpu.mining.orbit_formulas import compose, orbit_columns
from graphlode.errors import InputError
from graphlode.execute import call
from graphlode.execute.devices import Devices
from graphlode.execute.operation import Operation
from graphlode.execute.run import Shares, run
from graphlode.graph.accept import as_undirected
from graphlode.mining.motifs import work_per_row
from graphlode.mining.orbit_counts import OrbitCounts
from graphlode.mining.patterns import (
    NUM_EDGE_ORBITS,
    NUM_VERTEX_ORBITS,
    edge_orbit_matrix,
    inverse,
    vertex_orbit_matrix,
)
from graphlode.mining.supports import Supported
from graphlode.types import AnyArray


def _check(*, size: int, edges: bool) -> None:
    one_of_sizes("size", size, (4, 5))
    if not isinstance(edges, bool):
        raise InputError(f"edges must be True or False, got {edges!r}")


def _combine(partials: Sequence[Mapping[str, AnyArray]]) -> dict[str, AnyArray]:
    """The sum of the devices' arrays. A device without tasks returns no arrays."""
    total: dict[str, AnyArray] = {}
    for found in partials:
        for name, array in found.items():
            total[name] = total[name] + array if name in total else array.astype(np.int64, copy=False)
    return total


def _finish(
    value: Mapping[str, AnyArray],
    fetch: Callable[[str], AnyArray],
    *,
    size: int,
    edges: bool,
    induced: bool = False,
    columns: Sequence[int] | None = None,
) -> AnyArray:
    """The requested orbits, one per row, in the order of the graph's vertices or edges."""
    number = (NUM_EDGE_ORBITS if edges else NUM_VERTEX_ORBITS)[size]
    wanted = range(number) if columns is None else columns
    view = {name: fetch(name) for name in ("offsets", "neighbors", "lower", "edges", "triangles", "vertices")}
    matrix = inverse(edge_orbit_matrix() if edges else vertex_orbit_matrix())[:number, :number] if induced else None

    def work(control: Control) -> AnyArray:
        threads = settings().threads
        composed = {}
        if size == 5 and ("e39" if edges else "o52") not in value:
            composed = compose(view, value, edges=edges, threads=threads, control=control)
        return orbit_columns(
            view,
            {**value, **composed},
            size=size,
            edges=edges,
            matrix=matrix,
            columns=wanted,
            threads=threads,
            control=control,
        )

    return call(work)


ORBITS = Operation(
    name="mining.orbits",
    view=Supported(),
    unit="vertex",
    combine=_combine,
    finish=_finish,
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
    """How often each vertex, or edge, occurs at each position in the connected patterns of up to `size` vertices.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph. A directed graph is used in its undirected form.
    size
        4: 15 orbits of vertices or 12 of edges; 5: 73 or 68, in the usual numbering.
    edges
        Whether to count at edges instead of at vertices.
    induced
        Whether to count induced copies, in which no further edge joins the vertices, or all copies.
    columns
        Numbers of the orbits to return, in this order; None: all.
    devices, shares
        Where to run ("auto", "cpu", "cuda:0", ["cuda:0", "cpu"], ...) and in which proportions.
    progress
        Called as progress(done, total) from time to time, in vertices.

    Counts are exact: 64-bit integers, or Python integers (dtype object) if one does not fit. Raises InputError for a
    wrong argument, CountOverflowError if 64-bit terms of the formulas may overflow. Cost: one step per wedge and
    diamond, and for size 5 one per directed path of three edges. Memory: 8 bytes per vertex or edge and orbit, and
    about half of that again while counting.

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
    if isinstance(columns, str | bytes) or not isinstance(columns, Iterable) or np.ndim(columns) != 1:
        raise InputError(f"columns must be a sequence of orbits, got {columns!r}")
    for column in columns:
        if not isinstance(column, int | np.integer) or not 0 <= column < number:
            raise InputError(f"columns are orbits 0 to {number - 1}, got {column!r}")
    return tuple(int(column) for column in columns)
