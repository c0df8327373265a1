"""Breadth-first search from the vertex of the highest degree, verified by the digest of all levels."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.inputs import digest
from benchmarks.operations.walks import expected, our_contenders
from benchmarks.peers.scipy import levels_from
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph = given.graph
    source = int(np.argmax(graph.degrees()))

    def run(devices: str) -> gl.Bfs:
        return gl.bfs(graph, source, indices=True, devices=devices)

    def answer(result: gl.Bfs) -> dict[str, Any]:
        return _answer(result.levels)

    contenders = our_contenders(case, setting, graph, "bfs", run, answer)
    for peer in setting.peers(case):
        methods = peer.bfs(given, source)
        contenders.append(
            Contender(peer.name, peer.version, peer.settings, methods, answer=lambda read: _answer(read()))
        )
    found = expected(case, run, answer, lambda: _answer(levels_from(graph.to_scipy(), source)))
    return Contest(contenders, *found, {"entries": int(graph.csr[1].size)})


def _answer(values: Any) -> dict[str, Any]:
    levels = np.asarray(values).astype(np.int64)
    return {
        "reached": int((levels >= 0).sum()),
        "depth": int(levels.max(initial=-1)),
        "sha256": digest(levels),
    }
