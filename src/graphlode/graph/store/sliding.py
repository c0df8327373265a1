"""The batches of a sliding window: load a part of the edges, then insert new ones and delete the oldest.

The defaults are those of the thesis on hybrid packed memory arrays: half of the edges is loaded, then 100 slides insert
the next 1 % of the edges and delete the oldest 1 % each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graphlode.errors import InputError
from graphlode.graph.graph import Graph
from graphlode.graph.store.batch import Batch
from graphlode.types import BoolArray, FloatArray, Int64Array


@dataclass(frozen=True)
class Sliding:
    """Edges in the order of arrival; and the parts of them, from 0 to 1, that are loaded at first and by each slide.

    An edge is inserted with its weight every time.
    """

    src: Int64Array
    dst: Int64Array
    load: float = 0.5
    slide: float = 0.01
    slides: int = 100
    weights: FloatArray | None = None

    def __post_init__(self) -> None:
        if not 0 < self.load <= 1:
            raise InputError(f"the part that is loaded must be above 0 and at most 1, got {self.load}")
        if not 0 < self.slide <= self.load:
            raise InputError(f"a slide must be above 0 and at most the part that is loaded, got {self.slide}")
        if self.slides < 0:
            raise InputError(f"the number of slides must not be negative, got {self.slides}")

    @property
    def loaded(self) -> int:
        return max(1, round(self.load * self.src.size))

    @property
    def step(self) -> int:
        """Edges of a slide. Some slides have one more or less, so 100 slides of 1 % are exactly all edges."""
        return self._begin(1)

    def first(self) -> Batch:
        """The edges that are loaded at first."""
        return self._batch(slice(self.loaded))

    def batches(self) -> Iterator[Batch]:
        """One batch per slide. After the last edge, the first ones are inserted again."""
        for slide in range(self.slides):
            begin, end = self._begin(slide), self._begin(slide + 1)
            places = np.concatenate([self._window(begin, end), self._window(self.loaded + begin, self.loaded + end)])
            yield self._batch(places, delete=np.arange(places.size) < end - begin)

    def after(self, slides: int) -> Int64Array:
        """The indices of the edges in the window after this number of slides."""
        begin = self._begin(slides)
        return self._window(begin, begin + self.loaded)

    def _batch(self, places: Int64Array | slice, delete: BoolArray | None = None) -> Batch:
        weights = None if self.weights is None else self.weights[places]
        return Batch(self.src[places], self.dst[places], weights, delete)

    def _begin(self, slide: int) -> int:
        """The number of edges that were deleted before a slide."""
        return round(slide * max(1.0, self.slide * self.src.size))

    def _window(self, begin: int, end: int) -> Int64Array:
        return np.arange(begin, end) % self.src.size


def in_order(graph: Graph, *, seed: int = 0) -> tuple[Int64Array, Int64Array]:
    """The edges of a graph by positions, in the order of arrival."""
    pairs, order = graph.edges(indices=True), arrival(graph, seed=seed)
    return pairs[order, 0].astype(np.int64), pairs[order, 1].astype(np.int64)


def arrival(graph: Graph, *, seed: int = 0) -> Int64Array:
    """The indices of the edges in the order of arrival: by time if there are times, else shuffled by the seed."""
    if graph.times is not None:
        return np.argsort(graph.times, kind="stable")
    return np.random.default_rng(seed).permutation(graph.num_edges)
