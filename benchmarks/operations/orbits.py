"""Orbits of vertices, or of edges with the option `of = "edges"`. Their sums, which are numbers of copies, are verified.

`what` as for `cliques`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.device_time import DeviceClock
from benchmarks.operations.motifs import expected_counts, kernel_seconds
from benchmarks.operations.triangles import forget_views
from benchmarks.setting import Setting
from graphlode.mining.patterns import patterns


def contest(case: Case, setting: Setting) -> Contest:
    graph = setting.input(case).graph
    size, edges = case.options.get("size", 5), case.options.get("of") == "edges"
    clock = DeviceClock()

    def run(devices: str) -> gl.OrbitCounts:
        if case.what == "end_to_end":
            forget_views(graph)
        with clock.running() if case.what == "device" else nullcontext():
            return gl.count_orbits(graph, size, edges=edges, induced=False, devices=devices)

    part = {"kernel": kernel_seconds, "device": clock.seconds}.get(case.what)
    fields: dict[str, Any] = {"answer": copies, "part": part}
    contenders = [
        setting.ours(methods={"count_orbits": lambda: run(setting.devices)}, **fields),
        *setting.other_devices(case, run, **fields),
    ]
    for peer in setting.peers(case):
        contenders.append(
            Contender(
                peer.name,
                peer.version,
                peer.settings,
                peer.orbits(setting.input(case), size),
                answer=lambda read: _copies([sum(column.tolist()) for column in read().T], size, "vertices"),
            )
        )
    return Contest(contenders, *expected_counts(case, setting, size))


def copies(result: gl.OrbitCounts) -> list[int]:
    """Copies of each pattern, from the vertices or edges in one of its orbits; nothing if its orbits disagree."""
    return _copies([sum(result[orbit].tolist()) for orbit in result.columns], result.size, result.of)


def _copies(sums: list[int], size: int, of: str) -> list[int]:
    found = []
    for pattern in patterns(size):
        orbits = pattern.vertex_orbits if of == "vertices" else pattern.edge_orbits
        shares = {(sums[orbit] // orbits.count(orbit), sums[orbit] % orbits.count(orbit)) for orbit in orbits}
        found += [number for number, rest in shares if not rest] if len(shares) == 1 else []
    return found
