"""What progressive reordering does to caches, pass by pass: three iterations of PageRank on a shuffled list, simulated.

The third iteration does not reorder. Beside it are the shuffled list as it is, and the list sorted by source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.experiments.locality_lists import (
    LOOK_RANDOM,
    LOOK_SORTED,
    RANDOM,
    REORDERING_PASSES,
    SORTED,
    beside_random,
    caches_text,
    look_of,
    panel_names,
    progressive,
    shuffled_ends,
    simulated,
    table_title,
    total,
    variant_of,
)
from graphlode.experiments.plots import Look, legend, panels, say_nothing_there
from graphlode.experiments.record import Record, Setting, Table, done, names_of
from graphlode.experiments.subjects import Subject
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
    names = panel_names(names_of(document))
    drawn, axes = panels(TITLE, "both streams, over those of the shuffled list", list(names.values()))
    used: dict[str, Look] = {}
    for (graph, metric), name in names.items():
        axis = axes[name]
        cells = done(document["cells"], graph=graph)
        if not cells:
            say_nothing_there(axis)
            continue
        for cell in cells:
            look = {RANDOM: LOOK_RANDOM, SORTED: LOOK_SORTED}.get(cell["variant"]) or look_of(cell["lanes"])
            used[cell["variant"]] = look
            values = [beside_random(document, cell, number)[metric] for number in range(len(cell["passes"]))]
            axis.plot(range(1, len(values) + 1), values, **look.of_line, markersize=5, linewidth=1.4)
        axis.set_xticks(range(1, PASSES + 1))
        axis.set_xlabel(f"iteration ({caches_text(cells[0])})", fontsize=9)
        axis.set_ylim(bottom=0)
    legend(drawn, used)
    return drawn
