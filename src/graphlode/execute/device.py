"""The protocol of every device.

A device finds the kernel of an operation by its stem: `analytics.triangles` on the CPU is
`graphlode.cpu.analytics.triangles`. That module has one function

    launch(device, view, tasks, *, control, **parameters) -> partial

with the same signature on every backend. `view` is what `hold` returned, `tasks` an iterator of unit ranges that may be
shared with other devices, `partial` a value that the operation can combine. A view is built the same way, by the kernel
module that the view names: `build(device, base, view, *, control) -> arrays`. Both kinds of module also have
`memory(device, shape, **parameters) -> bytes`: the memory that they need in addition to their input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from threading import Lock
from types import ModuleType
from typing import Any, Protocol, Self, TypeVar, cast

from graphlode.common.control import Control
from graphlode.common.fork import after_fork, load
from graphlode.common.shard_kernels import ShardKernels
from graphlode.errors import UnsupportedError
from graphlode.execute.held import Held
from graphlode.types import Memory

T = TypeVar("T")


class View(Protocol):
    """A read-only layout derived from a snapshot. Hashable: it is the key of the built arrays."""

    @property
    def name(self) -> str: ...  # the stem of the kernel that builds it
    @property
    def base(self) -> View | None: ...  # the view it is built from; None: the snapshot's own arrays


class Snapshot(Protocol):
    """The part of a graph that execution uses."""

    @property
    def version(self) -> int: ...
    @property
    def sizes(self) -> Mapping[str, int]: ...  # num_vertices, num_entries, num_edges, vertex_bytes
    @property
    def held(self) -> dict[tuple[str, View], Held]: ...
    def place(self, device: Device) -> Mapping[str, Any]: ...  # the rows, `offsets` and `neighbors`, on the device


class Device(Protocol):
    """Somewhere an operation can run. One object is one queue: its work runs in order, on its own worker thread."""

    @property
    def name(self) -> str: ...  # what the user writes: "cpu", "cuda:0", "cuda-emulated", "reference"
    @property
    def backend(self) -> str: ...  # the package with its kernels: "cpu", "cuda", "reference"
    @property
    def space(self) -> str: ...  # devices with equal spaces share what they hold
    @property
    def speed(self) -> float: ...  # a first guess of its rate, one CPU core being 1
    def describe(self) -> Mapping[str, Any]: ...  # for people and for benchmark results
    def memory(self) -> Memory: ...
    def put(self, arrays: Mapping[str, Any]) -> dict[str, Any]: ...  # arrays of the host, on this device
    def get(self, array: Any) -> Any: ...  # an array of this device, as numpy
    def submit(self, work: Callable[[], Any]) -> Future[Any]: ...  # run on the worker thread
    def run(self, work: Callable[[Self], T], *, brief: bool, control: Control | None = None) -> T: ...
    def lane(self, borrower: object) -> Self: ...  # the same device with a queue of its own
    def shared_lane(self, purpose: str) -> Self: ...  # the same, for all work of one purpose
    def aside(self) -> Self: ...  # the same device with a new thread for every piece of work
    def synchronize(self) -> None: ...


def kernel_module(device: Device, stem: str) -> ModuleType:
    """The module with the kernel `stem` for the device."""
    name = f"graphlode.{device.backend}.{stem}"
    try:
        return load(name)
    except ModuleNotFoundError as error:
        if error.name != name and not name.startswith(f"{error.name}."):
            raise
        raise UnsupportedError(f"{stem} has no kernel for the device {device.name!r}") from None


def shard_kernels(device: Device) -> ShardKernels:
    """The kernels that keep a shard of a store on the device."""
    return cast(ShardKernels, kernel_module(device, "store").KERNELS)


_claiming = Lock()
_being_built: dict[int, tuple[Snapshot, tuple[str, View], Held]] = {}


def hold(device: Device, snapshot: Snapshot, view: View, control: Control) -> Any:
    """The arrays of the view on the device. They are built if the snapshot does not have them there yet.

    If devices share a memory space, one of them builds and the others wait for it.
    """
    key = (device.space, view)
    while True:
        with _claiming:
            found = snapshot.held.get(key)
            if found is None:
                mine = Held()
                _being_built[id(mine)] = snapshot, key, mine  # first: what is held and unfinished is here
                snapshot.held[key] = mine
        if found is None:
            return _build_into(mine, device, snapshot, view, control)
        try:
            return found.result()
        except InterruptedError:
            control.check()  # the run that was building it was stopped; this one was not


def _build_into(place: Held, device: Device, snapshot: Snapshot, view: View, control: Control) -> Any:
    try:
        if view.base is None:
            built = snapshot.place(device)
        else:
            base = hold(device, snapshot, view.base, control)
            built = kernel_module(device, view.name).build(device, base, view, control=control)
        device.synchronize()  # waiting threads may read in another stream
    except BaseException as error:
        snapshot.held.pop((device.space, view), None)
        place.set_exception(error)
        raise
    else:
        place.set_result(built)
        return built
    finally:
        _being_built.pop(id(place), None)


@after_fork
def _drop_unfinished() -> None:
    """A forked child builds again what threads of its parent were building."""
    global _claiming
    _claiming = Lock()
    for snapshot, key, place in _being_built.values():
        if snapshot.held.get(key) is place:
            del snapshot.held[key]
    _being_built.clear()
