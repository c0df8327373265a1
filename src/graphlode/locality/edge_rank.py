"""PageRank over a list of edges in its stored order. Each iteration may also improve the order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter, thread_time

import numpy as np

from graphlode.common.control import Control
from graphlode.common.numbers import integer, real
from graphlode.errors import InputError
from graphlode.execute import call
from graphlode.execute.device import kernel_module
from graphlode.locality.orders import EdgeOrder, lines_per_edge, one_device
from graphlode.types import MAX_NARROW_VERTICES, FloatArray


@dataclass(frozen=True, eq=False)
class EdgeRank:
    """The value of each vertex, and measurements of every iteration.

    `reordered` says which iterations also reordered the list. `lines_per_edge` is the locality of the list at the start
    of each iteration (see `EdgeOrder.lines_per_edge`). `cpu_seconds` excludes time when other processes had the core.
    """

    values: FloatArray
    converged: bool
    seconds: tuple[float, ...]
    cpu_seconds: tuple[float, ...]
    reordered: tuple[bool, ...]
    lines_per_edge: tuple[float, ...]

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return len(self.seconds)


def rank_edges(
    order: EdgeOrder,
    *,
    num_vertices: int | None = None,
    damping: float = 0.85,
    tol: float = 1e-6,
    max_iter: int = 100,
    devices: str = "cpu",
) -> EdgeRank:
    """PageRank directly from a list of edges. No rows are built, so a list that changes needs no preparation.

    Every iteration is one pass of the order: reordering happens while the edges are processed. Repeated edges count
    each time. Arguments and values are those of `graphlode.pagerank`; `num_vertices` defaults to the largest end plus
    1. On the CPU the pass runs on one thread, because two edges may lead to the same vertex. On a CUDA device the list
    stays on the device during all iterations. Additions there are atomic, and values are fixed-point numbers, so the
    answer does not depend on the order of additions. Raises InputError for arguments out of range.

    >>> from graphlode.locality import EdgeOrder, rank_edges
    >>> order = EdgeOrder([0, 1, 2, 2], [1, 2, 0, 1], order="progressive", lanes=2)
    >>> rank_edges(order).values.round(3).tolist()
    [0.215, 0.397, 0.388]
    """
    least = int(max(order.src.max(initial=-1), order.dst.max(initial=-1))) + 1
    n = least if num_vertices is None else integer("num_vertices", num_vertices, most=MAX_NARROW_VERTICES)
    if n < least:
        raise InputError(f"an edge ends at vertex {least - 1}, but there are {n} vertices")
    if not 0 <= real("damping", damping) <= 1:
        raise InputError(f"damping must be 0 to 1, got {damping!r}")
    if not 0 <= real("tol", tol) < math.inf:
        raise InputError(f"tol must be a number of at least 0, got {tol!r}")
    most = integer("max_iter", max_iter)
    device = one_device(devices)
    kernel = kernel_module(device, "locality.edge_rank")
    seconds: list[float] = []
    cpu_seconds: list[float] = []
    reordered: list[bool] = []
    localities: list[float] = []

    def iterate(control: Control) -> tuple[FloatArray, bool]:
        out_degrees = np.bincount(order.src, minlength=n)
        ranker = kernel.Ranker(device, order.edges, out_degrees, damping, by_destination=order.by_destination)
        converged = False
        while not converged and len(seconds) < most:
            lanes = order.next_lanes
            localities.append(
                localities[-1] if reordered and not reordered[-1] else lines_per_edge(order.num_edges, ranker.window)
            )
            started, started_cpu = perf_counter(), thread_time()
            change = ranker.iterate(lanes=lanes, level=order.level + 1, control=control)
            seconds.append(perf_counter() - started)
            cpu_seconds.append(thread_time() - started_cpu)
            reordered.append(lanes > 0)
            order.pass_done(reordered=lanes > 0)
            converged = change < float(tol) * n
        order.edges = ranker.edges
        return ranker.values, converged

    values, converged = call(iterate, device) if n else (np.zeros(0), True)
    return EdgeRank(
        values, converged, tuple(seconds), tuple(cpu_seconds), tuple(reordered), lines_per_edge=tuple(localities)
    )
