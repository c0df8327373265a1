"""What a batch costs, by its size and by the path it takes through the store; and what the worst batch costs.

The whole graph is loaded, then batches of new edges are inserted and deleted again. Ends of random new edges are drawn
from the ends of edges that are there, so that hubs get more. Hot spots are all edges of one vertex, and edges in
descending order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from graphlode.experiments.plots import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Look,
    legend,
    panels,
    plain_logarithmic,
    say_nothing_there,
    time_text,
)
from graphlode.experiments.record import Cell, Record, Setting, Table, done, names_of
from graphlode.experiments.subjects import Subject
from graphlode.graph.batch import Batch
from graphlode.graph.dynamic import DynamicGraph
from graphlode.graph.graph import Graph
from graphlode.types import Int64Array

TITLE = "The store: time of a batch by size and path"
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
LEAST_SIZE = 1
DIRECTED = True

STRATEGIES = ("in place", "merge", "climb", "auto")
_LOOKS = {"in place": Look(BLUE), "merge": Look(ORANGE, "s"), "climb": Look(GREY, "v"), "auto": Look(GREEN, "D", "--")}

Edges = tuple[Int64Array, Int64Array]


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    for strategy in STRATEGIES:
        slowest = 0.0
        for size in setting.sizes:
            for kind in KINDS:
                if (kind != "random" and strategy != "auto") or slowest > setting.limit:
                    continue
                made = list(new_edges(subject.graph, kind, size, setting.repeats + 1))
                cell: Cell = {"graph": subject.name, "device": setting.device, "variant": strategy}
                cell |= {"batch": size, "kind": kind}
                most = min(ends.size for ends, _ in made)
                if most < size:
                    reason = f"the graph has room for {most:,} new edges of that kind"
                    record.add(cell | {"status": "skipped", "reason": reason, "seconds": [], "delete_seconds": []})
                    continue
                cell |= _time(subject, made, strategy, setting)
                slowest = max(slowest, sum(cell["seconds"]) + sum(cell["delete_seconds"]))
                record.add(cell)


def _time(subject: Subject, batches: list[Edges], strategy: Any, setting: Setting) -> Cell:
    """Every batch is inserted and deleted again; what is left must be the graph as it was."""
    graph = subject.graph
    src, dst = graph.edges(indices=True).T
    with DynamicGraph(
        directed=True, num_vertices=graph.num_vertices, devices=setting.device, strategy=strategy
    ) as store:
        store.insert(src, dst)
        given = store.num_edges
        inserted: list[float] = []
        deleted: list[float] = []
        paths: set[str] = set()
        for number, (new_src, new_dst) in enumerate(batches):
            seconds = []
            for delete in (False, True):
                batch = Batch(new_src, new_dst, delete=np.full(new_src.size, delete))
                begun = perf_counter()
                result = store.apply(batch)
                seconds.append(perf_counter() - begun)
                paths.update(result.paths.values())
                if store.num_edges != given + (0 if delete else new_src.size):
                    reason = f"{store.num_edges} edges after batch {number}"
                    return {"status": "wrong", "reason": reason, "seconds": inserted, "delete_seconds": deleted}
            if number > 0:  # the first one warms up
                inserted.append(seconds[0])
                deleted.append(seconds[1])
        return {
            "status": "done",
            "seconds": inserted,
            "delete_seconds": deleted,
            "paths": sorted(paths),
            "bytes_per_edge": sum(store.memory_usage().values()) / max(1, given),
            "verified_by": ["number of edges"],
        }


def new_edges(graph: Graph, kind: str, size: int, number: int) -> Iterator[Edges]:
    """So many batches of edges that are not in the graph: exactly `size` of them, or as many as there can be."""
    src, dst = graph.edges(indices=True).T.astype(np.int64)
    there = np.sort(src * graph.num_vertices + dst)
    for seed in range(number):
        new_src, new_dst = _DRAWN[kind](np.random.default_rng(seed), src, dst, graph.num_vertices, size)
        keys, first = np.unique(new_src * graph.num_vertices + new_dst, return_index=True)
        at = np.minimum(np.searchsorted(there, keys), there.size - 1)
        fresh = np.sort(first[(there[at] != keys) & (new_src[first] != new_dst[first])])[:size]
        yield new_src[fresh], new_dst[fresh]


def _random(rng: np.random.Generator, src: Int64Array, dst: Int64Array, num_vertices: int, size: int) -> Edges:
    wanted = 2 * size + 1000
    return rng.choice(src, wanted), rng.choice(dst, wanted)


def _one_vertex(rng: np.random.Generator, src: Int64Array, dst: Int64Array, num_vertices: int, size: int) -> Edges:
    ends = rng.permutation(num_vertices)[: 2 * size + 1000]
    return np.full(ends.size, rng.choice(src)), ends


def _descending(rng: np.random.Generator, src: Int64Array, dst: Int64Array, num_vertices: int, size: int) -> Edges:
    new_src, new_dst = _random(rng, src, dst, num_vertices, size)
    order = np.lexsort((new_dst, new_src))[::-1]
    return new_src[order], new_dst[order]


_DRAWN: dict[str, Callable[..., Edges]] = {"random": _random, "one vertex": _one_vertex, "descending": _descending}
KINDS = tuple(_DRAWN)


def tables(document: Mapping[str, Any]) -> list[Table]:
    rows = []
    for cell in document["cells"]:
        facts = [cell["graph"], cell["variant"], cell["kind"], f"{cell['batch']:,}"]
        if cell["status"] != "done" or not cell["seconds"]:
            rows.append([*facts, cell["status"], *[""] * 4])
            continue
        usual = median(cell["seconds"])
        rows.append(
            [
                *facts,
                time_text(usual),
                f"{cell['batch'] / usual / 1e6:.3g} M",
                f"{max(cell['seconds']) / usual:.1f}x",
                time_text(median(cell["delete_seconds"])),
                f"{cell['bytes_per_edge']:.1f}",
            ]
        )
    columns = ["graph", "path", "batch of", "edges", "insert", "edges/s", "worst", "delete", "bytes/edge"]
    return [Table(TITLE, columns, rows, words=3)]


def figure(document: Mapping[str, Any]) -> Any:
    env = document["environment"]
    where = env["gpu"] if document["device"].startswith("cuda") and env["gpu"] else f"{document['threads']} CPU threads"
    drawn, axes = panels(TITLE, f"{where}; million edges inserted per second, medians", names_of(document))
    used: dict[str, Look] = {}
    for name, axis in axes.items():
        if not done(document["cells"], graph=name):
            say_nothing_there(axis)
            continue
        for strategy, look in _LOOKS.items():
            cells = done(document["cells"], graph=name, variant=strategy, kind="random")
            if cells:
                used[strategy] = look
                rates = [cell["batch"] / median(cell["seconds"]) / 1e6 for cell in cells]
                axis.plot([cell["batch"] for cell in cells], rates, **look.of_line, markersize=5, linewidth=1.4)
        plain_logarithmic(axis)
        axis.set_xlabel("edges in a batch", fontsize=9)
        axis.set_ylabel("million edges per second", fontsize=9)
    legend(drawn, used)
    return drawn
