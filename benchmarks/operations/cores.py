"""Core numbers of all vertices, verified by their digest."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.inputs import digest
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph = given.graph
    contenders = [
        setting.ours(
            methods={"core_numbers": lambda: gl.core_numbers(graph, devices=setting.devices)},
            answer=lambda result: _answer(result.values),
            setup=graph.held.clear,
        )
    ]
    for peer in setting.peers(case):
        methods = peer.cores(given)
        contenders.append(
            Contender(peer.name, peer.version, peer.settings, methods, answer=lambda read: _answer(read()))
        )
    if case.expected == "reference":
        return Contest(
            contenders, _answer(gl.core_numbers(graph, devices="reference").values), "reference, in this run"
        )
    return Contest(contenders, case.expected, "recorded")


def _answer(values: Any) -> dict[str, Any]:
    cores = np.asarray(values).astype(np.int64)
    return {"degeneracy": int(cores.max(initial=0)), "sha256": digest(cores)}
