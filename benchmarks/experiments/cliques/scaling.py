"""Speed-up over several devices: measured with CPU instances, and simulated for up to eight devices of the chosen kind.

Measured: one to as many CPU instances as there are cores for (eight at most), each with the same number of threads.

Simulated, and labeled so, because a measurement would need eight GPUs: the work of one device is cut into up to 1,024
pieces of even estimated work, and each piece is timed alone on the real device. `simulation` then computes when several
devices would finish. A piece alone leaves most of a GPU idle, so all pieces in sequence may take far longer than the
whole. Therefore some are timed first, and if needed there are fewer, larger pieces. Two ways to share the pieces are
compared: dealt round-robin before the start, as in the paper; and taken from a queue with stealing, as graphlode does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.experiments.cliques.simulation import POLICIES, finish_seconds, parallelism_of, without_launch
from benchmarks.experiments.counting import (
    count_cell,
    count_up,
    fastest,
    prepare,
    sampled,
    time_limit,
    verify,
)
from benchmarks.experiments.setting import Setting, Table
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look, legend, panels, say_nothing_there
from benchmarks.record import Cell, Record, done
from graphlode.common.control import Control
from graphlode.common.wait import run_all
from graphlode.config import configure, usable_cores
from graphlode.execute import call
from graphlode.execute.device import hold, kernel_module
from graphlode.execute.devices import resolve
from graphlode.execute.shares import NUM_BUCKETS
from graphlode.execute.tasks import cut_by_work
from graphlode.measure import Timer
from graphlode.mining.cliques import CLIQUES
from graphlode.types import FloatArray, Int64Array, Task

TITLE = "Counting k-cliques on several devices: speed-up"
SIZES = (5, 6, 7)
LEAST_SIZE = 3
DIRECTED = False
METHODS = ("pivot", "enumerate")
MOST_DEVICES = 8
LAUNCHING = 4.0
"""Seconds that launching all pieces may take beside the work in them."""
LONGEST = 10.0
"""Times of the whole that all pieces one after the other may take, or LAUNCHING if that is more."""
FEWEST_PIECES = 64
"""Eight for each of eight devices."""
SHORTEST = 0.02
"""Seconds of one device below which nothing is simulated: its pieces would be as short as their launches."""
PAPER = {5: 7.53, 6: 7.36, 7: 5.25}
"""Speed-up over eight GPUs that the paper reports for its system, by size."""

_COLORS = (Color.BLUE, Color.RED, Color.GREEN)
_STYLES = {
    "measured": Look(Color.GREY, "o", "-"),
    "queue": Look(Color.GREY, "", "--"),
    "round-robin": Look(Color.GREY, "", ":"),
}


def measure(subject: Subject, setting: Setting, record: Record) -> None:
    record.document["paper_speedup_over_8"] = {str(k): value for k, value in PAPER.items()}
    record.note("Speed-ups of several devices of one kind are simulated from piece times measured on one of them.")
    counts = dict(subject.expected)
    most = min(MOST_DEVICES, usable_cores())
    each = max(1, usable_cores() // MOST_DEVICES)
    prepare(subject, "cpu")
    for method in METHODS:
        with configure(threads=each):
            singles = count_up(subject, method, "cpu", counts, setting, record)
        for single in singles:
            single |= {"kind": "measured", "instances": 1, "threads_each": each}
            if single["status"] == "done":
                _more_instances(subject, single, most, each, setting, record)
    prepare(subject, setting.device)
    with configure(threads=each):  # for a CPU: an instance as those that were measured
        for method in METHODS:
            for k in sorted(setting.sizes):
                _simulate(subject, k, method, setting, record)
    verify(record.cells, subject)


def _more_instances(subject: Subject, single: Cell, most: int, each: int, setting: Setting, record: Record) -> None:
    for instances in range(2, most + 1):
        with configure(threads=instances * each):
            cell = count_cell(
                subject,
                single["k"],
                single["method"],
                ",".join(["cpu"] * instances),
                limit=setting.limit,
                repeats=setting.repeats,
            )
        cell |= {"kind": "measured", "device": "cpu", "instances": instances, "threads_each": each}
        if cell["status"] == "done":
            cell["speedup"] = fastest(single) / fastest(cell)
        record.add(cell)


def _simulate(subject: Subject, k: int, method: str, setting: Setting, record: Record) -> None:
    whole = count_cell(subject, k, method, setting.device, limit=setting.limit, repeats=setting.repeats)
    whole["kind"] = "whole"
    record.add(whole)
    if whole["status"] != "done":
        return
    if fastest(whole) < SHORTEST:
        reason = f"one device is done in {fastest(whole) * 1e3:.3g} ms: launching pieces would take longer"
        cell = {"graph": subject.name, "k": k, "method": method, "device": setting.device, "kind": "pieces"}
        record.add(cell | {"status": "skipped", "reason": reason})
        return
    budget = max(LAUNCHING, LONGEST * fastest(whole))
    pieces = _piece_cell(subject, k, method, setting, budget) | {"kind": "pieces"}
    record.add(pieces)
    if pieces["status"] != "done":
        return
    times, launch = without_launch(np.array(pieces["seconds"]))
    parallelism = parallelism_of(times, launch, fastest(whole))
    pieces |= {"launch_seconds": launch, "parallelism": parallelism, "longest_seconds": float(times.max())}
    for policy in POLICIES:
        alone = finish_seconds(times, 1, policy, parallelism, launch)
        for devices in range(1, MOST_DEVICES + 1):
            seconds = finish_seconds(times, devices, policy, parallelism, launch)
            record.cells.append(
                {
                    "graph": subject.name,
                    "k": k,
                    "method": method,
                    "device": setting.device,
                    "kind": "simulated",
                    "policy": policy,
                    "devices": devices,
                    "status": "simulated",
                    "seconds": [seconds],
                    "speedup": alone / seconds,
                }
            )
    record.save()


def _piece_cell(subject: Subject, k: int, method: str, setting: Setting, budget: float) -> Cell:
    """Every piece of the work on its own: the fastest of two calls. Their counts must add up to the whole."""
    device = resolve(setting.device)[0]
    launch = kernel_module(device, CLIQUES.name).launch
    buckets = _buckets(device, subject)
    chosen = buckets

    def time_pieces(pieces: Sequence[Task], control: Control) -> tuple[list[float], int]:
        view = hold(device, subject.graph, CLIQUES.view, control)
        total, times = 0, []
        for task in pieces:
            control.check()
            with Timer() as timer:
                partial = launch(device, view, iter([task]), control=control, k=k, by=None, method=method)
            times.append(timer.seconds)
            total += int(partial["total"])
        return times, total

    best: FloatArray | None = None

    def run(pieces: Sequence[Task], seconds: float) -> tuple[list[float], int]:
        control = Control()
        working = [(device, lambda: time_pieces(pieces, control))]
        found: tuple[list[float], int] = run_all(working, control, time_limit(seconds), subject.graph.num_edges)[0]
        return found

    def once(seconds: float) -> tuple[int, float | None]:
        nonlocal best, chosen
        if best is None:
            tried = buckets[:: NUM_BUCKETS // FEWEST_PIECES]
            run(tried[:1], seconds)  # may compile
            times, _ = run(tried, seconds)
            chosen = joined(buckets, fitting_pieces(sum(times) / len(times), budget))
        times, total = run(chosen, seconds)
        best = np.array(times) if best is None else np.minimum(best, times)
        return total, sum(times)

    cell = {"graph": subject.name, "k": k, "method": method, "device": setting.device}
    found = sampled(once, setting.device, limit=setting.limit + budget, repeats=1)
    if found["status"] == "done" and best is not None:
        found["seconds"] = best.tolist()
        del found["call_seconds"]
    return cell | found


def fitting_pieces(seconds: float, budget: float) -> int:
    """The number of pieces, a power of two, if each takes `seconds` and all pieces together may take the budget.

    A larger piece takes longer, but not in proportion to its size if a small one leaves most of a device idle.
    """
    pieces = NUM_BUCKETS
    while pieces > FEWEST_PIECES and pieces * seconds > budget:
        pieces //= 2
    return pieces


def joined(buckets: Sequence[Task], number: int) -> list[Task]:
    """The given number of pieces, each of neighboring buckets."""
    each = len(buckets) // number
    return [Task(buckets[i].begin, buckets[i + each - 1].end) for i in range(0, len(buckets), each)]


def _buckets(device: Any, subject: Subject) -> list[Task]:
    """The work of one device in buckets of even estimated work."""

    def cut(control: Control) -> Int64Array:
        assert CLIQUES.work is not None
        view = hold(device, subject.graph, CLIQUES.view, control)
        return cut_by_work(CLIQUES.work({name: device.get(view[name]) for name in ("offsets", "neighbors")}))

    cuts = call(cut, device)
    return [Task(int(begin), int(end)) for begin, end in zip(cuts[:-1], cuts[1:], strict=True)]


def tables(document: Mapping[str, Any]) -> list[Table]:
    """Speed-ups of the most devices, measured and simulated, and those of the paper."""
    rows = []
    for graph, method in _panels(document):
        for k in document["sizes"]:
            cells = [c for c in document["cells"] if (c["graph"], c["method"], c["k"]) == (graph, method, k)]
            measured = max((c for c in cells if "speedup" in c and c["kind"] == "measured"), key=_count, default=None)
            entries = [_entry(measured)]
            for policy in POLICIES:
                entries.append(_entry(max((c for c in cells if c.get("policy") == policy), key=_count, default=None)))
            if any(entries):
                rows.append([graph, method, str(k), *entries, f"{PAPER[k]:.2f}x of 8" if k in PAPER else ""])
    columns = ["graph", "method", "k", "CPU", "dealt *", "queue *", "paper"]
    return [Table(f"{TITLE} (* simulated, for devices like {document['device']})", columns, rows, words=2)]


def figure(document: Mapping[str, Any]) -> Any:
    names = {f"{graph}, {method}": (graph, method) for graph, method in _panels(document)}
    subtitle = (
        f"Measured: CPU instances, threads each: {_threads_each(document)}. Simulated: devices of the kind "
        f"{document['device']}, from piece times measured on one"
    )
    drawn, axes = panels(TITLE, subtitle, list(names) or ["no data"], height=2.8)
    colors = dict(zip(document["sizes"], _COLORS * 3, strict=False))
    for name, axis in axes.items():
        axis.plot([1, MOST_DEVICES], [1, MOST_DEVICES], color="#BBBBBB", linewidth=1)
        if name not in names:
            say_nothing_there(axis)
            continue
        graph, method = names[name]
        for k, color in colors.items():
            for kind, look in _STYLES.items():
                xs, ys = _series(document["cells"], graph, method, k, kind)
                axis.plot(xs, ys, color=color, linestyle=look.line, marker=look.marker, markersize=4, linewidth=1.4)
            if k in PAPER:
                axis.plot([MOST_DEVICES], [PAPER[k]], color=color, marker="x", markersize=7, markeredgewidth=1.6)
        axis.set_xlim(0.7, MOST_DEVICES + 0.3)
        axis.set_ylim(0, MOST_DEVICES + 0.6)
        axis.set_xticks(range(1, MOST_DEVICES + 1))
        axis.set_yticks(range(0, MOST_DEVICES + 1, 2))
        axis.set_xlabel("devices", fontsize=9)
        axis.set_ylabel("speed-up", fontsize=9)
    looks = {f"k = {k}": Look(color, "", "-") for k, color in colors.items()}
    looks["ideal"] = Look("#BBBBBB", "", "-")
    if any(cell["kind"] == "measured" for cell in document["cells"] if "speedup" in cell):
        looks["measured, CPU instances"] = _STYLES["measured"]
    looks["simulated, queue with stealing"] = _STYLES["queue"]
    looks["simulated, dealt round-robin"] = _STYLES["round-robin"]
    if any(k in PAPER for k in colors):
        looks["the paper's, on 8 GPUs and other graphs"] = Look(Color.GREY, "x", "")
    legend(drawn, looks)
    return drawn


def _panels(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Graphs and methods that have a speed-up to show."""
    cells = [cell for cell in document["cells"] if "speedup" in cell]
    return list(dict.fromkeys((cell["graph"], cell["method"]) for cell in cells))


def _series(cells: Sequence[Cell], graph: str, method: str, k: int, kind: str) -> tuple[list[int], list[float]]:
    found = [c for c in cells if (c["graph"], c["method"], c["k"]) == (graph, method, k)]
    if kind == "measured":
        chosen = [c for c in done(found, kind="measured") if c["instances"] == 1 or "speedup" in c]
        chosen = chosen if len(chosen) > 1 else []
    else:
        chosen = [c for c in found if c.get("policy") == kind]
    return [_count(c) for c in chosen], [c.get("speedup", 1.0) for c in chosen]


def _count(cell: Cell) -> int:
    return int(cell["instances"] if cell["kind"] == "measured" else cell["devices"])


def _entry(cell: Cell | None) -> str:
    return "" if cell is None else f"{cell['speedup']:.2f}x of {_count(cell)}"


def _threads_each(document: Mapping[str, Any]) -> int:
    return next((cell["threads_each"] for cell in document["cells"] if "threads_each" in cell), 1)
