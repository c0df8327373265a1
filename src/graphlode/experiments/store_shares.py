"""How much of the store the chosen device should hold: the sliding protocol with its share beside three CPU instances.

A factor of f gives the device f times the slots of one CPU instance; with 0 it has none, and `auto` finds its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.execute.shares import NUM_SLOTS
from graphlode.experiments.plots import BLUE, GREEN, GREY, Look, legend, panels, say_nothing_there, time_text
from graphlode.experiments.record import Record, Setting, Table, done, names_of
from graphlode.experiments.store_runs import baseline_cell, sliding_of, store_cell, total_seconds, verify_reach
from graphlode.experiments.subjects import Subject

TITLE = "The store: shares of one device beside three CPU instances"
SIZES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 20)  # the factor
LEAST_SIZE = 0
DIRECTED = True
SLIDES = 100
BESIDE = 3


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    sliding = sliding_of(subject, SLIDES)
    baseline = baseline_cell(subject, sliding) | {"variant": "sorted array", "factor": None}
    record.add(baseline)
    beside = ["cpu"] * BESIDE
    cells = []
    for factor in setting.sizes:
        if factor == 0 or setting.device == "cpu":  # shards of one name share evenly: there is no factor
            devices, shares = beside, {"cpu": 1.0}
        else:
            devices, shares = [setting.device, *beside], {setting.device: float(factor), "cpu": float(BESIDE)}
        cell = store_cell(subject, sliding, devices, limit=setting.limit, shares=shares)
        cells.append(cell | {"variant": f"factor {factor}", "factor": factor})
        record.add(cells[-1])
    for variant, devices in {"auto": [setting.device, *beside], "alone": [setting.device]}.items():
        cell = store_cell(subject, sliding, devices, limit=setting.limit)
        cells.append(cell | {"variant": variant, "factor": None})
        record.add(cells[-1])
    verify_reach(record, baseline, cells)


def tables(document: Mapping[str, Any]) -> list[Table]:
    rows = []
    for cell in document["cells"]:
        if cell["variant"] == "sorted array":
            continue
        told = time_text(total_seconds(cell)) if cell["status"] == "done" else cell["status"]
        rows.append([cell["graph"], cell["variant"], told, _share(document, cell)])
    return [Table(TITLE, ["graph", "shares", "all slides", f"slots of {document['device']}"], rows, words=2)]


def figure(document: Mapping[str, Any]) -> Any:
    subtitle = f"{document['device']} and {BESIDE} CPU instances; seconds of {SLIDES} slides"
    drawn, axes = panels(TITLE, subtitle, names_of(document))
    looks = {"fixed factor": Look(BLUE), "auto": Look(GREEN, "", "--"), "the device alone": Look(GREY, "", ":")}
    for name, axis in axes.items():
        cells = [cell for cell in done(document["cells"], graph=name) if cell["factor"] is not None]
        if not cells:
            say_nothing_there(axis)
            continue
        axis.plot([c["factor"] for c in cells], [total_seconds(c) for c in cells], **looks["fixed factor"].of_line)
        for variant, look in {"auto": looks["auto"], "alone": looks["the device alone"]}.items():
            for cell in done(document["cells"], graph=name, variant=variant):
                axis.axhline(total_seconds(cell), color=look.color, linestyle=look.line, linewidth=1.4)
        axis.set_xlabel("share of the device / share of a CPU instance", fontsize=9)
        axis.set_ylabel("seconds", fontsize=9)
        axis.set_ylim(bottom=0)
    legend(drawn, looks)
    return drawn


def _share(document: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    slots = cell.get("shares", {}).get(document["device"])
    return "" if slots is None else f"{slots} of {NUM_SLOTS}"
