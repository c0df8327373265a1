"""PageRank, verified by the vertices of the highest values: libraries differ in their stopping rule and in their use of
the value of vertices without edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.device_time import DeviceCopy
from benchmarks.operations.walks import our_contenders
from benchmarks.peers.scipy import iterate, power_iteration
from benchmarks.setting import Setting
from graphlode.analytics.pagerank import Layout
from graphlode.execute.devices import resolve

DAMPING = 0.85
MOVED = 1e-8
"""The largest total change of all values in the last iteration."""

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
    """A fixed number of iterations on tiles, on rows, and by SciPy's product. "end_to_end" includes building the tiles.

    "device" is the time of one iteration, by the clock of a CUDA device.
    """
    graph, iterations = setting.input(case).graph, int(case.options["iterations"])
    ours: Layout = case.options.get("layout", "tiles")

    def rank(devices: str, layout: Layout = ours) -> gl.PageRank:
        return gl.pagerank(graph, DAMPING, tol=0, max_iter=iterations, layout=layout, devices=devices)

    def answer(result: gl.PageRank) -> dict[str, Any]:
        return _answer(result.values)

    per_iteration = case.what == "device"
    contenders = our_contenders(case, setting, graph, ours, rank, answer, iterations if per_iteration else 1)
    if case.expected == "cpu":
        found = answer(rank("cpu")), "graphlode on the CPU, in this run"
        if per_iteration:
            contenders.append(_copy(setting, _bytes_moved(graph)))
        return Contest(contenders, *found, {"moved": _bytes_moved(graph)} if per_iteration else {})
    matrix = graph.to_scipy().astype(float)
    contenders += [
        Contender("rows", gl.__version__, "the same", {"rows": lambda: rank(setting.devices, "rows")}, answer=answer),
        Contender(
            "scipy",
            scipy.__version__,
            "serial library",
            {"matrix times vector": lambda: iterate(matrix, DAMPING, iterations)},
            answer=_answer,
        ),
    ]
    return Contest(contenders, _answer(iterate(matrix, DAMPING, iterations)), "scipy, in this run")


def _copy(setting: Setting, nbytes: int) -> Contender:
    """The limit of the device's memory: a copy that moves as many bytes."""
    device: Any = resolve(setting.devices)[0]
    copy = DeviceCopy(device, nbytes)
    return Contender(
        "copy",
        device.xp.__version__,
        "half of the bytes read, half of them written",
        {"copy": copy.seconds},
        answer=lambda _: copy.is_right(),
        expected=True,
        part=lambda seconds: seconds,
    )


def _bytes_moved(graph: gl.Graph) -> int:
    """The least bytes that an iteration moves: eight for each entry, and for each vertex its value, its share, and its
    contributions to this and the next iteration."""
    return 8 * int(graph.csr[1].size) + 4 * 8 * graph.num_vertices


def _answer(values: Any) -> dict[str, Any]:
    scores = np.asarray(values)
    least = np.partition(scores, -_TOP)[-_TOP] if scores.size > _TOP else -np.inf
    best = np.flatnonzero(scores >= least)  # few, which are sorted quickly
    top = best[np.argsort(-scores[best], kind="stable")][:_TOP]
    return {"top": top.tolist()}
