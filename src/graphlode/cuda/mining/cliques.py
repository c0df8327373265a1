"""Drives mining/cliques.cu, which counts k-cliques by pivoting. Methods that enumerate have their own drivers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from graphlode.common.control import Control
from graphlode.common.counts import bound_of_rows, total_of_leaves
from graphlode.cuda.cliques import enumerate as clique_enumerate
from graphlode.cuda.cliques import pivot_by as clique_pivot_by
from graphlode.cuda.cliques.pivot import (
    MAX_WORDS,
    PivotCount,
    PivotKernel,
    count_roots,
    count_task,
    pivot_memory,
)
from graphlode.cuda.cliques.rows import CliqueRoots
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.mining.all_cliques import LEAVES
from graphlode.types import Task

OPERATION = "mining.cliques"
SOURCE = KernelSource(
    "mining/cliques",
    ("clique_pivot",),
    {"MAX_WORDS": tuple(str(words) for words in MAX_WORDS)},
)
_SUM_LIMIT = 1 << 128

# Costs used by the estimate, measured on an H200. Seconds per node of the pivoting search: a constant, and one per
# cubed number of words in a bit row (a node that needs three more vertices counts triangles). Seconds per root and per
# launch. Seconds per enumerated (k - 2)-clique: a constant, and one per word of a bit row.
PIVOT_NODE_SECONDS, PIVOT_NODE_WORDS_SECONDS = 1.5e-9, 4e-11
ROOT_SECONDS, LAUNCH_SECONDS = 2e-9, 1e-4
ENUMERATED_SECONDS, ENUMERATED_WORD_SECONDS = 4e-11, 2e-11

# Roots are sampled in strata: the heaviest 1/64, those up to 1/8, and the rest, with the same number of samples each.
_STRATA = (0.0, 1 / 64, 1 / 8, 1.0)
_SAMPLED_PER_STRATUM = 64
_UNFINISHED = 10  # assumed cost of an interrupted search, as a multiple of the part that ran


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    k: int,
    by: Literal["vertex", "edge"] | None,
    method: str,
) -> dict[str, Any]:
    """k-cliques whose lowest edge is in the tasks' entries of an oriented view: number, and counts by rank or entry."""
    if method != "pivot":
        return clique_enumerate.launch(device, view, tasks, control=control, k=k, by=by, method=method)
    if by is not None:
        return clique_pivot_by.launch(device, view, tasks, control=control, k=k, by=by)
    kernel, found = _kernel(view, k), PivotCount()
    for task in tasks:
        count_task(device, view, task, kernel, found, k=k, shortest=k - 1, control=control)
        control.advance(task.end - task.begin)
    return {"total": _total(found, k), "counts": None}


def memory(
    device: KernelDevice, shape: Mapping[str, int], *, k: int, by: Literal["vertex", "edge"] | None, method: str
) -> int:
    """Bytes in addition to the view; for "auto" those of the method that needs more."""
    needed = []
    if method in ("pivot", "auto"):
        by_pivoting = pivot_memory(device, shape, leaves=True)
        needed.append(by_pivoting if by is None else clique_pivot_by.memory(device, shape, k=k, by=by))
    if method != "pivot":
        enumerating = "enumerate" if method == "auto" else method
        needed.append(clique_enumerate.memory(device, shape, k=k, by=by, method=enumerating))
    return max(needed)


def estimate(
    device: KernelDevice,
    view: Mapping[str, Any],
    *,
    control: Control,
    k: int,
    by: Literal["vertex", "edge"] | None,
) -> dict[str, Any]:
    """Estimated seconds of each method on this device, from the search nodes below a sample of roots.

    The estimate for enumeration needs the number of (k - 2)-cliques, which pivoting counts quickly, too.
    """
    row_counts = view["row_counts"]
    num_roots = int(row_counts[k - 1]) if k - 1 < len(row_counts) else 0
    if num_roots == 0:
        return {"pivot": LAUNCH_SECONDS, "enumerate": LAUNCH_SECONDS, "sampled": 0, "why": "no root is long enough"}
    nodes = enumerated = 0.0
    sampled, complete = 0, True
    for slots, scale in _sample(num_roots):
        roots = _roots_at(device, view, slots)
        for size in (k, k - 2):
            found = PivotCount()
            if size >= 3:
                everything = Task(0, len(view["neighbors"]))
                kernel = _kernel(view, size)
                count_roots(device, view, roots, everything, kernel, found, k=size, control=control, most_launches=1)
            else:
                found.total = int(roots.row_counts[1:].sum()) if size == 2 else len(slots)
            unfinished = 1 if found.complete else _UNFINISHED
            if size == k:
                nodes += scale * unfinished * found.nodes
                complete &= found.complete
            else:
                enumerated += scale * unfinished * _total(found, size)
        sampled += len(slots)
    words = -(-(len(row_counts) - 2) // 32)
    return {
        "pivot": LAUNCH_SECONDS
        + ROOT_SECONDS * num_roots
        + (PIVOT_NODE_SECONDS + PIVOT_NODE_WORDS_SECONDS * words**3) * nodes,
        "enumerate": LAUNCH_SECONDS
        + ROOT_SECONDS * num_roots
        + (ENUMERATED_SECONDS + ENUMERATED_WORD_SECONDS * words) * enumerated,
        "sampled": sampled,
        "why": f"{sampled} of {num_roots} roots searched" + ("" if complete else ", some of them not to the end"),
    }


def _kernel(view: Mapping[str, Any], k: int) -> PivotKernel:
    """Sums if no count can exceed 128 bits, else leaves of all sizes up to k."""
    as_leaves = bound_of_rows(view["row_counts"], k) >= _SUM_LIMIT
    return LEAVES if as_leaves else PivotKernel(SOURCE, as_leaves=False)


def _total(found: PivotCount, k: int) -> int:
    return found.total + sum(total_of_leaves(leaves, k) for leaves in found.leaves)


def _sample(num_roots: int) -> Iterator[tuple[list[int], float]]:
    """Slots of a sample of each stratum of roots, and the number of roots that each slot stands for."""
    bounds = sorted({round(part * num_roots) for part in _STRATA})
    for begin, end in zip(bounds, bounds[1:], strict=False):
        count = min(_SAMPLED_PER_STRATUM, end - begin)
        slots = np.linspace(begin, end - 1, count).astype(np.int64).tolist()
        yield slots, (end - begin) / count


def _roots_at(device: KernelDevice, view: Mapping[str, Any], slots: list[int]) -> CliqueRoots:
    """The roots in the given slots of a view, in the same order."""
    row_counts = view["row_counts"]
    lengths = np.searchsorted(-row_counts, -np.array(slots)) - 1
    counts = np.append(np.bincount(lengths, minlength=1)[::-1].cumsum()[::-1], 0)
    return CliqueRoots(view["roots"][device.asarray(np.array(slots))], counts, len(slots))
