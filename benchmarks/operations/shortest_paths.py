"""Shortest paths from the vertex of the highest degree along random lengths, verified by the digest of all distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.inputs import digest
from benchmarks.operations.walks import expected, our_contenders
from benchmarks.peers.scipy import weighted_rows
from benchmarks.setting import Setting

_LONGEST = 255  # lengths are whole numbers from 1 on: every order of adding them gives the same sum


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    weights = np.random.default_rng(1).integers(1, _LONGEST + 1, len(given.simple)).astype(np.float64)
    graph = gl.Graph(*given.graph.csr, directed=False, weights=weights)
    source = int(np.argmax(graph.degrees()))

    def run(devices: str) -> gl.ShortestPaths:
        return gl.shortest_paths(graph, source, indices=True, devices=devices)

    def answer(result: gl.ShortestPaths) -> dict[str, Any]:
        return _answer(result.distances)

    contenders = our_contenders(case, setting, graph, "shortest_paths", run, answer)
    for peer in setting.peers(case):
        methods = peer.shortest_paths(given, weights, source)
        contenders.append(
            Contender(peer.name, peer.version, peer.settings, methods, answer=lambda read: _answer(read()))
        )
    found = expected(
        case, run, answer, lambda: _answer(csgraph.dijkstra(weighted_rows(given, weights), indices=source))
    )
    return Contest(contenders, *found)


def _answer(values: Any) -> dict[str, Any]:
    distances = np.asarray(values, np.float64)
    finite = distances[np.isfinite(distances)]
    return {"reached": int(finite.size), "farthest": float(finite.max()), "sha256": digest(distances)}
