"""The gain of progressive reordering on several graphs: hits and misses of the third iteration, simulated."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean
from typing import Any

from benchmarks.experiments.locality import iterations
from benchmarks.experiments.locality.lists import (
    LOOK_RANDOM,
    LOOK_SORTED,
    RANDOM,
    SORTED,
    beside_random,
    caches_text,
    look_of,
)
from benchmarks.experiments.setting import Table
from benchmarks.plots import Look, legend, panels, say_nothing_there
from benchmarks.record import done, names_of

TITLE = "Progressive reordering of several graphs, third iteration (simulated caches)"
SIZES = (4, 32, 128)  # lanes
LEAST_SIZE = 2
DIRECTED = True
METRICS = ("L1 hits", "L2 misses")
# Of the paper, on its own graphs: L1 hits on average, with the most lanes.
PAPER_MOST = 1.67

measure = iterations.measure


def tables(document: Mapping[str, Any]) -> list[Table]:
    rows = []
    by_variant: dict[str, list[tuple[float, float]]] = {}
    for cell in done(document["cells"]):
        if cell["variant"] != RANDOM:
            found = beside_random(document, cell, -1)
            by_variant.setdefault(cell["variant"], []).append(found)
            rows.append([cell["graph"], caches_text(cell), cell["variant"], *_texts(found)])
    for variant, found_of in by_variant.items():
        average = mean(hits for hits, _ in found_of), mean(misses for _, misses in found_of)
        rows.append(["all on average", "", variant, *_texts(average)])
    columns = ["graph", "caches", "order", "L1 hits by shuffled", "L2 misses by shuffled"]
    return [Table(TITLE, columns, rows, words=3)]


def _texts(found: tuple[float, float]) -> list[str]:
    return [f"{found[0]:.2f}x", f"{100 * (found[1] - 1):+.0f} %"]


def figure(document: Mapping[str, Any]) -> Any:
    names = names_of(document)
    subtitle = f"both streams, over those of the shuffled list; the paper has {PAPER_MOST}x L1 hits on average at most"
    drawn, axes = panels(TITLE, subtitle, METRICS, width=max(4.0, 0.9 * len(names)), height=3.4)
    used: dict[str, Look] = {}
    variants = list(dict.fromkeys(cell["variant"] for cell in done(document["cells"]) if cell["variant"] != RANDOM))
    width = 0.8 / max(1, len(variants))
    for metric, title in enumerate(METRICS):
        axis = axes[title]
        if not variants:
            say_nothing_there(axis)
            continue
        for place, variant in enumerate(variants):
            cells = done(document["cells"], variant=variant)
            look = LOOK_SORTED if variant == SORTED else look_of(cells[0]["lanes"])
            used[variant] = look
            at = [names.index(cell["graph"]) - 0.4 + (place + 0.5) * width for cell in cells]
            axis.bar(at, [beside_random(document, cell, -1)[metric] for cell in cells], 0.9 * width, color=look.color)
        axis.axhline(1, color=LOOK_RANDOM.color, linestyle=LOOK_RANDOM.line, linewidth=1)
        axis.set_xticks(range(len(names)), names, rotation=20, ha="right")
    legend(drawn, used, patches=True)
    return drawn
