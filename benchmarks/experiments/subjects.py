"""The graphs of an experiment: their facts for a record, and generated graphs by a short name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphlode.errors import InputError
from graphlode.generate.rmat import rmat_edges
from graphlode.generate.web import web_edges
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph

_FORM = "KIND:SCALE:EDGES or KIND:SCALE:EDGES:SEED, such as rmat:22:100000000; KIND is rmat or web"
_KINDS = ("rmat:", "web:")


@dataclass(frozen=True)
class Subject:
    """A graph with its name in tables and its known counts by size: of cliques, or of the copies of each pattern."""

    name: str
    graph: Graph
    expected: Mapping[int, Any]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Facts that identify the graph, with a digest of its rows."""
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


def known_cliques(entry: Mapping[str, int]) -> dict[int, int]:
    """By size, the numbers of cliques of a graph in a file of known counts."""
    return {int(k): int(count) for k, count in entry.items()}


def is_generated(name: str) -> bool:
    return name.startswith(_KINDS)


def generate(name: str, *, directed: bool = False) -> Graph:
    """The graph that `rmat:SCALE:EDGES[:SEED]` or `web:SCALE:EDGES[:SEED]` names.

    It is a recursive matrix graph, or one like that of web pages. EDGES edges are drawn, of which fewer are distinct.
    """
    kind, *parts = name.split(":")
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        raise InputError(f"{name}: a generated graph is {_FORM}")
    scale, edges, *seed = map(int, parts)
    if not 1 <= scale <= 31:
        raise InputError(f"{name}: SCALE must be from 1 to 31, got {scale}")
    if kind == "web":
        src, dst = web_edges(scale, seed=seed[0] if seed else 0, num_edges=edges)
    else:
        src, dst = rmat_edges(scale, -(-edges >> scale) or 1, seed=seed[0] if seed else 0, end=edges)
    return from_edges(src, dst, num_vertices=2**scale, directed=directed, source=name)


def short_name(name: str) -> str:
    """The name of a file without its folder and suffixes; others as they are."""
    if is_generated(name):
        return name
    return name.rpartition("/")[2].partition(".")[0]
