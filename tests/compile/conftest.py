"""Before a run of the whole suite, kernels are compiled for the emulation on all cores.

Otherwise each test would compile its own on one core, which takes minutes if the cache is empty. A run that selects
the tests of this folder needs every kernel; other selections compile kernels when they need them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from graphlode.cuda.compiler import Specialisation, kernel_sources
from graphlode.cuda.emulation.build import build
from graphlode.errors import GraphlodeError

HERE = Path(__file__).parent


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.option.collectonly or not any(item.path.parent == HERE for item in session.items):
        return
    # Of several processes that run tests side by side, each compiles a part.
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // count)) as cores:
        for _ in cores.map(_build, list(_kernels_of_tests())[number::count]):
            pass


def _kernels_of_tests() -> Iterator[Specialisation]:
    """The kernels that tests run on the emulation, roughly: tests compile missing ones themselves."""
    for source in kernel_sources():
        for kernel in source.specialisations():
            if not _is_for_long_rows(kernel):
                yield kernel


def _is_for_long_rows(kernel: Specialisation) -> bool:
    """Graphs that are small enough for the emulation have few such rows: one way to walk them is tested."""
    defines = dict(kernel.values)
    return defines.get("WORDS") in ("8", "16") and defines["WALK"] != "WALK_QUEUED"


def _build(kernel: Specialisation) -> None:
    with suppress(GraphlodeError):  # a test that runs the kernel will say so
        build(kernel)
