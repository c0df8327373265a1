"""A batch of new edges into, or out of, a store that holds the whole graph, both directions of each edge.

Options: `batch`, its size; `kind` of edges (`random`, `one vertex`, `one leaf`, `descending`); `path` through the
store; `delete`; `on_device`: whether the batch lies on the store's device already. Every sample has edges of its own:
inserted edges are deleted, and deleted ones inserted, before the next sample. With `grows` they stay instead: small
batches insert more edges first, until pages are nearly full. Consecutive cases that differ only in their batches share
a store. A store that grows is loaded for every run, with no memory in the pool, so all runs write the same, batch for
batch. The sizes also count the batches by path.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contest
from benchmarks.inputs import Input
from benchmarks.new_edges import Drawn
from benchmarks.setting import Setting
from graphlode.execute.devices import resolve
from graphlode.types import AnyArray

_BATCHES, _LARGE_BATCHES = 6, 2  # ready beforehand: large ones take long to draw
_LARGE = 1_000_000
_MOST_BATCHES = 420
_MOST_GROWN = 4_500_000  # edges of all batches of a store that grows
_FILLING = 50_000  # edges of a batch that fills pages before


class Loaded:
    """A store with the graph, and the batch by which it differs from the graph, if any."""

    def __init__(self, given: Input, path: Any, devices: str | list[str]) -> None:
        graph = gl.from_edges(*given.both_ways, num_vertices=given.num_vertices, directed=True)
        self.store = gl.DynamicGraph(directed=True, num_vertices=given.num_vertices, devices=devices, strategy=path)
        self.drawn = Drawn(graph)
        self.store.insert(self.drawn.src, self.drawn.dst)
        self._batches: dict[tuple[str, int], list[dict[str, AnyArray]]] = {}
        self._undo: gl.Batch | None = None

    def new_edges(self, kind: str, size: int) -> list[dict[str, AnyArray]]:
        """Batches of edges that the graph does not have; inserting and deleting take the same ones."""
        if (kind, size) not in self._batches:
            number = _BATCHES if size < _LARGE else _LARGE_BATCHES
            with ThreadPoolExecutor(number) as pool:  # large ones take many seconds
                made = list(pool.map(lambda seed: self.drawn.new(kind, size, seed), range(number)))
            self._batches[kind, size] = [{"src": s.astype(np.int32), "dst": d.astype(np.int32)} for s, d in made]
        return self._batches[kind, size]

    def grow(self, first: int, size: int) -> list[dict[str, AnyArray]]:
        """Consecutive batches, after an insertion of `first` edges in batches that are too small to be merged."""
        number = min(_MOST_GROWN // size, _MOST_BATCHES)
        src, dst = (ends.astype(np.int32) for ends in self.drawn.new("random", first + number * size, 0))
        for begin in range(0, first, _FILLING):
            self.store.insert(src[begin : min(first, begin + _FILLING)], dst[begin : min(first, begin + _FILLING)])
        begins = range(first, src.size, size)
        return [{"src": src[begin : begin + size], "dst": dst[begin : begin + size]} for begin in begins]

    def apply(self, batch: gl.Batch, undo: gl.Batch | None) -> gl.BatchResult:
        result = self.store.apply(batch)
        self._undo = undo
        return result

    def restore(self) -> None:
        if self._undo is not None:
            self.store.apply(self._undo)
            self._undo = None


_loaded: dict[tuple[str | None, str, str, str], Loaded] = {}  # one at most


def contest(case: Case, setting: Setting) -> Contest:
    usual = {"kind": "random", "path": "auto", "delete": False, "on_device": False, "grows": 0}
    options: dict[str, Any] = usual | case.options
    grows, size = options["grows"], options["batch"]
    loaded = _load(case, options["path"], setting, grown=f"{grows}, {size}" if grows else "")
    given = loaded.grow(grows, size) if grows else loaded.new_edges(options["kind"], size)
    ends = _on_device(given, setting) if options["on_device"] else given
    made = [(gl.Batch(**each), None if grows else gl.Batch(**each, delete=True)) for each in ends]
    batches = iter(made) if grows else cycle(made)
    state: dict[str, Any] = {}

    def setup() -> None:
        """Undo the last sample and prepare the next batch."""
        loaded.restore()
        insert, delete = next(batches)
        if options["delete"]:
            loaded.store.apply(insert)
        state["batch"], state["undo"] = (delete, None) if options["delete"] else (insert, delete)

    sizes = {"store": int(sum(loaded.store.memory_usage().values())), "edges": loaded.store.num_edges}

    def run() -> gl.BatchResult:
        return loaded.apply(state["batch"], state["undo"])

    def answer(result: gl.BatchResult) -> int:
        for path in result.paths.values():  # they explain samples that differ
            sizes[f"batches {path}"] = sizes.get(f"batches {path}", 0) + 1
        return result.deleted if options["delete"] else result.inserted

    ours = setting.ours(methods={f"apply({options['path']})": run}, setup=setup, answer=answer)
    return Contest([ours], int(given[0]["src"].size), "the batch", sizes)


def _on_device(given: list[dict[str, AnyArray]], setting: Setting) -> list[dict[str, Any]]:
    device = resolve(setting.devices)[0]
    ends = [device.put(each) for each in given]
    device.synchronize()  # the device writes them in its own stream, not in that of the batch
    return ends


def _empty_pool(setting: Setting) -> None:
    """Empty the pool, so a store that grows allocates its memory from the device."""
    device: Any = resolve(setting.devices)[0]
    pool = getattr(getattr(device, "xp", None), "get_default_memory_pool", None)  # of CuPy
    if pool is not None:
        with device.current():
            pool().free_all_blocks()


def _load(case: Case, path: str, setting: Setting, *, grown: str) -> Loaded:
    key = (case.graph, path, setting.devices, grown)
    if key not in _loaded or grown:  # a store that has grown does not shrink
        for other in _loaded.values():
            other.store.close()
        _loaded.clear()
        if grown:
            _empty_pool(setting)
        _loaded[key] = Loaded(setting.input(case), path, setting.devices)
    _loaded[key].restore()
    return _loaded[key]
