"""Device mixes that a store is tested on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MIXES: dict[str, list[str]] = {
    "reference": ["reference"],
    "cpu": ["cpu"],
    "three cpu": ["cpu", "cpu", "cpu"],
    "reference + cpu": ["reference", "cpu"],
    "emulated": ["cuda-emulated"],
    "two emulated + cpu": ["cuda-emulated", "cuda-emulated:1", "cpu"],
    "gpu": ["cuda:0"],
    "gpu + two cpu": ["cuda:0", "cpu", "cpu"],
    "gpu twice": ["cuda:0", "cuda:0"],
}


def mixes(wanted: Callable[[list[str]], bool] = lambda devices: True) -> list[Any]:
    """Parameters for pytest: the mixes for which `wanted` holds, those with a GPU under the marker."""
    return [
        pytest.param(devices, id=name, marks=[pytest.mark.gpu] if "cuda:0" in devices else [])
        for name, devices in MIXES.items()
        if wanted(devices)
    ]


def several(devices: list[str]) -> bool:
    return len(devices) > 1


def without_reference(devices: list[str]) -> bool:
    return "reference" not in devices


def even(devices: str | list[str]) -> Any:
    """Equal shares for all devices of a mix; with automatic shares a store may keep all rows on the fastest device."""
    return "auto" if isinstance(devices, str) else dict.fromkeys(devices, 1.0)
