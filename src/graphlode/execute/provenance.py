"""How a result was computed: part of every result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Provenance:
    """Version of the data, devices, method and seconds.

    `steps` splits the seconds by step; with several devices the slowest counts. `units` is the amount of work that each
    device did. `notes` are remarks for the reader, such as why a method was chosen.
    """

    operation: str
    version: int
    devices: tuple[str, ...]
    method: str
    seconds: float
    steps: Mapping[str, float] = field(default_factory=dict)
    units: Mapping[str, int] = field(default_factory=dict)
    threads: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", MappingProxyType(dict(self.steps)))
        object.__setattr__(self, "units", MappingProxyType(dict(self.units)))

    def to_dict(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain |= {"steps": dict(self.steps), "units": dict(self.units)}
        plain |= {"devices": list(self.devices), "notes": list(self.notes)}
        return plain

    def __reduce__(self) -> Any:
        return _restore, (self.to_dict(),)


def _restore(plain: dict[str, Any]) -> Provenance:
    return Provenance(**plain | {"devices": tuple(plain["devices"]), "notes": tuple(plain["notes"])})
