"""The best share of the store for the chosen device: the sliding protocol on that device and three CPU instances.

A factor of f gives the device f times the buckets of one CPU instance. With 0 it has none, and with `auto` the store
chooses; this store takes turns with the device alone. If the chosen device is the CPU, its instances share evenly, and
there is no factor to vary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.store.runs import cells_in_turn, slide_seconds, sliding_of, store_cell, verify_reach
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, bars_across, by_graph, legend, panels, time_text
from benchmarks.record import Record, names_of
from graphlode.execute.shares import NUM_BUCKETS

TITLE = "The store: shares of one device beside three CPU instances"
SIZES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 20)  # the factor
LEAST_SIZE = 0
DIRECTED = True
SLIDES = 100
BESIDE = 3

_LOOKS = {"fixed factor": Look(Color.BLUE), "auto": Look(Color.GREEN), "alone": Look(Color.ORANGE)}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    sliding = sliding_of(subject, SLIDES)
    beside = ["cpu"] * BESIDE
    cells = []
    for factor in (0,) if setting.device == "cpu" else setting.sizes:
        devices, shares = [setting.device, *beside], {setting.device: float(factor), "cpu": float(BESIDE)}
        if factor == 0:
            devices, shares = beside, {"cpu": 1.0}
        cell = store_cell(subject, sliding, devices, limit=setting.limit, shares=shares)
        cells.append(cell | {"variant": f"factor {factor}", "factor": factor})
        record.add(cells[-1])
    sets = {"auto": [setting.device, *beside], "alone": [setting.device]}
    compared = cells_in_turn(subject, sliding, list(sets.values()), limit=setting.limit)
    for variant, cell in zip(sets, compared, strict=True):
        cells.append(cell | {"variant": variant, "factor": None})
        record.add(cells[-1])
    verify_reach(record, subject, sliding, cells)


def tables(document: Mapping[str, Any]) -> list[Table]:
    rows = []
    for cell in document["cells"]:
        shown = time_text(slide_seconds(cell)) if cell["status"] == "done" else cell["status"]
        rows.append([cell["graph"], cell["variant"], shown, _share(document, cell)])
    return [Table(TITLE, ["graph", "shares", "a slide", f"buckets of {document['device']}"], rows, words=2)]


def figure(document: Mapping[str, Any]) -> Any:
    device = document["device"]
    subtitle = f"{device} and {BESIDE} CPU instances; milliseconds of a slide, medians; less is better"
    drawn, axes = panels(TITLE, subtitle, names_of(document) or ["no data"], height=3.2)
    used: dict[str, Look] = {}
    for _, axis, cells in by_graph(document, axes):
        kinds = ["fixed factor" if cell["factor"] is not None else cell["variant"] for cell in cells]
        used |= {kind: _LOOKS[kind] for kind in kinds}
        heights = [1e3 * slide_seconds(cell) for cell in cells]
        bars = axis.barh(range(len(cells)), heights, color=[_LOOKS[kind].color for kind in kinds], height=0.66)
        if device == "cpu":
            bars_across(axis, [f"{cell['variant']}, {_shards(cell)}" for cell in cells])
            axis.set_xlabel("ms", fontsize=9)
            continue
        bars_across(axis, [cell["variant"] for cell in cells])
        axis.bar_label(
            bars, [str(cell["shares"].get(device, 0)) for cell in cells], fontsize=7, padding=2, color=Color.GREY
        )
        axis.margins(x=0.25)
        axis.set_xlabel(f"ms; buckets of {device} beside the bars", fontsize=9)
    legend(drawn, used, patches=True)
    return drawn


def _shards(cell: Mapping[str, Any]) -> str:
    number = len(cell["devices"])
    return "1 shard" if number == 1 else f"{number} shards"


def _share(document: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    buckets = cell.get("shares", {}).get(document["device"])
    return "" if buckets is None else f"{buckets} of {NUM_BUCKETS}"
