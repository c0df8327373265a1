"""The result of counting orbits: a matrix with a row per vertex or edge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from graphlode.errors import InputError
from graphlode.execute.provenance import Provenance
from graphlode.graph.graph import Graph
from graphlode.graph.tables import table
from graphlode.mining.motif_counts import Counted
from graphlode.types import AnyArray

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, kw_only=True)
class OrbitCounts:
    """How often each vertex, or edge, occurs at each position in the patterns of up to `size` vertices.

    `values[i, j]` counts orbit `columns[j]` at vertex `graph.ids[i]`, or at edge `graph.edges()[i]` of the undirected
    form. Values are 64-bit integers, or Python integers (dtype object) if one does not fit. `result[orbit]` is the
    column of an orbit.
    """

    size: int
    of: Literal["vertices", "edges"]
    counted: Counted
    columns: tuple[int, ...]
    values: AnyArray
    provenance: Provenance
    graph: Graph = field(repr=False)  # the undirected graph that was counted

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    def __getitem__(self, orbit: int) -> AnyArray:
        if orbit not in self.columns:
            raise InputError(f"orbit {orbit} was not counted; there are {', '.join(map(str, self.columns))}")
        column: AnyArray = self.values[:, self.columns.index(orbit)]
        return column

    @property
    def shape(self) -> tuple[int, int]:
        """Number of vertices, or edges, and number of orbits."""
        rows, orbits = self.values.shape
        return rows, orbits

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns in tables and files: o0, o1, .. for vertices, e0, e1, .. for edges."""
        return tuple(f"{'o' if self.of == 'vertices' else 'e'}{number}" for number in self.columns)

    def to_columns(self) -> dict[str, AnyArray]:
        """The ids of the vertices, or of both ends of the edges, and one column per orbit."""
        if self.of == "vertices":
            keys = {"vertex": self.graph.ids}
        else:
            ends = self.graph.edges()
            keys = {"source": ends[:, 0], "target": ends[:, 1]}
        return {**keys, **{name: self.values[:, j] for j, name in enumerate(self.names)}}

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "size": self.size,
            "of": self.of,
            "counted": self.counted,
            "columns": list(self.columns),
            "values": self.values.tolist(),
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per vertex or edge and a column per orbit."""
        return table(self.to_columns())

    def _repr_html_(self) -> str:
        html: str = self.to_pandas().to_html(max_rows=10, max_cols=20, index=False)
        return html
