"""Run time of every method over the clique size, on several graphs (the paper's comparison of methods).

On a CUDA device: the full system (`enumerate`), its baselines and pivoting; and the CPU for comparison. Sizes increase
one by one. The time of a method that visits every clique is proportional to the number of cliques. So the time of the
next size follows from the last one and the counts. A cell over the limit is left out and marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.experiments.counting import count_up, prepare, time_or_status, typical, verify
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, by_graph, legend, line, panels, seconds_axis, time_text, whole_ticks
from benchmarks.record import Cell, Record, done, machine_of, names_of
from graphlode.execute.devices import resolve

TITLE = "Counting k-cliques: time by method"
SIZES = (4, 5, 6, 7, 8)
LEAST_SIZE = 3
DIRECTED = False
CUDA_METHODS = ("pivot", "enumerate", "set", "bitmap", "warp", "thread")
CPU_METHODS = ("pivot", "enumerate", "set")
BESIDE = ("pivot", "enumerate")  # of the CPU, in comparison with a CUDA device

_LOOKS = {
    ("pivot", False): Look(Color.BLUE, "o"),
    ("enumerate", False): Look(Color.RED, "s"),
    ("bitmap", False): Look(Color.SKY, "v"),
    ("warp", False): Look(Color.ORANGE, "^"),
    ("thread", False): Look(Color.GREEN, "D"),
    ("set", False): Look(Color.PURPLE, "X"),
    ("pivot", True): Look(Color.GREY, "o", "--"),
    ("enumerate", True): Look(Color.GOLD, "s", "--"),
    ("set", True): Look(Color.PURPLE, "X", "--"),
}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    chosen = ways(setting.device)
    record.document["ways"] = [{"device": device, "method": method} for device, method in chosen]
    for device in dict.fromkeys(device for device, _ in chosen):
        seconds = prepare(subject, device)
        record.document.setdefault("view_seconds", {}).setdefault(subject.name, {})[device] = seconds
    counts = dict(subject.expected)
    for device, method in chosen:
        count_up(subject, method, device, counts, setting, record)
    verify(record.cells, subject)


def ways(device: str) -> list[tuple[str, str]]:
    """(device, method) in the order of measuring: pivoting first, because its counts predict the times of the
    others."""
    if resolve(device)[0].backend == "cuda":
        return [*((device, method) for method in CUDA_METHODS), *(("cpu", method) for method in BESIDE)]
    return [(device, method) for method in CPU_METHODS]


def tables(document: Mapping[str, Any]) -> list[Table]:
    """A table per graph: methods by size, medians of the time on the device."""
    found = []
    for name in names_of(document):
        rows = []
        for way in document.get("ways", []):
            cells = [cell for cell in document["cells"] if cell["graph"] == name and _way(cell) == way]
            by_size = {cell["k"]: cell for cell in cells}
            rows.append([label(**way), *(time_or_status(by_size.get(k)) for k in document["sizes"])])
        found.append(Table(name, ["method", *(f"k = {k}" for k in document["sizes"])], rows))
    return found


def figure(document: Mapping[str, Any]) -> Any:
    drawn, axes = panels(TITLE, _subtitle(document), names_of(document))
    used: dict[str, Look] = {}
    for name, axis, _ in by_graph(document, axes):
        for way in document.get("ways", []):
            cells = done(document["cells"], graph=name, **way)
            if not cells:
                continue
            look = _LOOKS[way["method"], way["device"] == "cpu" and document["device"] != "cpu"]
            used[label(**way)] = look
            line(axis, [cell["k"] for cell in cells], [typical(cell) for cell in cells], look)
        seconds_axis(axis)
        whole_ticks(axis, document["sizes"])
    legend(drawn, used)
    return drawn


def label(device: str, method: str) -> str:
    return f"{method}, {device}"


def _way(cell: Cell) -> dict[str, str]:
    return {"device": cell["device"], "method": cell["method"]}


def _subtitle(document: Mapping[str, Any]) -> str:
    return (
        f"{machine_of(document)}; median time on the device, ordered graph resident; a line ends where "
        f"a cell would take over {time_text(document['limit_seconds'])}"
    )
