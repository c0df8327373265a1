"""Views: read-only layouts derived from a snapshot. Equal view objects name the same layout, so it is built once.

A view says what it contains and which view it is built from. Each device has a kernel that builds it
(`graph/oriented`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from graphlode.errors import InputError
from graphlode.execute.device import View
from graphlode.types import FloatArray

OrderName = Literal["degree", "degeneracy", "approximate"]


@dataclass(frozen=True)
class Csr:
    """The snapshot's own rows: `offsets` and `neighbors`, sorted within each row."""

    name = "graph.csr"
    base: View | None = None


@dataclass(frozen=True)
class Pages:
    """The rows of a store with one shard, as stored: `pages` is the shard's state, `num_rows` the number of vertices.

    This view is never built: the code that runs an operation on it adds it to the graph, see `graph/store/pages.py`.
    """

    name = "graph.pages"
    base: View | None = None


@dataclass(frozen=True)
class Transposed:
    """The transposed rows: for each vertex the vertices that lead to it, ascending, as `offsets` and `neighbors`.

    `out_degrees` is the number of outgoing entries of each vertex. An undirected graph needs no transpose: `Csr` is it.
    `out_degrees` is the number of outgoing entries of each vertex. For an undirected graph, `Csr` is already this view.
    """

    name = "graph.transposed"
    base = Csr()


@dataclass(frozen=True)
class Tiled:
    """The entries grouped by tiles of the adjacency matrix, four bytes each: `edges`, and `tile_offsets` of each tile.

    A tile has the entries from 2^16 sources, its column, to 2^row_bits destinations, its row. Tiles are stored row by
    row, and each is sorted. The upper 16 bits of an entry are the source's offset within the column, the lower 16 bits
    the destination's offset within the row. `out_degrees` is the number of outgoing entries of each of the `num_rows`
    vertices.

    With `linked`, vertices without edges are left out if there are many: `linked` in the view has the positions of the
    others, in the order of their new numbers, and `num_vertices` is the number of all vertices.
    """

    row_bits: int = 16
    linked: bool = False
    directed: bool = False  # used for `linked` only: rows of an undirected graph show which vertices have edges

    name = "graph.tiled"
    base = Csr()

    def __post_init__(self) -> None:
        if not 10 <= self.row_bits <= 16:
            raise InputError(f"row_bits must be 10 to 16, got {self.row_bits!r}")

    @staticmethod
    def worth_linking(num_linked: int, num_vertices: int) -> bool:
        """Whether enough vertices have no edges that renumbering the others pays."""
        return 0 < num_linked <= num_vertices - num_vertices // 8 < num_vertices


@dataclass(frozen=True)
class Weighted:
    """The rows with the weight of each entry: `offsets`, `neighbors` and `weights`, none of them negative or NaN.

    `mean_weight`, on the host, is the mean over all entries. `edge_weights` returns one weight per edge, in the order
    of `Graph.edges()`; it is called only if the rows on a device do not carry their weights.
    """

    directed: bool = False
    edge_weights: Callable[[], FloatArray | None] = field(default=lambda: None, compare=False, repr=False)

    name = "graph.weighted"
    base = Csr()


@dataclass(frozen=True)
class Oriented:
    """Every edge once, from the lower to the higher rank of a total order; rows hold ranks, ascending.

    `offsets` and `neighbors` are in rank space; `vertices[rank]` is the vertex. Orders: "degree" (ascending degree,
    ties by vertex) needs one sort. "degeneracy" bounds the length of every row by the degeneracy. "approximate" bounds
    it by three times the degeneracy and needs only a few rounds.
    """

    by: OrderName = "degree"

    name = "graph.oriented"
    base = Csr()

    def __post_init__(self) -> None:
        if self.by not in get_args(OrderName):
            raise InputError(f"an order is one of {', '.join(get_args(OrderName))}, got {self.by!r}")


@dataclass(frozen=True)
class Roots:
    """An oriented view and a list of its rows by falling length: the roots of searches.

    In addition to the arrays of `Oriented`, `roots` are the rows with at least two entries, longest first, ties by row.
    `row_counts[d]`, on the host for every device, is the number of rows with at least d entries, for d from 0 to one
    more than the longest.
    """

    by: OrderName = "degeneracy"

    name = "graph.roots"

    @property
    def base(self) -> View:
        return Oriented(self.by)
