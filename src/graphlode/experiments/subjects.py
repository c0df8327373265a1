"""The graphs of an experiment: what a record says of each, and generated ones by a short name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphlode.errors import InputError
from graphlode.generate.rmat import rmat_edges
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph

_FORM = "rmat:SCALE:EDGES or rmat:SCALE:EDGES:SEED, such as rmat:22:100000000"


@dataclass(frozen=True)
class Subject:
    """A graph under the name it goes by in tables, with the numbers of its cliques where they are known."""

    name: str
    graph: Graph
    expected: Mapping[int, int]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Which graph this is, with a digest of its rows."""
        offsets, neighbors = self.graph.csr
        state = hashlib.sha256()
        for array in (offsets, neighbors):
            state.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)
        return {
            "name": self.name,
            "num_vertices": self.graph.num_vertices,
            "num_edges": self.graph.num_edges,
            "sha256": state.hexdigest(),
        }


def is_generated(name: str) -> bool:
    return name.startswith("rmat:")


def generate(name: str, *, directed: bool = False) -> Graph:
    """The recursive matrix graph that `rmat:SCALE:EDGES[:SEED]` names; EDGES are drawn, so that fewer are distinct."""
    parts = name.split(":")[1:]
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        raise InputError(f"{name}: a generated graph is {_FORM}")
    scale, edges, *seed = map(int, parts)
    if not 1 <= scale <= 31:
        raise InputError(f"{name}: SCALE must be from 1 to 31, got {scale}")
    src, dst = rmat_edges(scale, -(-edges >> scale) or 1, seed=seed[0] if seed else 0, end=edges)
    return from_edges(src, dst, num_vertices=2**scale, directed=directed, source=name)


def short_name(name: str) -> str:
    """The name of a file without its folder and suffixes; others as they are."""
    if is_generated(name):
        return name
    return name.rpartition("/")[2].partition(".")[0]
