"""Connected components, verified by the digest of the labels, numbered by first vertex."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.inputs import digest
from benchmarks.peers.scipy import component_labels
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph = given.graph
    contenders = [
        setting.ours(
            methods={"connected_components": lambda: gl.connected_components(graph, devices=setting.devices)},
            answer=lambda result: _answer(result.labels),
            setup=graph.held.clear,
        )
    ]
    for peer in setting.peers(case):
        methods = peer.components(given)
        contenders.append(
            Contender(peer.name, peer.version, peer.settings, methods, answer=lambda read: _answer(read()))
        )
    if case.expected == "scipy":
        return Contest(contenders, _answer(component_labels(graph.to_scipy())), "scipy, in this run")
    return Contest(contenders, case.expected, "recorded")


def _answer(values: Any) -> dict[str, Any]:
    _, first, labels = np.unique(np.asarray(values), return_index=True, return_inverse=True)
    by_first_vertex = np.argsort(np.argsort(first))[labels].astype(np.int64)
    return {"count": int(first.size), "sha256": digest(by_first_vertex)}
