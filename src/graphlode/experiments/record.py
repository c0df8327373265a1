"""What an experiment leaves behind: one JSON file, written after every cell, so that no crash loses the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphlode.config import settings
from graphlode.experiments.subjects import Subject
from graphlode.measure import Commit, commit_of, environment

SCHEMA = 1

Cell = dict[str, Any]
"""One measurement: which graph, size and variant, its `status`, and all its samples."""


@dataclass(frozen=True)
class Setting:
    """How an experiment is run. `limit` is the time in seconds that one cell may take."""

    device: str
    sizes: Sequence[int]
    limit: float = 60.0
    repeats: int = 5
    say: Callable[[str], None] = lambda text: None
    commit: str | None = None


@dataclass(frozen=True)
class Table:
    """A table for people; the first `words` columns are text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


@dataclass
class Record:
    """The document of one run, and the file it is kept in."""

    file: Path
    document: dict[str, Any]
    _say: Callable[[str], None] = field(default=lambda text: None, repr=False)

    @classmethod
    def begin(cls, file: Path, name: str, title: str, setting: Setting) -> Record:
        commit = Commit(setting.commit, False) if setting.commit else commit_of(Path(__file__).parent)
        document = {
            "schema": SCHEMA,
            "experiment": name,
            "title": title,
            "device": setting.device,
            "sizes": list(setting.sizes),
            "limit_seconds": setting.limit,
            "repeats": setting.repeats,
            "threads": settings().threads,
            "commit": commit.commit,
            "dirty": commit.dirty,
            "environment": environment(setting.device).to_dict(),
            "graphs": [],
            "failed": {},
            "notes": [],
            "cells": [],
        }
        return cls(file, document, setting.say)

    def begin_graph(self, subject: Subject) -> None:
        self.document["graphs"].append(subject.facts)
        self.save()

    def fail_graph(self, name: str, reason: str) -> None:
        """The rest of a graph could not be measured. The first line of the reason is said, all of it is kept."""
        self.document["failed"][name] = reason
        self._say(f"{name}: failed: {reason.splitlines()[0]}")
        self.save()

    @property
    def cells(self) -> list[Cell]:
        cells: list[Cell] = self.document["cells"]
        return cells

    def add(self, cell: Cell) -> None:
        """Keep the cell, say a line about it and save."""
        self.cells.append(cell)
        self._say(_line(cell))
        self.save()

    def note(self, text: str) -> None:
        if text not in self.document["notes"]:
            self.document["notes"].append(text)
            self.save()

    def save(self) -> None:
        """Replace the file by one that is whole: a crash leaves the one before, and so does a record without cells."""
        if not self.cells:
            return
        part = self.file.with_suffix(".part")
        part.write_text(as_text(self.document), "utf-8")
        part.replace(self.file)


def as_text(document: Mapping[str, Any]) -> str:
    """JSON with a line for every entry, and for every element of a list: a thousand samples of a cell are one line."""
    entries = []
    for name, value in document.items():
        if isinstance(value, list) and value:
            inner = ",\n".join(f"  {json.dumps(each)}" for each in value)
            entries.append(f" {json.dumps(name)}: [\n{inner}\n ]")
        else:
            entries.append(f" {json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(entries) + "\n}\n"


def machine_of(document: Mapping[str, Any]) -> str:
    """The GPU, if there was one, and the CPU threads."""
    gpu = document["environment"]["gpu"]
    return f"{gpu}, {document['threads']} CPU threads" if gpu else f"{document['threads']} CPU threads"


def done(cells: Iterable[Cell], **wanted: Any) -> list[Cell]:
    """The cells that were measured, have a right answer and match what is wanted."""
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
