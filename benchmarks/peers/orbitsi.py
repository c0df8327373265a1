"""OrbitSI, which brings EVOKE: orbits of vertices, not induced, from rows."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from orbitsi.orbit import EVOKEOrbitCounter

from benchmarks.inputs import Input
from benchmarks.peers.peer import Methods, Peer


class Orbitsi(Peer):
    name = "orbitsi"
    version = version("orbitsi")

    settings = "EVOKE, a thread per core"

    def __init__(self, threads: int) -> None:
        """It decides itself."""

    def orbits(self, given: Input, size: int) -> Methods:
        offsets, neighbors = (array.astype("int64") for array in given.graph.csr)

        def run() -> Any:
            found = EVOKEOrbitCounter.count_csr(offsets, neighbors, size)
            return lambda: found

        return {"EVOKEOrbitCounter.count_csr": run}
