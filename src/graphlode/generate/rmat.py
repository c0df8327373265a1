"""Recursive matrix (R-MAT) graphs: skewed degrees from four probabilities.

Each edge starts with the whole adjacency matrix and descends `scale` times into one of four quadrants. Their
probabilities are a (both ends in the lower half of the ids), b (only the destination in the upper half), c (only the
source) and d = 1 - a - b - c (both). The defaults are those of the Graph500 benchmark.

`rmat` and `kronecker` draw the same edges from the same seed. `kronecker` then renames the vertices by a random
permutation, as Graph500 demands; in `rmat` small ids have large degrees. Graph500 also shuffles the list of edges. This
is not needed here: edges are independent draws from one distribution, so their order is already random.
"""

from __future__ import annotations

from graphlode.config import settings
from graphlode.cpu.generate import rmat as kernel
from graphlode.errors import InputError
from graphlode.execute import call
from graphlode.generate.arguments import integer, quadrants, random_seed
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph
from graphlode.types import VertexArray

_MOST_EDGES = 2**62


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 0,
    directed: bool = False,
) -> Graph:
    """A recursive matrix graph with 2^scale vertices from edge_factor * 2^scale drawn edges.

    Self-loops and repeated edges are dropped, so the graph has fewer edges than were drawn. Vertices without edges are
    kept. The same arguments give the same graph for any number of threads.

    Raises InputError if an argument is out of range (a, b, c and their sum lie within [0, 1]).
    Time O(scale * edges), in parallel.

    >>> import graphlode as gl
    >>> gl.rmat(10, 8, seed=1).num_vertices
    1024
    """
    src, dst = rmat_edges(scale, edge_factor, a=a, b=b, c=c, seed=seed)
    source = f"rmat({scale}, {edge_factor}, a={a}, b={b}, c={c}, seed={seed})"
    return from_edges(src, dst, num_vertices=2**scale, directed=directed, source=source)


def kronecker(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 0,
    directed: bool = False,
) -> Graph:
    """The Graph500 form of `rmat`: the same edges, with the vertices renamed by a permutation drawn from the seed.

    >>> import graphlode as gl
    >>> gl.kronecker(10, 8, seed=1).num_edges == gl.rmat(10, 8, seed=1).num_edges
    True
    """
    src, dst = kronecker_edges(scale, edge_factor, a=a, b=b, c=c, seed=seed)
    source = f"kronecker({scale}, {edge_factor}, a={a}, b={b}, c={c}, seed={seed})"
    return from_edges(src, dst, num_vertices=2**scale, directed=directed, source=source)


def rmat_edges(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 0,
    begin: int = 0,
    end: int | None = None,
) -> tuple[VertexArray, VertexArray]:
    """The drawn edges of `rmat` as (src, dst), in random order, with repeats and self-loops.

    `begin` and `end` select a part of the list. Consecutive parts add up to the whole list, so a stream needs no more
    memory than one batch. Ids are 32-bit up to scale 31 and 64-bit above.
    """
    return _draw(scale, edge_factor, (a, b, c), seed, begin, end, relabel=False)


def kronecker_edges(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 0,
    begin: int = 0,
    end: int | None = None,
) -> tuple[VertexArray, VertexArray]:
    """The drawn edges of `kronecker`; the arguments are those of `rmat_edges`."""
    return _draw(scale, edge_factor, (a, b, c), seed, begin, end, relabel=True)


def _draw(
    scale: int,
    edge_factor: int,
    probabilities: tuple[float, float, float],
    seed: int,
    begin: int,
    end: int | None,
    *,
    relabel: bool,
) -> tuple[VertexArray, VertexArray]:
    scale = integer("scale", scale, most=62)
    num_edges = integer("edge_factor", edge_factor) << scale
    if num_edges > _MOST_EDGES:
        raise InputError(f"edge_factor * 2^scale must be at most 2^62, got {edge_factor} * 2^{scale}")
    a, b, c = quadrants(*probabilities)
    seed = random_seed(seed)
    end = num_edges if end is None else integer("end", end, most=num_edges, reason="edge_factor * 2^scale")
    begin = integer("begin", begin, most=end, reason="the end of the part")
    threads = settings().threads
    return call(
        lambda control: kernel.draw_edges(
            scale, begin, end, a=a, b=b, c=c, seed=seed, relabel=relabel, threads=threads, control=control
        )
    )
