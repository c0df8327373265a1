"""PageRank, verified by the vertices of the highest values: libraries differ in when they stop and in where value goes
that has nowhere to go."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.peers.scipy import iterate, power_iteration
from benchmarks.setting import Setting
from graphlode.analytics.pagerank import Layout

DAMPING = 0.85
MOVED = 1e-8
"""How far the values may still move in the last iteration, all together."""

_TOP = 10


def contest(case: Case, setting: Setting) -> Contest:
    if "iterations" in case.options:
        return _of_iterations(case, setting)
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


def _of_iterations(case: Case, setting: Setting) -> Contest:
    """So many iterations on tiles, on rows, and by SciPy's product; "end_to_end" builds the tiles inside the time."""
    graph, iterations = setting.input(case).graph, int(case.options["iterations"])
    matrix = graph.to_scipy().astype(float)

    def rank(devices: str, layout: Layout = "tiles") -> Any:
        return gl.pagerank(graph, DAMPING, tol=0, max_iter=iterations, layout=layout, devices=devices)

    def answer(result: Any) -> dict[str, Any]:
        return _answer(result.values)

    fields = {"answer": answer, "setup": graph.held.clear if case.what == "end_to_end" else None}
    contenders = [
        setting.ours(methods={"tiles": lambda: rank(setting.devices)}, **fields),
        Contender("rows", gl.__version__, "the same", {"rows": lambda: rank(setting.devices, "rows")}, answer=answer),
        *setting.other_devices(case, rank, **fields),
        Contender(
            "scipy",
            scipy.__version__,
            "serial library",
            {"matrix times vector": lambda: iterate(matrix, DAMPING, iterations)},
            answer=_answer,
        ),
    ]
    return Contest(contenders, _answer(iterate(matrix, DAMPING, iterations)), "scipy, in this run")


def _answer(values: Any) -> dict[str, Any]:
    scores = np.asarray(values)
    top = np.argsort(-scores, kind="stable")[:_TOP]
    return {"top": top.tolist()}
