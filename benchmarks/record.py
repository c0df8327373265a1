"""The results of measurements: one JSON file for each group of cases, or experiment, and class of machine.

A file names the runs of its numbers (commit and environment) and the graphs, and has a line for every *cell*: a case,
or the measurement of an experiment for one graph, size and variant, with all samples and the results that its answer
agreed with. The file is replaced after every cell, so a crash loses no earlier cell, and a reader always finds a
complete file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphlode.measure import Commit, commit_of, environment

SCHEMA = 2
_DIGITS = 10  # significant ones: more than any clock has

Cell = dict[str, Any]
"""One measurement; its `status` is "done" if it was measured and its answer is right."""


@dataclass
class Record:
    """The document of a file. `run` is the index of the current run among those that the document names."""

    file: Path
    document: dict[str, Any]
    run: int = 0
    say: Callable[[str], None] = field(default=lambda text: None, repr=False)

    @classmethod
    def begin(cls, file: Path, about: Mapping[str, Any], run: Mapping[str, Any], **fields: Any) -> Record:
        """A record without cells. An existing file does not change until the first cell."""
        document = {"schema": SCHEMA, **about, "runs": [run], "graphs": [], "cells": []}
        return cls(file, document, **fields)

    @classmethod
    def resume(cls, file: Path, about: Mapping[str, Any], run: Mapping[str, Any], **fields: Any) -> Record:
        """The record of a file with one more run, or a new one."""
        if not file.exists():
            return cls.begin(file, about, run, **fields)
        document = json.loads(file.read_text("utf-8"))
        if run not in document["runs"]:
            document["runs"].append(run)
        return cls(file, document, document["runs"].index(run), **fields)

    @property
    def cells(self) -> list[Cell]:
        cells: list[Cell] = self.document["cells"]
        return cells

    def add_graph(self, facts: Mapping[str, Any]) -> None:
        """Name a graph, and drop the cells of a different graph with this name."""
        graphs = self.document["graphs"]
        if facts not in graphs:
            self.cells[:] = [cell for cell in self.cells if cell["graph"] != facts["name"]]
            graphs[:] = [*(graph for graph in graphs if graph["name"] != facts["name"]), dict(facts)]

    def fail_graph(self, name: str, reason: str) -> None:
        """Record that the rest of a graph could not be measured. Reports the first line of the reason, and stores all
        of it."""
        self.document["failed"][name] = reason
        self.say(f"{name}: failed: {reason.splitlines()[0]}")
        self.save()

    def add(self, cell: Cell) -> None:
        """Add the cell, report a line about it and save."""
        self.cells.append(cell)
        self.say(_line(cell))
        self.save()

    def put_case(self, case: str, cell: Cell) -> None:
        """Add the cell of a case, replacing an earlier one, and save. Runs without a cell are dropped."""
        kept = {each["case"]: each for each in self.cells} | {case: {"case": case, "run": self.run} | cell}
        runs = sorted({each["run"] for each in kept.values()})
        self.document["runs"] = [self.document["runs"][run] for run in runs]
        self.document["cells"] = [each | {"run": runs.index(each["run"])} for _, each in sorted(kept.items())]
        self.run = runs.index(self.run)
        self.save()

    def note(self, text: str) -> None:
        if text not in self.document["notes"]:
            self.document["notes"].append(text)
            self.save()

    def save(self) -> None:
        """Replace the file at once: after a crash the earlier file is still there. Without cells nothing is written."""
        if not self.cells:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        part = self.file.with_suffix(".part")
        part.write_text(as_text(self.document), "utf-8")
        part.replace(self.file)


def as_text(document: Mapping[str, Any]) -> str:
    """JSON with a line for every run, graph and cell, and for every other entry: all samples of a cell are one line."""
    entries = []
    for name, value in document.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            inner = ",\n".join(f"  {json.dumps(_rounded(each))}" for each in value)
            entries.append(f" {json.dumps(name)}: [\n{inner}\n ]")
        else:
            entries.append(f" {json.dumps(name)}: {json.dumps(_rounded(value))}")
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value


def present_run(devices: str, commit: str | None = None) -> dict[str, Any]:
    """The commit and environment of this process. The caller may give the commit if git does not know it."""
    known = Commit(commit, dirty=False) if commit else commit_of(Path(__file__).parent)
    return {"commit": known.commit, "dirty": known.dirty, "environment": environment(devices).to_dict()}


def machine_label(run: Mapping[str, Any]) -> str:
    """The class of machine, such as "2 cores" or "NVIDIA H200, 16 cores"."""
    threads, gpu = run["environment"]["threads"], run["environment"]["gpu"]
    cores = f"{threads} core{'' if threads == 1 else 's'}"
    return cores if gpu is None else f"{gpu}, {cores}"


def folder_name(label: str) -> str:
    """The folder of a class of machine."""
    return "".join(char if char.isalnum() else "-" for char in label.lower()).replace("--", "-")


def environment_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The class of machine of a document with one run."""
    found: dict[str, Any] = document["runs"][0]["environment"]
    return found


def device_of(document: Mapping[str, Any]) -> str:
    """The GPU, or the device by its name."""
    return str(environment_of(document)["gpu"] or document["device"])


def machine_of(document: Mapping[str, Any]) -> str:
    """The GPU, if there was one, and the CPU threads."""
    gpu = environment_of(document)["gpu"]
    return f"{gpu}, {document['threads']} CPU threads" if gpu else f"{document['threads']} CPU threads"


def done(cells: Iterable[Cell], **wanted: Any) -> list[Cell]:
    """The cells that were measured, have a right answer and match the wanted values."""
    return [cell for cell in cells if cell["status"] == "done" and matches(cell, wanted)]


def matches(cell: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(cell.get(name) == value for name, value in wanted.items())


def names_of(document: Mapping[str, Any]) -> list[str]:
    return [graph["name"] for graph in document["graphs"]]


def _line(cell: Cell) -> str:
    seconds = cell.get("seconds") or []
    what = f"{min(seconds):.6f} s" if seconds else cell.get("reason", "")
    facts = [f"{name}={cell[name]}" for name in ("k", "batch", "kind") if name in cell]
    words = [cell["graph"], *facts, cell.get("method") or cell.get("variant") or "", cell.get("device", "")]
    return f"{' '.join(word for word in words if word)}: {cell['status']} {what}".rstrip()
