"""Runs an experiment graph by graph. What goes wrong with one graph is written down and does not touch the others."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphlode.errors import InputError
from graphlode.experiments import experiment
from graphlode.experiments.plots import save
from graphlode.experiments.record import Record, Setting
from graphlode.experiments.subjects import Subject

NO_PLOTS = "plots need matplotlib: pip install graphlode[plot]"


@dataclass(frozen=True)
class Finished:
    """The document of a run, the file it is in, and its plots."""

    document: dict[str, Any]
    file: Path
    plots: list[Path]


def run(name: str, graphs: Sequence[str], load: Callable[[str], Subject], setting: Setting, folder: Path) -> Finished:
    """Measure, write NAME.json into the folder, draw. Graphs are loaded one at a time."""
    chosen = experiment(name)
    folder.mkdir(parents=True, exist_ok=True)
    record = Record.begin(folder / f"{name}.json", name, chosen.TITLE, setting)
    for graph in graphs:
        try:
            subject = load(graph)
            record.begin_graph(subject)
            chosen.measure(subject, setting, record)
        except Exception as error:
            # Whatever it is, the other graphs are still worth measuring; the caller sees it at the end.
            record.fail_graph(graph, f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        record.save()
    plots = draw(record.document, folder / name)
    if not plots:
        record.note(NO_PLOTS)
    record.save()
    return Finished(record.document, record.file, plots)


def draw_again(name: str, file: Path, folder: Path) -> Finished:
    """The document of an earlier run, drawn into the folder under the name of its file; nothing is measured."""
    try:
        document = json.loads(file.read_text("utf-8"))
        found = document["experiment"]
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{file}: this is not the JSON file of an experiment") from None
    if found != name:
        raise InputError(f"{file}: this is of the experiment {found}, not {name}")
    folder.mkdir(parents=True, exist_ok=True)
    return Finished(document, file, draw(document, folder / file.stem))


def draw(document: dict[str, Any], stem: Path) -> list[Path]:
    """The picture of a document in every format; nothing without matplotlib."""
    try:
        return save(experiment(document["experiment"]).figure(document), stem)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != "matplotlib":
            raise
        return []
