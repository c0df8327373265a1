"""A batch into a store on a device and the CPU, with automatic shares, compared with the device alone.

Options: `batch`, its size; `cpus`, how many shards the CPU has, 1 by default. Batches come from the host and are timed
in turn on both stores; each is deleted again.
"""

from __future__ import annotations

from itertools import cycle
from typing import Any

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.operations.store import Loaded
from benchmarks.setting import Setting

ALONE = "the device alone"

_loaded: dict[tuple[str | None, str, int], tuple[Loaded, Loaded]] = {}  # one pair at most


def contest(case: Case, setting: Setting) -> Contest:
    hybrid, alone = _load(case, setting)
    given = hybrid.new_edges("random", case.options["batch"])
    batches = [(gl.Batch(**each), gl.Batch(**each, delete=True)) for each in given]
    buckets = {"buckets of the device": 0}

    def answer(result: gl.BatchResult) -> int:
        buckets["buckets of the device"] = hybrid.store.shares.get(setting.devices, 0)  # of the last batch
        return result.inserted

    ours = setting.ours(**_ways(hybrid, batches), answer=answer)
    other = Contender(ALONE, gl.__version__, ours.settings, **_ways(alone, batches), answer=_inserted)
    return Contest([ours, other], int(given[0]["src"].size), "the batch", buckets)


def _inserted(result: gl.BatchResult) -> int:
    return result.inserted


def _ways(loaded: Loaded, batches: list[tuple[gl.Batch, gl.Batch]]) -> dict[str, Any]:
    """How a contender inserts one batch after the other."""
    coming = cycle(batches)
    now: list[tuple[gl.Batch, gl.Batch]] = []

    def setup() -> None:
        loaded.restore()
        now[:] = [next(coming)]

    def run() -> gl.BatchResult:
        return loaded.apply(*now[0])

    return {"methods": {"apply": run}, "setup": setup}


def _load(case: Case, setting: Setting) -> tuple[Loaded, Loaded]:
    cpus = case.options.get("cpus", 1)
    key = (case.graph, setting.devices, cpus)
    if key not in _loaded:
        for other in _loaded.values():
            for each in other:
                each.store.close()
        _loaded.clear()
        given = setting.input(case)
        _loaded[key] = Loaded(given, "auto", [setting.devices, *["cpu"] * cpus]), Loaded(given, "auto", setting.devices)
    return _loaded[key]
