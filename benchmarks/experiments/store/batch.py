"""The time of a batch by its size and by its path through the store; and the time of the worst batch.

The whole graph is loaded, then batches of new edges (`new_edges.py`) are inserted and deleted again. Batches larger
than the graph are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.new_edges import Drawn, Edges
from benchmarks.plots import Color, Look, by_graph, legend, line, panels, plain_logarithmic, time_text
from benchmarks.record import Cell, Record, done, environment_of, names_of
from graphlode.graph.store.batch import Batch
from graphlode.graph.store.dynamic import DynamicGraph
from graphlode.measure import Timer

TITLE = "The store: time of a batch by size and path"
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
LEAST_SIZE = 1
DIRECTED = True

STRATEGIES: tuple[Any, ...] = ("in place", "merge", "climb", "auto")
_LOOKS = {
    "in place": Look(Color.BLUE),
    "merge": Look(Color.ORANGE, "s"),
    "climb": Look(Color.GREY, "v"),
    "auto": Look(Color.GREEN, "D", "--"),
}
_HOT_LOOKS = {  # with auto
    "one vertex": Look(Color.RED, "x", ":"),
    "one leaf": Look(Color.ORANGE, "1", ":"),
    "descending": Look(Color.SKY, "P", ":"),
}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    """A store for each path. All batches are inserted into it and deleted again, one after the other."""
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
    """Insert and delete every batch. The graph must then be the same as before."""
    given = store.num_edges
    inserted: list[float] = []
    deleted: list[float] = []
    paths: set[str] = set()
    for number, (new_src, new_dst) in enumerate(batches):
        seconds = []
        for delete in (False, True):
            batch = Batch(new_src, new_dst, delete=delete)
            with Timer() as timer:
                result = store.apply(batch)
            seconds.append(timer.seconds)
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
    env = environment_of(document)
    where = env["gpu"] if document["device"].startswith("cuda") and env["gpu"] else f"{document['threads']} CPU threads"
    drawn, axes = panels(TITLE, f"{where}; million edges inserted per second, medians", names_of(document), width=4.0)
    used: dict[str, Look] = {}
    for name, axis, _ in by_graph(document, axes):
        series = {path: (look, {"variant": path, "kind": "random"}) for path, look in _LOOKS.items()}
        series |= {f"auto, {kind}": (look, {"variant": "auto", "kind": kind}) for kind, look in _HOT_LOOKS.items()}
        for label, (look, wanted) in series.items():
            cells = done(document["cells"], graph=name, **wanted)
            if cells:
                used[label] = look
                rates = [cell["batch"] / median(cell["seconds"]) / 1e6 for cell in cells]
                line(axis, [cell["batch"] for cell in cells], rates, look)
        plain_logarithmic(axis)
        axis.set_xlabel("edges in a batch", fontsize=9)
        axis.set_ylabel("million edges per second", fontsize=9)
    legend(drawn, used)
    return drawn
