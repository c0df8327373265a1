"""Preferential attachment graphs."""

from __future__ import annotations

from graphlode.cpu.generate import barabasi_albert as kernel
from graphlode.execute import call
from graphlode.generate.arguments import integer, random_seed, vertices
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph
from graphlode.types import VertexArray


def barabasi_albert(n: int, m: int, *, seed: int = 0) -> Graph:
    """A graph grown by preferential attachment: each new vertex joins `m` vertices in proportion to their degrees.

    As in networkx, growth starts from a star on vertices 0 to m with center 0, and a new vertex's neighbors are
    different from each other: the graph has exactly m * (n - m) edges. Raises InputError unless 1 <= m < n.
    Time O(n m), serial because each edge depends on those before it.

    >>> import graphlode as gl
    >>> gl.barabasi_albert(1000, 3, seed=5).num_edges
    2991
    """
    src, dst = barabasi_albert_edges(n, m, seed=seed)
    return from_edges(src, dst, num_vertices=n, source=f"barabasi_albert({n}, {m}, seed={seed})")


def barabasi_albert_edges(n: int, m: int, *, seed: int = 0) -> tuple[VertexArray, VertexArray]:
    """The edges of `barabasi_albert` in the order of growth; from the (m + 1)-th on, src is the newer vertex."""
    n = vertices("n", n, least=2)
    m = integer("m", m, least=1, most=n - 1, reason="n - 1")
    seed = random_seed(seed)
    return call(lambda control: kernel.attach(n, m, seed=seed, control=control))
