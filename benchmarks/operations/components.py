"""Connected components, verified by the digest of the labels, numbered by first vertex."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.inputs import digest
from benchmarks.operations.walks import expected, our_contenders
from benchmarks.peers.scipy import component_labels
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph = given.graph

    def run(devices: str) -> gl.Components:
        return gl.connected_components(graph, devices=devices)

    def answer(result: gl.Components) -> dict[str, Any]:
        return _answer(result.labels)

    contenders = our_contenders(case, setting, graph, "connected_components", run, answer)
    for peer in setting.peers(case):
        methods = peer.components(given)
        contenders.append(
            Contender(peer.name, peer.version, peer.settings, methods, answer=lambda read: _answer(read()))
        )
    return Contest(contenders, *expected(case, run, answer, lambda: _answer(component_labels(graph.to_scipy()))))


def _answer(values: Any) -> dict[str, Any]:
    labels = np.asarray(values)
    first = np.full(int(labels.max(initial=-1)) + 1, -1)
    first[labels[::-1]] = np.arange(labels.size)[::-1]  # the last to write is the first vertex
    there = np.flatnonzero(first >= 0)
    numbers = np.empty(first.size, np.int64)
    numbers[there[np.argsort(first[there])]] = np.arange(there.size)
    return {"count": int(there.size), "sha256": digest(numbers[labels])}
