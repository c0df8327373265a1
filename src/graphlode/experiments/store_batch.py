"""What a batch costs, by its size and by the path it takes through the store; and what the worst batch costs.

The whole graph is loaded, then batches of new edges are inserted and deleted again. Ends of random new edges are drawn
from the ends of edges that are there, so that hubs get more. Hot spots are edges of one vertex, edges that all come between
two that are there, and so into one leaf, and edges in descending order. Batches larger than the graph are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphlode.common.store import Path
from graphlode.config import settings
from graphlode.experiments.plots import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    Look,
    legend,
    panels,
    plain_logarithmic,
    say_nothing_there,
    time_text,
)
from graphlode.experiments.record import Cell, Record, Setting, Table, done, names_of
from graphlode.experiments.subjects import Subject
from graphlode.graph.graph import Graph
from graphlode.graph.store.batch import Batch
from graphlode.graph.store.dynamic import DynamicGraph
from graphlode.types import Int64Array

TITLE = "The store: time of a batch by size and path"
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
LEAST_SIZE = 1
DIRECTED = True

STRATEGIES: tuple[Literal["auto"] | Path, ...] = ("in place", "merge", "rebuild", "climb", "auto")
_LOOKS = {
    "in place": Look(BLUE),
    "merge": Look(ORANGE, "s"),
    "rebuild": Look(PURPLE, "^"),
    "climb": Look(GREY, "v"),
    "auto": Look(GREEN, "D", "--"),
}
_HOT_LOOKS = {  # with auto
    "one vertex": Look(RED, "x", ":"),
    "one leaf": Look(ORANGE, "1", ":"),
    "descending": Look(SKY, "P", ":"),
}

KINDS = ("random", *_HOT_LOOKS)
Edges = tuple[Int64Array, Int64Array]


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    """A store for each path, into which all batches go, one after the other, and out of which they come again."""
    graph = subject.graph
    sizes = [size for size in setting.sizes if size <= graph.num_edges]
    if len(sizes) < len(setting.sizes):
        larger = ", ".join(f"{size:,}" for size in setting.sizes if size > graph.num_edges)
        record.note(f"{subject.name}: batches of {larger} edges are left out: the graph has {graph.num_edges:,}")
    if not sizes:
        return
    drawn = Drawn(graph)
    batches = drawn.all_kinds(sizes, setting.repeats + 1)
    for strategy in STRATEGIES:
        with DynamicGraph(
            directed=True, num_vertices=graph.num_vertices, devices=setting.device, strategy=strategy
        ) as store:
            store.insert(drawn.src, drawn.dst)
            _time_all(store, batches, {"graph": subject.name, "variant": strategy}, setting, record)


def _time_all(
    store: DynamicGraph, batches: Mapping[tuple[int, str], list[Edges]], facts: Cell, setting: Setting, record: Record
) -> None:
    slowest = 0.0
    for (size, kind), edges in batches.items():
        if kind != "random" and facts["variant"] != "auto":
            continue
        cell = facts | {"device": setting.device, "batch": size, "kind": kind}
        most = min(src.size for src, _ in edges)
        if most < size or slowest > setting.limit:
            room = f"the graph has room for {most:,} new edges of that kind"
            reason = room if most < size else f"batches before took {slowest:.3g} s, over {setting.limit:g} s"
            record.add(cell | {"status": "skipped", "reason": reason, "seconds": [], "delete_seconds": []})
            continue
        cell |= _time(store, edges)
        slowest = max(slowest, sum(cell["seconds"]) + sum(cell["delete_seconds"]))
        record.add(cell)


def _time(store: DynamicGraph, batches: list[Edges]) -> Cell:
    """Every batch is inserted and deleted again; what is left must be the graph as it was."""
    given = store.num_edges
    inserted: list[float] = []
    deleted: list[float] = []
    paths: set[str] = set()
    for number, (new_src, new_dst) in enumerate(batches):
        seconds = []
        for delete in (False, True):
            batch = Batch(new_src, new_dst, delete=delete)
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


class Drawn:
    """Edges that are drawn beside those of a graph, `src` and `dst`; as keys, source * number of vertices + destination."""

    def __init__(self, graph: Graph) -> None:
        self.num_vertices = graph.num_vertices
        self.src, self.dst = graph.edges(indices=True).T.astype(np.int64)
        self._keys = self.src * self.num_vertices + self.dst  # in order, as rows and their entries are

    def all_kinds(self, sizes: Sequence[int], number: int) -> dict[tuple[int, str], list[Edges]]:
        """So many batches of each size and kind. Large ones take seconds to draw, so threads do."""
        wanted = [(kind, size, seed) for size in sizes for kind in KINDS for seed in range(number)]
        with ThreadPoolExecutor(settings().threads) as pool:
            made = iter(list(pool.map(lambda each: self.new(*each), wanted)))
        return {(size, kind): [next(made) for _ in range(number)] for size in sizes for kind in KINDS}

    def new(self, kind: str, size: int, seed: int) -> Edges:
        """A batch of edges that are not in the graph: exactly `size` of them, or as many as there can be."""
        rng = np.random.default_rng(seed)
        draw = {"one vertex": self._one_vertex, "one leaf": self._one_leaf}.get(kind, self._random)
        fresh = self._fresh(draw(rng, 2 * size + 1000))
        if fresh.size < size:
            fresh = self._fresh(draw(rng, 4 * size + 1000))
        chosen = rng.permutation(fresh)[:size]
        if kind == "descending":
            chosen = np.sort(chosen)[::-1]
        return chosen // self.num_vertices, chosen % self.num_vertices

    def _fresh(self, keys: Int64Array) -> Int64Array:
        """Those that are not in the graph and no loops, each once."""
        keys = np.sort(keys)  # numpy.unique hashes, which takes a hundred times as long
        keys = keys[np.append(True, keys[1:] != keys[:-1])]
        at = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
        fresh: Int64Array = keys[(self._keys[at] != keys) & (keys % (self.num_vertices + 1) != 0)]
        return fresh

    def _random(self, rng: np.random.Generator, wanted: int) -> Int64Array:
        return rng.choice(self.src, wanted) * self.num_vertices + rng.choice(self.dst, wanted)

    def _one_vertex(self, rng: np.random.Generator, wanted: int) -> Int64Array:
        ends: Int64Array = rng.permutation(self.num_vertices)[:wanted]
        return ends + int(rng.choice(self.src)) * self.num_vertices

    def _one_leaf(self, rng: np.random.Generator, wanted: int) -> Int64Array:
        """Between two neighboring keys that are there, if any are far enough from each other."""
        gaps = np.diff(self._keys, append=self.num_vertices**2)
        wide = np.flatnonzero(gaps > wanted)
        at = int(rng.choice(wide)) if wide.size else int(gaps.argmax())
        keys: Int64Array = self._keys[at] + 1 + np.arange(min(wanted, int(gaps[at]) - 1))
        return keys


def new_edges(graph: Graph, kind: str, size: int, number: int) -> Iterator[Edges]:
    """So many batches of edges that are not in the graph; see `Drawn`."""
    drawn = Drawn(graph)
    return (drawn.new(kind, size, seed) for seed in range(number))


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
    drawn, axes = panels(TITLE, f"{where}; million edges inserted per second, medians", names_of(document), width=4.0)
    used: dict[str, Look] = {}
    for name, axis in axes.items():
        if not done(document["cells"], graph=name):
            say_nothing_there(axis)
            continue
        series = {path: (look, {"variant": path, "kind": "random"}) for path, look in _LOOKS.items()}
        series |= {f"auto, {kind}": (look, {"variant": "auto", "kind": kind}) for kind, look in _HOT_LOOKS.items()}
        for label, (look, wanted) in series.items():
            cells = done(document["cells"], graph=name, **wanted)
            if cells:
                used[label] = look
                rates = [cell["batch"] / median(cell["seconds"]) / 1e6 for cell in cells]
                axis.plot([cell["batch"] for cell in cells], rates, **look.of_line, markersize=5, linewidth=1.4)
        plain_logarithmic(axis)
        axis.set_xlabel("edges in a batch", fontsize=9)
        axis.set_ylabel("million edges per second", fontsize=9)
    legend(drawn, used)
    return drawn
