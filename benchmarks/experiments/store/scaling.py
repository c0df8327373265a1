"""Scaling of the store over CPU instances: the sliding protocol on one to eight shards with the same number of
threads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.store.runs import slide_seconds, sliding_of, store_cell, verify_reach
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, by_graph, legend, line, panels, say_nothing_there, time_text
from benchmarks.record import Record, done, environment_of, names_of
from graphlode.config import configure, usable_cores

TITLE = "The store on several CPU instances"
SIZES = (1, 2, 3, 4, 5, 6, 7, 8)  # instances
LEAST_SIZE = 1
DIRECTED = True
SLIDES = 100


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    sliding = sliding_of(subject, SLIDES)
    each = max(1, usable_cores() // max(setting.sizes))
    cells = []
    for instances in setting.sizes:
        with configure(threads=instances * each):
            cell = store_cell(subject, sliding, ["cpu"] * instances, limit=setting.limit)
        cell |= {"variant": f"{instances} cpu", "instances": instances, "threads_each": each}
        cells.append(cell)
        record.add(cell)
    verify_reach(record, subject, sliding, cells)


def tables(document: Mapping[str, Any]) -> list[Table]:
    rows = []
    for cell in document["cells"]:
        if cell["status"] == "done":
            one = _of_one(document, cell["graph"])
            speedup = "" if one is None else f"{one / slide_seconds(cell):.2f}x"
            searches = time_text(sum(cell["bfs_seconds"]))
            rows.append([cell["graph"], str(cell["instances"]), time_text(slide_seconds(cell)), speedup, searches])
        else:
            rows.append([cell["graph"], str(cell["instances"]), cell["status"], "", ""])
    return [Table(TITLE, ["graph", "instances", "a slide", "speed-up", "searches"], rows)]


def figure(document: Mapping[str, Any]) -> Any:
    cores = environment_of(document)["threads"]
    subtitle = f"{cores} cores; speed-up of a slide over one instance, medians of {SLIDES}; each has the same number of threads"
    drawn, axes = panels(TITLE, subtitle, names_of(document))
    for name, axis, cells in by_graph(document, axes):
        one = _of_one(document, name)
        if one is None:
            say_nothing_there(axis)
            continue
        instances = [cell["instances"] for cell in cells]
        most = max(1, cores // cells[0]["threads_each"])  # of what more instances than cores can bring
        axis.plot(instances, [min(number, most) for number in instances], color=Color.GREY, linewidth=1)
        line(axis, instances, [one / slide_seconds(cell) for cell in cells], Look(Color.BLUE))
        axis.set_xticks(instances)
        axis.set_xlabel("CPU instances", fontsize=9)
        axis.set_ylabel("speed-up", fontsize=9)
        axis.set_ylim(bottom=0)
    legend(drawn, {"measured": Look(Color.BLUE), "ideal": Look(Color.GREY, "")})
    return drawn


def _of_one(document: Mapping[str, Any], graph: str) -> float | None:
    ones = done(document["cells"], graph=graph, instances=1)
    return slide_seconds(ones[0]) if ones else None
