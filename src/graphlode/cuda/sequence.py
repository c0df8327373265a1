"""Launches that always follow each other, started by one call.

A batch of updates takes a few launches whose arguments are nearly the same for all batches, and little longer than
those. What differs are a few values, the same ones for several launches: an array that was given, a count, a grid. A
sequence is told once which argument of which launch is which value, and a call gives the values. On a GPU all of it is
done by the extension `_driver`, so that Python is asked once and not once for every launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NewType, Protocol, get_type_hints

import numpy as np

from graphlode.common.resident import wait_for_stream
from graphlode.cuda.interface import KernelDevice, KernelModule, PreparedLaunch
from graphlode.types import AnyArray


class Step(NamedTuple):
    """One launch: a kernel with all of its arguments, of which those in `changing` are replaced by values of the call.

    `grid` and `block` say which values these are; with a grid of 0 the launch is left out. An argument that is replaced
    stands for its type only, but an array in its place is kept as long as the sequence is.
    """

    module: KernelModule
    entry: str
    args: tuple[Any, ...]
    changing: Mapping[int, int]  # the position of an argument: the number of a value
    grid: int
    block: int
    shared_bytes: int = 0


Wide = NewType("Wide", int)
"""A number of 64 bits."""


class StepTable:
    """Makes steps by the names of values. The table is a NamedTuple class with a field for each value.

    The annotation of a field says what kernels get: `Any` an array, `int` an unsigned number of 32 bits, `Wide` one of 64.
    """

    def __init__(self, device: KernelDevice, values: type[tuple[Any, ...]]) -> None:
        stand_ins = {Any: device.empty(1, np.uint64), int: np.uint32(0), Wide: np.uint64(0)}
        kinds = get_type_hints(values)
        self._numbers = {name: number for number, name in enumerate(kinds)}
        self._stand_ins = {name: stand_ins[kind] for name, kind in kinds.items()}

    def step(
        self,
        module: KernelModule,
        entry: str,
        arguments: str,
        *,
        grid: str,
        block: str,
        fixed: tuple[Any, ...] = (),
        shared_bytes: int = 0,
    ) -> Step:
        """A launch whose arguments are these values, then the fixed ones."""
        names = arguments.split()
        changing = {place: self._numbers[name] for place, name in enumerate(names)}
        args = (*(self._stand_ins[name] for name in names), *fixed)
        return Step(module, entry, args, changing, self._numbers[grid], self._numbers[block], shared_bytes)

    def numbers(self, names: str) -> tuple[int, ...]:
        """The numbers of values with these names."""
        return tuple(self._numbers[name] for name in names.split())

    def stand_in(self, name: str) -> Any:
        """Something of the type of a value that is given later."""
        return self._stand_ins[name]


class LaunchSequence(Protocol):
    def run(self, values: tuple[Any, ...], after: int | None = None) -> None:
        """Start all launches with these values: arrays, or numbers that fit.

        `after` is a stream, as the CUDA array interface names it, that is waited for before anything is started.
        """

    def bind(self, values: tuple[Any, ...], changing: Sequence[int], reported: AnyArray) -> BoundSequence:
        """The sequence with values of which only those with these numbers will change.

        Its kernels tell the host what they did in `reported`: see `KernelDevice.read_report`.
        """


class BoundSequence(Protocol):
    def run(self, changed: tuple[Any, ...], awaited: int, after: int | None = None) -> list[int]:
        """Start all launches with these values in the place of those that change; what the kernels tell with the number
        `awaited`, as soon as they do, which may be before they are over."""


class PlainSequence:
    """One prepared launch after the other, on a device that has nothing better."""

    def __init__(self, device: KernelDevice, steps: Sequence[Step]) -> None:
        self._device = device
        self._steps: list[tuple[Step, PreparedLaunch]] = [
            (step, step.module.prepare(step.entry, step.args, tuple(step.changing))) for step in steps
        ]

    def run(self, values: tuple[Any, ...], after: int | None = None) -> None:
        wait_for_stream(self._device.xp, after)
        for step, prepared in self._steps:
            if grid := values[step.grid]:
                changed = (values[number] for number in step.changing.values())
                prepared.launch(grid, values[step.block], *changed, shared_bytes=step.shared_bytes)

    def bind(self, values: tuple[Any, ...], changing: Sequence[int], reported: AnyArray) -> BoundSequence:
        return _PlainBound(self._device, self, values, changing, reported)


class _PlainBound:
    def __init__(
        self,
        device: KernelDevice,
        sequence: PlainSequence,
        values: tuple[Any, ...],
        changing: Sequence[int],
        reported: AnyArray,
    ) -> None:
        self._device, self._sequence = device, sequence
        self._values, self._changing = values, changing
        self._reported = reported

    def run(self, changed: tuple[Any, ...], awaited: int, after: int | None = None) -> list[int]:
        values = list(self._values)
        for number, value in zip(self._changing, changed, strict=True):
            values[number] = value
        self._sequence.run(tuple(values), after)
        return self._device.read_report(self._reported, awaited)


def prepare_sequence(device: KernelDevice, steps: Sequence[Step]) -> LaunchSequence:
    """The quickest that the device has."""
    make = getattr(steps[0].module, "sequence", None)
    found: LaunchSequence | None = None if make is None else make(steps)
    return found or PlainSequence(device, steps)
