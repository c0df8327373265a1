"""Native drawing of uniform pairs of vertices."""

from __future__ import annotations

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.types import VertexArray


def draw_pairs(
    n: int, num_edges: int, *, directed: bool, seed: int, threads: int, control: Control
) -> tuple[VertexArray, VertexArray]:
    """Exactly `num_edges` distinct pairs, in random order."""
    src, dst = _native.random_pairs(n, num_edges, directed, seed, threads, control.words)
    return src, dst


def draw_each_pair(
    n: int, p: float, *, directed: bool, seed: int, threads: int, control: Control
) -> tuple[VertexArray, VertexArray]:
    """Each pair with probability `p`, in the order of the pairs."""
    src, dst = _native.pairs_with_probability(n, p, directed, seed, threads, control.words)
    return src, dst
