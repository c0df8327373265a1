"""Reads the graph of a FILE argument."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from graphlode.cli.progress import spinner
from graphlode.datasets import dataset, dataset_names, dataset_path
from graphlode.errors import InputError
from graphlode.graph.graph import Graph
from graphlode.io import read
from graphlode.io.formats import Format
from graphlode.io.request import Values


@dataclass(frozen=True)
class Loaded:
    """A graph, its FILE argument, and the size and reading time of the file."""

    graph: Graph
    name: str
    file_bytes: int | None  # None: not a regular file
    seconds: float

    def facts(self) -> dict[str, Any]:
        """The part of a JSON document that describes the graph."""
        graph = self.graph
        return {
            "name": self.name,
            "num_vertices": graph.num_vertices,
            "num_edges": graph.num_edges,
            "directed": graph.directed,
        }


def load(
    file: str,
    *,
    format: str | None = None,
    directed: bool | None = None,
    values: str = "auto",
    quiet: bool = False,
) -> Loaded:
    """Read FILE: a path if it exists, else a bundled graph; `-` is standard input as text."""
    path = Path("/dev/stdin" if file == "-" else file)
    bundled = file in dataset_names() and not path.exists()
    if not bundled and not path.exists():
        raise InputError(f"{file}: no such file; bundled graphs are {', '.join(dataset_names())}")
    if path.is_dir():
        raise InputError(f"{file}: this is a directory, not a file")
    if file == "-":
        format = format or "text"
    if bundled and values != "auto":
        raise InputError(f"{file}: --values is for files; a bundled graph says itself what it holds")
    kept = cast(Values | None, None if values == "none" else values)
    started = perf_counter()
    with spinner(f"reading {file}", quiet=quiet):
        if bundled:
            graph = dataset(file, directed=directed)
            path = dataset_path(file)
        else:
            graph = read(path, format=cast(Format | None, format), directed=directed, values=kept)
    seconds = perf_counter() - started
    return Loaded(graph, file, path.stat().st_size if path.is_file() else None, seconds)
