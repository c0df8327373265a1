"""Execution: devices, shares, tasks, partials. The only package that chooses where something runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from graphlode.control import Control
from graphlode.execute.devices import cpu
from graphlode.execute.wait import wait_all

T = TypeVar("T")


def call(work: Callable[[Control], T]) -> T:
    """Run native work on the CPU's worker thread; Ctrl-C stops it within a fraction of a second."""
    control = Control()
    result: T = wait_all([cpu().submit(lambda: work(control))], control)[0]
    return result
