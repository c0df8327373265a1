"""Breadth-first search from the vertex of the highest degree, verified by the digest of all levels."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.inputs import digest
from benchmarks.peers.scipy import levels_from
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph = given.graph
    source = int(np.argmax(graph.degrees()))
    contenders = [
        setting.ours(
            methods={"bfs": lambda: gl.bfs(graph, source, indices=True, devices=setting.devices)},
            answer=lambda result: _answer(result.levels),
            setup=graph.held.clear,
        )
    ]
    for peer in setting.peers(case):
        methods = peer.bfs(given, source)
        contenders.append(
            Contender(peer.name, peer.version, peer.settings, methods, answer=lambda read: _answer(read()))
        )
    if case.expected == "scipy":
        return Contest(contenders, _answer(levels_from(graph.to_scipy(), source)), "scipy, in this run")
    return Contest(contenders, case.expected, "recorded")


def _answer(values: Any) -> dict[str, Any]:
    levels = np.asarray(values).astype(np.int64)
    return {
        "reached": int((levels >= 0).sum()),
        "depth": int(levels.max(initial=-1)),
        "sha256": digest(levels),
    }
