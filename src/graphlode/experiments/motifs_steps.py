"""Where the time of a motif count goes: every pass timed alone, by method and device, and the patterns that need it.

The device is idle before each pass, so that the passes together take a little more than a count without a clock. Which
sums a pass adds to is seen from the sums themselves, and patterns follow from the formulas.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from time import perf_counter
from typing import Any

from graphlode.common.control import Control
from graphlode.common.wait import wait_all
from graphlode.config import configure, settings
from graphlode.execute.device import hold, kernel_module
from graphlode.execute.devices import resolve
from graphlode.experiments.counting import compile_seconds, sampled, time_limit, verify
from graphlode.experiments.motif_runs import Way, known_motifs, pattern_text, patterns_of, ways
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
    bars_across,
    legend,
    panels,
    say_nothing_there,
    time_text,
)
from graphlode.experiments.record import Cell, Record, Setting, Table, done, machine_of, names_of
from graphlode.experiments.subjects import Subject
from graphlode.mining.motif_formulas import counts_from_sums
from graphlode.mining.motifs import MOTIFS
from graphlode.mining.supports import Supported
from graphlode.types import Pass

TITLE = "Counting motifs: time by pass"
SIZES = (5,)
LEAST_SIZE = 3
DIRECTED = False
KNOWN = known_motifs
VIEW = "view"  # the graph by rank, with the triangles at every edge: needed for whatever has a triangle

_LOOKS = {
    VIEW: Look(GREY),
    "prepare": Look("#BDBDBD"),
    "vertices and edges": Look(GOLD),
    "tasks": Look(PURPLE),
    "list triangles": Look(GREEN, hatch="////"),
    "triangles": Look(GREEN),
    "list wedges": Look(BLUE, hatch="////"),
    "pairs": Look(BLUE),
    "list diamonds": Look(SKY, hatch="////"),
    "diamonds": Look(SKY),
    "hubs": Look("#8C564B"),
    "cycles": Look(ORANGE),
    "cliques": Look(RED),
}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    for size in setting.sizes:
        for way in ways(setting.device):
            record.add(steps_cell(subject, size, way, setting))
    verify(record.cells, subject)


def steps_cell(subject: Subject, size: int, way: Way, setting: Setting) -> Cell:
    """All passes of a way, `repeats` times; `seconds` are their sums."""
    device = resolve(way.device)[0]
    answers: list[tuple[int, ...]] = []
    rounds: list[list[Pass]] = []

    def work(control: Control) -> tuple[dict[str, int], list[Pass]]:
        view = Supported()
        base = hold(device, subject.graph, view.base, control)
        begun = perf_counter()
        arrays = kernel_module(device, view.name).build(device, base, view, control=control)
        device.synchronize()
        built = Pass(VIEW, perf_counter() - begun, ("triangles",))
        timed = kernel_module(device, MOTIFS.name).time_passes
        sums, passes = timed(device, arrays, control=control, size=size, method=way.method)
        return sums, [built, *passes]

    def once(seconds: float) -> tuple[float, float]:
        control = Control()
        begun = perf_counter()
        limit = time_limit(seconds, "vertices")
        ((sums, passes),) = wait_all([device.submit(lambda: work(control))], control, limit, subject.graph.num_vertices)
        answers.append(tuple(counts_from_sums(sums, size)))
        rounds.append(passes)
        return sum(each.seconds for each in passes), perf_counter() - begun

    cell: Cell = {"graph": subject.name, "k": size, **way.facts}
    first = setting.limit + compile_seconds(way.device)
    with configure(threads=way.threads or settings().threads):
        cell |= sampled(once, first=first, limit=setting.limit, repeats=setting.repeats, answers=answers)
    if cell["status"] == "done":
        cell["passes"] = by_name(rounds[1:])
    return cell


def by_name(rounds: list[list[Pass]]) -> list[dict[str, Any]]:
    """Passes with the seconds of every round; those of one name are taken together."""
    found: dict[str, dict[str, Any]] = {}
    for number, passes in enumerate(rounds):
        for each in passes:
            one = found.setdefault(each.name, {"name": each.name, "seconds": [0.0] * len(rounds), "sums": []})
            one["seconds"][number] += each.seconds
            one["sums"] += [name for name in each.sums if name not in one["sums"]]
    return list(found.values())


def tables(document: Mapping[str, Any]) -> list[Table]:
    """For each graph and size the seconds of every pass; then what the passes are for."""
    made = []
    for graph in names_of(document):
        for size in document["sizes"]:
            cells = [cell for cell in document["cells"] if cell["graph"] == graph and cell["k"] == size]
            names = [name for name in _LOOKS if any(name in _seconds(cell) for cell in cells)]
            rows = [[name, *(_entry(_seconds(cell).get(name)) for cell in cells)] for name in names]
            rows.append(["all", *(_total(cell) for cell in cells)])
            title = f"{graph}, patterns of up to {size} vertices"
            made.append(Table(title, ["pass", *(cell["variant"] for cell in cells)], rows))
    return [*made, _serves(document)]


def _serves(document: Mapping[str, Any]) -> Table:
    served: dict[tuple[str, str], set[int]] = {}
    for cell in done(document["cells"]):
        for each in cell["passes"]:
            numbers = set().union(*(patterns_of(name) for name in each["sums"]))
            if each["name"] != VIEW:
                served.setdefault((cell["variant"], each["name"]), set()).update(numbers)
    rows = [[way, name, pattern_text(numbers)] for (way, name), numbers in served.items() if numbers]
    return Table("Patterns whose number needs what a pass finds", ["method", "pass", "patterns"], rows, words=3)


def figure(document: Mapping[str, Any]) -> Any:
    subtitle = f"{machine_of(document)}; share of each pass in the time, and all of it; medians"
    sizes = document["sizes"]
    names = {(name, k): name if len(sizes) == 1 else f"{name}, {k}" for name in names_of(document) for k in sizes}
    drawn, axes = panels(TITLE, subtitle, list(names.values()) or ["no data"], width=4.2, height=1.9)
    used: set[str] = set()
    for (graph, size), title in names.items():
        axis = axes[title]
        cells = done(document["cells"], graph=graph, k=size)
        if not cells:
            say_nothing_there(axis)
            continue
        for place, cell in enumerate(cells):
            seconds = _seconds(cell)
            used.update(seconds)
            _draw_bar(axis, place, {name: seconds[name] for name in _LOOKS if name in seconds})
        bars_across(axis, [cell["variant"].replace(", ", "\n", 1) for cell in cells])
        axis.set_xlim(0, 100)
        axis.set_xlabel("% of the time", fontsize=9)
    legend(drawn, {name: look for name, look in _LOOKS.items() if name in used}, patches=True, columns=7)
    return drawn


def _draw_bar(axis: Any, place: int, seconds: Mapping[str, float]) -> None:
    total = sum(seconds.values())
    left = 0.0
    for name, took in seconds.items():
        look, share = _LOOKS[name], 100 * took / max(total, 1e-12)
        colors = {"color": look.color, "hatch": look.hatch, "edgecolor": "white"}
        axis.barh(place, share, left=left, linewidth=0.6, height=0.62, **colors)
        left += share
    axis.text(101, place, time_text(total), va="center", fontsize=8.5, clip_on=False)


def _seconds(cell: Mapping[str, Any]) -> dict[str, float]:
    return {each["name"]: median(each["seconds"]) for each in cell.get("passes", [])}


def _entry(seconds: float | None) -> str:
    return "" if seconds is None else time_text(seconds)


def _total(cell: Mapping[str, Any]) -> str:
    return time_text(sum(_seconds(cell).values())) if cell["status"] == "done" else cell["status"]
