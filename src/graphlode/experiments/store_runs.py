"""What the experiments with the store have in common: one run of the sliding protocol on one set of devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphlode.analytics.bfs import bfs
from graphlode.execute.run import Shares
from graphlode.experiments.record import Cell, Record, Setting
from graphlode.experiments.sliding import Sliding, in_order
from graphlode.experiments.subjects import Subject
from graphlode.graph.build import from_edges
from graphlode.graph.dynamic import DynamicGraph
from graphlode.packed import Path

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
    strategy: Literal["auto"] | Path = "auto",
) -> Cell:
    """Load, search, slide, search again. `seconds` has a sample per slide."""
    cell: Cell = {"graph": subject.name, "devices": list(devices), "slides": sliding.slides, "step": sliding.step}
    with DynamicGraph(
        directed=True, num_vertices=subject.graph.num_vertices, devices=list(devices), shares=shares, strategy=strategy
    ) as store:
        begun = perf_counter()
        store.apply(sliding.first())
        cell["load_seconds"] = perf_counter() - begun
        before = _reach(store)
        seconds: list[float] = []
        for batch in sliding.batches():
            begun = perf_counter()
            store.apply(batch)
            seconds.append(perf_counter() - begun)
            if sum(seconds) > limit:
                reason = f"{sum(seconds):.3g} s after {len(seconds)} of {sliding.slides} slides"
                return cell | {"status": "stopped", "reason": reason, "seconds": seconds}
        after = _reach(store)
        return cell | {
            "status": "done",
            "seconds": seconds,
            "reached": [before[0], after[0]],
            "bfs_seconds": [before[1], after[1]],
            "num_edges": store.num_edges,
            "bytes": int(sum(store.memory_usage().values())),
            "shares": dict(store.shares),
            "paths": _paths(store),
        }


def baseline_cell(subject: Subject, sliding: Sliding) -> Cell:
    """The same without a store: the edges as a sorted array that each slide replaces, searched as a graph of its own."""
    num_vertices = subject.graph.num_vertices
    keys = np.sort(sliding.src[: sliding.loaded] * num_vertices + sliding.dst[: sliding.loaded])
    reached, bfs_seconds, seconds = [], [], []

    def reach() -> None:
        graph = from_edges(keys // num_vertices, keys % num_vertices, num_vertices=num_vertices, directed=True)
        count, spent = _reach(graph)
        reached.append(count)
        bfs_seconds.append(spent)

    reach()
    for batch in sliding.batches():
        begun = perf_counter()
        given, leaves = batch.src * num_vertices + batch.dst, batch.delete
        assert leaves is not None
        keys = np.union1d(np.setdiff1d(keys, given[leaves], assume_unique=True), given[~leaves])
        seconds.append(perf_counter() - begun)
    reach()
    return {
        "graph": subject.name,
        "devices": [],
        "slides": sliding.slides,
        "step": sliding.step,
        "status": "done",
        "seconds": seconds,
        "reached": reached,
        "bfs_seconds": bfs_seconds,
        "num_edges": int(keys.size),
    }


def verify_reach(record: Record, baseline: Cell, cells: Sequence[Cell]) -> None:
    """A store that reaches other vertices than the baseline, or ends with other edges, is wrong."""
    for cell in cells:
        if cell["status"] != "done":
            continue
        for name in ("reached", "num_edges"):
            if cell[name] != baseline[name]:
                cell |= {"status": "wrong", "reason": f"{name} is {cell[name]}, the baseline has {baseline[name]}"}
        cell["verified_by"] = ["baseline"]
    record.save()


def total_seconds(cell: Mapping[str, Any]) -> float:
    """All slides together."""
    return float(sum(cell["seconds"]))


def updates_per_second(cell: Mapping[str, Any]) -> float:
    """Insertions and deletions per second of a typical slide."""
    return 2 * float(cell["step"]) / float(median(cell["seconds"]))


def several(setting: Setting) -> tuple[str, ...]:
    """The devices that are compared: the chosen one, and the CPU if it is another."""
    return (setting.device,) if setting.device == "cpu" else (setting.device, "cpu")


def _reach(graph: Any) -> tuple[int, float]:
    begun = perf_counter()
    found = bfs(graph, SOURCE)
    return int((found.levels >= 0).sum()), perf_counter() - begun


def _paths(store: DynamicGraph) -> dict[str, str]:
    """The path of the last batch, by shard."""
    return {name: str(shard["path"]) for name, shard in store.statistics().items()}
