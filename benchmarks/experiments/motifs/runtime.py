"""Run time of motif counts by method and device, for patterns of up to 3, 4 and 5 vertices, on several graphs.

On a CUDA device: the fused passes and the materialised lists, and the CPU beside them; on the CPU: all threads and one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.experiments.counting import prepare, time_or_status, typical, verify
from benchmarks.experiments.motifs.runs import count_cell, known_motifs, look_of, ways
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Look, by_graph, legend, line, panels, seconds_axis
from benchmarks.record import Cell, Record, machine_of, names_of
from graphlode.mining.supports import Supported

TITLE = "Counting motifs: time by method"
SIZES = (3, 4, 5)
LEAST_SIZE = 3
DIRECTED = False
KNOWN = known_motifs


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    chosen = ways(setting.device)
    for device in dict.fromkeys(way.device for way in chosen):
        seconds = prepare(subject, device, Supported())
        record.document.setdefault("view_seconds", {}).setdefault(subject.name, {})[device] = seconds
    for way in chosen:
        for size in sorted(setting.sizes):
            record.add(count_cell(subject, size, way, setting))
    verify(record.cells, subject)


def tables(document: Mapping[str, Any]) -> list[Table]:
    """A table per graph: ways by size, medians of the time on the device."""
    made = []
    for graph in names_of(document):
        cells = [cell for cell in document["cells"] if cell["graph"] == graph]
        rows = []
        for way in _ways(cells):
            by_size = {cell["k"]: cell for cell in cells if cell["variant"] == way}
            rows.append([way, *(time_or_status(by_size.get(k)) for k in document["sizes"])])
        made.append(Table(graph, ["method", *(f"{k} vertices" for k in document["sizes"])], rows))
    return made


def figure(document: Mapping[str, Any]) -> Any:
    drawn, axes = panels(TITLE, _subtitle(document), names_of(document) or ["no data"])
    used: dict[str, Look] = {}
    for _, axis, cells in by_graph(document, axes):
        for way in _ways(cells):
            mine = [cell for cell in cells if cell["variant"] == way]
            used[way] = look_of(mine[0])
            xs, ys = [cell["k"] for cell in mine], [typical(cell) for cell in mine]
            line(axis, xs, ys, used[way])
        seconds_axis(axis)
        axis.set_xticks(document["sizes"])
        axis.set_xlabel("vertices of the largest patterns", fontsize=9)
        axis.margins(x=0.12)
    legend(drawn, used)
    return drawn


def _ways(cells: list[Cell]) -> list[str]:
    return list(dict.fromkeys(cell["variant"] for cell in cells))


def _subtitle(document: Mapping[str, Any]) -> str:
    return (
        f"{machine_of(document)}; median time on the device, graph by rank resident; what is missing "
        f"was stopped or too large"
    )
