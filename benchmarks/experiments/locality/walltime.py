"""The gain of ordered edges on this machine: seconds of PageRank for each way, once and per iteration.

All ways start from the same shuffled list. Lists are processed on one thread of the CPU, since two edges may lead to
one vertex, or on a CUDA device with atomic additions. The time per edge is the total of all cores on the CPU, and the
time of the iteration on a device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from benchmarks.experiments.locality.lists import look_of, shuffled_ends, variant_of
from benchmarks.experiments.locality.ways import Run, ShuffledList, Way, progressive_way, ways_on
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, legend, panels, say_nothing_there, seconds_axis, time_text
from benchmarks.record import Cell, Record, device_of, done, names_of
from graphlode.types import FloatArray

TITLE = "PageRank by the order of the edges"
SIZES = (4, 16, 32, 64, 128)  # lanes
LEAST_SIZE = 2
DIRECTED = True
ITERATIONS = 10

_BLACK = "#222222"
_LOOKS = {
    "shuffled": Look(Color.GREY, "", "--"),
    "sorted by source": Look(Color.PURPLE, "<", ":"),
    "sorted by destination": Look(Color.PURPLE, ">", ":"),
    "CSR pull, 1 thread": Look(Color.GOLD, "o", ":"),
    "CSR pull": Look(Color.GOLD, "o"),
    "tiles, 1 thread": Look(_BLACK, "*", ":"),
    "tiles": Look(_BLACK, "*"),
}
_OTHER = Look(Color.RED, "X", "-.")
_MOST_COLUMNS = 2
_TRIANGLE = ShuffledList(np.array([0, 1, 2]), np.array([1, 2, 0]), 3)


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    """Rounds in which every way runs once, so other load on the machine affects all ways alike."""
    given = ShuffledList(*shuffled_ends(subject), subject.graph.num_vertices)
    cells: list[Cell] = []
    ways: list[Way] = []
    for lanes in setting.sizes:
        ways.append(progressive_way(lanes, setting.device))
        cells.append({"graph": subject.name, "variant": variant_of(lanes), "lanes": lanes})
    for name, way in ways_on(setting.device).items():
        ways.append(way)
        cells.append({"graph": subject.name, "variant": name})
    for cell in cells:
        cell |= {"status": "done", "num_edges": int(given.src.size), "verified_by": []}
        cell |= {"seconds": [], "once_seconds": [], "iteration_seconds": [], "iteration_cpu_seconds": []}
    if setting.device != "cpu":
        for way in ways:
            way(_TRIANGLE, 1)  # so no round pays for compiling
    values: FloatArray | None = None
    for _ in range(setting.repeats):
        for way, cell in zip(ways, cells, strict=True):
            if sum(cell["seconds"]) > setting.limit:
                continue
            run = way(given, ITERATIONS)
            _keep(run, cell)
            if values is None:
                values = run.values
            elif not np.allclose(values, run.values, rtol=1e-9, atol=1e-15):
                cell |= {"status": "wrong", "reason": f"values differ by {np.abs(values - run.values).max():.3g}"}
            else:
                for agreeing in (cells[0], cell):
                    agreeing["verified_by"] = ["values of the other ways"]
    for cell in cells:
        record.add(cell)


def _keep(run: Run, cell: Cell) -> None:
    cell["seconds"].append(_seconds(run))
    cell["once_seconds"].append(run.once)
    cell["iteration_seconds"].append(list(run.iterations))
    cell["iteration_cpu_seconds"].append(list(run.cpu))


def _seconds(run: Run) -> float:
    return run.once + sum(run.iterations)


def fastest(cell: Mapping[str, Any]) -> tuple[float, list[float]]:
    """Seconds before the first iteration and of each iteration: the minimum over all rounds."""
    return min(cell["once_seconds"]), _least(cell["iteration_seconds"])


def _least(rounds: Sequence[Sequence[float]]) -> list[float]:
    return [min(seconds) for seconds in zip(*rounds, strict=True)]


def per_edge(document: Mapping[str, Any], cell: Mapping[str, Any]) -> list[float]:
    """Seconds per edge of each iteration: the total of all cores, or the time of the iteration on a device."""
    samples = cell["iteration_cpu_seconds" if document["device"] == "cpu" else "iteration_seconds"]
    return [seconds / max(1, cell["num_edges"]) for seconds in _least(samples)]


def tables(document: Mapping[str, Any]) -> list[Table]:
    columns = ["way", "once", "first", "last", "per edge", "per edge", "in all"]
    counted = (
        "per edge: time of all cores together in the first and the last of them"
        if document["device"] == "cpu"
        else "per edge: the first and the last of them"
    )
    made = []
    for graph in names_of(document):
        rows = []
        for cell in [cell for cell in document["cells"] if cell["graph"] == graph]:
            if cell["status"] != "done":
                rows.append([cell["variant"], cell["status"], *[""] * 5])
                continue
            once, iterations = fastest(cell)
            edge = per_edge(document, cell)
            shown = (once, iterations[0], iterations[-1], edge[0], edge[-1], once + sum(iterations))
            rows.append([cell["variant"], *map(time_text, shown)])
        made.append(Table(f"{graph}: {ITERATIONS} iterations, the fastest of all rounds; {counted}", columns, rows))
    return made


def figure(document: Mapping[str, Any]) -> Any:
    """By graph, above, the seconds from the shuffled list on, and below those of each iteration."""
    graphs = names_of(document)
    below = {graph: f"{graph}, each iteration" for graph in graphs}
    columns = max(1, min(len(graphs), _MOST_COLUMNS))
    rows = [graphs[first : first + columns] for first in range(0, len(graphs), columns)]
    names = [name for row in rows for name in (*row, *(below[graph] for graph in row))]
    drawn, axes = panels(TITLE, _subtitle(document), names, width=4.0, height=3.0, columns=columns)
    used: dict[str, Look] = {}
    for graph in graphs:
        cells = done(document["cells"], graph=graph)
        if not cells:
            say_nothing_there(axes[graph])
            say_nothing_there(axes[below[graph]])
            continue
        for cell in cells:
            look = look_of(cell["lanes"]) if "lanes" in cell else _LOOKS.get(cell["variant"], _OTHER)
            used[cell["variant"]] = look
            once, iterations = fastest(cell)
            reached = list(accumulate(iterations, initial=once))
            style = look.of_line | {"markersize": 4, "linewidth": 1.3}
            axes[graph].plot(range(ITERATIONS + 1), reached, **style)
            axes[below[graph]].plot(range(1, ITERATIONS + 1), iterations, **style)
        axes[graph].set_ylim(bottom=0)
        axes[graph].set_ylabel("seconds, all before included", fontsize=9)
        axes[graph].set_xlabel("iterations", fontsize=9)
        seconds_axis(axes[below[graph]], between=(2, 5))
        axes[below[graph]].set_xlabel("iteration", fontsize=9)
        for axis in (axes[graph], axes[below[graph]]):
            axis.set_xlim(-0.5, ITERATIONS + 0.5)
            axis.set_xticks(range(0, ITERATIONS + 1, 2))
    legend(drawn, used)
    return drawn


def _subtitle(document: Mapping[str, Any]) -> str:
    if document["device"] == "cpu":
        return f"CPU; lists on 1 thread, others on {document['threads']} threads unless said"
    where = device_of(document)
    return f"iterations on {where}; lists are packed and sorted on the CPU, rows built there on {document['threads']} threads"
