"""Drives cliques/enumerate.cu: counts k-cliques one by one, with the whole system or one of its baselines.

The methods, by the numbered parts of the KCMiner paper's system:

- "set": sorted lists, intersected by binary search at every level (cliques/sets.py).
- "bitmap": a warp walks the bit rows of the root, which have a fixed width.
- "warp": the rows below each edge are built as a separate matrix. A warp walks it, one word per lane.
- "thread": the same matrix. Each lane searches alone below its own bits.
- "enumerate": the system. Valid pairs are queued before lanes take them. Searches for six vertices or more are
  scheduled between the lanes at every level (`schedules`, `SCHEDULE_FROM`). A set is built as a matrix or first divided
  further (`build_threshold`). Each size class has its own kernel. Heavy edges are cut into parts (`plan.parts_of`).

Beyond the paper: triangles in sets of more than 32 are counted from registers. The constants here and in plan.py were
chosen on one H200 with dblp-2010, mico and congress-bills.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphlode.common.control import Control
from graphlode.common.counts import bound_of_rows
from graphlode.cuda.cliques import credit as clique_credit
from graphlode.cuda.cliques import sets as clique_sets
from graphlode.cuda.cliques import wide as clique_wide
from graphlode.cuda.cliques.plan import (
    CLASSES,
    DRAWN,
    LONGEST_ROW,
    NUM_CLASSES,
    QUEUED,
    STEPS,
    WIDEST_ROWS,
    TaskPlan,
    next_slice,
    plan_tasks,
    tasks_memory,
)
from graphlode.cuda.cliques.rows import CliqueRows, batches, build_rows, rows_memory, select_roots
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice
from graphlode.errors import UnsupportedError
from graphlode.types import AnyArray, FloatArray, Int64Array, Task

OPERATION = "mining.cliques"
_WALKS = ("rows", "warp", "thread", "queued", "scheduled")
_MEASURED = ("thread", "scheduled")
_DEFINES = tuple(f"WALK_{walk.upper()}" for walk in (*_WALKS, *(f"{walk}_measured" for walk in _MEASURED)))
SOURCE = KernelSource("cliques/enumerate", ("clique_enumerate",), {"WALK": _DEFINES, "WORDS": ("1", "4", "8", "16")})
WIDE = NUM_CLASSES - 1

# As in cliques/enumerate.cu and .cuh: words of a set in each class, warps of a block, the widest set and the deepest
# search of a single lane.
_CLASS_WORDS = (1, 4, 8, 16, 8)
_CLASS_WARPS = (8, 8, 4, 2, 4)
_LANE_WORDS, _DEEPEST = 8, 6

# A launch that may count more than this is cut into slices, so that a stop takes effect soon.
_CLIQUES_AT_ONCE = 1 << 40
_FIRST_SLICE = 1 << 14
_BATCH_WORDS = 1 << 26


@dataclass(frozen=True)
class EnumerateOptions:
    """Which parts of the system are used. Experiments switch them one by one."""

    walk: Literal["rows", "warp", "thread", "queued", "scheduled"]
    dynamic: bool = False
    """Build matrices depending on the density; otherwise at `build_level`."""
    classes: bool = False
    """One kernel per size class, triangles from registers; otherwise one kernel that fits the largest class."""
    build_level: int = 2
    """Without `dynamic`: the level at which matrices are built; 2 is the edge."""
    at_once: int = CLASSES[0]
    """With `dynamic` and `classes`: sets of up to this number of candidates are built at any density."""
    schedule_from: int = 3
    """With the walk "scheduled": searches for this number of vertices or more share their work between lanes."""
    split: bool = True
    """Cut heavy edges into parts."""
    measure: bool = False
    """Count the active lanes, and record the cost of each task."""


SCHEDULE_FROM = 6
"""Smallest number of vertices in a search within one matrix that is scheduled between the lanes.

dblp-2010, k = 8, H200, one run: sets of up to 32 took 2.0 ms scheduled and 3.8 ms queued. Sets of 33 to 128, which are
built when four vertices are missing, took 17.0 ms scheduled and 11.0 ms queued.
"""


def schedules(k: int) -> bool:
    """Whether any search of "enumerate" is deep enough to be scheduled: six vertices below the edge."""
    return k - 2 >= SCHEDULE_FROM


def build_threshold(k: int, level: int) -> float:
    """The density, 0 to 1, above which the candidates at a level are built as one matrix instead of divided further.

    Sets of up to `at_once` candidates are always built, and so are sets that are three vertices short of a clique.
    Kernels compare values between 0 and 1 with the density of each set, but the measurements gave no reason for such a
    value. Time of all edge tasks in bins of density, built at level 3 divided by built at level 2, on an H200:

    - k = 6 (dblp-2010, mico, ca-HepPh, uk-2007-05-100k): 1.04 to 3.2 in bins of at least 100 tasks, except two bins of
      up to 307 tasks below density 0.25 (0.9 and 1.0). So sets with four missing vertices are built.
    - k = 7 (dblp-2010 alone): 0.72 to 0.88 above density 0.75, where nearly all of the time is spent; 1.3 between 0.5
      and 0.75, 1.0 below. So sets with more missing vertices are divided further.
    """
    return 0.0 if k - level <= 4 else 1.0


def options_for(method: str, k: int) -> EnumerateOptions:
    """The parts of the system that make up a method."""
    if method == "enumerate":
        walk: Literal["scheduled", "queued"] = "scheduled" if schedules(k) else "queued"
        return EnumerateOptions(walk, dynamic=True, classes=True, schedule_from=SCHEDULE_FROM)
    return EnumerateOptions({"bitmap": "rows", "warp": "warp", "thread": "thread"}[method])  # type: ignore[arg-type]


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
    """k-cliques (k >= 3) whose two lowest vertices are entries of the tasks: number, and counts by rank or entry."""
    if by is not None:
        if method != "enumerate":
            raise UnsupportedError(
                f'by="{by}" works with method="enumerate" or "pivot" on {device.name}, not {method!r}'
            )
        return clique_credit.launch(device, view, tasks, control=control, k=k, by=by)
    if method == "set":
        return {"total": clique_sets.count(device, view, tasks, control=control, k=k), "counts": None}
    options = options_for(method, k)
    found = (count_tasks(device, view, task, control=control, k=k, options=options) for task in tasks)
    return {"total": sum(counted.total for counted in found), "counts": None}


def memory(
    device: KernelDevice, shape: Mapping[str, int], *, k: int, by: Literal["vertex", "edge"] | None, method: str
) -> int:
    """Bytes in addition to the view: the bit rows, the queues of tasks, and scratch for the largest sets."""
    if by is not None:
        return clique_credit.memory(device, shape, k=k, by=by)
    if method == "set":
        return clique_sets.memory(device, shape, k=k)
    return min(rows_memory(shape), 4 * _BATCH_WORDS) + tasks_memory(shape) + clique_wide.SCRATCH_BYTES


@dataclass(frozen=True)
class Counted:
    """Results of the tasks of one range of entries."""

    total: int
    lane_steps: int = 0
    warp_steps: int = 0
    records: tuple[AnyArray, ...] = ()


def count_tasks(
    device: KernelDevice, view: Mapping[str, Any], task: Task, *, control: Control, k: int, options: EnumerateOptions
) -> Counted:
    """k-cliques below a range of entries."""
    roots = select_roots(device, view, task, shortest=k - 1)
    if roots.longest > LONGEST_ROW and roots.num_roots:
        raise UnsupportedError(
            f"{OPERATION} on {device.name}: the longest row has {roots.longest} entries; enumeration there takes up to "
            f"{LONGEST_ROW}: use devices='cpu'"
        )
    total, lane_steps, warp_steps = 0, 0, 0
    records: list[AnyArray] = []
    at_once = bound_of_rows(roots.row_counts, k) <= _CLIQUES_AT_ONCE
    left = task.end - task.begin
    for batch in batches(roots, _BATCH_WORDS):
        control.check()
        rows = build_rows(device, view, roots, batch)
        search = _Search(device, rows, roots.longest_in(batch), k, options)
        plan = plan_tasks(
            device, rows, roots, task, k=k, most_per_warp=search.most_per_warp, one_class=search.one_class,
            by_root=options.walk == "rows", split=options.split,
        )  # fmt: skip
        share = left * (batch.end - batch.begin) // (roots.num_roots - batch.begin)
        if k > 3:
            if at_once:
                search.run(plan)
            else:
                search.run_sliced(plan, control, share)
        words = [int(word) & (2**64 - 1) for word in device.get(plan.work)]
        rows.check(device.get(rows.work), OPERATION, device.name)
        total += words[0] + (words[1] << 64)
        lane_steps += words[STEPS]
        warp_steps += words[STEPS + 1]
        if options.measure:
            records += search.take_records(plan)
        if at_once or k == 3:
            control.advance(share)
        left -= share
    control.advance(left)
    return Counted(total, lane_steps, warp_steps, tuple(records))


class _Search:
    """The kernels of one batch: shapes, shared memory, and the order of launches."""

    def __init__(self, device: KernelDevice, rows: CliqueRows, longest: int, k: int, options: EnumerateOptions) -> None:
        self.device, self.rows, self.k, self.options = device, rows, k, options
        self.longest = longest
        if options.dynamic:
            thresholds = [build_threshold(k, level) for level in range(k + 1)]
        else:
            thresholds = [float(level < options.build_level) for level in range(k + 1)]
        self.thresholds = device.constant(("thresholds", *thresholds), lambda: np.array(thresholds, np.float32))
        self.at_once = options.at_once if options.dynamic and options.classes else 0
        fitting = [most for c, most in enumerate(CLASSES) if 4 * self._space_words(c) <= device.max_shared_bytes]
        self.most_per_warp = max(fitting)
        top = min(self.longest, self.most_per_warp)
        self.top_class = int(np.searchsorted(CLASSES, top))
        self.one_class = -1 if options.classes or options.walk == "rows" else self.top_class
        self.records: Any = None

    def run(self, plan: TaskPlan) -> None:
        """Searches all classes, the largest first."""
        for size_class in self._classes(plan):
            self._launch(plan, size_class, 0, int(plan.capacities[size_class]))

    def run_sliced(self, plan: TaskPlan, control: Control, units: int) -> None:
        """The same as `run`, in slices of about equal time; checks the control between them."""
        queued = self.device.get(plan.work)[QUEUED : QUEUED + NUM_CLASSES]
        size, done, advanced, all_tasks = _FIRST_SLICE, 0, 0, max(1, int(queued.sum()))
        for size_class in self._classes(plan):
            first, last = 0, int(queued[size_class])
            while first < last:
                control.check()
                end = min(last, first + size)
                started = perf_counter()
                plan.work[DRAWN : DRAWN + NUM_CLASSES] = 0
                self._launch(plan, size_class, first, end)
                self.device.synchronize()
                size = next_slice(size, perf_counter() - started)
                done += end - first
                control.advance(units * done // all_tasks - advanced)
                advanced = units * done // all_tasks
                first = end
        control.advance(units - advanced)

    def take_records(self, plan: TaskPlan) -> Iterator[AnyArray]:
        """The cost of each task, as the kernel recorded it."""
        queued = self.device.get(plan.work)[QUEUED : QUEUED + NUM_CLASSES]
        begins = np.append(0, plan.capacities.cumsum())
        for size_class in self._classes(plan):
            if size_class != WIDE and queued[size_class]:  # a class without tasks may not have been launched
                begin = int(begins[size_class])
                yield self.device.get(self.records[begin : begin + int(queued[size_class])])

    def _classes(self, plan: TaskPlan) -> list[int]:
        return [c for c in reversed(range(NUM_CLASSES)) if plan.capacities[c] > 0]

    def _space_words(self, size_class: int, stride: int = 0) -> int:
        """Words of shared memory of a warp; enumerate_space has the same layout."""
        words = _CLASS_WORDS[size_class]
        stride = stride or 32 * words + 1
        levels = (_DEEPEST - 2) * (32 * min(words, _LANE_WORDS) + 64) if self._keeps_levels else 0
        matrix = width_for(stride - 1, words) * stride + (clique_wide.MATRIX_WORDS if size_class == WIDE else 0)
        return matrix + 64 + self._frame_words(size_class) + 16 * words + levels

    @property
    def _keeps_levels(self) -> bool:
        """Measured searches are compiled with the schedule, even if they do not use it."""
        return self.options.walk == "scheduled" or (self.options.walk == "queued" and self.options.measure)

    def _frame_words(self, size_class: int) -> int:
        """Two sets per level of a walk."""
        most = 32 * clique_wide.WORDS if size_class == WIDE else min(self.longest, WIDEST_ROWS)
        return 2 * -(-most // 32) * self.k

    def _launch(self, plan: TaskPlan, size_class: int, first: int, last: int) -> None:
        device, words = self.device, _CLASS_WORDS[size_class]
        wide = size_class == WIDE
        # As large as the longest row needs. A multiple of 32 plus one, so that the words of a row are in all banks.
        stride = 32 * words + 1 if wide else min(32 * words, -(-self.longest // 32) * 32) + 1
        space = self._space_words(size_class, stride)
        warps = max(1, min(_CLASS_WARPS[size_class], device.max_shared_bytes // (4 * space)))
        shared_bytes = 4 * space * warps
        resident = max(1, min(64 // warps, device.max_shared_bytes // (shared_bytes + 1024)))
        blocks = -(-(last - first) // (1 if wide else warps))
        grid = max(1, min(resident * device.num_multiprocessors, blocks))
        schedule_from = self.options.schedule_from if self.options.walk == "scheduled" else _DEEPEST + 1
        rules = (self.k, self.at_once, self.options.classes, schedule_from)
        own_words = space - clique_wide.MATRIX_WORDS if wide else space
        arguments = (
            *(self.rows.arguments[-1], *plan.arguments, np.int64(first), np.int64(last)),
            *(np.int32(x) for x in rules),
            self.thresholds,
            *(np.int32(x) for x in (size_class, own_words, stride, self._frame_words(size_class))),
        )
        walk = f"WALK_{self.options.walk.upper()}"
        if wide:
            grid = min(grid, clique_wide.most_blocks(self.longest, self.k))
            scratch_words = clique_wide.scratch_words(self.longest, self.k)
            scratch = device.empty(grid * scratch_words, np.uint32)
            arguments = (*arguments, np.int32(self.longest), np.int64(scratch_words), scratch, plan.work)
            device.load(clique_wide.SOURCE, WALK=walk).launch("clique_wide", grid, 32 * warps, arguments, shared_bytes)
        else:
            if self.options.measure:
                walk = "WALK_THREAD_MEASURED" if self.options.walk == "thread" else "WALK_SCHEDULED_MEASURED"
            kernel = device.load(SOURCE, WALK=walk, WORDS=str(words))
            arguments = (*arguments, self._records(plan), plan.work)
            kernel.launch("clique_enumerate", grid, 32 * warps, arguments, shared_bytes)

    def _records(self, plan: TaskPlan) -> Any:
        if self.records is None:
            self.records = self.device.zeros((len(plan.tasks) if self.options.measure else 1, 2), np.int64)
        return self.records


def width_for(size: int, words: int) -> int:
    """Words of the rows of a matrix: the next width for which searches are compiled, as in cliques/enumerate.cuh."""
    return min(words, next(width for width in (1, 2, 4, 8, 12, 16) if 32 * width >= min(size, 512)))


def measure_lanes(
    device: KernelDevice, view: Mapping[str, Any], k: int, *, options: EnumerateOptions | None = None
) -> dict[str, float]:
    """Mean number of lanes of a warp that take part in an AND, with these options (default: those of "enumerate").

    Triangles counted from registers are not included; to see all steps, use options without `classes`.
    """
    options = replace(options or options_for("enumerate", k), measure=True)
    counted = count_tasks(device, view, Task(0, len(view["neighbors"])), control=Control(), k=k, options=options)
    return {
        "lanes": counted.lane_steps / max(1, counted.warp_steps),
        "steps": counted.warp_steps,
        "total": counted.total,
    }


def measure_construction(
    device: KernelDevice, view: Mapping[str, Any], k: int, *, build_level: int, walk: Literal["queued", "scheduled"]
) -> dict[str, Int64Array | FloatArray]:
    """The cost of every edge task if matrices are built at a level: `ticks`, `size` (candidates) and `density` of each.

    Tasks are not cut, and are in the order of their queues: by class, then in the order found. Edges with more
    candidates than a warp takes are left out.
    """
    options = EnumerateOptions(walk, classes=False, build_level=build_level, split=False, measure=True)
    counted = count_tasks(device, view, Task(0, len(view["neighbors"])), control=Control(), k=k, options=options)
    words = np.concatenate([np.zeros((0, 2), np.int64), *counted.records])
    size = words[:, 1] & 0xFFFFFFFF
    density = (words[:, 1] >> 32) / np.maximum(1, size * (size - 1) // 2)
    return {"ticks": words[:, 0], "size": size, "density": density}
