"""Progressive reordering, step by step in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from graphlode.types import Int64Array


def steps(num_edges: int, lanes: int, level: int) -> Iterator[list[int]]:
    """The positions of the edges in each step of a pass, one from each block of a group, in the order of processing."""
    groups, blocks = lanes ** (level - 1), lanes**level
    if groups >= num_edges:  # at most one edge per group: the list is processed in its order
        yield from ([place] for place in range(num_edges))
        return
    for group in range(groups):
        starts = [(group * lanes + lane) * num_edges // blocks for lane in range(lanes + 1)]
        for step in range(num_edges // blocks + 1):
            yield [start + step for start, end in pairwise(starts) if start + step < end]


def reorder(edges: Int64Array, lanes: int, level: int) -> Int64Array:
    """The list after a pass: the edges of each step are sorted into their own positions."""
    after = edges.copy()
    for places in steps(edges.size, lanes, level):
        after[places] = np.sort(edges[places])
    return after
