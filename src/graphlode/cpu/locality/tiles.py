"""Tiles that change on the CPU; see native/src/locality/changing_tiles.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.config import settings
from graphlode.cpu import _native
from graphlode.types import AnyArray, FloatArray, Int64Array


class ChangingTiles:
    """Edges in tiles. Edges are passed as words: the source in the upper, the destination in the lower half."""

    def __init__(self, num_vertices: int) -> None:
        self._native = _native.ChangingTiles(num_vertices)

    @classmethod
    def of_view(cls, view: Mapping[str, Any]) -> ChangingTiles:
        """A copy of the tiles of a view with rows of 2^16 destinations."""
        tiles = cls.__new__(cls)
        tiles._native = _native.ChangingTiles(view["tile_offsets"], view["edges"], view["num_rows"])
        return tiles

    @classmethod
    def of_list(cls, edges: Int64Array, num_vertices: int, control: Control) -> ChangingTiles:
        """Tiles of a list of edges in any order."""
        return cls.of_view(_view(*tile_list(edges, num_vertices, control), num_vertices))

    @property
    def num_edges(self) -> int:
        return self._native.num_edges

    @property
    def num_loose(self) -> int:
        return self._native.num_loose

    def grow(self, num_vertices: int) -> None:
        self._native.grow(num_vertices)

    def insert(self, edges: Int64Array, control: Control) -> int:
        """Inserts edges; returns the number of new ones."""
        return self._native.insert(edges, settings().threads, control.words)

    def erase(self, edges: Int64Array, control: Control) -> int:
        """Deletes edges; returns the number of edges that existed."""
        return self._native.erase(edges, settings().threads, control.words)

    def refine(self, budget: int, control: Control) -> int:
        """Merges tails into their tiles; returns the number of moved edges."""
        return self._native.refine(budget, settings().threads, control.words)

    def pack(self, control: Control) -> tuple[Int64Array, AnyArray]:
        """The offsets of the tiles, and all edges."""
        tile_offsets, edges = self._native.pack(settings().threads, control.words)
        return tile_offsets, edges

    def pagerank(
        self, out_degrees: Int64Array, damping: float, tolerance: float, max_iter: int, budget: int, control: Control
    ) -> tuple[FloatArray, int, bool]:
        """Values, iterations, and whether they converged. Up to `budget` edges are moved before each iteration."""
        options = (damping, tolerance, max_iter, budget, settings().threads, control.words)
        values, iterations, converged = self._native.pagerank(out_degrees.astype(np.float64), *options)
        return values, iterations, converged


def tile_list(edges: Int64Array, num_vertices: int, control: Control) -> tuple[Int64Array, AnyArray]:
    """The offsets of the tiles, and the edges of a list in the order of the tiles."""
    tile_offsets, tiled = _native.graph_tile_list(edges, num_vertices, 16, settings().threads, control.words)
    return tile_offsets, tiled


def rank_tiles(
    tile_offsets: Int64Array, edges: AnyArray, out_degrees: Int64Array, damping: float, max_iter: int, control: Control
) -> FloatArray:
    """Values after `max_iter` iterations."""
    options = (damping, 0.0, max_iter, None, 0, settings().threads, control.words)
    values: FloatArray = _native.analytics_pagerank_tiles(
        tile_offsets, edges, 16, out_degrees.astype(np.float64), *options
    )[0]
    return values


def _view(tile_offsets: Int64Array, edges: AnyArray, num_vertices: int) -> dict[str, Any]:
    return {"tile_offsets": tile_offsets, "edges": edges, "num_rows": num_vertices}
