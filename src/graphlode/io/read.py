"""Reads graphs from files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from graphlode.common.control import Control
from graphlode.execute import call
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph
from graphlode.io.budget import Budget, check_announced
from graphlode.io.edges import EdgeList, read_edges
from graphlode.io.formats import Format, file_kind
from graphlode.io.npz import load_own, own_edges, own_ids
from graphlode.io.request import Request, Values, named_errors


def read(
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,
    directed: bool | None = None,
    values: Values | None = "auto",
    num_vertices: int | None = None,
) -> Graph:
    """A graph from a file.

    Parameters
    ----------
    path, format, values
        As in `read_edges`.
    directed
        Whether `u v` and `v u` are two different edges. None: as graphlode wrote into the file, otherwise undirected.
        If an edge of the file stands for both directions, a directed graph has both.
    num_vertices
        If given, the vertices are 0 .. num_vertices - 1. None: as the file says; if it does not, the vertices are the
        ids that occur. A file that announces more than 2^24 vertices, but holds few edges, is refused without it.

    Self-loops and duplicates are dropped and counted in `Graph.provenance`; `read_edges` keeps them. Raises the same
    errors as `read_edges`.

    >>> import graphlode as gl, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "triangle.csv"
    >>> _ = path.write_text("from,to\\n10,20\\n20,30\\n30,10\\n")
    >>> gl.read(path)
    <graphlode.Graph: 3 vertices, 3 edges, undirected>
    """
    file = Path(path)
    if file_kind(file, format).format == "npz" and num_vertices is None:
        own = _read_own(file, directed, values)
        if own is not None:
            return own
    edges = read_edges(file, format=format, values=values)
    with named_errors(file):
        if num_vertices is not None:
            edges = replace(edges, num_vertices=num_vertices)
        elif edges.num_vertices is not None:
            check_announced(edges.num_vertices, len(edges), os.stat(file).st_size)
        return _build(edges, directed)


def _build(edges: EdgeList, directed: bool | None) -> Graph:
    wanted = bool(edges.directed) if directed is None else directed
    if wanted and edges.directed is False:
        edges = _both_directions(edges)
    if edges.num_vertices is not None:
        Budget().require_rows(edges.num_vertices)
    return from_edges(
        edges.src,
        edges.dst,
        num_vertices=edges.num_vertices,
        directed=wanted,
        weights=edges.weights,
        times=edges.times,
        source=edges.source,
    )


def _read_own(path: Path, directed: bool | None, values: Values | None) -> Graph | None:
    """The graph in an archive written by graphlode, including vertices without edges; None for another archive."""
    request = Request(path, values, "", Control())
    with named_errors(path):
        arrays = call(lambda control: load_own(replace(request, control=control)))
        if arrays is None:
            return None
        graph = _build(replace(own_edges(arrays, request), source=str(path)), directed)
        ids = own_ids(arrays)
    return graph if ids is None else graph._with(ids=ids)


def _both_directions(edges: EdgeList) -> EdgeList:
    return EdgeList(
        np.concatenate([edges.src, edges.dst]),
        np.concatenate([edges.dst, edges.src]),
        weights=None if edges.weights is None else np.tile(edges.weights, 2),
        times=None if edges.times is None else np.tile(edges.times, 2),
        num_vertices=edges.num_vertices,
        directed=True,
        source=edges.source,
        format=edges.format,
    )
