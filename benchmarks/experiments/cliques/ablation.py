"""What each part of CUDA enumeration brings (the paper's ablation, at k = 7).

Every variant differs from another in one part, so that their quotient is what the part brings:

    thread-parallel  ->  + queue of valid tasks  ->  + scheduling between lanes  ->  + both  ->  + size classes
          \\-> + dynamic construction alone                                      (scheduling and construction)

The last line is as in the paper: heavy edges are not cut into parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.experiments.cliques.enumeration import cuda_device, variant_cells
from benchmarks.experiments.counting import count_cell, prepare, typical, verify
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, graphs_and_sizes, legend, panels, say_nothing_there, time_text
from benchmarks.record import Cell, Record, device_of, done, names_of
from graphlode.cuda.cliques.enumerate import EnumerateOptions

TITLE = "Enumeration on a GPU: what each part brings"
SIZES = (7,)
LEAST_SIZE = 3
DIRECTED = False


@dataclass(frozen=True)
class Variant:
    """`against` is the variant that differs in one part; `paper` the change of time that the paper reports for it."""

    label: str
    options: EnumerateOptions
    color: str
    against: str | None = None
    paper: float | None = None


VARIANTS = {
    "thread": Variant("thread-parallel", EnumerateOptions("thread"), Color.GREY),
    "queued": Variant("+ queue of valid tasks", EnumerateOptions("queued"), Color.SKY, "thread"),
    "scheduled": Variant("+ scheduling between lanes", EnumerateOptions("scheduled"), Color.BLUE, "thread", -0.603),
    "dynamic": Variant(
        "dynamic construction alone", EnumerateOptions("thread", dynamic=True), Color.ORANGE, "thread", -0.285
    ),
    "both": Variant(
        "scheduling and construction", EnumerateOptions("scheduled", dynamic=True), Color.GREEN, "scheduled", -0.226
    ),
    "classes": Variant(
        "+ size classes: the system",
        EnumerateOptions("scheduled", dynamic=True, classes=True),
        Color.RED,
        "both",
        -0.375,
    ),
    "uncut": Variant(
        "the system, heavy edges not cut",
        EnumerateOptions("scheduled", dynamic=True, classes=True, split=False),
        Color.GOLD,
        "classes",
    ),
}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    cuda_device(setting.device)
    record.document["paper_change"] = {name: each.paper for name, each in VARIANTS.items() if each.paper is not None}
    prepare(subject, setting.device)
    for k in sorted(setting.sizes):
        record.add(count_cell(subject, k, "pivot", setting.device, limit=setting.limit, repeats=1))
        options = {name: variant.options for name, variant in VARIANTS.items()}
        for cell, _ in variant_cells(subject, k, options, setting):
            record.add(cell)
    verify(record.cells, subject)


def change(cells: Mapping[str, Cell], name: str) -> float | None:
    """By what part of its time a variant differs from the one that it is compared with; -0.6 is 60 % less."""
    against = VARIANTS[name].against
    if against is None or name not in cells or against not in cells:
        return None
    return typical(cells[name]) / typical(cells[against]) - 1


def tables(document: Mapping[str, Any]) -> list[Table]:
    found = []
    for graph in names_of(document):
        for k in document["sizes"]:
            cells = _cells(document, graph, k)
            rows = [_row(cells, name, _statuses(document, graph, k)) for name in VARIANTS]
            columns = ["variant", "against", "time", "x thread", "change", "paper"]
            found.append(Table(f"{graph}, k = {k}", columns, rows, words=2))
    return found


def _row(cells: Mapping[str, Cell], name: str, statuses: Mapping[str, str]) -> list[str]:
    variant = VARIANTS[name]
    label, against = variant.label, variant.against or ""
    if name not in cells:
        return [label, against, statuses.get(name, ""), "", "", _percent(variant.paper)]
    relative = typical(cells[name]) / typical(cells["thread"]) if "thread" in cells else None
    return [
        label,
        against,
        time_text(typical(cells[name])),
        "" if relative is None else f"{relative:.2f}",
        _percent(change(cells, name)),
        _percent(variant.paper),
    ]


def figure(document: Mapping[str, Any]) -> Any:
    names = graphs_and_sizes(document, "k = ")
    sizes = ", ".join(str(k) for k in document["sizes"])
    subtitle = f"{device_of(document)}; k = {sizes}; time relative to thread-parallel, and the median above each bar; less is better"
    drawn, axes = panels(TITLE, subtitle, list(names) or ["no data"])
    for name, axis in axes.items():
        cells = _cells(document, **names[name]) if name in names else {}
        if "thread" not in cells:
            say_nothing_there(axis, "the thread-parallel variant\nwas not measured here")
            continue
        _bars(axis, cells)
    legend(drawn, {each.label: Look(each.color) for each in VARIANTS.values()}, columns=4, patches=True)
    return drawn


def _bars(axis: Any, cells: Mapping[str, Cell]) -> None:
    base = typical(cells["thread"])
    heights = {name: typical(cells[name]) / base for name in VARIANTS if name in cells}
    for x, name in enumerate(VARIANTS):
        if name in heights:
            axis.bar(x, heights[name], color=VARIANTS[name].color, width=0.78)
            axis.annotate(
                time_text(typical(cells[name])).replace(" ", "\n"),
                (x, heights[name]),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=7.5,
                linespacing=0.95,
            )
    axis.axhline(1, color=Color.GREY, linewidth=0.8, linestyle=":", zorder=0)
    axis.set_ylim(0, max(heights.values()) * 1.22)
    axis.set_xticks([])
    axis.set_ylabel("time / thread-parallel", fontsize=9)


def _cells(document: Mapping[str, Any], graph: str, k: int) -> dict[str, Cell]:
    return {cell["variant"]: cell for cell in done(document["cells"], graph=graph, k=k) if "variant" in cell}


def _statuses(document: Mapping[str, Any], graph: str, k: int) -> dict[str, str]:
    cells = [cell for cell in document["cells"] if (cell["graph"], cell["k"]) == (graph, k) and "variant" in cell]
    return {cell["variant"]: cell["status"] for cell in cells}


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:+.1%}".replace("%", " %")
