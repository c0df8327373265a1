"""Running an operation: devices, shares, tasks, partials, result.

Every device builds the view in its own memory and takes tasks. All devices work at the same time, and partials are
combined at the end. The rate of each device is recorded, so the next run of the operation starts with better shares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphlode.common.control import Control
from graphlode.common.wait import Progress, run_all
from graphlode.config import settings
from graphlode.errors import DeviceMemoryError, UnsupportedError
from graphlode.execute.device import Device, Snapshot, View, hold, kernel_module
from graphlode.execute.devices import Devices, canonical, cpu, resolve
from graphlode.execute.held import Held
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.shares import ShareTable, weights_from
from graphlode.execute.tasks import TaskQueue, cut_by_work, cut_evenly, whole
from graphlode.types import Int64Array

Shares = Literal["auto"] | Mapping[str, float]

# Asking a device for its free memory takes longer than small operations do.
_WORTH_ASKING = 64 * 2**20
_ASKED_AGAIN_AFTER = 1.0  # seconds
_seen_free: dict[str, tuple[float, int]] = {}

# Buckets per second of each device and operation, measured in runs on several devices. All buckets hold the same work.
# Units do not: rows of hubs come last and take longest.
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
    label: str = "",
    control: Control | None = None,
    aside: bool = False,
    **parameters: Any,
) -> Outcome:
    """Run the operation on the snapshot and combine what the devices return.

    `control` lets a caller stop the run from another thread. With `aside` the run has threads of its own, so the
    devices stay free for other work.
    """
    started = perf_counter()
    chosen = resolve(devices, operation.kernels)
    if not operation.splits and len(chosen) > 1:
        if devices != "auto":
            raise UnsupportedError(f"{operation.name} runs on one device, got {[d.name for d in chosen]}")
        chosen = chosen[:1]
    if shares != "auto":
        # Wrong shares are an error on one device, too.
        weights_from(shares, [device.name for device in chosen], canonical)
    kernels = [kernel_module(device, operation.name) for device in chosen]
    for device in chosen:
        require_memory(operation, device, snapshot, parameters)

    control = control or Control()
    if aside:
        chosen = [device.aside() for device in chosen]
    launches = [partial(kernel.launch, control=control, **parameters) for kernel in kernels]
    if len(chosen) == 1:
        finished = _run_alone(operation, chosen[0], snapshot, launches[0], control, progress)
    else:
        finished = _run_shared(operation, chosen, snapshot, launches, control, progress, shares)
    combining = perf_counter()
    value = operation.combine(finished.partials)
    if operation.finish is not None:
        value = operation.finish(value, lambda name: chosen[0].get(finished.view[name]), **parameters)
    ended = perf_counter()
    return Outcome(
        value,
        Provenance(
            operation=operation.name,
            version=snapshot.version,
            devices=tuple(device.name for device in chosen),
            method=label,
            seconds=ended - started,
            steps={"view": finished.view_seconds, "kernel": finished.kernel_seconds, "combine": ended - combining},
            units=_by_name(chosen, finished.units),
            threads=settings().threads,
            notes=notes,
        ),
    )


@dataclass(frozen=True)
class _Finished:
    partials: list[Any]
    view: Mapping[str, Any]  # on the first device
    units: list[int]
    view_seconds: float
    kernel_seconds: float


def _run_alone(
    operation: Operation,
    device: Device,
    snapshot: Snapshot,
    launch: Callable[..., Any],
    control: Control,
    progress: Progress | None,
) -> _Finished:
    """Run on one device. All units are one task, and its worker builds the view and runs the kernel in one call."""
    num_units = 0 if progress is None else _units_ahead(operation, snapshot)

    def work() -> _Finished:
        begun = perf_counter()
        view = hold(device, snapshot, operation.view, control.beside())
        viewed = perf_counter()
        units = operation.num_units(view)
        result = launch(device, view, whole(units, control))
        return _Finished([result], view, [units], viewed - begun, perf_counter() - viewed)

    finished: _Finished = run_all([(device, work)], control, progress, num_units)[0]
    return finished


def _run_shared(
    operation: Operation,
    devices: list[Device],
    snapshot: Snapshot,
    launches: Sequence[Callable[..., Any]],
    control: Control,
    progress: Progress | None,
    shares: Shares,
) -> _Finished:
    """Run on several devices. Each builds the view in its memory, then all take tasks from one queue."""
    begun = perf_counter()
    holds = [(device, partial(hold, device, snapshot, operation.view, control.beside())) for device in devices]
    views = run_all(holds, control)
    viewed = perf_counter()
    num_units = operation.num_units(views[0])
    cuts = _cuts(operation, devices[0], snapshot, views[0], num_units)
    alike = len({(device.backend, device.speed) for device in devices}) == 1
    queue = TaskQueue(cuts, _table(operation, devices, shares), control, steal=shares == "auto", alike=alike)
    busy = [0.0] * len(devices)

    def work(i: int) -> Any:
        started = perf_counter()
        result = launches[i](devices[i], views[i], queue.tasks(i))
        busy[i] = perf_counter() - started
        return result

    partials = run_all([(device, partial(work, i)) for i, device in enumerate(devices)], control, progress, num_units)
    _remember(operation, devices, queue.buckets_done, busy)
    return _Finished(partials, views[0], queue.units_done, viewed - begun, perf_counter() - viewed)


def _units_ahead(operation: Operation, snapshot: Snapshot) -> int:
    """The number of units of a run, before the view exists. An oriented view has each edge once."""
    shape = snapshot.sizes
    return shape["num_vertices"] if operation.unit == "vertex" else shape["num_edges"]


def memory_needed(operation: Operation, device: Device, snapshot: Snapshot, parameters: Mapping[str, Any]) -> int:
    """Bytes that the operation needs on the device in addition to the graph: missing views, and working memory."""
    shape = snapshot.sizes
    needed = int(kernel_module(device, operation.name).memory(device, shape, **parameters))
    view: View | None = operation.view
    while view is not None and (device.space, view) not in snapshot.held:
        needed += _view_bytes(view, device, shape)
        view = view.base
    return needed


def _view_bytes(view: View, device: Device, shape: Mapping[str, int]) -> int:
    if view.base is not None:
        return int(kernel_module(device, view.name).memory(device, shape))
    if device.space == cpu().space:  # the graph's own arrays are there already
        return 0
    return 8 * (shape["num_vertices"] + 1) + shape["vertex_bytes"] * shape["num_entries"]


def memory_free(device: Device) -> int:
    """Bytes that an operation may use on the device: the free memory, or the setting `memory_limit` if that is less."""
    limit, free = settings().memory_limit, device.memory().free
    return free if limit is None else min(limit, free)


def require_memory(operation: Operation, device: Device, snapshot: Snapshot, parameters: Mapping[str, Any]) -> None:
    """Raise DeviceMemoryError, with the bytes needed and free, before anything is launched."""
    needed = memory_needed(operation, device, snapshot, parameters)
    if settings().memory_limit is None and (needed < _WORTH_ASKING or _was_plenty(device, needed)):
        return
    free = memory_free(device)
    _seen_free[device.name] = (perf_counter(), free)
    if needed > free:
        raise DeviceMemoryError(
            f"{operation.name} needs {needed:,} bytes on {device.name}, {free:,} are free; "
            "use another device, fewer threads or raise memory_limit"
        )


def _was_plenty(device: Device, needed: int) -> bool:
    """Whether the device had twice as much free memory within the last second, so it is not asked in every call."""
    when, free = _seen_free.get(device.name, (0.0, 0))
    return perf_counter() - when < _ASKED_AGAIN_AFTER and 2 * needed < free


def _cuts(
    operation: Operation, device: Device, snapshot: Snapshot, view: Mapping[str, Any], num_units: int
) -> Int64Array:
    """The boundaries of pieces with equal work. Cached in the snapshot: computing them may take longer than a run."""
    if operation.work is None:
        return cut_evenly(num_units)
    key = (f"cuts of {operation.name}", operation.view)
    if key not in snapshot.held:
        work = operation.work({name: device.get(array) for name, array in view.items()})
        snapshot.held[key] = Held.of(cut_by_work(work))
    cuts: Int64Array = snapshot.held[key].result()
    return cuts


def _table(operation: Operation, devices: list[Device], shares: Shares) -> ShareTable:
    """The initial shares: those of the user, else the measured rates, else the nominal speeds."""
    if shares != "auto":
        return ShareTable(weights_from(shares, [device.name for device in devices], canonical))
    rates = [_rates.get((operation.name, device.name)) for device in devices]
    known = all(rate is not None for rate in rates)
    return ShareTable([rate or 0.0 for rate in rates] if known else [device.speed for device in devices])


def _remember(operation: Operation, devices: list[Device], buckets: list[int], busy: list[float]) -> None:
    for device, done, seconds in zip(devices, buckets, busy, strict=True):
        if done and seconds > 0:
            key = (operation.name, device.name)
            rate = done / seconds
            _rates[key] = float(np.sqrt(_rates.get(key, rate) * rate))  # a geometric mean: one unusual run counts half


def _by_name(devices: list[Device], units: list[int]) -> dict[str, int]:
    names = [device.name for device in devices]
    return {name: sum(u for n, u in zip(names, units, strict=True) if n == name) for name in dict.fromkeys(names)}
