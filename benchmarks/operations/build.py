"""A simple undirected graph from arrays of ends in memory, verified by the digest of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.inputs import digest
from benchmarks.peers import scipy
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    expected = scipy.Scipy(setting.threads).expected_rows(given)
    contenders = [
        setting.ours(
            methods={"from_edges": lambda: gl.from_edges(given.src, given.dst, num_vertices=given.num_vertices)},
            answer=lambda graph: _answer(*graph.csr),
        )
    ]
    for peer in setting.peers(case):
        builder = peer.build(given)
        contenders.append(
            Contender(
                peer.name,
                peer.version,
                peer.settings,
                {builder.method: builder.run},
                answer=builder.count_edges,
                expected=len(expected.indices) // 2,
            )
        )
    sizes = {"input": given.src.nbytes + given.dst.nbytes, "result": given.graph.nbytes}
    return Contest(contenders, _answer(expected.indptr, expected.indices), "SciPy rows, in this run", sizes)


def _answer(offsets: Any, neighbors: Any) -> dict[str, Any]:
    return {
        "num_edges": len(neighbors) // 2,
        "sha256": digest(np.asarray(offsets, np.int64), np.asarray(neighbors, np.int64)),
    }
