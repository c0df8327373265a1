"""Maximal cliques, listed as arrays and counted by the caller, or one largest clique: the whole call, from the rows."""

from __future__ import annotations

from collections.abc import Callable

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.operations.triangles import forget_views
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph, want = given.graph, case.options["want"]

    def listed() -> int:
        forget_views(graph)
        return sum(map(len, gl.list_maximal_cliques(graph, devices="cpu").batches()))

    def largest() -> int:
        forget_views(graph)
        return gl.max_clique(graph, devices="cpu").size

    ours: dict[str, Callable[[], int]] = {"list_maximal_cliques": listed} if want == "all" else {"max_clique": largest}
    contenders = [setting.ours(methods=ours, answer=int)]
    for peer in setting.peers(case):
        methods = peer.maximal_cliques(given) if want == "all" else peer.max_clique(given)
        contenders.append(Contender(peer.name, peer.version, peer.settings, methods, answer=int))
    return Contest(contenders, case.expected, "recorded, as igraph finds it")
