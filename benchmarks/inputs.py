"""Named input graphs: files with a digest, or generated ones."""

from __future__ import annotations

import hashlib
import os
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import FOLDER, GRAPHS
from graphlode import generate
from graphlode.io.edges import read_edges
from graphlode.types import AnyArray

RECORDED = "recorded"


class Skipped(Exception):
    """A case cannot run here; the message says why."""


@dataclass(frozen=True)
class Input:
    """Edges as given: positions 0 .. num_vertices - 1, with the repeats and self-loops of the source."""

    name: str
    sha256: str
    num_vertices: int
    src: AnyArray
    dst: AnyArray

    @property
    def facts(self) -> dict[str, Any]:
        """The facts for a record."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "num_vertices": self.num_vertices,
            "num_edges": self.graph.num_edges,
        }

    @cached_property
    def graph(self) -> gl.Graph:
        return gl.from_edges(self.src, self.dst, num_vertices=self.num_vertices, source=self.name)

    @cached_property
    def simple(self) -> AnyArray:
        """Each undirected edge once, as an (m, 2) array."""
        return self.graph.edges(indices=True)

    @cached_property
    def both_ways(self) -> tuple[AnyArray, AnyArray]:
        """The list and its reverse, for libraries that build rows of the edges as given."""
        return np.concatenate([self.src, self.dst]), np.concatenate([self.dst, self.src])


class Inputs:
    """Loads inputs on first use, and keeps the last one: cases are in the order of their graphs."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._known: dict[str, dict[str, Any]] = tomllib.loads((folder / f"{GRAPHS}.toml").read_text("utf-8"))
        self._kept: Input | None = None

    def get(self, name: str) -> Input:
        if self._kept is None or self._kept.name != name:
            self._kept = None
            fields = {key: value for key, value in self._known[name].items() if key != RECORDED}
            self._kept = _read(name, **fields) if "file" in fields else _generate(name, **fields)
        return self._kept

    def recorded(self, graph: str, operation: str) -> dict[str, int]:
        """The answers that are stored with the graph. At least two programs agreed on each."""
        answers: dict[str, int] = self._known[graph].get(RECORDED, {}).get(operation, {})
        return answers


def digest(*arrays: AnyArray) -> str:
    """sha256 of the arrays' bytes, little-endian."""
    state = hashlib.sha256()
    for array in arrays:
        state.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)
    return state.hexdigest()


def _generate(name: str, generate: str, **arguments: Any) -> Input:
    src, dst = _edges_of(generate)(**arguments)
    return Input(name, digest(src, dst), 2 ** arguments["scale"], src, dst)


def _edges_of(generator: str) -> Any:
    return getattr(generate, f"{generator}_edges")


def _read(name: str, file: str, sha256: str) -> Input:
    folder = os.environ.get("GRAPHLODE_DATA")
    path = Path(folder or ".") / file
    if folder is None or not path.exists():
        raise Skipped(f"needs {file} in the folder that GRAPHLODE_DATA names")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise Skipped(f"{file} has the digest {found[:12]}..., expected {sha256[:12]}...")
    edges = read_edges(path)
    ids, positions = np.unique(np.concatenate([edges.src, edges.dst]), return_inverse=True)
    src, dst = positions.astype(np.int32).reshape(2, -1)
    return Input(name, sha256, len(ids), src, dst)
