"""What a run is given: threads, devices, inputs, a folder for temporary files, a way to tell what happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import OURS, Contender
from benchmarks.inputs import Input, Inputs
from benchmarks.peers import Peer, find_peer


@dataclass(frozen=True)
class Setting:
    threads: int
    devices: str
    inputs: Inputs
    scratch: Path
    say: Callable[[str], None]

    def input(self, case: Case) -> Input:
        assert case.graph is not None, f"{case.name} names no graph"
        return self.inputs.get(case.graph)

    def ours(self, **fields: object) -> Contender:
        """Our own contender."""
        settings = f"{self.threads} threads, devices={self.devices}"
        return Contender(OURS, gl.__version__, settings, **fields)  # type: ignore[arg-type]

    def peers(self, case: Case) -> list[Peer]:
        """The peers of a case that are installed; a line is said for each that is not."""
        found = []
        for name in case.peers:
            peer = find_peer(name, self.threads)
            if peer is None:
                self.say(f"  {name} is not installed: left out of {case.name}")
            else:
                found.append(peer)
        return found
