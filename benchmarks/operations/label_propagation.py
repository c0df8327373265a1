"""Label propagation, verified by the digest of all labels; the expected ones are found by the reference."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contest
from benchmarks.inputs import digest
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    graph = setting.input(case).graph
    iterations = int(case.options.get("max_iter", 100))

    def run(devices: str) -> Any:
        return gl.label_propagation(graph, max_iter=iterations, devices=devices)

    contenders = [
        setting.ours(
            methods={"label_propagation": lambda: run(setting.devices)}, answer=_answer, setup=graph.held.clear
        )
    ]
    if case.expected == "reference":
        return Contest(contenders, _answer(run("reference")), "the reference, in this run")
    return Contest(contenders, case.expected, "recorded")


def _answer(result: Any) -> dict[str, Any]:
    return {
        "count": result.count,
        "iterations": result.iterations,
        "sha256": digest(np.asarray(result.labels, np.int64)),
    }
