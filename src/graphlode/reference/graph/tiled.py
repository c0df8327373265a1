"""The tiled view, directly from its definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray


def build(device: ReferenceDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, Any]:
    rows = rows_of(base)
    linked_arrays: dict[str, Any] = {}
    if view.linked:
        touched = sorted({u for u, row in enumerate(rows) if len(row)} | {int(v) for row in rows for v in row})
        if view.worth_linking(len(touched), len(rows)):
            number = {vertex: place for place, vertex in enumerate(touched)}
            linked_arrays = {"linked": np.array(touched, base["neighbors"].dtype), "num_vertices": len(rows)}
            rows = [{number[int(v)] for v in rows[u]} for u in touched]
    num_tile_rows, num_columns = -(-len(rows) >> view.row_bits), -(-len(rows) >> 16)
    tiles: list[list[int]] = [[] for _ in range(num_tile_rows * num_columns)]
    for u, row in enumerate(rows):
        for v in row:
            edge = (u & 0xFFFF) << 16 | v & ((1 << view.row_bits) - 1)
            tiles[(v >> view.row_bits) * num_columns + (u >> 16)].append(edge)
    tile_offsets = np.zeros(len(tiles) + 1, np.int64)
    tile_offsets[1:] = np.cumsum([len(tile) for tile in tiles])
    edges = np.array([edge for tile in tiles for edge in sorted(tile)], np.uint32)
    return {
        "tile_offsets": tile_offsets,
        "edges": edges,
        "out_degrees": np.array([len(row) for row in rows], np.int64),
        "num_rows": len(rows),
        "row_bits": view.row_bits,
        **linked_arrays,
    }


def ends_of(view: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Both ends of every edge, in the order of the tiles."""
    num_columns = -(-view["num_rows"] >> 16)
    ends = []
    for tile, (begin, end) in enumerate(zip(view["tile_offsets"][:-1], view["tile_offsets"][1:], strict=True)):
        row, column = divmod(tile, num_columns)
        for edge in view["edges"][begin:end].tolist():
            ends.append((column << 16 | edge >> 16, row << view["row_bits"] | edge & 0xFFFF))
    return ends


def memory(device: ReferenceDevice, shape: Mapping[str, int]) -> int:
    return 0
