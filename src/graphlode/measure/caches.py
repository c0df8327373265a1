"""Cache hits and misses of edge-centric processing: a trace-driven simulation.

Only accesses to the edge list and to the vertices' data are simulated. For every edge, first its entry of the list is
read, then the data of its source and of its destination. Levels are set-associative with least-recently-used
replacement; a level sees the misses of the level before it. Progressive reordering was designed for on-chip buffers
that fetch the list from memory past all levels but the first. This is the default for that order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graphlode.common.control import Control
from graphlode.common.numbers import integer
from graphlode.cpu.measure import caches as kernel
from graphlode.errors import InputError
from graphlode.execute import call
from graphlode.locality.orders import EdgeOrder

_MOST_SIZE = 1 << 40
"""Bytes of a cache: more than any has."""

_MOST_BYTES = 1 << 20
"""Of an edge or a vertex. Simulated addresses must not leave 64 bits."""


@dataclass(frozen=True)
class CacheLevel:
    """A cache of `size` bytes: lines of `line` bytes, sets of `ways` lines. Lines and sets are powers of two."""

    size: int
    ways: int
    line: int

    def __post_init__(self) -> None:
        for name in ("size", "ways", "line"):
            object.__setattr__(self, name, integer(name, getattr(self, name), least=1, most=_MOST_SIZE))
        if self.size % (self.ways * self.line):
            raise InputError(f"a cache is a whole number of sets, got {self}")
        if not self.line.bit_count() == self.num_sets.bit_count() == 1:
            raise InputError(f"bytes of a line and number of sets must be powers of two, got {self}")

    @property
    def num_sets(self) -> int:
        """Number of sets; the address of a line selects one."""
        return self.size // (self.ways * self.line)


PAPER_LEVELS = (CacheLevel(32 << 10, 4, 64), CacheLevel(8 << 20, 8, 128))
"""The caches of the paper on progressive reordering."""


@dataclass(frozen=True)
class Counts:
    """Number of accesses that hit, and that missed."""

    hits: int
    misses: int


@dataclass(frozen=True)
class LevelCounts:
    """The accesses to one level in a pass, by stream."""

    vertices: Counts
    edges: Counts

    @property
    def hits(self) -> int:
        """Hits of both streams."""
        return self.vertices.hits + self.edges.hits

    @property
    def misses(self) -> int:
        """Misses of both streams."""
        return self.vertices.misses + self.edges.misses


@dataclass(frozen=True)
class PassCounts:
    """The accesses to all levels in a pass, the first level first, and whether the pass reordered the list."""

    reordered: bool
    levels: tuple[LevelCounts, ...]


@dataclass(frozen=True)
class CacheSimulation:
    """Hits and misses of every pass over a list of `num_edges` edges."""

    num_edges: int
    bypass: bool
    levels: tuple[CacheLevel, ...]
    passes: tuple[PassCounts, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return asdict(self)


def simulate_caches(
    order: EdgeOrder,
    passes: int = 3,
    *,
    levels: Sequence[CacheLevel] = PAPER_LEVELS,
    edge_bytes: int = 8,
    vertex_bytes: int = 16,
    bypass: bool | None = None,
    warm: bool = True,
) -> CacheSimulation:
    """Hits and misses of `passes` passes over a list of edges, by pass, level and stream.

    Parameters
    ----------
    order
        The list and its changes from pass to pass; a copy of it is used.
    levels
        The caches, nearest first.
    edge_bytes, vertex_bytes
        Size of an entry of the list, and of the data of a vertex, at least 1.
    bypass
        Whether accesses to the list go to the first level only. There the edges then lie in the order of processing.
        None: True if the order is progressive.
    warm
        Whether the caches first see the whole list once, from front to back, without counting.

    Raises InputError for wrong arguments.

    Cost: about 50 ns per edge and pass on one thread.

    >>> import graphlode as gl
    >>> from graphlode.locality import EdgeOrder
    >>> order = EdgeOrder([0, 5, 0, 5], [5, 0, 5, 0])
    >>> found = gl.measure.simulate_caches(order, 1, levels=[gl.measure.CacheLevel(128, 1, 64)], warm=False)
    >>> found.passes[0].levels[0].vertices
    Counts(hits=3, misses=5)
    """
    _check(levels, passes, edge_bytes, vertex_bytes)
    simulated = order.copy()
    bypasses = order.order == "progressive" if bypass is None else bypass
    shapes = [(level.size, level.ways, level.line) for level in levels]
    caches = kernel.Caches(shapes, order.num_edges, edge_bytes=edge_bytes, vertex_bytes=vertex_bytes, bypass=bypasses)

    def run(lanes: int) -> list[kernel.Counts]:
        def work(control: Control) -> list[kernel.Counts]:
            level, by_destination = simulated.level + 1, simulated.by_destination
            return caches.run_pass(
                simulated.edges, by_destination=by_destination, lanes=lanes, level=level, control=control
            )

        return call(work)

    if warm:
        run(0)
    found = []
    for _ in range(passes):
        seen = run(simulated.next_lanes)
        reordered = simulated.next_pass()
        found.append(PassCounts(reordered, tuple(LevelCounts(Counts(*c[:2]), Counts(*c[2:])) for c in seen)))
    return CacheSimulation(order.num_edges, bypasses, tuple(levels), tuple(found))


def _check(levels: Sequence[CacheLevel], passes: int, edge_bytes: int, vertex_bytes: int) -> None:
    if not levels:
        raise InputError("there must be at least one level of caches")
    integer("passes", passes)
    integer("edge_bytes", edge_bytes, least=1, most=_MOST_BYTES)
    integer("vertex_bytes", vertex_bytes, least=1, most=_MOST_BYTES)
