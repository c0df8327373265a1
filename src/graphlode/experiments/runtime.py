"""Run time of every method over the clique size, on several graphs (the paper's comparison of methods).

On a CUDA device: the full system (`enumerate`), its baselines and pivoting; beside it the CPU. Sizes go up one by one.
Methods that visit every clique take time in proportion to the number of cliques, so what a larger size will take is
known from the size before and the counts, and cells over the limit are left out and say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.execute.devices import resolve
from graphlode.experiments.counting import count_up, prepare, time_or_status, typical, verify
from graphlode.experiments.plots import (
    BLUE,
    GOLD,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    Look,
    legend,
    panels,
    say_nothing_there,
    seconds_axis,
    time_text,
    whole_ticks,
)
from graphlode.experiments.record import Cell, Record, Setting, Table, done, machine_of, names_of
from graphlode.experiments.subjects import Subject

TITLE = "Counting k-cliques: time by method"
SIZES = (4, 5, 6, 7, 8)
LEAST_SIZE = 3
DIRECTED = False
CUDA_METHODS = ("pivot", "enumerate", "set", "bitmap", "warp", "thread")
CPU_METHODS = ("pivot", "enumerate", "set")
BESIDE = ("pivot", "enumerate")  # of the CPU beside a CUDA device

_LOOKS = {
    ("pivot", False): Look(BLUE, "o"),
    ("enumerate", False): Look(RED, "s"),
    ("bitmap", False): Look(SKY, "v"),
    ("warp", False): Look(ORANGE, "^"),
    ("thread", False): Look(GREEN, "D"),
    ("set", False): Look(PURPLE, "X"),
    ("pivot", True): Look(GREY, "o", "--"),
    ("enumerate", True): Look(GOLD, "s", "--"),
    ("set", True): Look(PURPLE, "X", "--"),
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
    """(device, method) in the order of measuring: pivoting first, since its counts tell what the others will take."""
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
    for name, axis in axes.items():
        for way in document.get("ways", []):
            cells = done(document["cells"], graph=name, **way)
            if not cells:
                continue
            look = _LOOKS[way["method"], way["device"] == "cpu" and document["device"] != "cpu"]
            used[label(**way)] = look
            axis.plot(
                [cell["k"] for cell in cells],
                [typical(cell) for cell in cells],
                **look.of_line,
                markersize=5,
                linewidth=1.4,
            )
        if not done(document["cells"], graph=name):
            say_nothing_there(axis)
            continue
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
