"""A list of edges, and how its order changes from pass to pass.

Edge-centric processing needs no rows: it walks a list of edges, and how often that misses a cache depends on nothing
but the order of the list. `"none"` leaves the list as it was given and `"sorted"` sorts it once. `"progressive"`
reorders it on the way, a little with every pass: pass i cuts the list into `lanes`^i blocks, takes one edge of each of
`lanes` neighboring blocks, sorts these, and puts the j-th smallest back into the j-th block. Each pass narrows the
range of keys within a block by about the square root of `lanes`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from copy import copy
from typing import Any, Literal, get_args

import numpy as np

from graphlode.errors import InputError
from graphlode.execute import call
from graphlode.execute.device import Device, kernel_module
from graphlode.execute.devices import resolve
from graphlode.graph.arrays import as_ids
from graphlode.types import MAX_NARROW_VERTICES, Int64Array

Order = Literal["none", "sorted", "progressive"]
Key = Literal["source", "destination"]

MOST_LANES = 256

_LOW = np.int64(0xFFFFFFFF)
_WINDOW = 4096  # edges
_MOST_WINDOWS = 64
_VERTICES_PER_LINE = 8  # numbers of 8 bytes in 64


class EdgeOrder:
    """Edges in an order that passes over them may change.

    Parameters
    ----------
    src, dst
        The ends of every edge, 0 to 2^31 - 1. They are copied.
    order
        "none", "sorted" or "progressive", as told above.
    lanes
        Blocks that a step takes an edge of, M in the paper: 2 to 256. For "progressive" only, as are the next two.
    skip
        So many passes between two that reorder leave the list as it is.
    reorderings
        After so many passes that reorder, the others leave the list as it is. None: as long as it does anything.
    key
        The end that edges are ordered by; edges that have it in common are ordered by the other one.

    Raises InputError for edges and options that cannot be. Cost of a pass that reorders: about
    lanes * log2(lanes)^2 / 4 comparisons per step, eight steps at a time; "sorted" sorts once, here.

    >>> from graphlode.locality import EdgeOrder
    >>> order = EdgeOrder([5, 2, 7, 0], [1, 1, 1, 1], order="progressive", lanes=2)
    >>> order.next_pass()
    True
    >>> order.src.tolist()
    [5, 0, 7, 2]
    >>> order.next_pass(), order.src.tolist(), order.next_pass()
    (True, [0, 5, 2, 7], False)
    """

    def __init__(
        self,
        src: Any,
        dst: Any,
        *,
        order: Order = "none",
        lanes: int = 32,
        key: Key = "source",
        skip: int = 0,
        reorderings: int | None = None,
    ) -> None:
        self.order: Order = _one_of("order", order, get_args(Order))
        self.key: Key = _one_of("key", key, get_args(Key))
        self.lanes = _integer("lanes", lanes, 2, MOST_LANES)
        self.skip = _integer("skip", skip, 0)
        self.reorderings = None if reorderings is None else _integer("reorderings", reorderings, 0)
        self.passes = 0
        """Passes so far."""
        self.level = 0
        """Those of them that reordered the list."""
        ends = _checked(src, "src"), _checked(dst, "dst")
        if ends[0].size != ends[1].size:
            raise InputError(f"src has {ends[0].size} entries, dst {ends[1].size}")
        high, low = ends if self.key == "source" else ends[::-1]
        self.edges: Int64Array = high << 32 | low
        """Both ends of each edge in one number, the key in the upper half. It must not be changed."""
        if self.order == "sorted":
            self.edges.sort()

    @property
    def num_edges(self) -> int:
        """How many edges there are."""
        return int(self.edges.size)

    @property
    def by_destination(self) -> bool:
        """Whether edges are ordered by the vertex that they lead to."""
        return self.key == "destination"

    @property
    def src(self) -> Int64Array:
        """Where each edge comes from, in the order of the list."""
        return self.edges & _LOW if self.by_destination else self.edges >> 32

    @property
    def dst(self) -> Int64Array:
        """Where each edge leads to, in the order of the list."""
        return self.edges >> 32 if self.by_destination else self.edges & _LOW

    @property
    def settled(self) -> bool:
        """Whether no later pass changes the list."""
        if self.order != "progressive" or self.level == self.reorderings:
            return True
        return bool(self.lanes**self.level >= self.num_edges)

    @property
    def reorders_next(self) -> bool:
        """Whether the next pass reorders the list."""
        return not self.settled and self.passes % (self.skip + 1) == 0

    @property
    def next_lanes(self) -> int:
        """Blocks that each step of the next pass takes an edge of; 0 if it goes through the list from front to back."""
        return self.lanes if self.reorders_next else 0

    def next_pass(self, devices: str = "cpu") -> bool:
        """Go on to the next pass, on a device, and tell whether this one reordered the list.

        The list is the same afterwards whatever the device. Ctrl-C may leave some of it reordered.
        """
        reordered = self.reorders_next
        if reordered:
            device = one_device(devices)
            reorder = kernel_module(device, "locality.progressive").reorder
            call(lambda control: reorder(device, self.edges, self.lanes, self.level + 1, control), device)
        self.pass_done(reordered=reordered)
        return reordered

    def pass_done(self, *, reordered: bool) -> None:
        """For kernels that reorder while they process: the pass is over."""
        self.passes += 1
        self.level += reordered

    def lines_per_edge(self) -> float:
        """Lines of vertex data that an edge adds to a window of 4,096 edges, with eight vertices to a line.

        It is 2 where every end of an edge is on a line of its own, and near 0 where the list has perfect locality.
        Up to 64 windows, evenly spread over the list, are looked at.
        """
        return lines_per_edge(self.num_edges, lambda begin, end: self.edges[begin:end])

    def copy(self) -> EdgeOrder:
        """The same list, at the same pass, that goes its own way from here."""
        other = copy(self)
        other.edges = self.edges.copy()
        return other

    def __repr__(self) -> str:
        options = f", lanes={self.lanes}, skip={self.skip}" if self.order == "progressive" else ""
        return f"EdgeOrder({self.num_edges} edges, order={self.order!r}, key={self.key!r}{options}, pass {self.passes})"


def lines_per_edge(num_edges: int, window: Callable[[int, int], Int64Array]) -> float:
    """See `EdgeOrder.lines_per_edge`; `window(begin, end)` gives packed edges as they lie."""
    if num_edges == 0:
        return 0.0
    starts = np.unique(np.linspace(0, max(0, num_edges - _WINDOW), _MOST_WINDOWS, dtype=np.int64))
    lines = edges = 0
    for start in starts.tolist():
        words = window(start, min(start + _WINDOW, num_edges))
        ends = np.concatenate([words >> 32, words & _LOW])
        lines += np.unique(ends // _VERTICES_PER_LINE).size
        edges += words.size
    return lines / edges


def one_device(devices: str) -> Device:
    """The device that is named: a list lies on one."""
    found = resolve(devices)
    if len(found) != 1:
        raise InputError(f"a list of edges lies on one device, got {devices!r}")
    return found[0]


def _checked(values: Any, name: str) -> Int64Array:
    ids = as_ids(values, name).astype(np.int64, copy=False)
    if ids.size and (ids.min() < 0 or ids.max() >= MAX_NARROW_VERTICES):
        raise InputError(f"{name} must be 0 to 2^31 - 1, got {ids.min()} to {ids.max()}")
    return ids


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> Any:
    if value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
    return value


def _integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be an integer, got {value!r}") from None
    if number < least or (most is not None and number > most):
        span = f"at least {least}" if most is None else f"{least} to {most}"
        raise InputError(f"{name} must be {span}, got {number}")
    return number
