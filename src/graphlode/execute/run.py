"""Running an operation: devices, shares, tasks, partials, result.

Every device gets the view built in its own memory and a stream of tasks; all devices work at the same time; partials are
combined at the end. How fast each device was is remembered, so that the next run of the operation starts with better
shares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphlode.config import settings
from graphlode.control import Control
from graphlode.errors import DeviceMemoryError, UnsupportedError
from graphlode.execute.device import Device, Snapshot, hold, kernel_module
from graphlode.execute.devices import Devices, resolve
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.shares import ShareTable, weights_from
from graphlode.execute.tasks import TaskQueue, cut_by_work, cut_evenly, whole
from graphlode.execute.wait import Progress, wait_all

Shares = Literal["auto"] | Mapping[str, float]

# Units per second of each device at each operation, as seen in runs that several devices shared.
_rates: dict[tuple[str, str], float] = {}


@dataclass(frozen=True)
class Outcome:
    value: Any
    provenance: Provenance


def run(
    operation: Operation,
    snapshot: Snapshot,
    devices: Devices = "auto",
    *,
    shares: Shares = "auto",
    progress: Progress | None = None,
    notes: tuple[str, ...] = (),
    method: str = "",
    **parameters: Any,
) -> Outcome:
    """Run the operation on the snapshot and combine what the devices return."""
    started = perf_counter()
    chosen = resolve(devices)
    if not operation.splits and len(chosen) > 1:
        if devices != "auto":
            raise UnsupportedError(f"{operation.name} runs on one device, got {[d.name for d in chosen]}")
        chosen = chosen[:1]
    control = Control()
    kernels = [kernel_module(device, operation.name) for device in chosen]
    for device, kernel in zip(chosen, kernels, strict=True):
        require_memory(operation, device, kernel, snapshot, parameters)

    views = wait_all([_held(device, snapshot, operation, control) for device in chosen], control)
    viewed = perf_counter()
    num_units = operation.num_units(views[0])
    if len(chosen) == 1:
        queue = None
        streams = [whole(num_units, control)]
    else:
        queue = _queue(operation, chosen, views[0], num_units, shares, control)
        streams = [queue.tasks(i) for i in range(len(chosen))]
    busy = [0.0] * len(chosen)

    def work(i: int) -> Any:
        begun = perf_counter()
        partial = kernels[i].launch(chosen[i], views[i], streams[i], control=control, **parameters)
        busy[i] = perf_counter() - begun
        return partial

    futures = [device.submit(lambda i=i: work(i)) for i, device in enumerate(chosen)]  # type: ignore[misc]
    partials = wait_all(futures, control, progress, num_units)
    computed = perf_counter()
    value = operation.combine(partials)
    ended = perf_counter()
    units = [num_units] if queue is None else queue.units_done
    if queue is not None:
        _remember(operation, chosen, units, busy)
    return Outcome(
        value,
        Provenance(
            operation=operation.name,
            version=snapshot.version,
            devices=tuple(device.name for device in chosen),
            method=method,
            seconds=ended - started,
            steps={"view": viewed - started, "kernel": computed - viewed, "combine": ended - computed},
            units=_by_name(chosen, units),
            threads=settings().threads,
            notes=notes,
        ),
    )


def shape_of(snapshot: Snapshot) -> dict[str, int]:
    """The sizes that a kernel's memory depends on."""
    offsets, neighbors = snapshot.arrays["offsets"], snapshot.arrays["neighbors"]
    return {
        "num_vertices": int(offsets.size) - 1,
        "num_entries": int(neighbors.size),
        "num_edges": int(neighbors.size) // 2,
        "vertex_bytes": int(neighbors.dtype.itemsize),
    }


def memory_needed(operation: Operation, device: Device, snapshot: Snapshot, parameters: Mapping[str, Any]) -> int:
    """Bytes that the operation takes on the device beside the graph itself: views that are not there yet, and work."""
    shape = shape_of(snapshot)
    needed = int(kernel_module(device, operation.name).memory(device, shape, **parameters))
    if (device.space, operation.view) not in snapshot.held and operation.view.base is not None:
        n, entries, width = shape["num_vertices"], shape["num_entries"], shape["vertex_bytes"]
        needed += 8 * (n + 1) + width * (2 * n + entries // 2)
    return needed


def require_memory(
    operation: Operation, device: Device, kernel: Any, snapshot: Snapshot, parameters: Mapping[str, Any]
) -> None:
    needed = memory_needed(operation, device, snapshot, parameters)
    limit = settings().memory_limit
    free = device.memory().free if limit is None else min(limit, device.memory().free)
    if needed > free:
        raise DeviceMemoryError(
            f"{operation.name} needs {needed:,} bytes on {device.name}, {free:,} are free; "
            "use another device, fewer threads or raise memory_limit"
        )


def _held(device: Device, snapshot: Snapshot, operation: Operation, control: Control) -> Any:
    return device.submit(lambda: hold(device, snapshot, operation.view, control))


def _queue(
    operation: Operation,
    devices: list[Device],
    view: Mapping[str, Any],
    num_units: int,
    shares: Shares,
    control: Control,
) -> TaskQueue:
    if operation.work is None:
        cuts = cut_evenly(num_units)
    else:
        cuts = cut_by_work(operation.work({name: devices[0].get(array) for name, array in view.items()}))
    if shares == "auto":
        rates = [_rates.get((operation.name, device.name)) for device in devices]
        known = all(rate is not None for rate in rates)
        weights = [rate or 0.0 for rate in rates] if known else [device.speed for device in devices]
    else:
        weights = weights_from(shares, [device.name for device in devices])
    return TaskQueue(cuts, ShareTable(weights), control, steal=shares == "auto")


def _remember(operation: Operation, devices: list[Device], units: list[int], busy: list[float]) -> None:
    for device, done, seconds in zip(devices, units, busy, strict=True):
        if done and seconds > 0:
            key = (operation.name, device.name)
            rate = done / seconds
            _rates[key] = float(np.sqrt(_rates.get(key, rate) * rate))  # a damped average: one odd run counts half


def _by_name(devices: list[Device], units: list[int]) -> dict[str, int]:
    names = [device.name for device in devices]
    return {name: sum(u for n, u in zip(names, units, strict=True) if n == name) for name in dict.fromkeys(names)}
