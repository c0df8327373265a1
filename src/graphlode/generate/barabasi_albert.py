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

    As in networkx, growth starts from a star with center 0 and leaves 1 to m, and the neighbors of a new vertex are
    distinct. The graph has exactly m * (n - m) edges. Raises InputError unless 1 <= m < n.
    Time O(n m), serial because each edge depends on earlier ones.

    >>> import graphlode as gl
    >>> gl.barabasi_albert(1000, 3, seed=5).num_edges
    2991
    """
    src, dst = barabasi_albert_edges(n, m, seed=seed)
    return from_edges(src, dst, num_vertices=n, source=f"barabasi_albert({n}, {m}, seed={seed})")


def barabasi_albert_edges(n: int, m: int, *, seed: int = 0) -> tuple[VertexArray, VertexArray]:
    """The edges of `barabasi_albert` in the order of growth. From the (m + 1)-th on, src is the newer vertex."""
    n = vertices("n", n, least=2)
    m = integer("m", m, least=1, most=n - 1, reason="n - 1")
    seed = random_seed(seed)
    return call(lambda control: kernel.attach(n, m, seed=seed, control=control))
