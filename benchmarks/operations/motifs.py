"""All connected patterns of up to five vertices; the 29 counts of all copies are verified.

`what` as for `cliques`. The method is the option `method`, the size of the patterns the option `size`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contest
from benchmarks.device_time import DeviceClock
from benchmarks.operations.triangles import forget_views
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    graph = setting.input(case).graph
    size, method = case.options.get("size", 5), case.options.get("method", "auto")
    clock = DeviceClock()

    def run(devices: str) -> gl.MotifCounts:
        if case.what == "end_to_end":
            forget_views(graph)
        with clock.running() if case.what == "device" else nullcontext():
            return gl.count_motifs(graph, size, method=method, devices=devices)

    part = {"kernel": kernel_seconds, "device": clock.seconds}.get(case.what)
    fields: dict[str, Any] = {"answer": lambda result: list(result.noninduced), "part": part}
    contenders = [
        setting.ours(methods={f"count_motifs({method})": lambda: run(setting.devices)}, **fields),
        *setting.other_devices(case, run, **fields),
    ]
    return Contest(contenders, *expected_counts(case, setting, size))


def expected_counts(case: Case, setting: Setting, size: Any) -> tuple[list[int], str]:
    """The numbers of all copies of the patterns, and their source."""
    assert case.graph is not None
    if case.expected == "reference":
        found = gl.count_motifs(setting.input(case).graph, size, devices="reference")
        return list(found.noninduced), "reference, in this run"
    recorded = setting.inputs.recorded(case.graph, "motifs")
    return list(recorded.values())[: {3: 2, 4: 8, 5: 29}[size]], "recorded"


def kernel_seconds(result: gl.MotifCounts | gl.OrbitCounts) -> float:
    """Launch, passes and read-back, from the provenance."""
    return result.provenance.steps["kernel"]
