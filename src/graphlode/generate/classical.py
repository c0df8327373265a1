"""Graphs that their size determines. Vertices are numbered as in networkx; every edge occurs once."""

from __future__ import annotations

import numpy as np

from graphlode.errors import InputError
from graphlode.generate.arguments import integer, vertices
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph
from graphlode.types import MAX_NARROW_VERTICES, Int64Array

_MOST_LEAVES, _NARROW = MAX_NARROW_VERTICES - 1, "vertex ids have 32 bits here"


def complete(n: int) -> Graph:
    """All n (n - 1) / 2 edges between `n` vertices.

    >>> import graphlode as gl
    >>> gl.complete(5).num_edges
    10
    """
    n = vertices("n", n)
    return from_edges(*complete_edges(n), num_vertices=n, source=f"complete({n})")


def cycle(n: int) -> Graph:
    """Vertices 0 .. n - 1 in a ring. One vertex has no edge, two vertices have one edge, because the graph is simple.

    >>> import graphlode as gl
    >>> gl.cycle(5).degrees().tolist()
    [2, 2, 2, 2, 2]
    """
    n = vertices("n", n)
    return from_edges(*cycle_edges(n), num_vertices=n, source=f"cycle({n})")


def star(n: int) -> Graph:
    """Vertex 0 joined to `n` leaves 1 .. n: n + 1 vertices and n edges, as in networkx's star_graph.

    >>> import graphlode as gl
    >>> gl.star(3).degrees().tolist()
    [3, 1, 1, 1]
    """
    n = integer("n", n, most=_MOST_LEAVES, reason=_NARROW)
    return from_edges(*star_edges(n), num_vertices=n + 1, source=f"star({n})")


def path(n: int) -> Graph:
    """Vertices 0 .. n - 1 in a row: n - 1 edges.

    >>> import graphlode as gl
    >>> gl.path(4).edges().tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    n = vertices("n", n)
    return from_edges(*path_edges(n), num_vertices=n, source=f"path({n})")


def grid(rows: int, columns: int) -> Graph:
    """A rectangle of vertices, each joined to the next one in its row and the next one in its column.

    The vertex in row r and column c is r * columns + c (networkx's grid_2d_graph calls it (r, c)).

    >>> import graphlode as gl
    >>> gl.grid(2, 2).edges().tolist()
    [[0, 1], [0, 2], [1, 3], [2, 3]]
    """
    rows, columns = vertices("rows", rows), vertices("columns", columns)  # of Python: numpy's small integers wrap
    source = f"grid({rows}, {columns})"
    return from_edges(*grid_edges(rows, columns), num_vertices=rows * columns, source=source)


def complete_edges(n: int) -> tuple[Int64Array, Int64Array]:
    """The edges of `complete` as (src, dst) with src < dst, sorted."""
    n = vertices("n", n)
    sizes = np.arange(n - 1, -1, -1, dtype=np.int64)  # edges from each vertex to later ones
    src = np.repeat(np.arange(n, dtype=np.int64), sizes)
    starts = np.cumsum(sizes) - sizes
    return src, np.arange(len(src), dtype=np.int64) - starts[src] + src + 1


def cycle_edges(n: int) -> tuple[Int64Array, Int64Array]:
    """The edges of `cycle` as (src, dst)."""
    n = vertices("n", n)
    src, dst = path_edges(n)
    if n < 3:
        return src, dst
    return np.append(src, n - 1), np.append(dst, 0)


def star_edges(n: int) -> tuple[Int64Array, Int64Array]:
    """The edges of `star` as (src, dst); src is always 0."""
    n = integer("n", n, most=_MOST_LEAVES, reason=_NARROW)
    return np.zeros(n, np.int64), np.arange(1, n + 1, dtype=np.int64)


def path_edges(n: int) -> tuple[Int64Array, Int64Array]:
    """The edges of `path` as (src, dst)."""
    n = vertices("n", n)
    return np.arange(max(n - 1, 0), dtype=np.int64), np.arange(1, max(n, 1), dtype=np.int64)


def grid_edges(rows: int, columns: int) -> tuple[Int64Array, Int64Array]:
    """The edges of `grid` as (src, dst): first those within rows, then those within columns."""
    rows, columns = vertices("rows", rows), vertices("columns", columns)
    if rows * columns > MAX_NARROW_VERTICES:
        raise InputError(f"rows * columns must be at most {MAX_NARROW_VERTICES}, got {rows} * {columns}")
    at = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    src = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    dst = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    return src, dst
