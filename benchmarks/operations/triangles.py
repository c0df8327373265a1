"""Number of triangles. `end_to_end`: the whole call, from the rows; `kernel`: the search alone, from the oriented
view."""

from __future__ import annotations

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.peers.scipy import count_triangles
from benchmarks.setting import Setting
from graphlode.graph.views import Csr


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph = given.graph

    def run(devices: str) -> gl.TriangleCount:
        if case.what == "end_to_end":
            forget_views(graph)
        return gl.count_triangles(graph, devices=devices)

    fields = {"answer": int, "part": kernel_seconds if case.what == "kernel" else None}
    contenders = [
        setting.ours(methods={"count_triangles": lambda: run(setting.devices)}, **fields),
        *setting.other_devices(case, run, **fields),
    ]
    for peer in setting.peers(case):
        contenders.append(Contender(peer.name, peer.version, peer.settings, peer.triangles(given)))
    if case.expected == "scipy":
        return Contest(contenders, count_triangles(graph.to_scipy()), "SciPy sparse product, in this run")
    return Contest(contenders, case.expected, "recorded")


def kernel_seconds(result: gl.TriangleCount) -> float:
    """Launch, search and read-back on the device's worker, from the provenance."""
    return result.provenance.steps["kernel"]


def forget_views(graph: gl.Graph) -> None:
    """Drop all views except rows that are held already, so they are derived again."""
    for key in [key for key in graph.held if key[1] != Csr()]:
        del graph.held[key]
