"""What the order of the edges brings on this machine: seconds of PageRank by way, once and per iteration.

All ways start from the same shuffled list. Lists are processed on one thread of the CPU, since two edges may lead to one
vertex, or on a CUDA device with atomic additions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from graphlode.experiments.locality_lists import look_of, shuffled_ends, variant_of
from graphlode.experiments.locality_ways import Run, ShuffledList, Way, progressive_way, ways_on
from graphlode.experiments.plots import GOLD, GREY, PURPLE, RED, Look, legend, panels, say_nothing_there, time_text
from graphlode.experiments.record import Cell, Record, Setting, Table, done, names_of
from graphlode.experiments.subjects import Subject
from graphlode.types import FloatArray

TITLE = "PageRank by the order of the edges"
SIZES = (4, 16, 32, 64, 128)  # lanes
LEAST_SIZE = 2
DIRECTED = True
ITERATIONS = 10

_BLACK = "#222222"
_LOOKS = {
    "shuffled": Look(GREY, "", "--"),
    "sorted by source": Look(PURPLE, "<", ":"),
    "sorted by destination": Look(PURPLE, ">", ":"),
    "CSR pull, 1 thread": Look(GOLD, "o", ":"),
    "CSR pull": Look(GOLD, "o"),
    "tiles, 1 thread": Look(_BLACK, "*", ":"),
    "tiles": Look(_BLACK, "*"),
}
_OTHER = Look(RED, "X", "-.")


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    """Rounds in which every way runs once, so that what else goes on at the machine meets all of them alike."""
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
                cell["verified_by"] = ["values of the other ways"]
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
    """Seconds once and of each iteration: the least over all rounds."""
    return min(cell["once_seconds"]), _least(cell["iteration_seconds"])


def _least(rounds: Sequence[Sequence[float]]) -> list[float]:
    return [min(seconds) for seconds in zip(*rounds, strict=True)]


def tables(document: Mapping[str, Any]) -> list[Table]:
    columns = ["way", "once", "first", "last", "first", "last", "in all"]
    made = []
    for graph in names_of(document):
        rows = []
        for cell in [cell for cell in document["cells"] if cell["graph"] == graph]:
            if cell["status"] != "done":
                rows.append([cell["variant"], cell["status"], *[""] * 5])
                continue
            once, iterations = fastest(cell)
            cpu = [1e9 * seconds / max(1, cell["num_edges"]) for seconds in _least(cell["iteration_cpu_seconds"])]
            rows.append(
                [
                    cell["variant"],
                    *(time_text(seconds) for seconds in (once, iterations[0], iterations[-1])),
                    *(f"{cpu[0]:.1f} ns", f"{cpu[-1]:.1f} ns"),
                    time_text(once + sum(iterations)),
                ]
            )
        made.append(
            Table(f"{graph}: {ITERATIONS} iterations, then cores' ns per edge; fastest of all rounds", columns, rows)
        )
    return made


def figure(document: Mapping[str, Any]) -> Any:
    device, threads = document["device"], document["threads"]
    where = f"lists on 1 thread, others on {threads} unless said" if device == "cpu" else f"on {device}"
    subtitle = f"seconds from the shuffled list on; {where}"
    drawn, axes = panels(TITLE, subtitle, names_of(document), width=4.0, height=3.4)
    used: dict[str, Look] = {}
    for name, axis in axes.items():
        cells = done(document["cells"], graph=name)
        if not cells:
            say_nothing_there(axis)
            continue
        for cell in cells:
            look = look_of(cell["lanes"]) if "lanes" in cell else _LOOKS.get(cell["variant"], _OTHER)
            used[cell["variant"]] = look
            once, iterations = fastest(cell)
            reached = list(accumulate(iterations, initial=once))
            axis.plot(range(ITERATIONS + 1), reached, **look.of_line, markersize=4, linewidth=1.3)
        axis.set_ylim(bottom=0)
        axis.set_ylabel("seconds", fontsize=9)
        axis.set_xticks(range(0, ITERATIONS + 1, 2))
        axis.set_xlabel("iterations", fontsize=9)
    legend(drawn, used)
    return drawn
