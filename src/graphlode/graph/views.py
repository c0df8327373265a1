"""Views: read-only layouts derived from a snapshot, named by value so that what was built is found again.

A view says what it is and what it is built from; how it is built is a kernel of each device (`graph/oriented`).
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
    """The rows of a store's only shard where they lie: `pages` is the shard's state, `num_rows` the number of vertices.

    Never built: who runs an operation on it puts it there, see `graph/pages.py`.
    """

    name = "graph.pages"
    base: View | None = None


@dataclass(frozen=True)
class Transposed:
    """The rows turned round: for each vertex those that lead to it, ascending, as `offsets` and `neighbors`.

    `out_degrees` is the number of entries that leave each vertex. Of an undirected graph that is what `Csr` has already.
    """

    name = "graph.transposed"
    base = Csr()


@dataclass(frozen=True)
class Tiled:
    """The entries by tiles of the adjacency matrix, four bytes each: `edges`, and in `tile_offsets` where tiles begin.

    A tile has what leads from 2^16 sources, its column, to 2^row_bits destinations, its row; tiles follow each other row
    by row. An edge has the source's offset within the column in its upper and the destination's within the row in its
    lower 16 bits, and tiles are sorted. `out_degrees` is the number of entries that leave each of the `num_rows` vertices.

    With `linked`, only vertices that an edge touches count, where the others are many: `linked` in the view has their
    positions, in the order of their new numbers, and `num_vertices` is the number of all.
    """

    row_bits: int = 16
    linked: bool = False
    directed: bool = False  # asked for `linked` only: rows of an undirected graph tell whom an edge touches

    name = "graph.tiled"
    base = Csr()

    def __post_init__(self) -> None:
        if not 10 <= self.row_bits <= 16:
            raise InputError(f"row_bits must be 10 to 16, got {self.row_bits!r}")

    @staticmethod
    def worth_linking(num_linked: int, num_vertices: int) -> bool:
        """Whether so few vertices are linked that it pays to number them anew."""
        return 0 < num_linked <= num_vertices - num_vertices // 8 < num_vertices


@dataclass(frozen=True)
class Weighted:
    """The rows with the weight of each entry: `offsets`, `neighbors` and `weights`, none of them negative or NaN.

    `mean_weight`, on the host, is that of all entries. `edge_weights` gives one weight per edge, in the order of
    `Graph.edges()`; it is asked only where the rows of a device do not have theirs with them.
    """

    directed: bool = False
    edge_weights: Callable[[], FloatArray | None] = field(default=lambda: None, compare=False, repr=False)

    name = "graph.weighted"
    base = Csr()


@dataclass(frozen=True)
class Oriented:
    """Every edge once, from the lower to the higher rank of a total order; rows hold ranks, ascending.

    `offsets` and `neighbors` are in rank space, `vertices[rank]` is the vertex. Orders: "degree" (ascending degree, ties
    by vertex) needs one sort; "degeneracy" bounds every row by the degeneracy; "approximate" bounds it by three times
    the degeneracy in few rounds.
    """

    by: OrderName = "degree"

    name = "graph.oriented"
    base = Csr()

    def __post_init__(self) -> None:
        if self.by not in get_args(OrderName):
            raise InputError(f"an order is one of {', '.join(get_args(OrderName))}, got {self.by!r}")


@dataclass(frozen=True)
class Roots:
    """An oriented view with its rows also listed by falling length: where searches below each row begin.

    Beside the arrays of `Oriented`, `roots` are the rows of at least two entries, longest first, ties by row; and
    `row_counts[d]`, on the host whatever the device, is the number of rows of at least d entries, for d from 0 to one
    more than the longest.
    """

    by: OrderName = "degeneracy"

    name = "graph.roots"

    @property
    def base(self) -> View:
        return Oriented(self.by)
