"""The CPU as a device: numpy arrays in place, native kernels on one worker thread, which others help."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from graphlode.common.cached import cached_property
from graphlode.common.worker import Queued
from graphlode.config import MOST_THREADS, settings
from graphlode.cpu.host_memory import host_memory
from graphlode.types import AnyArray, Memory


class CpuDevice(Queued):
    """One CPU instance. Several of them split the threads of the process evenly."""

    backend = "cpu"
    space = "host"

    def __init__(self, name: str = "cpu", instances: int = 1) -> None:
        super().__init__(name)
        self._instances = instances

    @property
    def threads(self) -> int:
        return max(1, settings().threads // self._instances)

    @property
    def speed(self) -> float:
        return float(self.threads)

    def describe(self) -> Mapping[str, Any]:
        memory = self.memory()
        return {"name": self.name, "kind": "cpu", "model": _model(), "threads": self.threads, "memory": memory.total}

    def memory(self) -> Memory:
        return host_memory()

    def put(self, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        return dict(arrays)

    def get(self, array: AnyArray) -> AnyArray:
        return array

    def for_brief_work(self) -> CpuDevice:
        """The same device with one thread: waking other threads takes longer than brief work."""
        return self._with_one_thread

    @cached_property
    def _with_one_thread(self) -> CpuDevice:
        return CpuDevice(self.name, instances=MOST_THREADS)

    def synchronize(self) -> None:
        """Native kernels return when they are done."""


@cache
def _model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
