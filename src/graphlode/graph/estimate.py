"""Estimates the memory of an operation before it runs.

A run checks the same numbers before it launches anything. They follow from the declaration of the operation, so this
module names no operation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from graphlode.errors import InputError
from graphlode.execute.device import Device, kernel_module
from graphlode.execute.devices import Devices, resolve
from graphlode.execute.operation import Operation, operations
from graphlode.execute.run import memory_free, memory_needed
from graphlode.graph.accept import as_undirected

_PACKAGE = "graphlode."


@dataclass(frozen=True)
class DeviceEstimate:
    """Bytes that one device would need in addition to the graph, and bytes that it may use."""

    device: str
    needed: int
    free: int

    @property
    def fits(self) -> bool:
        return self.needed <= self.free


@dataclass(frozen=True)
class Estimate:
    """Memory that an operation would need, device by device."""

    operation: str
    devices: tuple[DeviceEstimate, ...]

    @property
    def needed(self) -> int:
        """Bytes on all devices together."""
        return sum(device.needed for device in self.devices)

    @property
    def fits(self) -> bool:
        """Whether each device has enough memory for its part."""
        return all(device.fits for device in self.devices)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        devices = [asdict(device) | {"fits": device.fits} for device in self.devices]
        return {"operation": self.operation, "needed": self.needed, "fits": self.fits, "devices": devices}


def estimate(
    operation: str | Callable[..., Any], graph: Any, *, devices: Devices = "auto", **parameters: Any
) -> Estimate:
    """The memory that an operation would need on a graph, without running it.

    Parameters
    ----------
    operation
        The function, such as `count_triangles`, or its name: "count_triangles", "triangles".
    graph
        As for the operation itself. A directed graph is converted to its undirected form to find its size.
    devices
        As for the operation itself.
    parameters
        Further arguments of the operation. Those left out have the operation's defaults.

    Raises InputError for an unknown operation or parameter. Cost: negligible.

    >>> import graphlode as gl
    >>> gl.estimate(gl.count_triangles, gl.complete(100), devices="cpu", by="vertex").fits
    True
    """
    found, functions = _find(operation)
    undirected, _ = as_undirected(graph)
    estimates = []
    for device in resolve(devices, found.kernels):
        arguments = _arguments(found, device, functions, parameters)
        needed = memory_needed(found, device, undirected, arguments)
        estimates.append(DeviceEstimate(device.name, needed, memory_free(device)))
    return Estimate(found.name, tuple(estimates))


def _find(operation: str | Callable[..., Any]) -> tuple[Operation, list[Callable[..., Any]]]:
    """The operation, and the public functions whose arguments apply."""
    if not isinstance(operation, str):
        stem = operation.__module__.removeprefix(_PACKAGE) if callable(operation) else ""
        if stem in operations():
            return operations()[stem], [operation]
        raise InputError(f"{operation!r} is not an operation; operations are {_known()}")
    for name, declared in operations().items():
        functions = _public_functions(name)
        if operation in functions:
            return declared, [functions[operation]]
        if operation in (name, name.rpartition(".")[2]):
            return declared, list(functions.values())
    raise InputError(f"unknown operation {operation!r}; operations are {_known()}")


def _known() -> str:
    return ", ".join(sorted(function for name in operations() for function in _public_functions(name)))


def _public_functions(stem: str) -> dict[str, Callable[..., Any]]:
    """The public functions of an operation's module; helpers shared with other modules are not included."""
    module, public = import_module(_PACKAGE + stem), import_module(_PACKAGE.rstrip(".")).__all__
    functions = inspect.getmembers(module, inspect.isfunction)
    return {name: f for name, f in functions if f.__module__ == module.__name__ and name in public}


def _arguments(
    operation: Operation, device: Device, functions: list[Callable[..., Any]], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of the kernel's `memory`: given by the caller, else defaults of the operation's function."""
    accepted = {name: p for function in functions for name, p in inspect.signature(function).parameters.items()}
    unknown = sorted(set(given) - set(accepted))
    if unknown:
        raise InputError(f"{operation.name} does not take {', '.join(unknown)}; it takes {', '.join(accepted)}")
    memory = inspect.signature(kernel_module(device, operation.name).memory)
    wanted = [name for name, p in memory.parameters.items() if p.kind is p.KEYWORD_ONLY]
    arguments = {name: given.get(name, accepted[name].default) for name in wanted}
    missing = [name for name, value in arguments.items() if value is inspect.Parameter.empty]
    if missing:
        raise InputError(f"the memory of {operation.name} depends on {', '.join(missing)}: give a value")
    if operation.check is not None:
        operation.check(**arguments)
    return arguments
