"""Rows and values from outside: copied, so that no caller changes them later, and checked, so that kernels can trust them.

They are copied first. A check of the caller's arrays would say nothing of what another thread writes after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.cpu.graph.check_rows import check_rows
from graphlode.errors import InputError
from graphlode.execute import call
from graphlode.graph.arrays import as_ids, as_values, as_weights
from graphlode.types import FloatArray, Int64Array, VertexArray, vertex_dtype

STATE = ("_offsets", "_neighbors", "_ids", "_directed", "_weights", "_times", "_provenance", "_version")
"""What makes a graph, and what its pickle holds."""

REPAIRABLE = ("order", "self_loop", "symmetry")
"""Faults of rows that still name edges, so that a graph can be built from them again."""


def own_rows(offsets: Any, neighbors: Any, *, keep_width: bool) -> tuple[Int64Array, VertexArray]:
    """Copies of the two arrays. With `keep_width`, 64-bit neighbors stay 64-bit in a small graph."""
    starts = as_ids(offsets, "offsets").astype(np.int64, copy=True)
    given = as_ids(neighbors, "neighbors")
    if starts.size == 0:
        raise InputError(f"offsets must rise from 0 to the number of neighbors ({given.size}), got no offsets")
    size = starts.size - 1
    dtype = vertex_dtype(size)
    if keep_width and given.size and given.dtype.itemsize > dtype.itemsize:
        dtype = given.dtype
    if given.dtype.itemsize > dtype.itemsize:
        require_range(given, size)  # narrowing would wrap
    heads: VertexArray = given.astype(dtype, copy=True)
    return starts, heads


def require_range(neighbors: VertexArray, size: int) -> None:
    if neighbors.size and not (int(neighbors.min()) >= 0 and int(neighbors.max()) < size):
        bounds = f"{int(neighbors.min())} .. {int(neighbors.max())}"
        raise InputError(f"neighbors must lie in 0 .. {size - 1}, got {bounds}")


def fault_of(offsets: Int64Array, neighbors: VertexArray, directed: bool) -> tuple[str, int]:
    """One of REPAIRABLE and its first row, or ("none", 0). Raises InputError for rows that name no edges."""
    fault, row = call(lambda control: check_rows(offsets, neighbors, directed=directed, control=control))
    if fault == "offsets":
        raise InputError(
            f"offsets must rise from 0 to the number of neighbors ({neighbors.size}); they do not at position {row}"
        )
    if fault == "range":
        require_range(neighbors, offsets.size - 1)
    return fault, row


def require_rows(offsets: Int64Array, neighbors: VertexArray, directed: bool) -> None:
    """Raise InputError unless the rows are those of a simple graph."""
    fault, row = fault_of(offsets, neighbors, directed)
    if fault == "none":
        return
    says = {
        "order": f"neighbors of vertex {row} must ascend, each once",
        "self_loop": f"neighbors of vertex {row} must not contain the vertex itself",
        "symmetry": f"neighbors of an undirected graph must be symmetric; vertex {row} has one that does not have it",
    }
    raise InputError(f"{says[fault]}; from_csr accepts such rows and rebuilds them")


def own_names(ids: Any, size: int) -> Int64Array | None:
    """A copy of the ids of the vertices: distinct, in any order."""
    if ids is None:
        return None
    names = as_ids(ids, "ids").astype(np.int64, copy=True)
    if names.size != size:
        raise InputError(f"ids must name {size} vertices, got {names.size}")
    if not (names[1:] > names[:-1]).all():
        in_order = np.sort(names)
        repeated = np.flatnonzero(in_order[1:] == in_order[:-1])
        if repeated.size:
            raise InputError(f"ids must be distinct, {int(in_order[repeated[0]])} is repeated")
    return names


def own_weights(weights: Any, size: int) -> FloatArray | None:
    """A copy of the weights, one finite number per edge."""
    values = as_weights(weights, size)
    return None if values is None else np.array(values)


def own_times(times: Any, size: int) -> Int64Array | None:
    """A copy of the times, one 64-bit integer per edge."""
    values = as_values(times, "times", np.int64, size)
    return None if values is None else np.array(values)


def checked_state(state: Any) -> dict[str, Any]:
    """What makes a graph, from a constructor or a pickle, copied and checked; values of other names are ignored."""
    if not isinstance(state, dict) or not state.keys() >= set(STATE):
        raise InputError(f"the state of a graph has the names {', '.join(STATE)}")
    directed, version = state["_directed"], state["_version"]
    if not isinstance(directed, bool | np.bool_):
        raise InputError(f"directed must be True or False, got {directed!r}")
    if isinstance(version, bool) or not isinstance(version, int | np.integer) or not 0 <= version < 2**63:
        raise InputError(f"version must be an integer of at least 0, got {version!r}")
    offsets, neighbors = own_rows(state["_offsets"], state["_neighbors"], keep_width=True)
    require_rows(offsets, neighbors, bool(directed))
    num_edges = neighbors.size if directed else neighbors.size // 2
    return {
        "_offsets": offsets,
        "_neighbors": neighbors,
        "_ids": own_names(state["_ids"], offsets.size - 1),
        "_directed": bool(directed),
        "_weights": own_weights(state["_weights"], num_edges),
        "_times": own_times(state["_times"], num_edges),
        "_provenance": state["_provenance"],
        "_version": int(version),
    }
