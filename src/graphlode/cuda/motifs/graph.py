"""Arrays for motif passes in addition to the view, made once per call by kernels of mining/motifs.cu.

By entry: its row, the position of the row in the neighbor's row, and the triangles at the edge. By vertex: degree and
triangles. Local graphs are stored as matrices of bits (see motifs/graph.cuh), for as many vertices as memory allows, in
ascending order of degree. For the other vertices, common neighbors are searched: slower, but without memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.config import settings
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.errors import UnsupportedError

SOURCE = KernelSource(
    "mining/motifs",
    (
        *(
            "motif_rows",
            "motif_sizes",
            "motif_look",
            "motif_entries",
            "motif_firsts",
            "motif_matrices",
            "motif_words_count",
            "motif_words_write",
        ),
        *("motif_vertex_triangles", "motif_vertex_sums", "motif_edge_sums", "motif_triangles"),
    ),
)

_WORD_BYTES = 13  # per listed word of a matrix, including its part of a tile
_LONGEST_LOCAL = 1 << 18  # a matrix has fewer than 2^32 words
_WORTH_ASKING = 64 * 2**20
_NUM_FACTS = 7  # of motif_facts in motifs.cu

# Upper bound of what a row of motifs/wedges.cu may add to a 64-bit sum of a lane.
ROW_LIMIT = 1 << 61


@dataclass(frozen=True)
class MotifGraph:
    """Arrays on the device, and numbers about them on the host."""

    arguments: tuple[Any, ...]  # MOTIF_GRAPH_PARAMETERS, in order
    rows: Any
    degrees: Any
    lower_offsets: Any
    vertex_triangles: Any
    upper: Any  # the neighbors that rank above each row, row by row
    num_vertices: int
    num_entries: int
    first_vertex: int  # the lowest rank with at least two neighbors
    most_common: int  # upper bound of common neighbors of two vertices: the second-largest degree
    row_bound: int  # upper bound of what a row may add to a sum of a lane
    num_local: int  # number of vertices with a matrix

    @property
    def offsets(self) -> Any:
        return self.arguments[0]

    @property
    def neighbors(self) -> Any:
        return self.arguments[1]

    @property
    def lower(self) -> Any:
        return self.arguments[2]

    @property
    def firsts(self) -> Any:
        return self.arguments[3]

    @property
    def places(self) -> Any:
        return self.arguments[4]

    @property
    def supports(self) -> Any:
        return self.arguments[5]


@dataclass(frozen=True)
class _Local:
    """The local graphs of the ranks below `num`."""

    matrix_begins: Any
    matrices: Any
    word_begins: Any
    words: Any
    tile_begins: Any
    tiles: Any
    num: int


def prepare(device: KernelDevice, view: Mapping[str, Any], *, local_bytes: Callable[[int], int]) -> MotifGraph:
    """Prepares all arrays. `local_bytes` returns how many of the bytes that all local graphs need may be used."""
    xp, offsets = device.xp, view["offsets"]
    neighbors = view["neighbors"].astype(np.int32, copy=False)
    num_vertices, num_entries = len(offsets) - 1, len(neighbors)
    kernels = device.load(SOURCE)
    by_row, by_entry = launch_shape(device, 32 * num_vertices), launch_shape(device, num_entries)

    rows = device.empty(num_entries, np.int32)
    kernels.launch("motif_rows", *by_row, (offsets, np.int32(num_vertices), rows))
    lower_offsets = running_offsets(device, view["lower"])
    places, supports = device.empty(num_entries, np.int32), device.empty(num_entries, np.int32)
    upper = device.empty(num_entries // 2, np.int32)
    inputs = (offsets, neighbors, view["lower"], view["edges"], view["triangles"], lower_offsets, rows)
    kernels.launch("motif_entries", *by_entry, (*inputs, np.int64(num_entries), places, supports, upper))
    vertex_triangles = device.empty(num_vertices, np.int64)
    kernels.launch("motif_vertex_triangles", *by_row, (offsets, supports, np.int32(num_vertices), vertex_triangles))

    degrees = device.empty(num_vertices, np.int32)
    matrix_begins, tile_begins = (device.zeros(num_vertices + 1, np.int64) for _ in range(2))
    by_vertex = launch_shape(device, num_vertices)
    sized = (offsets, np.int32(num_vertices), degrees, matrix_begins, tile_begins)
    kernels.launch("motif_sizes", *by_vertex, sized)
    xp.cumsum(matrix_begins, out=matrix_begins)
    xp.cumsum(tile_begins, out=tile_begins)
    facts = device.zeros(_NUM_FACTS, np.int64)
    looked = (offsets, view["triangles"], matrix_begins, tile_begins, np.int32(num_vertices))
    kernels.launch("motif_look", *by_entry, (*looked, np.int64(num_entries // 2), facts))
    first_vertex, second, longest, num_words, num_tiles, most_triangles, incidences = device.get(facts).tolist()
    row_bound = _row_bound(longest, second, most_triangles)
    firsts = device.empty(num_vertices, np.int32)
    starts = (offsets, neighbors, np.int32(num_vertices), np.int32(first_vertex))
    kernels.launch("motif_firsts", *by_vertex, (*starts, firsts))

    most_words = local_words(local_bytes(_WORD_BYTES * num_words), 2 * incidences)
    num_local = num_vertices
    if num_words > most_words or longest > _LONGEST_LOCAL:
        num_local = int(xp.searchsorted(matrix_begins, xp.asarray([most_words]), side="right")[0]) - 1
        short = xp.searchsorted(degrees, xp.asarray([_LONGEST_LOCAL], dtype=np.int32), side="right")
        num_local = min(num_local, int(short[0]))
        num_words, num_tiles = int(matrix_begins[num_local]), int(tile_begins[num_local])
    nothing = device.empty(2, np.uint32)
    local = _Local(matrix_begins, nothing, matrix_begins, nothing, tile_begins, nothing, 0)
    if num_local > 0 and incidences > 0:
        local = _Local(
            matrix_begins,
            device.zeros(num_words, np.uint32),
            device.zeros(num_entries + 1, np.int64),
            device.empty(2 * min(num_words, 2 * incidences), np.uint32),
            tile_begins,
            device.zeros(max(1, num_tiles), np.uint32),
            num_local,
        )
        _fill(device, kernels, (offsets, neighbors, view["lower"], places, supports, rows), local)
    return MotifGraph(
        arguments=(
            *(offsets, neighbors, view["lower"], firsts, places, supports),
            *(local.matrix_begins, local.matrices, local.word_begins, local.words, local.tile_begins, local.tiles),
            *(np.int32(num_vertices), np.int32(local.num)),
        ),
        rows=rows,
        degrees=degrees,
        lower_offsets=lower_offsets,
        vertex_triangles=vertex_triangles,
        upper=upper,
        num_vertices=num_vertices,
        num_entries=num_entries,
        first_vertex=first_vertex,
        most_common=second,
        row_bound=row_bound,
        num_local=local.num,
    )


def running_offsets(device: KernelDevice, lengths: Any) -> Any:
    """Offsets of items with these lengths if they are stored back to back; the last offset is the end."""
    offsets = device.zeros(len(lengths) + 1, np.int64)
    offsets[1:] = lengths
    device.xp.cumsum(offsets, out=offsets)
    return offsets


def available(device: KernelDevice, needed: int, wanted: int | None = None) -> int:
    """Bytes for optional data: nine tenths of the free memory, at most of the memory limit, minus `needed`.

    If `wanted` is small, the device is not asked for its free memory: that takes longer than a small graph.
    """
    limit = settings().memory_limit
    if limit is None and wanted is not None and wanted <= _WORTH_ASKING:
        return wanted
    free = device.memory().free
    return max(0, (free if limit is None else min(limit, free)) * 9 // 10 - needed)


def local_words(num_bytes: int, incidences: int) -> int:
    """Words of matrices that fit in the bytes, with tiles and lists. At most one word is listed per incidence."""
    return max(num_bytes // _WORD_BYTES, (num_bytes - 8 * incidences) // 5, 0)


def prepared_memory(shape: Mapping[str, int]) -> int:
    """Bytes of the prepared arrays without local graphs."""
    return 48 * shape["num_vertices"] + 40 * shape["num_edges"]


def _row_bound(longest: int, second: int, most_triangles: int) -> int:
    """Pairs have at most as many common neighbors as the second-longest row; their factors are bounded, too."""
    most = (longest // 32 + 1) * second * max(2 * longest, 2 * most_triangles, second)
    if most >= ROW_LIMIT:
        raise UnsupportedError(
            f"mining.motifs on CUDA devices: rows of {longest} and {second} neighbors could overflow 64-bit sums; "
            "devices='cpu' has no such limit"
        )
    return most


def _fill(device: KernelDevice, kernels: Any, inputs: tuple[Any, ...], local: _Local) -> None:
    """Fills the matrices, their tiles and the lists of their words, which have room for the largest number."""
    offsets, _, _, _, supports, rows = inputs
    count = np.int64(len(rows))
    scalars = (np.int32(local.num), count)
    grid, block = launch_shape(device, 32 * len(rows))
    kernels.launch("motif_matrices", grid, block, (*inputs, local.matrix_begins, *scalars, local.matrices))
    grid, block = launch_shape(device, len(rows))
    matrices = (local.matrix_begins, local.matrices)
    counted = (offsets, rows, supports, *matrices, local.tile_begins, *scalars, local.tiles, local.word_begins)
    kernels.launch("motif_words_count", grid, block, counted)
    device.xp.cumsum(local.word_begins, out=local.word_begins)
    written = (offsets, rows, *matrices, local.word_begins, count, local.words)
    kernels.launch("motif_words_write", grid, block, written)
