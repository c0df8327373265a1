"""Shared parts of the experiments on the order of an edge list: shuffled lists, scaled caches, simulated cells.

The experiments are those of the paper on progressive reordering. It simulates caches of 32 KB and 8 MB for graphs with
far more data. Here caches are scaled to the graph, so small graphs show the same effects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, legend, panels, say_nothing_there
from benchmarks.record import Cell, done, names_of
from graphlode.locality import EdgeOrder
from graphlode.measure.caches import PAPER_LEVELS, CacheLevel, simulate_caches
from graphlode.measure.timing import Timer
from graphlode.types import Int64Array

VERTEX_BYTES = 16
RANDOM, SORTED = "shuffled", "sorted"
REORDERING_PASSES = 2  # of the three that the paper looks at
_KB = 1024
_SMALLEST = 4 * _KB
# Small graphs whose hits and misses are known at these sizes, in bytes, from earlier simulations.
_KNOWN = {"cnr-2000": (32 * _KB, 128 * _KB), "uk-2007-05-100k": (4 * _KB, 128 * _KB)}

_LOOKS = {
    4: Look(Color.SKY, "v"),
    16: Look(Color.BLUE, "^"),
    32: Look(Color.GREEN, "s"),
    64: Look(Color.ORANGE, "D"),
    128: Look(Color.RED, "P"),
}


def shuffled_ends(subject: Subject, seed: int = 0) -> tuple[Int64Array, Int64Array]:
    """The edges of a graph by positions, in random order, the same one every time."""
    pairs = subject.graph.edges(indices=True)
    order = np.random.default_rng(seed).permutation(len(pairs))
    return pairs[order, 0].astype(np.int64), pairs[order, 1].astype(np.int64)


def fitting_caches(name: str, num_vertices: int) -> tuple[CacheLevel, CacheLevel]:
    """The two cache levels of the paper, at most as large. The second holds at most an eighth of the vertex data."""
    first, second = PAPER_LEVELS
    if name in _KNOWN:
        sizes = _KNOWN[name]
    else:
        eighth = max(1, num_vertices * VERTEX_BYTES // 8)
        larger = min(second.size, max(2 * _SMALLEST, 1 << (eighth.bit_length() - 1)))
        sizes = max(_SMALLEST, larger * first.size // second.size), larger
    return CacheLevel(sizes[0], first.ways, first.line), CacheLevel(sizes[1], second.ways, second.line)


def simulated(subject: Subject, variant: str, order: EdgeOrder, passes: int, **facts: Any) -> Cell:
    """Hits and misses of `passes` passes. The counts of each pass must add up."""
    levels = fitting_caches(subject.name, subject.graph.num_vertices)
    with Timer() as timer:
        found = simulate_caches(order, passes, levels=levels, vertex_bytes=VERTEX_BYTES)
    cell: Cell = {"graph": subject.name, "variant": variant, "kind": "simulated", "status": "done"} | facts
    cell |= {"caches": [asdict(level) for level in levels], "num_edges": order.num_edges, "bypass": found.bypass}
    cell["simulation_seconds"] = timer.seconds
    cell["passes"] = [asdict(one) for one in found.passes]
    for one in found.passes:
        first = one.levels[0]
        if first.hits + first.misses != 3 * order.num_edges:
            return cell | {"status": "wrong", "reason": f"{first.hits + first.misses} accesses in a pass"}
    return cell | {"verified_by": ["three accesses per edge"]}


def progressive(ends: tuple[Int64Array, Int64Array], lanes: int, **options: Any) -> EdgeOrder:
    return EdgeOrder(*ends, order="progressive", lanes=lanes, **options)


def variant_of(lanes: int) -> str:
    return f"M = {lanes}"


def look_of(lanes: int) -> Look:
    return _LOOKS.get(lanes, Look(Color.GOLD, "X"))


LOOK_RANDOM, LOOK_SORTED = Look(Color.GREY, "", "--"), Look(Color.PURPLE, "", ":")
_UNCHANGED = {RANDOM: LOOK_RANDOM, SORTED: LOOK_SORTED}


def total(one: Mapping[str, Any], level: int, what: str) -> int:
    """Hits or misses of both streams on a level (0 or 1) in a pass."""
    streams = one["levels"][level]
    return int(streams["vertices"][what] + streams["edges"][what])


def beside_random(document: Mapping[str, Any], cell: Mapping[str, Any], number: int) -> tuple[float, float]:
    """L1 hits and L2 misses in a pass of a cell, relative to the last pass of the shuffled list."""
    (base,) = done(document["cells"], graph=cell["graph"], variant=RANDOM)
    one, other = cell["passes"][number], base["passes"][-1]
    return tuple(  # type: ignore[return-value]
        total(one, level, what) / max(1, total(other, level, what)) for level, what in ((0, "hits"), (1, "misses"))
    )


def size_text(size: int) -> str:
    """A number of bytes in the largest unit that gives a whole number."""
    return f"{size >> 20} MB" if size >> 20 else f"{size >> 10} KB"


def caches_text(cell: Mapping[str, Any]) -> str:
    """Sizes of the levels, such as 4 / 128 KB."""
    return " / ".join(size_text(level["size"]) for level in cell["caches"])


def table_title(graph: str, cells: Sequence[Mapping[str, Any]], what: str) -> str:
    return f"{graph} with caches of {caches_text(cells[0])}: {what}" if cells else f"{graph}: nothing was measured"


def panel_names(names: Sequence[str]) -> dict[tuple[str, int], str]:
    """Two panels per graph, L1 hits and L2 misses, by graph and 0 or 1; three graphs have a row for each of the two."""
    metrics = ("L1 hits", "L2 misses")
    keys = [(name, metric) for name in names for metric in (0, 1)]
    if len(names) == 3:
        keys.sort(key=lambda key: key[1])
    return {(name, metric): f"{name}: {metrics[metric]}" for name, metric in keys}


def figure_by_iteration(document: Mapping[str, Any], title: str, look: Callable[[Cell], Look]) -> Any:
    """Hits and misses over iterations; a constant order, which was simulated once, is a horizontal line."""
    names = panel_names(names_of(document))
    drawn, axes = panels(title, "both streams, over those of the shuffled list", list(names.values()))
    used: dict[str, Look] = {}
    for (graph, metric), name in names.items():
        axis = axes[name]
        cells = done(document["cells"], graph=graph)
        if not cells:
            say_nothing_there(axis)
            continue
        for cell in cells:
            mine = used[cell["variant"]] = _UNCHANGED.get(cell["variant"]) or look(cell)
            values = [beside_random(document, cell, number)[metric] for number in range(len(cell["passes"]))]
            if len(values) == 1:
                axis.axhline(values[0], color=mine.color, linestyle=mine.line, linewidth=1.3)
            else:
                axis.plot(range(1, len(values) + 1), values, **mine.of_line, markersize=4.5, linewidth=1.3)
        axis.set_xticks(range(1, max(len(cell["passes"]) for cell in cells) + 1))
        axis.set_xlabel(f"iteration ({caches_text(cells[0])})", fontsize=9)
        axis.set_ylim(bottom=0)
    legend(drawn, used)
    return drawn
