"""The setting of a run: threads, devices, inputs, a folder for temporary files, and a function that reports
progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import OURS, Contender
from benchmarks.inputs import Input, Inputs, Skipped
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

    def check(self, case: Case) -> None:
        """Raise Skipped if the case needs a device that the run does not have."""
        if case.needs is not None and case.needs not in self.devices:
            raise Skipped(f"needs a device of the kind {case.needs}, such as --devices {case.needs}:0")

    def ours(self, **fields: object) -> Contender:
        """Our own contender."""
        settings = f"{self.threads} threads, devices={self.devices}"
        return Contender(OURS, gl.__version__, settings, **fields)  # type: ignore[arg-type]

    def other_devices(self, case: Case, run: Callable[[str], Any], **fields: Any) -> list[Contender]:
        """Ourselves on other devices, as a case's `against` names them: {"2 cores" = {devices = "cpu", threads =
        2}}."""
        against = case.options.get("against", {})

        def work(devices: str, threads: int) -> Any:
            with gl.configure(threads=threads):
                return run(devices)

        return [
            Contender(
                name,
                gl.__version__,
                f"{where['threads']} threads, devices={where['devices']}",
                {"count": partial(work, where["devices"], where["threads"])},
                **fields,
            )
            for name, where in against.items()
        ]

    def peers(self, case: Case) -> list[Peer]:
        """The installed peers of a case. Reports a line for each that is not installed."""
        found = []
        for name in case.peers:
            peer = find_peer(name, self.threads)
            if peer is None:
                self.say(f"  {name} is not installed: left out of {case.name}")
            else:
                found.append(peer)
        return found
