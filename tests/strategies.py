"""Graphs for property tests: structured, so that faults at the edges of words, warps and blocks are met.

Hypothesis draws a few small numbers (a size class, a density, what to plant, a seed) and numpy makes the graph from
them: drawing is fast, shrinking goes to smaller and sparser graphs, and a failing example prints as a short line.

    @given(edge_lists())
    def test_something(edges: EdgeList) -> None:
        graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

SIZES = (0, 1, 2, 3, 5, 31, 32, 33, 64, 65, 1023, 1024, 1025)
"""Numbers of vertices on both sides of a warp, a 64-bit word and a block of threads."""

MOST_EDGES = 20_000
DENSITIES = (0.0, 0.01, 0.1, 0.5, 0.9, 1.0)
CLIQUES = (0, 3, 4, 5, 8, 31, 32, 33, 64, 65)
"""Sizes of planted cliques; those above the number of vertices plant the whole graph."""


@dataclass(frozen=True, repr=False)
class EdgeList:
    """Edges as a user would give them. `ids[v]` is the original id of vertex v where `src` and `dst` hold ids."""

    num_vertices: int
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    note: str = ""
    ids: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        """How it was made instead of its arrays, which may be long."""
        arrays = f", src={self.src.tolist()}, dst={self.dst.tolist()}" if len(self.src) <= 24 else ""
        return f"EdgeList({self.num_vertices} vertices, {len(self.src)} entries: {self.note}{arrays})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # Hypothesis would list every field otherwise

    def simple(self) -> set[tuple[int, int]]:
        """The undirected edges (u, v) with u < v that are left when repeats, directions and self edges are dropped."""
        low, high = np.minimum(self.src, self.dst), np.maximum(self.src, self.dst)
        return {(u, v) for u, v in zip(low.tolist(), high.tolist(), strict=True) if u != v}

    def arcs(self) -> set[tuple[int, int]]:
        """The directed edges that are left when repeats and self edges are dropped."""
        return {(u, v) for u, v in zip(self.src.tolist(), self.dst.tolist(), strict=True) if u != v}


def seeds() -> st.SearchStrategy[int]:
    return st.integers(0, 2**16 - 1)


def sizes(most: int = SIZES[-1]) -> st.SearchStrategy[int]:
    """Numbers of vertices: the interesting ones, and sometimes any other."""
    chosen = [size for size in SIZES if size <= most]
    return st.one_of(st.sampled_from(chosen), st.sampled_from(chosen), st.integers(0, most))


@st.composite
def simple_edge_lists(draw: st.DrawFn, most_vertices: int = SIZES[-1], most_edges: int = MOST_EDGES) -> EdgeList:
    """Each edge once with src < dst, sorted: a density up to complete, a planted clique, isolated vertices."""
    n = draw(sizes(most_vertices))
    density = draw(st.sampled_from(DENSITIES))
    clique = min(draw(st.sampled_from(CLIQUES)), n)
    isolated = draw(st.sampled_from((0.0, 0.0, 0.3, 0.9)))
    seed = draw(seeds())
    rng = np.random.default_rng(seed)
    awake = np.sort(rng.permutation(n)[: n - int(isolated * n)])
    clique = min(clique, len(awake), _clique_within(most_edges // 2))
    keys = np.concatenate(
        [
            _random_pairs(rng, awake, density, most_edges - clique * (clique - 1) // 2, n),
            _all_pairs(rng.permutation(awake)[:clique], n),
        ]
    )
    keys = np.unique(keys)
    width = max(n, 1)
    note = f"density {density}, clique {clique}, isolated {n - len(awake)}, seed {seed}"
    return EdgeList(n, keys // width, keys % width, note)


@st.composite
def edge_lists(draw: st.DrawFn, most_vertices: int = SIZES[-1], most_edges: int = MOST_EDGES) -> EdgeList:
    """`simple_edge_lists` as real input has them: shuffled, with repeated, reversed and self edges among them."""
    edges = draw(simple_edge_lists(most_vertices, most_edges * 2 // 3))
    repeated = draw(st.sampled_from((0.0, 0.1, 0.5)))
    reversed_ = draw(st.sampled_from((0.0, 0.5, 1.0)))
    self_edges = draw(st.sampled_from((0, 0, 1, 7))) if edges.num_vertices else 0
    rng = np.random.default_rng(draw(seeds()))
    again = rng.integers(0, max(len(edges.src), 1), int(repeated * len(edges.src)))
    loops = rng.integers(0, max(edges.num_vertices, 1), self_edges)
    src = np.concatenate([edges.src, edges.src[again], loops])
    dst = np.concatenate([edges.dst, edges.dst[again], loops])
    turned = rng.random(len(src)) < reversed_
    src, dst = np.where(turned, dst, src), np.where(turned, src, dst)
    order = rng.permutation(len(src))
    note = f"{edges.note}, repeated {len(again)}, reversed {reversed_}, self {len(loops)}"
    return EdgeList(edges.num_vertices, src[order], dst[order], note)


@st.composite
def edge_lists_with_ids(draw: st.DrawFn, most_vertices: int = SIZES[-1], most_edges: int = MOST_EDGES) -> EdgeList:
    """`edge_lists` whose entries are original ids: sparse 64-bit integers, among them negative and extreme ones.

    `ids` holds the id of every vertex in increasing order; vertices without an entry have an id that is never named.
    """
    edges = draw(edge_lists(most_vertices, most_edges))
    spread = draw(st.sampled_from(("close", "negative", "wide", "extreme")))
    rng = np.random.default_rng(draw(seeds()))
    ids = _sparse_ids(rng, edges.num_vertices, spread)
    return replace(edges, src=ids[edges.src], dst=ids[edges.dst], ids=ids, note=f"{edges.note}, ids {spread}")


@st.composite
def relabellings(draw: st.DrawFn, num_vertices: int) -> NDArray[np.int64]:
    """A permutation p of range(num_vertices): vertex v gets the new name p[v]."""
    kind = draw(st.sampled_from(("same", "reversed", "rotated", "random")))
    labels = np.arange(num_vertices, dtype=np.int64)
    if kind == "reversed":
        return labels[::-1].copy()
    if kind == "rotated":
        return np.roll(labels, 1)
    if kind == "random":
        return np.random.default_rng(draw(seeds())).permutation(labels)
    return labels


def _clique_within(num_edges: int) -> int:
    """The size of the largest clique with at most `num_edges` edges."""
    return int((1 + (1 + 8 * num_edges) ** 0.5) / 2)


def _all_pairs(vertices: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Every pair u < v of the vertices, as the key u * n + v."""
    rows, columns = np.triu_indices(len(vertices), 1)
    u, v = vertices[rows], vertices[columns]
    return _keys(u, v, n)


def _keys(u: NDArray[np.int64], v: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = np.minimum(u, v) * n + np.maximum(u, v)
    return keys


def _random_pairs(
    rng: np.random.Generator, vertices: NDArray[np.int64], density: float, most: int, n: int
) -> NDArray[np.int64]:
    """About `density` of all pairs as keys: exactly all with density 1, and never more than `most`."""
    pairs = len(vertices) * (len(vertices) - 1) // 2
    wanted = min(int(density * pairs), most)
    if wanted == 0:
        return np.zeros(0, np.int64)
    if pairs <= 2 * most:
        keys = _all_pairs(vertices, n)
        return keys if wanted == pairs else rng.choice(keys, wanted, replace=False)
    ends = vertices[rng.integers(0, len(vertices), (2, wanted))]
    u, v = ends[:, ends[0] != ends[1]]
    return _keys(u, v, n)


def _sparse_ids(rng: np.random.Generator, n: int, spread: str) -> NDArray[np.int64]:
    """`n` different ids in increasing order."""
    limits = np.iinfo(np.int64)
    low, high = {
        "close": (0, 2 * n + 1),
        "negative": (-4 * n - 1, 0),
        "wide": (-(2**40), 2**40),
        "extreme": (limits.min, limits.max),
    }[spread]
    found = np.unique(rng.integers(low, high, 2 * n + 8, endpoint=True, dtype=np.int64))
    while len(found) < n:
        more = rng.integers(low, high, n, endpoint=True, dtype=np.int64)
        found = np.unique(np.concatenate([found, more]))
    ids = np.sort(rng.permutation(found)[:n])
    if spread == "extreme" and n >= 2:
        ids[0], ids[-1] = limits.min, limits.max
    return ids
