"""The steps of a sequence use the names of values for their arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.cuda.sequence import StepTable, Wide, prepare_sequence

DEVICE = EmulatedDevice()


class Values(NamedTuple):
    source: Any
    target: Any
    count: int
    entries: Wide
    blocks: int
    threads: int
    few_blocks: int = 0


class Module:
    """Writes down what is prepared and launched."""

    def __init__(self) -> None:
        self.launched: list[tuple[Any, ...]] = []

    def prepare(self, entry: str, args: tuple[Any, ...], changing: tuple[int, ...]) -> Any:
        made = self

        class Prepared:
            def launch(self, grid: int, block: int, *changed: Any, shared_bytes: int = 0) -> None:
                given = list(args)
                for place, value in zip(changing, changed, strict=True):
                    given[place] = value
                made.launched.append((entry, grid, block, shared_bytes, *given))

        return Prepared()


@pytest.fixture
def table() -> StepTable:
    return StepTable(DEVICE, Values)


def test_names_become_the_numbers_of_their_fields(table: StepTable) -> None:
    module: Any = Module()
    step = table.step(module, "add", "target count source", grid="few_blocks", block="threads", shared_bytes=96)
    assert step.changing == {0: 1, 1: 2, 2: 0}
    assert (step.module, step.entry, step.grid, step.block, step.shared_bytes) == (module, "add", 6, 5, 96)
    assert table.numbers("entries source") == (3, 0)


def test_what_stands_for_a_value_has_the_type_that_its_field_says(table: StepTable) -> None:
    module: Any = Module()
    step = table.step(module, "add", "source count entries", grid="blocks", block="threads", fixed=(np.int32(-1),))
    array, count, entries, fixed = step.args
    assert type(array) is DEVICE.xp.ndarray and array.nbytes
    assert (type(count), type(entries)) == (np.uint32, np.uint64)
    assert type(fixed) is np.int32 and fixed == -1 and 3 not in step.changing
    for name, stands in (("source", array), ("count", count), ("entries", entries)):
        assert table.stand_in(name) is stands


@pytest.mark.parametrize(
    "how",
    [
        {"arguments": "source heads", "grid": "blocks", "block": "threads"},
        {"arguments": "source", "grid": "block", "block": "threads"},
        {"arguments": "source", "grid": "blocks", "block": "thread"},
    ],
    ids=["argument", "grid", "block"],
)
def test_a_name_that_is_no_field_is_an_error_when_the_step_is_made(table: StepTable, how: dict[str, str]) -> None:
    with pytest.raises(KeyError):
        table.step(Module(), "add", **how)  # type: ignore[arg-type]
    for ask in (table.numbers, table.stand_in):
        with pytest.raises(KeyError):
            ask("heads")


def test_a_field_of_another_type_is_an_error_when_the_table_is_made() -> None:
    class Wrong(NamedTuple):
        source: Any
        part: float

    with pytest.raises(KeyError):
        StepTable(DEVICE, Wrong)


def test_every_launch_gets_the_values_with_the_names_of_its_arguments(table: StepTable) -> None:
    module: Any = Module()
    steps = [
        table.step(module, "first", "source count", grid="blocks", block="threads"),
        table.step(module, "second", "entries target", grid="few_blocks", block="threads", fixed=(np.int32(7),)),
        table.step(module, "third", "count", grid="count", block="blocks", shared_bytes=64),
    ]
    sequence = prepare_sequence(DEVICE, steps)
    sequence.run(Values("a", "b", 5, Wide(2**40), blocks=2, threads=128))  # a grid of 0 blocks: left out
    first, third = ("first", 2, 128, 0, "a", 5), ("third", 5, 2, 64, 5)
    assert module.launched == [first, third]
    module.launched.clear()
    sequence.run(Values("a", "b", 5, Wide(2**40), blocks=2, threads=128, few_blocks=3))
    assert module.launched == [first, ("second", 3, 128, 0, 2**40, "b", 7), third]


def test_a_bound_sequence_takes_the_values_that_change_by_their_names(table: StepTable) -> None:
    module: Any = Module()
    step = table.step(module, "first", "source target count", grid="blocks", block="threads")
    report = np.array([9 << 32 | 4, 9 << 32 | 5], np.uint64)
    values = Values(table.stand_in("source"), "b", 5, Wide(0), blocks=2, threads=128)
    bound = prepare_sequence(DEVICE, [step]).bind(values, table.numbers("count source"), report)
    assert bound.run((6, "a"), 9) == [4, 5]
    assert module.launched == [("first", 2, 128, 0, "a", "b", 6)]
