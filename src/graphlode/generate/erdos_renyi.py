"""Uniform random graphs."""

from __future__ import annotations

from graphlode.config import settings
from graphlode.cpu.generate import erdos_renyi as kernel
from graphlode.errors import InputError
from graphlode.execute import call
from graphlode.generate.arguments import integer, probability, random_seed, vertices
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph
from graphlode.types import VertexArray


def erdos_renyi(
    n: int, *, m: int | None = None, p: float | None = None, seed: int = 0, directed: bool = False
) -> Graph:
    """A uniform random graph on `n` vertices: with exactly `m` edges, or with each edge present with probability `p`.

    Give either `m` or `p`. There are no self-loops and no repeated edges. The same arguments give the same graph for
    any number of threads. Raises InputError if `m` exceeds the number of pairs or `p` is not within [0, 1]. Time O(m),
    or O(p n^2), in parallel.

    >>> import graphlode as gl
    >>> gl.erdos_renyi(100, m=250, seed=3).num_edges
    250
    """
    src, dst = erdos_renyi_edges(n, m=m, p=p, seed=seed, directed=directed)
    size = f"p={p}" if m is None else f"m={m}"
    return from_edges(src, dst, num_vertices=n, directed=directed, source=f"erdos_renyi({n}, {size}, seed={seed})")


def erdos_renyi_edges(
    n: int, *, m: int | None = None, p: float | None = None, seed: int = 0, directed: bool = False
) -> tuple[VertexArray, VertexArray]:
    """The edges of `erdos_renyi` as (src, dst), each once: in random order with `m`, sorted by pair with `p`."""
    n, seed, directed = vertices("n", n), random_seed(seed), bool(directed)
    if (m is None) == (p is None):
        raise InputError(f"erdos_renyi needs one of m and p, got m={m!r} and p={p!r}")
    threads = settings().threads
    if m is not None:
        pairs = n * (n - 1) // (1 if directed else 2)
        number = integer("m", m, most=pairs, reason=f"the {'ordered ' if directed else ''}pairs of {n} vertices")
        return call(
            lambda control: kernel.draw_pairs(n, number, directed=directed, seed=seed, threads=threads, control=control)
        )
    chance = probability("p", p)
    return call(
        lambda control: kernel.draw_each_pair(n, chance, directed=directed, seed=seed, threads=threads, control=control)
    )
