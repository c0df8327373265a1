"""Number of k-cliques, by the method that the case names.

`end_to_end`: the whole call, from the rows, so the time includes ordering; `resident`: the whole call with an existing
ordered view; `kernel`: the search alone, on the device's worker, with launch and read-back; `device`: the kernels
alone, by the clock of a CUDA device.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.device_time import DeviceClock
from benchmarks.operations.triangles import forget_views
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph, k, method = given.graph, case.options["k"], case.options.get("method", "auto")

    clock = DeviceClock()

    def run(devices: str) -> gl.CliqueCount:
        if case.what == "end_to_end":
            forget_views(graph)
        with clock.running() if case.what == "device" else nullcontext():
            return gl.count_cliques(graph, k, method=method, devices=devices)

    part = {"kernel": kernel_seconds, "device": clock.seconds}.get(case.what)
    fields: dict[str, Any] = {"answer": int, "part": part}
    contenders = [
        setting.ours(methods={f"count_cliques({method})": lambda: run(setting.devices)}, **fields),
        *setting.other_devices(case, run, **fields),
    ]
    for peer in setting.peers(case):
        contenders.append(Contender(peer.name, peer.version, peer.settings, peer.cliques(given, k)))
    return Contest(contenders, *expected_count(case, setting, k))


def expected_count(case: Case, setting: Setting, k: int) -> tuple[int, str]:
    """The number of k-cliques that every contender must find, and its source."""
    assert case.graph is not None
    if case.expected == "reference":
        graph = setting.input(case).graph
        return gl.count_cliques(graph, k, devices="reference").total, "reference, in this run"
    if case.expected == "recorded":
        return setting.inputs.recorded(case.graph, "cliques")[str(k)], "recorded"
    return int(case.expected), "recorded"


def kernel_seconds(result: gl.CliqueCount | gl.AllCliques) -> float:
    """Launch, search and read-back, from the provenance."""
    return result.provenance.steps["kernel"]
