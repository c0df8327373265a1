"""The time of each pass of a motif count, timed alone, by method and device; and the patterns that need the pass.

The device is idle before each pass, so all passes take slightly longer than a count without timing. The changed sums
show what a pass computes, and the formulas give the patterns.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from benchmarks.experiments.counting import sampled, time_limit, verify
from benchmarks.experiments.motifs.runs import Way, known_motifs, pattern_text, patterns_of, ways
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, bars_across, by_graph, graphs_and_sizes, legend, panels, time_text
from benchmarks.record import Cell, Record, done, machine_of, names_of
from graphlode.common.control import Control
from graphlode.common.wait import run_all
from graphlode.config import configure, settings
from graphlode.execute.device import hold, kernel_module
from graphlode.execute.devices import resolve
from graphlode.measure import Timer
from graphlode.mining.motif_formulas import counts_from_sums
from graphlode.mining.motifs import MOTIFS
from graphlode.mining.supports import Supported
from graphlode.types import Pass

TITLE = "Counting motifs: time by pass"
SIZES = (5,)
LEAST_SIZE = 3
DIRECTED = False
KNOWN = known_motifs
VIEW = "view"  # the graph by rank, with the triangles at every edge: needed for all patterns with a triangle

_LOOKS = {
    VIEW: Look(Color.GREY),
    "prepare": Look("#BDBDBD"),
    "vertices and edges": Look(Color.GOLD),
    "tasks": Look(Color.PURPLE),
    "list triangles": Look(Color.GREEN, hatch="////"),
    "triangles": Look(Color.GREEN),
    "list wedges": Look(Color.BLUE, hatch="////"),
    "pairs": Look(Color.BLUE),
    "list diamonds": Look(Color.SKY, hatch="////"),
    "diamonds": Look(Color.SKY),
    "hubs": Look("#8C564B"),
    "cycles": Look(Color.ORANGE),
    "cliques": Look(Color.RED),
}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    for size in setting.sizes:
        for way in ways(setting.device):
            record.add(steps_cell(subject, size, way, setting))
    verify(record.cells, subject)


def steps_cell(subject: Subject, size: int, way: Way, setting: Setting) -> Cell:
    """All passes of a way, `repeats` times; `seconds` are their sums."""
    device = resolve(way.device)[0]
    rounds: list[list[Pass]] = []

    def work(control: Control) -> tuple[dict[str, int], list[Pass]]:
        view = Supported()
        base = hold(device, subject.graph, view.base, control)
        with Timer() as timer:
            arrays = kernel_module(device, view.name).build(device, base, view, control=control)
            device.synchronize()
        built = Pass(VIEW, timer.seconds, ("triangles",))
        timed = kernel_module(device, MOTIFS.name).time_passes
        sums, passes = timed(device, arrays, control=control, size=size, method=way.method)
        return sums, [built, *passes]

    def once(seconds: float) -> tuple[tuple[int, ...], float | None]:
        control = Control()
        limit = time_limit(seconds, "vertices")
        ((sums, passes),) = run_all([(device, lambda: work(control))], control, limit, subject.graph.num_vertices)
        rounds.append(passes)
        return tuple(counts_from_sums(sums, size)), sum(each.seconds for each in passes)

    cell: Cell = {"graph": subject.name, "k": size, **way.facts}
    with configure(threads=way.threads or settings().threads):
        cell |= sampled(once, way.device, limit=setting.limit, repeats=setting.repeats)
    if cell["status"] == "done":
        cell["passes"] = by_name(rounds[1:])
    return cell


def by_name(rounds: list[list[Pass]]) -> list[dict[str, Any]]:
    """Passes with the seconds of every round; passes with the same name are added up."""
    found: dict[str, dict[str, Any]] = {}
    for number, passes in enumerate(rounds):
        for each in passes:
            one = found.setdefault(each.name, {"name": each.name, "seconds": [0.0] * len(rounds), "sums": []})
            one["seconds"][number] += each.seconds
            one["sums"] += [name for name in each.sums if name not in one["sums"]]
    return list(found.values())


def tables(document: Mapping[str, Any]) -> list[Table]:
    """For each graph and size the seconds of every pass; then the patterns that need the passes."""
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
    names = graphs_and_sizes(document)
    drawn, axes = panels(TITLE, subtitle, list(names) or ["no data"], width=4.2, height=1.9)
    used: set[str] = set()
    for _, axis, cells in by_graph(document, axes, names):
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
