"""Random graphs with a hidden clique."""

from __future__ import annotations

import numpy as np

from graphlode.cpu.generate.random import random_words
from graphlode.execute import call
from graphlode.generate.arguments import integer, probability, random_seed, vertices
from graphlode.generate.classical import complete_edges
from graphlode.generate.erdos_renyi import erdos_renyi_edges
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph
from graphlode.types import Int64Array, VertexArray


def planted_clique(n: int, k: int, p: float, *, seed: int = 0) -> Graph:
    """A uniform random graph in which `k` randomly chosen vertices are joined to each other.

    Every other pair is an edge with probability `p`. `planted_members` returns the chosen vertices.
    Raises InputError unless 0 <= k <= n and 0 <= p <= 1. Time O(p n^2 + k^2).

    >>> import graphlode as gl
    >>> gl.planted_clique(50, 6, 0.0, seed=1).num_edges
    15
    """
    src, dst = planted_clique_edges(n, k, p, seed=seed)
    return from_edges(src, dst, num_vertices=n, source=f"planted_clique({n}, {k}, {p}, seed={seed})")


def planted_members(n: int, k: int, *, seed: int = 0) -> Int64Array:
    """The sorted vertices of the clique in `planted_clique` with the same n, k and seed."""
    n = vertices("n", n)
    k = integer("k", k, most=n, reason="n")
    seed = random_seed(seed)
    return np.sort(np.argsort(call(lambda control: random_words(seed, 0, n)), kind="stable")[:k])


def planted_clique_edges(n: int, k: int, p: float, *, seed: int = 0) -> tuple[VertexArray, VertexArray]:
    """The edges of `planted_clique` as (src, dst), each once; those of the clique come last."""
    p = probability("p", p)
    members = planted_members(n, k, seed=seed)
    src, dst = erdos_renyi_edges(n, p=p, seed=seed)
    planted = np.zeros(n, np.bool_)
    planted[members] = True
    outside = ~(planted[src] & planted[dst])
    first, second = complete_edges(len(members))
    ends = members.astype(src.dtype)
    return np.concatenate([src[outside], ends[first]]), np.concatenate([dst[outside], ends[second]])
