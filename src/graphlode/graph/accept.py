"""Converts what operations accept into a Graph: a Graph, a store, a scipy sparse matrix or a networkx graph."""

from __future__ import annotations

from typing import Any

from graphlode.errors import InputError
from graphlode.graph.build import from_networkx, from_scipy
from graphlode.graph.graph import Graph
from graphlode.graph.store.dynamic import DynamicGraph


def as_graph(graph: Any, *, weights: bool = True) -> Graph:
    """The graph itself, a store's newest snapshot, or a conversion. With `weights` False, weights are not converted."""
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, DynamicGraph):
        return graph.snapshot()
    package = type(graph).__module__.partition(".")[0]
    if package == "scipy" and hasattr(graph, "tocoo"):
        return from_scipy(graph, values="auto" if weights else None)
    if package == "networkx" or hasattr(graph, "is_multigraph"):
        return from_networkx(graph, weight="weight" if weights else None)
    accepted = "a graphlode.Graph or DynamicGraph, a scipy sparse matrix or a networkx graph"
    raise InputError(f"a graph is {accepted}, got {type(graph)!r}")


def as_undirected(graph: Any) -> tuple[Graph, tuple[str, ...]]:
    """The undirected form of the graph, and notes for the provenance."""
    given = as_graph(graph, weights=False)
    notes = ("directed graph: its undirected form was used",) if given.directed else ()
    return given.undirected(), notes
