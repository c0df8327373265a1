"""Whether the store is correct, and its times: the sliding protocol on each device alone and on all of them.

After 100 slides a search must reach as many vertices, and find as many edges, as in a plain graph of the same edges.
After half of the slides all edges must be equal. A sorted array of edges is measured for comparison, which each slide
replaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.store.runs import (
    array_cell,
    several,
    slide_seconds,
    sliding_of,
    store_cell,
    updates_per_second,
    verify_reach,
)
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, bars_across, by_graph, legend, panels, time_text
from benchmarks.record import Record, names_of
from graphlode.execute.run import Shares

TITLE = "The store: equal reach in every configuration"
SIZES = (100,)  # slides
LEAST_SIZE = 1
DIRECTED = True

_PARTS = {"load": Color.BLUE, "slides": Color.ORANGE, "searches": Color.GREEN}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    for slides in setting.sizes:
        sliding = sliding_of(subject, slides)
        cells = [array_cell(subject, sliding, limit=setting.limit) | {"variant": "sorted array"}]
        record.add(cells[0])
        for variant, (devices, shares) in configurations(setting).items():
            cell = store_cell(subject, sliding, devices, limit=setting.limit, shares=shares) | {"variant": variant}
            cells.append(cell)
            record.add(cell)
        verify_reach(record, subject, sliding, cells)


def configurations(setting: Setting) -> dict[str, tuple[list[str], Shares]]:
    """Name, devices and shares of every store: each device alone, the CPU in two shards, and all devices with automatic
    and with even shares. Automatic shares may give all rows to one device."""
    device = setting.device
    found: dict[str, tuple[list[str], Shares]] = {f"1 {name}": ([name], "auto") for name in several(setting)}
    found["2 cpu"] = ["cpu", "cpu"], "auto"
    if device != "cpu":
        together = [device, "cpu"]
        found[f"1 {device} + 1 cpu"] = together, "auto"
        found[f"1 {device} + 1 cpu, even"] = together, dict.fromkeys(together, 1.0)
    return found


def tables(document: Mapping[str, Any]) -> list[Table]:
    rows = []
    for cell in document["cells"]:
        if cell["status"] != "done":
            rows.append([cell["graph"], cell["variant"], str(cell["slides"]), cell["status"], *[""] * 5])
            continue
        rows.append(
            [
                cell["graph"],
                cell["variant"],
                str(cell["slides"]),
                f"{cell['reached'][0]:,}",
                f"{cell['reached'][1]:,}",
                time_text(cell["load_seconds"]),
                time_text(slide_seconds(cell)),
                time_text(sum(cell["bfs_seconds"])),
                f"{updates_per_second(cell) / 1e6:.3g} M",
            ]
        )
    columns = ["graph", "store", "slides", "reach before", "after", "load", "a slide", "searches", "updates/s"]
    return [Table(TITLE, columns, rows, words=2)]


def figure(document: Mapping[str, Any]) -> Any:
    subtitle = f"{document['threads']} CPU threads; seconds to load half of the edges, of all slides by their median, and of two searches"
    drawn, axes = panels(TITLE, subtitle, names_of(document))
    for _, axis, cells in by_graph(document, axes):
        places = range(len(cells))
        bottom = [0.0] * len(cells)
        for part, color in _PARTS.items():
            heights = [_part(cell, part) for cell in cells]
            axis.barh(places, heights, left=bottom, color=color, height=0.6)
            bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
        bars_across(axis, [cell["variant"] for cell in cells])
        axis.set_xlabel("seconds", fontsize=9)
    legend(drawn, {part: Look(color) for part, color in _PARTS.items()}, patches=True)
    return drawn


def _part(cell: Mapping[str, Any], part: str) -> float:
    return {
        "load": float(cell["load_seconds"]),
        "slides": len(cell["seconds"]) * slide_seconds(cell),
        "searches": float(sum(cell["bfs_seconds"])),
    }[part]
