"""Where to build bit matrices: at the edge (level 2) or one vertex deeper (level 3), by the density of a task.

Every edge task is timed by the clock of its multiprocessor, once with matrices built at level 2 and once at level 3.
Tasks are put into ten bins by the density of their candidates: edges among them over pairs of them. The quotient of the
two times in a bin shows where building deeper pays. The thresholds of dynamic construction come from it. There is a
choice from k = 6 on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.experiments.cliques.enumeration import cuda_device, variant_cells
from benchmarks.experiments.counting import count_cell, prepare, verify
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, legend, line, panels, say_nothing_there
from benchmarks.record import Cell, Record, device_of, done, names_of
from graphlode.cuda.cliques.enumerate import Counted, EnumerateOptions
from graphlode.errors import InputError
from graphlode.types import FloatArray, Int64Array

TITLE = "Building matrices one level deeper: time by density of the task"
SIZES = (6, 7)
LEAST_SIZE = 6
"""Below this size both levels are the same. The matrix is always built three vertices before the clique is complete:
for k = 5 that is the edge, and for k = 4 a task is a vertex with the matrix of its neighbors."""
DIRECTED = False
LEVELS = (2, 3)
VARIANTS = {
    f"level {level}": EnumerateOptions("scheduled", build_level=level, split=False, measure=True) for level in LEVELS
}
BINS = 10
PAPER = "The paper: at K = 7 level 3 always won; at K = 6 only where the density was below 25 %."

_LOOKS = (Look(Color.BLUE, "o"), Look(Color.RED, "s"), Look(Color.GREEN, "D"), Look(Color.ORANGE, "^"))


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    cuda_device(setting.device)
    if min(setting.sizes) < LEAST_SIZE:
        raise InputError(
            f"there is no choice where to build below k = {LEAST_SIZE}: matrices are built at the edge, got sizes "
            f"{', '.join(map(str, setting.sizes))}"
        )
    record.note(PAPER)
    prepare(subject, setting.device)
    for k in sorted(setting.sizes):
        record.add(count_cell(subject, k, "pivot", setting.device, limit=setting.limit, repeats=1))
        for cell, found in variant_cells(subject, k, VARIANTS, setting):
            if cell["status"] == "done":
                cell |= {"level": VARIANTS[cell["variant"]].build_level} | binned(found)
            record.add(cell)
    verify(record.cells, subject)


def binned(found: Sequence[Counted]) -> dict[str, Any]:
    """The number of tasks and the ticks of each bin, with every sample of the ticks."""
    tasks: list[int] = []
    ticks: list[list[int]] = []
    for counted in found:
        taken, density = task_times(counted)
        place = np.minimum((density * BINS).astype(np.int64), BINS - 1)
        tasks = np.bincount(place, minlength=BINS).tolist()
        ticks.append(np.bincount(place, taken.astype(np.float64), minlength=BINS).astype(np.int64).tolist())
    return {"tasks": tasks, "ticks": ticks}


def task_times(counted: Counted) -> tuple[Int64Array, FloatArray]:
    """Ticks and density of every task from the records of a measured count: (ticks, size + edges * 2^32) each."""
    words = np.concatenate([np.zeros((0, 2), np.int64), *counted.records])
    size, edges = words[:, 1] & 0xFFFFFFFF, words[:, 1] >> 32
    return words[:, 0], edges / np.maximum(1, size * (size - 1) // 2)


def quotients(document: Mapping[str, Any], graph: str, k: int) -> dict[int, float]:
    """By bin: time with level 3 over time with level 2, the fastest samples of both."""
    cells: dict[int, Cell] = {c["level"]: c for c in done(document["cells"], graph=graph, k=k) if "level" in c}
    if set(cells) != set(LEVELS):
        return {}
    shallow, deep = (np.min(cells[level]["ticks"], axis=0) for level in LEVELS)
    return {i: float(deep[i] / shallow[i]) for i in range(BINS) if shallow[i] > 0 and deep[i] > 0}


def tables(document: Mapping[str, Any]) -> list[Table]:
    rows = []
    for graph in names_of(document):
        for k in document["sizes"]:
            found = quotients(document, graph, k)
            if found:
                rows.append([graph, str(k), *(f"{found[i]:.2f}" if i in found else "" for i in range(BINS))])
    columns = ["graph", "k", *(f"{100 * (i + 1) // BINS}" for i in range(BINS))]
    return [Table("time at level 3 / time at level 2; columns: tasks with a density of up to N %", columns, rows)]


def figure(document: Mapping[str, Any]) -> Any:
    where = device_of(document)
    subtitle = f"{where}; time with matrices built at level 3 over that at level 2; below 1, building deeper pays"
    drawn, axes = panels(TITLE, subtitle, names_of(document) or ["no data"])
    looks = {f"k = {k}": look for k, look in zip(document["sizes"], _LOOKS * 3, strict=False)}
    for graph, axis in axes.items():
        found = {k: quotients(document, graph, k) for k in document["sizes"]}
        if not any(found.values()):
            say_nothing_there(axis)
            continue
        for k, look in zip(found, looks.values(), strict=True):
            xs = [10 * i + 5 for i in found[k]]
            line(axis, xs, list(found[k].values()), look)
        _finish(axis)
    legend(drawn, looks)
    return drawn


def _finish(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_yscale("log", base=2)
    low, high = axis.get_ylim()
    axis.set_ylim(min(low, 0.45), max(high, 2.2))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.axhline(1, color=Color.GREY, linewidth=1)
    axis.set_xlim(0, 100)
    axis.set_xticks(range(0, 101, 25))
    axis.set_xlabel("density of the candidates, %", fontsize=9)
    axis.set_ylabel("level 3 / level 2", fontsize=9)
