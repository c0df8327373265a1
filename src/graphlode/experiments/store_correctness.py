"""Whether the store is right, and what it takes: the sliding protocol on the devices alone and together.

After 100 slides a search must reach as many vertices, and find as many edges, as in a plain sorted array of edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.experiments.plots import BLUE, GREEN, ORANGE, Look, legend, panels, say_nothing_there, time_text
from graphlode.experiments.record import Record, Setting, Table, done, names_of
from graphlode.experiments.store_runs import (
    baseline_cell,
    several,
    sliding_of,
    store_cell,
    total_seconds,
    updates_per_second,
    verify_reach,
)
from graphlode.experiments.subjects import Subject

TITLE = "The store: equal reach in every configuration"
SIZES = (100,)  # slides
LEAST_SIZE = 1
DIRECTED = True

_PARTS = {"load": BLUE, "slides": ORANGE, "searches": GREEN}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    for slides in setting.sizes:
        sliding = sliding_of(subject, slides)
        baseline = baseline_cell(subject, sliding) | {"variant": "sorted array"}
        record.add(baseline)
        cells = []
        for variant, devices in configurations(setting).items():
            cell = store_cell(subject, sliding, devices, limit=setting.limit) | {"variant": variant}
            cells.append(cell)
            record.add(cell)
        verify_reach(record, baseline, cells)


def configurations(setting: Setting) -> dict[str, list[str]]:
    """Name and devices of every store: each device alone, the CPU in two shards, all together."""
    alone = {f"1 {device}": [device] for device in several(setting)}
    together = {"2 cpu": ["cpu", "cpu"]}
    if setting.device != "cpu":
        together |= {f"1 {setting.device} + 1 cpu": [setting.device, "cpu"]}
    return alone | together


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
                time_text(cell["load_seconds"]) if "load_seconds" in cell else "",
                time_text(total_seconds(cell)),
                time_text(sum(cell["bfs_seconds"])),
                f"{updates_per_second(cell) / 1e6:.3g} M",
            ]
        )
    columns = ["graph", "store", "slides", "reach before", "after", "load", "all slides", "searches", "updates/s"]
    return [Table(TITLE, columns, rows, words=2)]


def figure(document: Mapping[str, Any]) -> Any:
    subtitle = f"{document['threads']} CPU threads; seconds to load half of the edges, to slide, and to search twice"
    drawn, axes = panels(TITLE, subtitle, names_of(document))
    for name, axis in axes.items():
        cells = done(document["cells"], graph=name)
        if not cells:
            say_nothing_there(axis)
            continue
        places = range(len(cells))
        bottom = [0.0] * len(cells)
        for part, color in _PARTS.items():
            heights = [_part(cell, part) for cell in cells]
            axis.barh(places, heights, left=bottom, color=color, height=0.6)
            bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
        axis.set_yticks(list(places), [cell["variant"] for cell in cells])
        axis.invert_yaxis()
        axis.set_xlabel("seconds", fontsize=9)
    legend(drawn, {part: Look(color) for part, color in _PARTS.items()}, patches=True)
    return drawn


def _part(cell: Mapping[str, Any], part: str) -> float:
    return {
        "load": float(cell.get("load_seconds", 0.0)),
        "slides": total_seconds(cell),
        "searches": float(sum(cell["bfs_seconds"])),
    }[part]
