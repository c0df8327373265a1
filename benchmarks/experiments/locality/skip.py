"""Reordering in some iterations only: hits and misses of nine, of which every first, second or third one reorders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.experiments.locality.lists import (
    RANDOM,
    SORTED,
    beside_random,
    figure_by_iteration,
    look_of,
    progressive,
    shuffled_ends,
    simulated,
    table_title,
    variant_of,
)
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Look
from benchmarks.record import Cell, Record, done, names_of
from graphlode.locality import EdgeOrder

TITLE = "Reordering in some iterations only (simulated caches)"
SIZES = (32, 64)  # lanes
LEAST_SIZE = 2
DIRECTED = True
PASSES = 9
SKIPS = {0: "always", 1: "every 2nd", 2: "every 3rd"}
_LINES = {0: ("-", "o"), 1: ("--", "s"), 2: (":", "D")}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    ends = shuffled_ends(subject)
    record.add(simulated(subject, RANDOM, EdgeOrder(*ends), 1))
    for lanes in setting.sizes:
        for skip, word in SKIPS.items():
            variant = f"{variant_of(lanes)} {word}"
            record.add(simulated(subject, variant, progressive(ends, lanes, skip=skip), PASSES, lanes=lanes, skip=skip))
    record.add(simulated(subject, SORTED, EdgeOrder(*ends, order="sorted"), 1))


def tables(document: Mapping[str, Any]) -> list[Table]:
    """Two tables for each graph, with a mark at the iterations that reorder."""
    made = []
    for graph in names_of(document):
        cells = done(document["cells"], graph=graph)
        for metric, what in enumerate(("L1 hits", "L2 misses")):
            rows = []
            for cell in cells:
                texts = [
                    f"{beside_random(document, cell, number)[metric]:.2f}{'*' if one['reordered'] else ''}"
                    for number, one in enumerate(cell["passes"])
                ]
                rows.append([cell["variant"], *texts, *[""] * (PASSES - len(texts))])
            title = table_title(graph, cells, f"{what} by those of the shuffled list, * reorders")
            made.append(Table(title, ["order", *map(str, range(1, PASSES + 1))], rows))
    return made


def figure(document: Mapping[str, Any]) -> Any:
    return figure_by_iteration(document, TITLE, _look)


def _look(cell: Cell) -> Look:
    """Colors show the lanes, lines and markers how often the list is reordered."""
    line, marker = _LINES[cell["skip"]]
    return Look(look_of(cell["lanes"]).color, marker, line)
