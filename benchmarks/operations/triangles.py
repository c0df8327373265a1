"""Number of triangles. `kernel`: what a device derives from the graph is there already; `end_to_end`: it is not."""

from __future__ import annotations

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.peers.scipy import count_triangles
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph = given.graph
    contenders = [
        setting.ours(
            methods={"count_triangles": lambda: gl.count_triangles(graph, devices=setting.devices)},
            answer=lambda result: result.total,
            setup=graph.held.clear if case.what == "end_to_end" else None,
        )
    ]
    for peer in setting.peers(case):
        contenders.append(Contender(peer.name, peer.version, peer.settings, peer.triangles(given)))
    if case.expected == "scipy":
        return Contest(contenders, count_triangles(graph.to_scipy()), "SciPy sparse product, in this run")
    return Contest(contenders, case.expected, "recorded")
