"""Launches that always follow each other, started by one call.

A small batch takes little longer than its launches, and nearly all of their arguments are the same for all batches.
Only a few values differ, such as an input array, a count or a grid, and several launches use the same value. A sequence
records once which argument of which launch is which value; a call passes only the values. On a GPU the extension
`_driver` starts all launches, so Python makes one call instead of one per launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NewType, Protocol, get_type_hints

import numpy as np

from graphlode.common.resident import wait_for_stream
from graphlode.cuda.interface import KernelDevice, KernelModule, PreparedLaunch
from graphlode.types import AnyArray


class Step(NamedTuple):
    """One launch: a kernel with all of its arguments. Values of the call replace those in `changing`.

    `grid` and `block` are the numbers of values. With a grid of 0 the launch is left out. A replaced argument defines
    only the type, but the sequence keeps an array that is given there.
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
    """Makes steps from the names of values. The table is a NamedTuple class with a field for each value.

    The annotation of a field gives the type in kernels: `Any` is an array, `int` an unsigned 32-bit number, `Wide` a
    64-bit number.
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
        """A placeholder with the type of the value."""
        return self._stand_ins[name]


class LaunchSequence(Protocol):
    def run(self, values: tuple[Any, ...], after: int | None = None) -> None:
        """Start all launches with these values: arrays, or numbers that fit.

        First wait for the stream `after`, as the CUDA array interface names it.
        """

    def bind(self, values: tuple[Any, ...], changing: Sequence[int], reported: AnyArray) -> BoundSequence:
        """Bind the values. Only those with the numbers `changing` can change later.

        The kernels write their report for the host into `reported`: see `KernelDevice.read_report`.
        """


class BoundSequence(Protocol):
    def run(self, changed: tuple[Any, ...], awaited: int, after: int | None = None) -> list[int]:
        """Start all launches with new values for those that change.

        Returns the report with the number `awaited` as soon as it arrives. The kernels may still be running then.
        """


class PlainSequence:
    """One prepared launch after the other, for a device without faster sequences."""

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
    """The fastest sequence that the device offers."""
    make = getattr(steps[0].module, "sequence", None)
    found: LaunchSequence | None = None if make is None else make(steps)
    return found or PlainSequence(device, steps)
