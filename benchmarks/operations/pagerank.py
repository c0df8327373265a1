"""PageRank, verified by the vertices of the highest values: libraries differ in when they stop and in where value goes
that has nowhere to go."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.peers.scipy import power_iteration
from benchmarks.setting import Setting

DAMPING = 0.85
MOVED = 1e-8
"""How far the values may still move in the last iteration, all together."""

_TOP = 10


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph = given.graph
    tol = MOVED / graph.num_vertices
    contenders = [
        setting.ours(
            methods={"pagerank": lambda: gl.pagerank(graph, DAMPING, tol=tol, devices=setting.devices)},
            answer=lambda result: _answer(result.values),
            setup=graph.held.clear,
        )
    ]
    for peer in setting.peers(case):
        methods = peer.pagerank(given, DAMPING, MOVED)
        contenders.append(
            Contender(peer.name, peer.version, peer.settings, methods, answer=lambda read: _answer(read()))
        )
    if case.expected == "scipy":
        values = power_iteration(graph.to_scipy(), DAMPING, MOVED)
        return Contest(contenders, _answer(values), "scipy, in this run")
    return Contest(contenders, case.expected, "recorded")


def _answer(values: Any) -> dict[str, Any]:
    scores = np.asarray(values)
    top = np.argsort(-scores, kind="stable")[:_TOP]
    return {"top": top.tolist()}
