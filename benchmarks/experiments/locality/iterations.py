"""The effect of progressive reordering on caches in three iterations of PageRank on a shuffled list, simulated.

The third iteration does not reorder. It is compared with the shuffled list and with the list sorted by source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.experiments.locality.lists import (
    RANDOM,
    REORDERING_PASSES,
    SORTED,
    beside_random,
    figure_by_iteration,
    look_of,
    progressive,
    shuffled_ends,
    simulated,
    table_title,
    total,
    variant_of,
)
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.record import Record, done, names_of
from graphlode.locality import EdgeOrder

TITLE = "Progressive reordering, iteration by iteration (simulated caches)"
SIZES = (4, 16, 32, 64, 128)  # lanes
LEAST_SIZE = 2
DIRECTED = True
PASSES = REORDERING_PASSES + 1


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    ends = shuffled_ends(subject)
    record.add(simulated(subject, RANDOM, EdgeOrder(*ends), PASSES))
    for lanes in setting.sizes:
        order = progressive(ends, lanes, reorderings=REORDERING_PASSES)
        record.add(simulated(subject, variant_of(lanes), order, PASSES, lanes=lanes))
    record.add(simulated(subject, SORTED, EdgeOrder(*ends, order="sorted"), PASSES))


def tables(document: Mapping[str, Any]) -> list[Table]:
    columns = ["order", "iteration", "L1 hits", "misses", "L2 hits", "misses", "L1 hits", "L2 misses"]
    made = []
    for graph in names_of(document):
        rows = []
        cells = done(document["cells"], graph=graph)
        for cell in cells:
            for number, one in enumerate(cell["passes"]):
                counts = [total(one, level, what) for level in (0, 1) for what in ("hits", "misses")]
                per_edge = [f"{count / max(1, cell['num_edges']):.3f}" for count in counts]
                hits, misses = beside_random(document, cell, number)
                changes = [f"{hits:.2f}x", f"{100 * (misses - 1):+.0f} %"]
                rows.append([cell["variant"], str(number + 1), *per_edge, *changes])
        made.append(Table(table_title(graph, cells, "per edge, and by those of the shuffled list"), columns, rows))
    return made


def figure(document: Mapping[str, Any]) -> Any:
    return figure_by_iteration(document, TITLE, lambda cell: look_of(cell["lanes"]))
