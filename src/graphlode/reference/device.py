"""The oracle as a device: short, slow, obviously right Python, for tests and for checking answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphlode.common.worker import Queued
from graphlode.types import AnyArray, Memory


class ReferenceDevice(Queued):
    backend = "reference"
    space = "reference"
    speed = 0.01

    def __init__(self) -> None:
        super().__init__("reference")

    def describe(self) -> Mapping[str, Any]:
        return {"name": self.name, "kind": "reference"}

    def memory(self) -> Memory:
        return Memory(total=2**63 - 1, free=2**63 - 1)

    def put(self, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        return dict(arrays)

    def get(self, array: AnyArray) -> AnyArray:
        return array

    def synchronize(self) -> None:
        """Does nothing: calls are finished when they return."""
