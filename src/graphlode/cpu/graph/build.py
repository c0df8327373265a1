"""Rows from edges, natively; see native/src/graph/build.cpp."""

from __future__ import annotations

from typing import Any

from graphlode.common.control import Control
from graphlode.config import settings
from graphlode.cpu import _native
from graphlode.types import MAX_NARROW_VERTICES, AnyArray


def build(
    src: AnyArray, dst: AnyArray, *, num_vertices: int | None, directed: bool, keep_positions: bool, control: Control
) -> dict[str, Any]:
    """Sorted rows without self-loops and repeated edges; `src` and `dst` are both int32 or both int64."""
    bound = 2 * src.size if num_vertices is None else num_vertices
    function = _native.graph_build if bound <= MAX_NARROW_VERTICES else _native.graph_build_wide
    if function is _native.graph_build_wide:
        src, dst = src.astype("int64", copy=False), dst.astype("int64", copy=False)
    given = -1 if num_vertices is None else num_vertices
    result = function(src, dst, given, directed, keep_positions, settings().threads, control.words)
    names = ("offsets", "neighbors", "ids", "positions", "num_edges", "self_loops", "duplicates")
    return dict(zip(names, result, strict=True))
