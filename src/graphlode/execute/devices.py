"""Device objects from the names that the user writes: the only place that chooses a device.

`"auto"` is the setting `devices` if there is one. Otherwise it is all CUDA devices, if the operation has a kernel for
them, else the CPU. An explicit name never falls back to another device. In a list, a name may occur twice: two streams
of one GPU, or two CPU instances that share the threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cache
from threading import Lock
from typing import Any

from graphlode.common.fork import after_fork, load
from graphlode.config import settings
from graphlode.errors import DeviceUnavailableError, InputError
from graphlode.execute.device import Device

Devices = str | Sequence[str]

_KINDS = ("auto", "cpu", "cuda", "cuda:<n>", "cuda-emulated", "cuda-emulated:<n>", "reference")
_made: dict[tuple[str, int, int], Device] = {}
_making = Lock()


@after_fork
def _renew() -> None:
    global _making
    _making = Lock()


def resolve(devices: Devices = "auto", backends: Collection[str] = ("cuda", "cpu")) -> list[Device]:
    """The devices that `devices` names; each object is made once and kept. "auto" chooses among those of `backends`."""
    names = _names(devices, backends)
    counts = Counter(names)
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        found.append(_device(name, seen[name], counts[name]))
        seen[name] += 1
    return found


def cpu() -> Device:
    """The CPU device that also builds graphs and reads files."""
    return _device("cpu", 0, 1)


def available() -> list[Device]:
    """Every device of this machine."""
    return [_device(name, 0, 1) for name in (*_cuda_names(), "cpu")]


def _names(devices: Devices, backends: Collection[str]) -> list[str]:
    names = [part.strip() for part in devices.split(",")] if isinstance(devices, str) else devices
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) and name for name in names):
        raise InputError(f"devices must be names out of {', '.join(_KINDS)}, got {devices!r}")
    if list(names) == ["auto"]:
        chosen = settings().devices
        if chosen != "auto":
            return _names(chosen, backends)
        return (list(_cuda_names()) if "cuda" in backends else []) or ["cpu"]
    if "auto" in names:
        raise InputError(f'"auto" stands alone, got {devices!r}')
    return [canonical(name) for name in names]


def canonical(name: str) -> str:
    """The full form of a device's name: "cuda" is "cuda:0"."""
    kind, _, ordinal = name.partition(":")
    if kind in ("cpu", "reference") and not ordinal and ":" not in name:
        return name
    if kind in ("cuda", "cuda-emulated") and (":" not in name or ordinal.isdecimal()):
        return f"{kind}:{int(ordinal or 0)}"
    raise InputError(f"unknown device {name!r}; devices are {', '.join(_KINDS)}")


@cache
def _cuda_names() -> tuple[str, ...]:
    return tuple(load("graphlode.cuda.device").available_cuda_devices())


def _device(name: str, copy: int, copies: int) -> Device:
    key = (name, copy, copies if name == "cpu" else 0)
    with _making:
        if key not in _made:
            _made[key] = _make(name, copies)
        return _made[key]


def _make(name: str, copies: int) -> Device:
    kind, _, ordinal = name.partition(":")
    makers: dict[str, Callable[[], Any]] = {
        "cpu": lambda: _import("cpu.device").CpuDevice(name, instances=copies),
        "reference": lambda: _import("reference.device").ReferenceDevice(),
        "cuda": lambda: _import("cuda.device").CudaDevice(int(ordinal)),
        "cuda-emulated": lambda: _import("cuda.emulation.device").EmulatedDevice(int(ordinal)),
    }
    device: Device = makers[kind]()
    return device


def _import(name: str) -> Any:
    try:
        return load(f"graphlode.{name}")
    except ImportError as error:
        raise DeviceUnavailableError(f"graphlode.{name} could not be loaded: {error}") from error
