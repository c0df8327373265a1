"""Runs an experiment graph by graph. An error with one graph is recorded, and the others are still measured.

A run without results does not change the files of earlier runs: all graphs are loaded before the first is measured, and
nothing is written before the first cell.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.experiments import experiment
from benchmarks.experiments.setting import Setting
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import save
from benchmarks.record import Record, machine_label, present_run
from graphlode.config import settings
from graphlode.errors import InputError, UnsupportedError

NO_PLOTS = "plots need matplotlib: pip install graphlode[plot]"


@dataclass(frozen=True)
class Finished:
    """The document of a run, the file it is in, and its plots."""

    document: dict[str, Any]
    file: Path
    plots: list[Path]


def run(name: str, graphs: Sequence[str], load: Callable[[str], Subject], setting: Setting, folder: Path) -> Finished:
    """Measure, write NAME.json into the folder, draw.

    Raises what `load` raises, and InputError if a graph has no edges or nothing could be measured.
    """
    chosen = experiment(name)
    subjects = [_with_edges(graph, load(graph)) for graph in graphs]
    record = begin(folder / f"{name}.json", name, chosen.TITLE, setting)
    for graph in graphs:
        subject = subjects.pop(0)  # so measured graphs are released before the next one
        try:
            record.add_graph(subject.facts)
            chosen.measure(subject, setting, record)
        except Exception as error:
            if not record.cells and (isinstance(error, InputError | UnsupportedError) or not subjects):
                raise  # the error concerns the whole run
            # Whatever the error is, the other graphs are still measured. It is raised at the end.
            record.fail_graph(graph, f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        record.save()
    if not record.cells:
        raise InputError(f"nothing was measured; {'; '.join(record.document['notes']) or 'no graph was named'}")
    plots = draw(record.document, folder / name)
    if not plots:
        record.note(NO_PLOTS)
    record.save()
    return Finished(record.document, record.file, plots)


def begin(file: Path, name: str, title: str, setting: Setting) -> Record:
    """The record of a run, without cells."""
    this = present_run(setting.device, setting.commit)
    about = {
        "experiment": name,
        "title": title,
        "label": machine_label(this),
        "device": setting.device,
        "sizes": list(setting.sizes),
        "limit_seconds": setting.limit,
        "repeats": setting.repeats,
        "threads": settings().threads,
        "failed": {},
        "notes": [],
    }
    return Record.begin(file, about, this, say=setting.say)


def _with_edges(name: str, subject: Subject) -> Subject:
    if not subject.graph.num_edges:
        raise InputError(f"{name}: there are no edges to measure")
    return subject


def draw_again(name: str, file: Path, folder: Path) -> Finished:
    """Draw the document of an earlier run into the folder, under the name of its file, without measuring."""
    try:
        document = json.loads(file.read_text("utf-8"))
        found = document["experiment"]
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{file}: this is not the JSON file of an experiment") from None
    if found != name:
        raise InputError(f"{file}: this is of the experiment {found}, not {name}")
    return Finished(document, file, draw(document, folder / file.stem))


def draw(document: dict[str, Any], stem: Path) -> list[Path]:
    """Draw the picture of a document in every format. Does nothing without matplotlib."""
    try:
        return save(experiment(document["experiment"]).figure(document), stem)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != "matplotlib":
            raise
        return []
