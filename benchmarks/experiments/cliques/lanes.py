"""The mean number of a warp's 32 lanes that take part in an AND, with and without scheduling between lanes.

Kernels compiled for this count the active lanes of every AND in a search. All matrices are built at the edge, so the
three searches make the same steps and differ only in the lanes that make them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.experiments.cliques.enumeration import cuda_device, variant_cells
from benchmarks.experiments.counting import count_cell, prepare, verify
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, legend, panels, say_nothing_there
from benchmarks.record import Cell, Record, device_of, done, names_of
from graphlode.cuda.cliques.enumerate import EnumerateOptions

TITLE = "Active lanes per warp, of 32"
SIZES = (5, 6, 7)
LEAST_SIZE = 3
DIRECTED = False
WARP = 32
PAPER_GAIN = {7: 2.6}
"""Active lanes with scheduling over those without, in the paper."""

VARIANTS = {
    "thread": ("thread-parallel", EnumerateOptions("thread", measure=True), Color.GREY),
    "queued": ("queue of valid tasks", EnumerateOptions("queued", measure=True), Color.SKY),
    "scheduled": ("scheduling between lanes", EnumerateOptions("scheduled", measure=True), Color.BLUE),
}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    cuda_device(setting.device)
    record.document["paper_gain"] = {str(k): gain for k, gain in PAPER_GAIN.items()}
    if "emulated" in setting.device:
        record.note("An emulated device runs lanes one after the other: its active lanes are no measurement.")
    prepare(subject, setting.device)
    once = Setting(setting.device, setting.sizes, setting.limit, repeats=1)  # a count of lanes is not a time
    for k in sorted(setting.sizes):
        record.add(count_cell(subject, k, "pivot", setting.device, limit=setting.limit, repeats=1))
        chosen = {name: options for name, (_, options, _) in VARIANTS.items()}
        for cell, found in variant_cells(subject, k, chosen, once):
            if cell["status"] == "done":
                counted = found[-1]
                cell |= {
                    "lane_steps": counted.lane_steps,
                    "warp_steps": counted.warp_steps,
                    "lanes": counted.lane_steps / max(1, counted.warp_steps),
                }
            record.add(cell)
    verify(record.cells, subject)


def tables(document: Mapping[str, Any]) -> list[Table]:
    rows = []
    for graph in names_of(document):
        for k in document["sizes"]:
            lanes = _lanes(document, graph, k)
            entries = [f"{lanes[name]:.1f}" if name in lanes else "" for name in VARIANTS]
            gain = f"{lanes['scheduled'] / lanes['thread']:.2f}x" if {"scheduled", "thread"} <= set(lanes) else ""
            rows.append([graph, str(k), *entries, gain, f"{PAPER_GAIN[k]:.1f}x" if k in PAPER_GAIN else ""])
    return [Table(TITLE, ["graph", "k", *VARIANTS, "gain", "paper"], rows)]


def figure(document: Mapping[str, Any]) -> Any:
    where = device_of(document)
    subtitle = f"{where}; mean over all ANDs of a search; all matrices built at the edge; more is better"
    drawn, axes = panels(TITLE, subtitle, names_of(document) or ["no data"], height=2.5)
    for graph, axis in axes.items():
        by_size = {k: _lanes(document, graph, k) for k in document["sizes"]}
        if not any(by_size.values()):
            say_nothing_there(axis)
            continue
        for i, (name, (_, _, color)) in enumerate(VARIANTS.items()):
            xs = [x + (i - 1) * 0.27 for x, k in enumerate(by_size) if name in by_size[k]]
            ys = [lanes[name] for lanes in by_size.values() if name in lanes]
            bars = axis.bar(xs, ys, width=0.25, color=color)
            axis.bar_label(bars, fmt="%.1f", fontsize=7, padding=1.5)
        axis.set_xticks(range(len(by_size)), [f"k = {k}" for k in by_size])
        axis.set_ylim(0, WARP + 3)
        axis.set_yticks(range(0, WARP + 1, 8))
        axis.set_ylabel("active lanes", fontsize=9)
    legend(drawn, {label: Look(color) for label, _, color in VARIANTS.values()}, patches=True)
    return drawn


def _lanes(document: Mapping[str, Any], graph: str, k: int) -> dict[str, float]:
    cells: list[Cell] = done(document["cells"], graph=graph, k=k)
    return {cell["variant"]: cell["lanes"] for cell in cells if cell.get("warp_steps")}
