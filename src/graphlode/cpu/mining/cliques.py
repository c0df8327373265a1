"""k-cliques on the CPU; see native/src/mining/cliques.cpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import comb, isqrt
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.counts import binomials, bound_of_rows, limbs_for, total_of_leaves
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.errors import UnsupportedError
from graphlode.types import AnyArray, Int64Array, Task

_LONGEST_ROW = 4096
METHODS = ("pivot", "enumerate", "set")


def launch(
    device: CpuDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    k: int,
    by: str | None,
    method: str,
) -> dict[str, Any]:
    if method not in METHODS:
        raise UnsupportedError(f"method {method!r} is not there on the CPU; it has {', '.join(METHODS)}")
    offsets, neighbors, roots = view["offsets"], view["neighbors"], view["roots"]
    longest = view["row_counts"].size - 2
    limbs, table = 1, np.zeros(0, np.uint64)
    if by is not None:
        limbs = limbs_for(bound_of_rows(view["row_counts"], k))
        if method == "pivot" and k <= longest + 1:  # otherwise there are no cliques and the table is not used
            table = binomials(longest + 1, k, limbs, control.check).reshape(-1)
    units = {None: 0, "vertex": offsets.size - 1, "edge": neighbors.size}[by]
    counts = np.zeros((units, limbs), np.uint64)
    total = 0
    for task in tasks:
        leaves = _native.mining_cliques(
            offsets, neighbors, roots, task.begin, task.end, k, method, by or "total",
            counts.reshape(-1), table, limbs, device.threads, control.words,
        )  # fmt: skip
        total += sum(total_of_leaves(part, k) << shift for part, shift in halves(*leaves))
    return {"total": total, "counts": None if by is None else counts}


def halves(low: AnyArray, high: AnyArray, columns: int) -> list[tuple[AnyArray, int]]:
    """A native table of leaves as [h][p] tables of 64-bit words, each with the exponent of its power of two."""
    return [(part.reshape(-1, columns), shift) for part, shift in ((low, 0), (high, 64)) if part.any()]


def memory(device: CpuDevice, shape: Mapping[str, int], *, k: int, by: str | None, method: str) -> int:
    """Bytes in addition to the view, for the longest possible row of a graph of this size.

    Per thread: a position per vertex, the table of leaves, and the bit rows and sets of a search; for counts per vertex
    or edge also a cell per vertex or pair of the row. In addition the counts themselves. The longest row is not known
    before the view is built, so this is an upper bound; real graphs need far less.
    """
    n, m = shape["num_vertices"], shape["num_edges"]
    longest = longest_row(m)
    limbs = limbs_for(n * comb(longest, k - 1)) if by else 0
    cells = {None: 0, "vertex": longest + 1, "edge": (longest + 1) ** 2}[by]
    units = {None: 0, "vertex": n, "edge": m}[by]
    table = (longest + 2) * (k + 1) if by and method != "set" else 0
    return search_bytes(device.threads, n, longest, k) + 8 * limbs * (units + table + device.threads * cells)


def search_bytes(threads: int, num_vertices: int, longest: int, held: int) -> int:
    """Bytes of the searches of all threads, for rows of at most `longest` entries and at most `held` held vertices."""
    words = -(-longest // 64)
    words = max(1 << max(0, words - 1).bit_length(), 1) if words <= 32 else words
    bit_rows = 8 * words * longest  # the stack below has at most half of this again, for all narrower copies
    stack = 8 * 2 * words * (longest // 2 + 2)
    leaves = 16 * (min(held, longest + 1) + 1) * (longest + 2)
    return threads * (5 * num_vertices + 2 * (bit_rows + stack) + leaves) + leaves


def longest_row(num_edges: int) -> int:
    """An upper bound of the entries in a row of a degeneracy order: as in a complete graph with this number of edges.

    It is capped at a few thousand. Graphs with longer rows could not be searched anyway, and no graph should be
    rejected because of this bound.
    """
    return min(isqrt(2 * num_edges), _LONGEST_ROW)


# Below this number of steps to build rows, counting takes less time than an estimate.
_SMALL_WORK = 1 << 17
_STRATA = 12
_WORK_LIMIT = 1 << 17  # words per row and method: some tens of microseconds


def estimate(
    device: CpuDevice, view: Mapping[str, AnyArray], *, control: Control, k: int, by: str | None
) -> dict[str, Any]:
    """Estimated seconds of pivoting and of enumeration, from a sample of rows: the longest, and some of each length.

    Rows are divided into strata of about equal work, and two rows of each are searched. The cost of `by` is ignored,
    because it is about the same factor for both methods.
    """
    lengths, roots = _lengths_of_roots(view["row_counts"], k), view["roots"]
    work = lengths.astype(np.float64) ** 2
    total = float(work.sum())
    if total * k < _SMALL_WORK:
        seconds = 1e-9 * total
        return {"pivot": seconds, "enumerate": 2 * seconds, "sampled": 0, "why": "a small graph"}
    places, weights = strata(work * lengths)
    chosen = roots[places]
    pivot, enumerate_, given_up = _native.mining_cliques_sample(
        view["offsets"], view["neighbors"], chosen, weights, k, _WORK_LIMIT, control.words
    )
    return {
        "pivot": pivot / device.threads,
        "enumerate": enumerate_ / device.threads,
        "sampled": int(chosen.size),
        "why": "enumeration given up after some of them" if given_up else "",
    }


def _lengths_of_roots(row_counts: Int64Array, k: int) -> Int64Array:
    """The lengths of the rows to search, in the order of `roots`: longest first."""
    shortest = max(k - 1, 2)
    exactly = (row_counts[:-1] - row_counts[1:])[shortest:]
    lengths: Int64Array = np.repeat(np.arange(shortest, shortest + exactly.size), exactly)[::-1]
    return lengths


def strata(work: AnyArray) -> tuple[Int64Array, AnyArray]:
    """Positions of a sample in a list sorted by falling work, and the number of entries that each one stands for.

    The first entry, the heaviest, is a stratum of its own. The others are divided into strata of about equal work. Each
    is sampled at a quarter and at three quarters of its length.
    """
    cumulative = np.cumsum(work)
    goals = np.arange(1, _STRATA) * (cumulative[-1] / _STRATA)
    cuts = np.unique(np.concatenate([[0, 1], np.searchsorted(cumulative, goals) + 1, [work.size]]))
    begins, sizes = cuts[:-1], np.diff(cuts)
    places = np.concatenate([begins + sizes // 4, begins + sizes * 3 // 4])
    weights = np.concatenate([sizes / 2, sizes / 2])
    once = sizes == 1
    weights[: sizes.size][once] = 1.0
    keep = np.concatenate([np.ones(sizes.size, bool), ~once])
    return places[keep], weights[keep]
