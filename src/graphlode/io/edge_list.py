"""The edges of a file before they become a graph."""

from __future__ import annotations

from dataclasses import dataclass

from graphlode.types import FloatArray, Int64Array


@dataclass(frozen=True)
class EdgeList:
    """Raw edges in the order of the file, including self-loops, duplicates and repeated events.

    `num_vertices` is set if the file states it; the ids are then 0 .. num_vertices - 1. `directed` is False if every
    edge stands for both directions, True if the file says that it is directed, None if the file does not say.
    """

    src: Int64Array
    dst: Int64Array
    weights: FloatArray | None = None
    times: Int64Array | None = None
    num_vertices: int | None = None
    directed: bool | None = None
    source: str = ""
    format: str = ""

    def __len__(self) -> int:
        return self.src.size

    @property
    def values(self) -> FloatArray | Int64Array | None:
        """The third column: the weights (float64) or, if there are none, the times (int64)."""
        return self.times if self.weights is None else self.weights
