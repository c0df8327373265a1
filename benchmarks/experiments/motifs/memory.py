"""Peak memory of motif counts by method and device, compared with the lists that some methods store.

A peak includes the view and the memory of the count, but not the rows of the graph. On a CUDA device it is that of the
arrays of the drivers. On the CPU a separate process counts once; it reports the exact bytes that the native core
allocates, and the growth of the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import graphlode.cuda.peak as cuda_peak
from benchmarks.experiments.counting import sampled, time_limit, verify
from benchmarks.experiments.motifs.runs import Way, known_motifs, look_of, ways
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, bars_across, by_graph, graphs_and_sizes, legend, panels
from benchmarks.record import Cell, Record, done, names_of
from graphlode.cli.numbers import size as bytes_text
from graphlode.common.control import Control
from graphlode.common.wait import run_all
from graphlode.config import configure, settings
from graphlode.execute.device import hold, kernel_module
from graphlode.execute.devices import resolve
from graphlode.generate.classical import complete
from graphlode.graph.graph import Graph
from graphlode.measure import PeakMemory, Timer
from graphlode.mining.motif_formulas import counts_from_sums
from graphlode.mining.motifs import MOTIFS, count_motifs
from graphlode.mining.supports import Supported
from graphlode.types import Task

TITLE = "Counting motifs: peak memory by method"
SIZES = (5,)
LEAST_SIZE = 3
DIRECTED = False
KNOWN = known_motifs

# The limits of the fused passes on the CPU.
BYTES_PER_INCIDENCE, BYTES_PER_EDGE = 16, 64
# Bytes of an entry in the lists of method="materialize": keys are sorted and made distinct.
LIST_BYTES = {"triangles": 4, "wedges": 24, "diamonds": 24}
_BEHIND_TEXT = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
START_SECONDS = 20.0  # that a new process may take to begin


@dataclass(frozen=True)
class Taken:
    """Copies of every pattern, seconds, and bytes at the peak; `resident` if the system reports it."""

    counts: tuple[int, ...]
    seconds: float
    peak: int
    resident: int | None = None


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    for size in setting.sizes:
        for way in ways(setting.device):
            record.add(memory_cell(subject, size, way, setting))
    verify(record.cells, subject)


def memory_cell(subject: Subject, size: int, way: Way, setting: Setting) -> Cell:
    """Two counts, of which the first may compile. The peak is the higher one."""
    found: list[Taken] = []
    take = take_on_device if resolve(way.device)[0].backend == "cuda" else take_in_process

    def once(seconds: float) -> tuple[tuple[int, ...], float | None]:
        taken = take(subject.graph, size, way, seconds)
        found.append(taken)
        return taken.counts, taken.seconds

    cell: Cell = {"graph": subject.name, "k": size, **way.facts, "graph_bytes": _row_bytes(subject.graph)}
    cell |= sampled(once, way.device, limit=setting.limit, repeats=1)
    if cell["status"] == "done":
        cell |= {"peak_bytes": found[-1].peak, "resident_bytes": found[-1].resident}
        cell |= sizes_of(found[-1].counts, subject.graph.num_edges)
    return cell


def take_on_device(graph: Graph, size: int, way: Way, seconds: float) -> Taken:
    """Count with a new view. The rows are on the device already."""
    device: Any = resolve(way.device)[0]
    kernel = kernel_module(device, MOTIFS.name)
    control = Control()

    def work() -> Taken:
        view = Supported()
        base = hold(device, graph, view.base, control)
        with Timer() as timer, cuda_peak.memory_peak(device) as peak:
            arrays = kernel_module(device, view.name).build(device, base, view, control=control)
            tasks = iter([Task(0, graph.num_vertices)])
            sums = kernel.launch(device, arrays, tasks, control=control, size=size, method=way.method)
            device.synchronize()
        return Taken(tuple(counts_from_sums(sums, size)), timer.seconds, peak.bytes)

    taken: Taken = run_all([(device, work)], control, time_limit(seconds, "vertices"), graph.num_vertices)[0]
    return taken


def take_in_process(graph: Graph, size: int, way: Way, seconds: float) -> Taken:
    """Count in a new process, without memory of earlier counts."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_take, graph, size, way, seconds, settings().threads).result(seconds + START_SECONDS)


def _take(graph: Graph, size: int, way: Way, seconds: float, threads: int) -> Taken:
    options: dict[str, Any] = {"method": way.method, "devices": way.device}
    with configure(threads=way.threads or threads):
        count_motifs(complete(8), size, **options)  # type: ignore[arg-type]  # code and threads are there afterwards
        with Timer() as timer, PeakMemory() as peak:
            found = count_motifs(graph, size, progress=time_limit(seconds, "vertices"), **options)  # type: ignore[arg-type]
        return Taken(found.noninduced, timer.seconds, peak.core, peak.resident)


def sizes_of(counts: tuple[int, ...], num_edges: int) -> dict[str, Any]:
    """The limit on the CPU, and the largest size of the lists, from the copies of each pattern."""
    incidences = 3 * counts[1]
    lists = {"triangles": incidences, "wedges": counts[0]}
    if len(counts) > 6:
        lists["diamonds"] = 2 * counts[6]
    return {
        "num_edges": num_edges,
        "triangle_edge_incidences": incidences,
        "allowed_bytes": BYTES_PER_INCIDENCE * incidences + BYTES_PER_EDGE * num_edges,
        "list_entries": lists,
        "list_bytes": sum(LIST_BYTES[name] * count for name, count in lists.items()),
    }


def _row_bytes(graph: Graph) -> int:
    return sum(int(array.nbytes) for array in graph.csr)


def tables(document: Mapping[str, Any]) -> list[Table]:
    rows = []
    for cell in document["cells"]:
        facts = [cell["graph"], cell["variant"], str(cell["k"])]
        if cell["status"] != "done":
            rows.append([*facts, cell["status"], *[""] * 3])
            continue
        peak, edges = cell["peak_bytes"], max(1, cell["num_edges"])
        resident = "" if cell["resident_bytes"] is None else bytes_text(cell["resident_bytes"])
        allowed = f"{100 * peak / max(1, cell['allowed_bytes']):.0f} %" if cell["device"] == "cpu" else ""
        rows.append([*facts, bytes_text(peak), f"{peak / edges:.0f}", resident, allowed])
    columns = ["graph", "method", "size", "peak", "per edge", "resident", "of allowed"]
    return [Table(TITLE, columns, rows, words=2), _lists(document)]


def _lists(document: Mapping[str, Any]) -> Table:
    rows = []
    for graph in names_of(document):
        for cell in done(document["cells"], graph=graph)[:1]:
            entries = [f"{cell['list_entries'].get(name, 0):,}" for name in LIST_BYTES]
            rows.append([graph, *entries, bytes_text(cell["list_bytes"])])
    return Table("What lists would hold", ["graph", *LIST_BYTES, "in all"], rows)


def figure(document: Mapping[str, Any]) -> Any:
    subtitle = "view and all beside it, beyond the rows of the graph; lists: what storing all of them would take"
    names = graphs_and_sizes(document)
    drawn, axes = panels(TITLE, subtitle, list(names) or ["no data"], width=4.0, height=2.0)
    for _, axis, cells in by_graph(document, axes, names):
        peaks = [cell["peak_bytes"] for cell in cells]
        bars = axis.barh(range(len(cells)), peaks, color=[look_of(cell).color for cell in cells], height=0.6)
        axis.bar_label(bars, [bytes_text(peak) for peak in peaks], fontsize=7.5, padding=4, bbox=_BEHIND_TEXT, zorder=5)
        axis.set_xscale("log")
        axis.axvline(cells[0]["allowed_bytes"], color=Color.RED, linestyle="--", linewidth=1.2)
        axis.axvline(cells[0]["list_bytes"], color=Color.GREEN, linestyle=":", linewidth=1.6)
        ends = [*peaks, cells[0]["allowed_bytes"], cells[0]["list_bytes"]]
        axis.set_xlim(min(ends) / 3, max(ends) * 6)
        _byte_ticks(axis)
        bars_across(axis, [cell["variant"] for cell in cells])
    looks = {"allowed on the CPU": Look(Color.RED, "", "--"), "all lists": Look(Color.GREEN, "", ":")}
    legend(drawn, looks)
    return drawn


def _byte_ticks(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.xaxis.set_major_locator(LogLocator(numticks=5))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: bytes_text(int(value))))
    axis.xaxis.set_minor_formatter(NullFormatter())
