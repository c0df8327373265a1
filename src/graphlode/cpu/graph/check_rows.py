"""Whether rows can be trusted, natively; see native/src/graph/check_rows.cpp."""

from __future__ import annotations

from graphlode.common.control import Control
from graphlode.config import settings
from graphlode.cpu import _native
from graphlode.types import Int64Array, VertexArray

# As in native/include/graphlode/graph/check_rows.hpp.
FAULTS = ("none", "offsets", "range", "order", "self_loop", "symmetry")


def check_rows(offsets: Int64Array, neighbors: VertexArray, *, directed: bool, control: Control) -> tuple[str, int]:
    """The first fault of the rows, one of FAULTS, and the first row that has it."""
    fault, row = _native.graph_check_rows(offsets, neighbors, directed, settings().threads, control.words)
    return FAULTS[fault], row
