"""Shared parts of the walks over a graph: devices, timed parts and expected answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender
from benchmarks.device_time import DeviceClock
from benchmarks.setting import Setting

Run = Callable[[str], Any]


def our_contenders(
    case: Case,
    setting: Setting,
    graph: gl.Graph,
    method: str,
    run: Run,
    answer: Callable[[Any], Any],
    repeated: int = 1,
) -> list[Contender]:
    """Our contenders, on the device of the run and on the other devices that the case names.

    "end_to_end" begins with the rows on the host, "resident" with whatever the first call left on the device; "device"
    is the kernels alone in that state, by the clock of a CUDA device. Times are by what is `repeated` in a call.
    """
    clock = DeviceClock()

    def timed(devices: str) -> Any:
        with clock.running() if case.what == "device" else nullcontext():
            return run(devices)

    def part(result: Any) -> float:
        return (clock.seconds() if case.what == "device" else result.provenance.steps["kernel"]) / repeated

    fields: dict[str, Any] = {"answer": answer, "setup": graph.held.clear if case.what == "end_to_end" else None}
    if case.what == "device" or repeated > 1:
        fields["part"] = part
    return [
        setting.ours(methods={method: lambda: timed(setting.devices)}, **fields),
        *setting.other_devices(case, run, **fields),
    ]


def expected(case: Case, run: Run, answer: Callable[[Any], Any], scipy: Callable[[], Any]) -> tuple[Any, str]:
    """The answer that all must give, and its source."""
    if case.expected == "scipy":
        return scipy(), "scipy, in this run"
    if case.expected == "cpu":
        return answer(run("cpu")), "graphlode on the CPU, in this run"
    return case.expected, "recorded"
