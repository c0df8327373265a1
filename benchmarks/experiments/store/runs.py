"""Shared parts of the experiments on the store: one run of the sliding protocol on one set of devices."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from statistics import median
from typing import Any

import numpy as np

from benchmarks.experiments.setting import Setting
from benchmarks.experiments.subjects import Subject
from benchmarks.record import Cell, Record
from graphlode.analytics.bfs import bfs
from graphlode.execute.run import Shares
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph
from graphlode.graph.store.dynamic import DynamicGraph
from graphlode.graph.store.sliding import Sliding, in_order
from graphlode.measure import Timer
from graphlode.types import Int64Array

SOURCE = 0


def sliding_of(subject: Subject, slides: int) -> Sliding:
    return Sliding(*in_order(subject.graph), slides=slides)


def store_cell(
    subject: Subject,
    sliding: Sliding,
    devices: Sequence[str],
    *,
    limit: float,
    shares: Shares = "auto",
) -> Cell:
    """Load, search, slide, search again. `seconds` has a sample per slide."""
    with _store(subject, devices, shares=shares) as store:
        (cell,) = _slide_all(subject, sliding, [store], limit)
    return cell


def cells_in_turn(subject: Subject, sliding: Sliding, sets: Sequence[Sequence[str]], *, limit: float) -> list[Cell]:
    """The same for stores on several sets of devices. They take turns with every slide, so other load on the machine
    affects all of them."""
    with ExitStack() as stack:
        stores = [stack.enter_context(_store(subject, devices)) for devices in sets]
        return _slide_all(subject, sliding, stores, limit)


def _store(
    subject: Subject,
    devices: Sequence[str],
    *,
    shares: Shares = "auto",
) -> DynamicGraph:
    return DynamicGraph(directed=True, num_vertices=subject.graph.num_vertices, devices=list(devices), shares=shares)


def _slide_all(subject: Subject, sliding: Sliding, stores: Sequence[DynamicGraph], limit: float) -> list[Cell]:
    """A cell for each store. The order of the stores changes with every slide. One that took too long gets no more
    slides."""
    cells: list[Cell] = []
    for store in stores:
        with Timer() as loading:
            store.apply(sliding.first())
        facts = {"devices": list(store.devices), "slides": sliding.slides, "step": sliding.step}
        cells.append({"graph": subject.name} | facts | {"load_seconds": loading.seconds})
    before = [_reach(store) for store in stores]
    samples: list[list[float]] = [[] for _ in stores]
    for number, batch in enumerate(sliding.batches()):
        if all(sum(seconds) > limit for seconds in samples):
            break
        if number == sliding.slides // 2:
            for cell, store in zip(cells, stores, strict=True):
                cell["halfway"] = _digest(store.snapshot())
        for turn in range(len(stores)):
            one = (turn + number) % len(stores)
            if sum(samples[one]) <= limit:
                with Timer() as timer:
                    stores[one].apply(batch)
                samples[one].append(timer.seconds)
    ends = zip(cells, stores, before, samples, strict=True)
    return [cell | _end(sliding, store, reach, seconds, limit) for cell, store, reach, seconds in ends]


def _end(sliding: Sliding, store: DynamicGraph, before: tuple[int, float], seconds: list[float], limit: float) -> Cell:
    if sum(seconds) > limit:
        return _stopped(seconds, sliding)
    after = _reach(store)
    return {
        "status": "done",
        "seconds": seconds,
        "reached": [before[0], after[0]],
        "bfs_seconds": [before[1], after[1]],
        "num_edges": store.num_edges,
        "bytes": int(sum(store.memory_usage().values())),
        "shares": dict(store.shares),
        "paths": _paths(store),
    }


def array_cell(subject: Subject, sliding: Sliding, *, limit: float) -> Cell:
    """The same without a store: the edges as a sorted array that each slide replaces, searched as a graph of its
    own."""
    num_vertices = subject.graph.num_vertices
    cell: Cell = {"graph": subject.name, "devices": [], "slides": sliding.slides, "step": sliding.step}
    with Timer() as loading:
        keys = np.sort(sliding.src[: sliding.loaded] * num_vertices + sliding.dst[: sliding.loaded])
    cell["load_seconds"] = loading.seconds

    def plain() -> Graph:
        return from_edges(keys // num_vertices, keys % num_vertices, num_vertices=num_vertices, directed=True)

    def reach() -> tuple[int, float]:
        return _reach(plain())

    before = reach()
    seconds: list[float] = []
    for number, batch in enumerate(sliding.batches()):
        if number == sliding.slides // 2:
            cell["halfway"] = _digest(plain())
        assert batch.delete is not None
        with Timer() as timer:
            given = batch.src * num_vertices + batch.dst
            keys = merged(keys, given[batch.delete], given[~batch.delete])
        seconds.append(timer.seconds)
        if sum(seconds) > limit:
            return cell | _stopped(seconds, sliding)
    after = reach()
    return cell | {
        "status": "done",
        "seconds": seconds,
        "reached": [before[0], after[0]],
        "bfs_seconds": [before[1], after[1]],
        "num_edges": int(keys.size),
    }


def _stopped(seconds: list[float], sliding: Sliding) -> Cell:
    reason = f"{sum(seconds):.3g} s after {len(seconds)} of {sliding.slides} slides"
    return {"status": "stopped", "reason": reason, "seconds": seconds}


def merged(keys: Int64Array, leaving: Int64Array, coming: Int64Array) -> Int64Array:
    """Sorted distinct keys without some and with others, in one pass over all keys for each of the two."""
    keys = np.delete(keys, _places(keys, np.sort(leaving), there=True)[0])
    places, fresh = _places(keys, np.unique(coming), there=False)
    return np.insert(keys, places, fresh)


def _places(keys: Int64Array, wanted: Int64Array, *, there: bool) -> tuple[Int64Array, Int64Array]:
    """Where those of the wanted keys are that are there, or would be that are not; and the keys themselves."""
    places = np.searchsorted(keys, wanted)
    found = np.zeros(wanted.size, np.bool_)
    inside = places < keys.size
    found[inside] = keys[places[inside]] == wanted[inside]
    return places[found == there], wanted[found == there]


def verify_reach(record: Record, subject: Subject, sliding: Sliding, cells: Sequence[Cell]) -> None:
    """Mark cells as wrong that reach other vertices than a plain graph of the same edges, or that have other edges
    after half of the slides. After all slides, the edges may be the initial ones."""
    begin, halfway, end = (
        from_edges(sliding.src[at], sliding.dst[at], num_vertices=subject.graph.num_vertices, directed=True)
        for at in map(sliding.after, (0, sliding.slides // 2, sliding.slides))
    )
    known: Cell = {"reached": [_reach(begin)[0], _reach(end)[0]], "num_edges": sliding.loaded}
    if sliding.slides:
        known["halfway"] = _digest(halfway)
    for cell in cells:
        if cell["status"] != "done":
            continue
        for name, value in known.items():
            if cell[name] != value:
                cell |= {"status": "wrong", "reason": f"{name} is {cell[name]}, not {value} as in a plain graph"}
        cell["verified_by"] = ["a plain graph of the same edges"]
    record.save()


def _digest(graph: Graph) -> str:
    """Of all edges."""
    offsets, neighbors = graph.csr
    state = hashlib.sha256(np.ascontiguousarray(offsets, "<i8").data)
    state.update(np.ascontiguousarray(neighbors, "<i4").data)
    return state.hexdigest()


def slide_seconds(cell: Mapping[str, Any]) -> float:
    """Seconds of a typical slide: other load on the machine affects some slides, but not the median."""
    return float(median(cell["seconds"]))


def updates_per_second(cell: Mapping[str, Any]) -> float:
    """Insertions and deletions per second of a typical slide."""
    return 2 * float(cell["step"]) / slide_seconds(cell)


def several(setting: Setting) -> tuple[str, ...]:
    """The devices that are compared: the chosen one, and the CPU if it is another."""
    return (setting.device,) if setting.device == "cpu" else (setting.device, "cpu")


def _reach(graph: Any) -> tuple[int, float]:
    with Timer() as timer:
        found = bfs(graph, SOURCE)
    return int((found.levels >= 0).sum()), timer.seconds


def _paths(store: DynamicGraph) -> dict[str, str]:
    """The path of the last batch, by shard."""
    return {name: str(shard["path"]) for name, shard in store.statistics().items()}
