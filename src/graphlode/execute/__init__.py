"""Execution: devices, shares, tasks, partials. The only package that chooses where code runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from graphlode.common.control import Control
from graphlode.common.wait import run_all
from graphlode.execute.device import Device
from graphlode.execute.devices import cpu

T = TypeVar("T")


def call(work: Callable[[Control], T], device: Device | None = None) -> T:
    """Run work on a device's worker thread (None: the CPU's). Ctrl-C stops it within a fraction of a second."""
    control = Control()
    result: T = run_all([(device or cpu(), lambda: work(control))], control)[0]
    return result
