"""Turns sums by entry, which orbit kernels leave on the device, into the raw arrays of orbits.

A value of an edge is one of the sums of its two entries, or both added. A value of a vertex is a sum over its row: of
its own entries, or of those of its neighbors. Sums of own entries are divided by how often each term is counted there.
Sums of neighbors' entries are not, because other devices may have the other terms. Names are those of orbits/sums.cuh
and of `graphlode.mining.orbits`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphlode.common.cached import cached_property
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.motifs.graph import MotifGraph, running_offsets

# Sums over triangles of values that are known only after all rows. If they are missing, the caller computes them.
COMPOSED = frozenset(("o52", "o59", "o65", "e39", "e45", "e52", "e53", "e59"))

# In the order of orbit_sum in orbits/sums.cuh.
VERTEX_SUMS = (
    *("fans", "tails", "books", "above", "below", "cliques", "hats", "almost", "triples"),
    *("squares_beside", "cliques_beside", "fans_beside"),
    *("squares", "k23", "far_degrees", "sides", "third_pairs", "wheels", "third_reach", "joined", "fives"),
)
EDGE_SUMS = (
    *("ahead", "forks", "hooks", "peaks", "gems", "reach", "opposite", "tails_beside", "fans_across"),
    *("far_sides", "rims", "bridges", "cycles", "fives_across"),
)
SUMS = VERTEX_SUMS + EDGE_SUMS


class OrbitEntries(dict[str, Any]):
    """Sums by entry, and their conversion to sums by edge and by vertex."""

    def __init__(self, device: KernelDevice, graph: MotifGraph, sums: dict[str, Any]) -> None:
        super().__init__(sums)
        self.device, self.graph = device, graph
        self.twins = graph.offsets[graph.neighbors] + graph.places

    def twin(self, array: Any) -> Any:
        """For the entry of h in row u, the value at the entry of u in row h."""
        return array[self.twins]

    def both(self, name: str) -> Any:
        return self[name] + self.twin(self[name])

    def by_edge(self, array: Any) -> Any:
        """Values of the lower neighbors' entries, row by row: the order of edge ids."""
        return array[self._lower_entries]

    @cached_property
    def _lower_entries(self) -> Any:
        return self.device.xp.flatnonzero(self.graph.neighbors < self.graph.rows)

    def row_sum(self, array: Any) -> Any:
        """The sum over each row. The prefix sum may wrap around, but its differences are correct if they fit."""
        running = running_offsets(self.device, array)
        return running[self.graph.offsets[1:]] - running[self.graph.offsets[:-1]]

    def own(self, name: str, weight: Any = 1) -> Any:
        return self.row_sum(self[name] * weight)

    def theirs(self, name: str, weight: Any = 1) -> Any:
        return self.row_sum(self.twin(self[name]) * weight)

    def higher_triangles(self) -> Any:
        """For the entry of i in row x, i above x: the triangles at x whose vertices all rank below i; otherwise 0.

        The walk i - x and around such a triangle is counted as a 5-cycle, and must be subtracted.
        """
        running = running_offsets(self.device, self["below"])
        before = running[:-1] - running[self.graph.offsets[self.graph.rows]]
        return before * (self.graph.neighbors > self.graph.rows)

    def of_neighbor(self, array: Any) -> Any:
        return array[self.graph.neighbors].astype(np.int64)


def vertex_arrays(entries: OrbitEntries, cycles: Any, size: int, *, whole: bool) -> dict[str, Any]:
    """Arrays by rank. `cycles` is twice the 5-cycles at each vertex, including false ones. `whole`: of all rows."""
    found = {"o12": entries.theirs("fans")}
    if size == 4:
        return found
    graph = entries.graph
    degree, triangles = entries.of_neighbor(graph.degrees), graph.supports.astype(np.int64)
    higher = entries.higher_triangles()
    no_cycles = entries.own("above") + 2 * (entries.theirs("above") + entries.row_sum(higher + entries.twin(higher)))
    found |= {
        "o25": entries.own("tails", degree - 2) // 2,
        "o34": cycles - no_cycles,
        "o36": entries.own("far_degrees") // 2,
        "o40": entries.theirs("fans", degree - 3),
        "o46": entries.own("third_reach") // 2,
        "o48": entries.own("tails", triangles - 1),
        "o49": entries.theirs("k23"),
        "o50": entries.own("k23") // 3,
        "o51": entries.own("sides"),
        "o54": entries.theirs("books"),
        "o60": entries.theirs("fans", triangles - 1),
        "o61": entries.own("fans", triangles - 1) // 2,
        "o62": entries.theirs("joined") // 2,
        "o63": entries.own("third_pairs") // 2,
        "o64": entries.theirs("third_pairs"),
        "o66": entries.theirs("hats"),
        "o68": entries.own("wheels"),
        "o69": entries.theirs("wheels"),
        "o70": entries.theirs("triples"),
        "o71": entries.own("almost") // 2,
        "o72": entries.theirs("fives") + entries.own("fives") // 4,
    }
    if whole:
        found |= {
            "o52": entries.theirs("squares_beside") // 2,
            "o59": entries.theirs("fans_beside"),
            "o65": entries.theirs("cliques_beside") // 4,
        }
    return found


def edge_arrays(entries: OrbitEntries, size: int, *, whole: bool) -> dict[str, Any]:
    """Arrays by entry of a higher end."""
    if size == 4:
        return {"e7": entries["tails"]}
    return {name: make(entries) for name, make in _EDGE_SUMS.items() if whole or name not in COMPOSED}


def _of(name: str, divisor: int = 1) -> Callable[[OrbitEntries], Any]:
    return lambda entries: entries[name] // divisor


def _of_both(name: str, divisor: int = 1) -> Callable[[OrbitEntries], Any]:
    return lambda entries: entries.both(name) // divisor


_EDGE_SUMS: dict[str, Callable[[OrbitEntries], Any]] = {
    "e7": _of("tails"),
    "e23": _of("ahead"),
    "e26": _of("forks"),
    "e28": lambda entries: entries["cycles"] - entries["above"] - 2 * entries.twin(entries.higher_triangles()),
    "e30": _of_both("far_degrees"),
    "e33": _of_both("hooks"),
    "e36": _of("peaks"),
    "e39": _of_both("tails_beside"),
    "e42": _of_both("k23"),
    "e43": _of("far_sides"),
    "e44": _of_both("sides"),
    "e45": _of_both("squares_beside"),
    "e47": _of_both("books"),
    "e50": _of("reach"),
    "e52": _of_both("fans_across"),
    "e53": _of_both("fans_beside"),
    "e54": _of("gems"),
    "e56": _of_both("joined", 2),
    "e57": _of_both("third_pairs"),
    "e58": _of("bridges"),
    "e59": _of_both("cliques_beside", 2),
    "e60": _of("opposite"),
    "e61": _of_both("hats"),
    "e63": _of("rims"),
    "e64": _of_both("wheels"),
    "e65": _of_both("triples"),
    "e66": _of("almost"),
    "e67": lambda entries: entries["fives_across"] + entries.twin(entries["fives"]) // 3,
}
EDGE_NAMES = dict.fromkeys(_EDGE_SUMS, 5) | {"e7": 4}
VERTEX_NAMES = {"o12": 4} | {
    f"o{number}": 5
    for number in (*(25, 34, 36, 40, 46, 48, 49, 50, 51, 52, 54, 59, 60, 61, 62, 63, 64, 65, 66, 68, 69, 70, 71, 72),)
}
