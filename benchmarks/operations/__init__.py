"""What is measured: each operation makes a contest out of a case."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.case import Case
from benchmarks.contest import Contest
from benchmarks.operations import build, cores, read, startup, triangles
from benchmarks.setting import Setting

OPERATIONS: dict[str, Callable[[Case, Setting], Contest]] = {
    "build": build.contest,
    "cores": cores.contest,
    "read": read.contest,
    "startup": startup.contest,
    "triangles": triangles.contest,
}
