"""Number of cliques of every size in one search; `what` as for `cliques`. The sizes from 3 on are verified."""

from __future__ import annotations

from typing import Any

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.operations.cliques import kernel_seconds
from benchmarks.operations.triangles import forget_views
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph, max_k = given.graph, case.options.get("max_k")

    def run(devices: str) -> gl.AllCliques:
        if case.what == "end_to_end":
            forget_views(graph)
        return gl.count_all_cliques(graph, max_k, devices=devices)

    expected, expected_from = _expected(case, setting, max_k)
    fields: dict[str, Any] = {
        "answer": lambda result: {size: result[int(size)] for size in expected},
        "part": kernel_seconds if case.what == "kernel" else None,
    }
    contenders = [
        setting.ours(methods={"count_all_cliques": lambda: run(setting.devices)}, **fields),
        *setting.other_devices(case, run, **fields),
    ]
    for peer in setting.peers(case):
        methods = peer.all_cliques(given, max_k)
        contenders.append(Contender(peer.name, peer.version, peer.settings, methods, answer=fields["answer"]))
    return Contest(contenders, expected, expected_from)


def _expected(case: Case, setting: Setting, max_k: int | None) -> tuple[dict[str, int], str]:
    assert case.graph is not None
    if case.expected == "reference":
        found = gl.count_all_cliques(setting.input(case).graph, max_k, devices="reference")
        return {str(size): count for size, count in found.counts.items() if size > 2}, "reference, in this run"
    recorded = setting.inputs.recorded(case.graph, "cliques")
    return {size: count for size, count in recorded.items() if max_k is None or int(size) <= max_k}, "recorded"
