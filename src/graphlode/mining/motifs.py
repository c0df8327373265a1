"""Motifs: the number of copies of each connected pattern of 3, 4 or 5 vertices.

Kernels return raw sums, which `motif_formulas` turns into counts. All sums run over the rows u of the tasks, so that
the partials of any partition of the rows add up: pairs and edges {u > v} belong to the row of their higher rank u,
triangles {a < b < c} to that of c, and 5-cliques to that of their lowest vertex. d(v) is the degree, t(e) and t(v) are
the triangles at an edge or vertex, W(u, v) is the number of common neighbors, c3(a, b, c) that of three vertices,
K4(abc) = c3(a, b, c) for a triangle, and C(x, k) is the binomial coefficient:

=======================  ===========================================================================================
name                     sum
=======================  ===========================================================================================
wedges                   over u: C(d, 2)
triangles                over edges: t(uv)
stars3, stars4           over u: C(d, 3), C(d, 4)
paths3                   over edges: (d(u) - 1) (d(v) - 1)
tailed                   over u: t(u) (d - 2)
diamonds, books3         over edges: C(t, 2), C(t, 3)
squares                  over pairs: C(W, 2), twice the 4-cycles
cliques4                 over triangles: K4(abc), four times the 4-cliques
prongs                   over edges: C(d(u) - 1, 2) (d(v) - 1) + C(d(v) - 1, 2) (d(u) - 1)
paths4                   over u: ((sum of d(w) - 1 over neighbors w)^2 - sum of (d(w) - 1)^2) / 2
forks                    over u: t(u) C(d - 2, 2)
longtails                over edges: (t(u) - t(uv)) (d(v) - 1) + (t(v) - t(uv)) (d(u) - 1)
bulls                    over edges: t(uv) (d(u) - 2) (d(v) - 2)
tailed_squares           over pairs: C(W, 2) (d(u) + d(v) - 4)
five_cycles              over u = i: over edges jk, j < k < i: (w(j) - [k ~ i]) (w(k) - [j ~ i]), where w(j) is the number of
                         common neighbors of i and j that rank below i
five_cycle_corrections   over triangles: the neighbors of a, of b and of c that rank above c
hourglasses              over u: C(t(u), 2)
cobras                   over triangles: (t(bc) - 1) (d(a) - 2) + (t(ac) - 1) (d(b) - 2) + (t(ab) - 1) (d(c) - 2)
stingrays                over edges: C(t, 2) (d(u) + d(v) - 6)
houses                   over pairs: (W - 1) times the sum of t(ux) + t(xv) over their common neighbors x
k23                      over pairs: C(W, 3)
gems                     over triangles: the products of t - 1 of each two of the three edges
tailed_cliques           over triangles: K4(abc) (d(a) + d(b) + d(c) - 9), three times the pattern
hatted                   over triangles: K4(abc) (t(ab) + t(ac) + t(bc) - 6), twice the pattern
almost_cliques           over triangles: C(K4(abc), 2)
wedge_diamonds           over pairs: D (W - 2), where D is the number of edges among their common neighbors
wheels                   over pairs and common neighbors h: C(c3(h, u, v), 2), twice the pattern
cliques5                 5-cliques whose lowest vertex is u
=======================  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from graphlode.common.numbers import one_of_sizes
from graphlode.common.wait import Progress
from graphlode.errors import InputError
from graphlode.execute.device import kernel_module
from graphlode.execute.devices import Devices, resolve
from graphlode.execute.operation import Operation
from graphlode.execute.run import Shares, run
from graphlode.graph.accept import as_undirected
from graphlode.graph.graph import Graph
from graphlode.mining.motif_counts import MotifCounts
from graphlode.mining.motif_formulas import counts_from_sums, raw_names
from graphlode.mining.patterns import SIZES
from graphlode.mining.supports import Supported
from graphlode.types import AnyArray, Int64Array

Method = Literal["auto", "fused", "materialize"]


def _check(*, size: int, method: str) -> None:
    one_of_sizes("size", size, SIZES)
    if method not in get_args(Method):
        raise InputError(f"method must be one of {', '.join(get_args(Method))}, got {method!r}")


def _combine(partials: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = {name for partial in partials for name in partial}
    return {name: sum(partial.get(name, 0) for partial in partials) for name in names}


def work_per_row(view: Mapping[str, AnyArray]) -> Int64Array:
    """Cumulative work per row: the wedges u-x-v with v < u, which most of the passes enumerate."""
    offsets, neighbors, lower = view["offsets"], view["neighbors"], view["lower"]
    degrees = np.diff(offsets)
    rows = np.repeat(np.arange(degrees.size), degrees)
    # If x ranks above u, its neighbors below u count. Those below x are an upper bound that needs no search.
    steps = np.where(neighbors < rows, degrees[neighbors], lower[neighbors])
    cumulative = np.zeros(neighbors.size + 1, np.int64)
    np.cumsum(steps, out=cumulative[1:])
    return cumulative[offsets] + offsets


MOTIFS = Operation(
    name="mining.motifs",
    view=Supported(),
    unit="vertex",
    combine=_combine,
    work=work_per_row,
    check=_check,
)


def count_motifs(
    graph: Any,
    size: Literal[3, 4, 5] = 5,
    *,
    induced: bool = True,
    method: Method = "auto",
    devices: Devices = "auto",
    shares: Shares = "auto",
    progress: Progress | None = None,
) -> MotifCounts:
    """Number of copies of every connected pattern of up to `size` vertices, exact at any size.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph. A directed graph is used in its undirected form.
    size
        3 (2 patterns), 4 (8) or 5 (29).
    induced
        Whether `counts` holds the induced copies, in which no further edge joins the vertices, or all copies. The
        result has both, as `induced` and `noninduced`.
    method
        "fused" counts in passes over the graph that store nothing. "materialize" (CUDA devices) first writes out all
        triangles, wedges and diamonds. "auto" chooses; the provenance gives the choice and the reason.
    devices, shares
        Where to run ("auto", "cpu", "cuda:0", ["cuda:0", "cpu"], ...) and in which proportions.
    progress
        Called as progress(done, total) from time to time, in vertices.

    Raises InputError for a wrong argument, UnsupportedError for a method that a device does not have. Cost: one step
    per wedge and diamond, and for size 5 one per directed path of three edges. Memory: both directions of the edges,
    and a few words per vertex and thread.

    >>> import graphlode as gl
    >>> gl.count_motifs(gl.complete(5), 4)["4-clique"]
    5
    """
    _check(size=size, method=method)
    undirected, notes = as_undirected(graph)
    chosen, reasons = plan_method(undirected, size, method, devices)
    outcome = run(
        MOTIFS,
        undirected,
        devices,
        shares=shares,
        progress=progress,
        notes=(*notes, *reasons),
        label=chosen,
        size=size,
        method=chosen,
    )
    sums = dict.fromkeys(raw_names(size), 0) | outcome.value
    return MotifCounts(
        size=size,
        counted="induced" if induced else "noninduced",
        noninduced=tuple(counts_from_sums(sums, size)),
        provenance=outcome.provenance,
    )


def plan_method(graph: Graph, size: int, method: Method, devices: Devices) -> tuple[str, tuple[str, ...]]:
    """The method to use and a note for the provenance. What the user has fixed stays fixed.

    A kernel with several methods says which one it prefers: `preferred(device, shape, size=..)`.
    """
    if method != "auto":
        return method, ()
    chosen = resolve(devices, MOTIFS.kernels)
    prefer = getattr(kernel_module(chosen[0], MOTIFS.name), "preferred", None)
    if len(chosen) > 1:
        return "fused", ("method auto: fused, which all devices have",)
    if prefer is None:
        return "fused", (f"method auto: fused, the only one on {chosen[0].name}",)
    preferred, why = prefer(chosen[0], graph.sizes, size=size)
    return preferred, (f"method auto: {preferred}, {why}",)
