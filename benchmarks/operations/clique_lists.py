"""All k-cliques as arrays, counted by the caller.

`end_to_end`: from the rows, so the time includes ordering; `resident`: with an existing ordered view. The caller only
reads the length of each batch: the time is that of the search, the writing and the transfer.
"""

from __future__ import annotations

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contest
from benchmarks.operations.cliques import expected_count
from benchmarks.operations.triangles import forget_views
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    graph, k = setting.input(case).graph, case.options["k"]

    def run(devices: str) -> int:
        if case.what == "end_to_end":
            forget_views(graph)
        return sum(len(batch) for batch in gl.list_cliques(graph, k, devices=devices))

    contenders = [
        setting.ours(methods={"list_cliques": lambda: run(setting.devices)}),
        *setting.other_devices(case, run),
    ]
    return Contest(contenders, *expected_count(case, setting, k))
