"""Orbits from raw arrays, natively; see native/src/orbits/vertices.cpp and orbits/edges.cpp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.types import AnyArray, Int64Array

LIMIT = 2.0**61  # for counts at a vertex: raw arrays hold 63 bits, and intermediate sums are up to four times as large


def orbit_columns(
    view: Mapping[str, AnyArray],
    raw: Mapping[str, Int64Array],
    *,
    size: int,
    edges: bool,
    matrix: Int64Array | None,
    columns: Sequence[int],
    threads: int,
    control: Control,
) -> AnyArray:
    """One row per requested column, in the order of the graph's vertices or edges; Python integers beyond 64 bits.

    `matrix` converts all copies to induced ones; None: all copies are returned. Raises CountOverflowError if the raw
    arrays may have overflowed.
    """
    graph, vertices = _graph(view), _narrow(view["vertices"])
    units = len(view["triangles"]) if edges else len(view["vertices"])
    flat = np.zeros(0, np.int64) if matrix is None else np.ascontiguousarray(matrix, np.int64).reshape(-1)
    wanted = np.array(columns, np.int32)

    def fill(low: Int64Array, high: Int64Array) -> bool:
        return _native.mining_orbit_formulas(
            *graph, vertices, dict(raw), size, edges, flat, wanted, LIMIT, low, high, threads, control.words
        )  # fmt: skip

    low = np.empty(units * wanted.size, np.int64)
    if fill(low, low[:0]):
        return low.reshape(wanted.size, units)
    high = np.empty_like(low)
    fill(low, high)
    wide: AnyArray = (high.astype(object) << 64) + low.view(np.uint64).astype(object)
    return wide.reshape(wanted.size, units)


def compose(
    view: Mapping[str, AnyArray], raw: Mapping[str, Int64Array], *, edges: bool, threads: int, control: Control
) -> dict[str, Int64Array]:
    """The arrays that are sums over triangles of other arrays, after these were added up over several devices."""
    found: dict[str, Int64Array] = _native.mining_compose_orbits(
        *_graph(view), dict(raw), edges, threads, control.words
    )
    return found


def _graph(view: Mapping[str, AnyArray]) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray]:
    neighbors, lower, edges, triangles = (_narrow(view[name]) for name in ("neighbors", "lower", "edges", "triangles"))
    return view["offsets"], neighbors, lower, edges, triangles


def _narrow(array: AnyArray) -> AnyArray:
    return np.ascontiguousarray(array, np.int32)
