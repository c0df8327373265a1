"""The result of counting motifs: numbers, tables and a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphlode.common.cached import cached_property
from graphlode.errors import InputError
from graphlode.execute.provenance import Provenance
from graphlode.graph.tables import table
from graphlode.mining.patterns import ByPattern, inverse, pattern_matrix

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

Counted = Literal["induced", "noninduced"]


@dataclass(frozen=True, kw_only=True)
class MotifCounts(ByPattern):
    """Number of copies of each pattern H1, H2, .. of up to `size` vertices.

    `induced` and `noninduced` are Python integers in the order of `patterns`; `counts` is the requested one of the two.
    `result["H6"]` and `result["4-cycle"]` give the count of one pattern.
    """

    size: int
    counted: Counted
    noninduced: tuple[int, ...]
    provenance: Provenance

    @cached_property
    def induced(self) -> tuple[int, ...]:
        """Copies with no further edges among their vertices."""
        return induced_from(self.noninduced)

    @property
    def counts(self) -> tuple[int, ...]:
        """Induced copies or all copies, whichever was requested."""
        return self.induced if self.counted == "induced" else self.noninduced

    def __getitem__(self, pattern: str) -> int:
        for number, known in enumerate(self.patterns):
            if pattern in (known.id, known.name):
                return self.counts[number]
        raise InputError(
            f"patterns of up to {self.size} vertices are {', '.join(self.ids)} or their names, got {pattern!r}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "size": self.size,
            "order": list(self.ids),
            "names": list(self.names),
            "edges": [[list(edge) for edge in pattern.edges] for pattern in self.patterns],
            "induced": list(self.induced),
            "noninduced": list(self.noninduced),
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per pattern. A column with counts beyond 64 bits holds Python integers."""
        return table(
            {
                "pattern": self.ids,
                "name": self.names,
                "vertices": [pattern.num_vertices for pattern in self.patterns],
                "edges": [pattern.num_edges for pattern in self.patterns],
                "induced": as_column(self.induced),
                "noninduced": as_column(self.noninduced),
            }
        )

    def plot(self) -> Figure:
        """A figure of the counts, on a logarithmic axis, with drawings of the patterns. Needs matplotlib."""
        from graphlode.mining.motif_drawings import draw_counts

        return draw_counts(self.patterns, self.counts, self.counted)

    def _repr_html_(self) -> str:
        from graphlode.mining.motif_drawings import html_table

        return html_table(self.patterns, {"induced": self.induced, "all copies": self.noninduced})


def induced_from(noninduced: tuple[int, ...]) -> tuple[int, ...]:
    """Numbers of induced copies, from the numbers of all copies."""
    rows = inverse(pattern_matrix()).tolist()[: len(noninduced)]
    return tuple(sum(a * x for a, x in zip(row, noninduced, strict=False) if a) for row in rows)


def as_column(values: tuple[int, ...]) -> Any:
    """An array of 64-bit integers if all values fit, else of Python integers."""
    fits = all(-(2**63) <= value < 2**63 for value in values)
    return np.array(values, np.int64 if fits else object)
