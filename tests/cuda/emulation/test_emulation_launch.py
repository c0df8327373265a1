"""Launches: arguments are checked against the kernel's declaration, shapes against the device; nothing leaks."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.cuda.emulation import build, module
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.errors import InputError, KernelFaultError
from kernel_bench import Bench


def good() -> list[Any]:
    pairs = np.array([[1, 2], [3, 4]], np.int32)
    scalars = [
        np.int32(-5),
        np.uint32(6),
        np.int64(-7),
        np.uint64(8),
        np.float32(0.5),
        np.float64(0.25),
        np.bool_(True),
    ]
    return [np.array([9], np.int32), np.array([1.5]), pairs, *scalars, np.zeros(10)]


def test_every_kind_of_argument_arrives(bench: Bench) -> None:
    arguments = good()
    bench.launch("arguments", "arguments_all", 2, 33, *arguments)
    assert arguments[-1].tolist() == [9, 1.5, 4, -5, 6, -7, 8, 0.5, 0.25, 1]
    bench.launch("arguments", "arguments_none", 1, 1)


WRONG = [
    (0, np.zeros(1, np.int64), "argument 0 points to items of 4 bytes, got an array of int64"),
    (0, 5, "argument 0 is a pointer: expected a contiguous array, got int"),
    (0, np.int32(5), "argument 0 is a pointer: expected a contiguous array, got int32"),
    (0, np.zeros(4, np.int32)[::2], "argument 0 is a pointer: expected a contiguous array"),
    (1, np.zeros(1, np.float32), "argument 1 points to items of 8 bytes, got an array of float32"),
    (3, -5, "argument 3 is a scalar: expected a numpy scalar, got int"),
    (3, np.zeros(1, np.int32), "argument 3 is a scalar: expected a numpy scalar, got ndarray"),
    (3, np.int64(-5), "argument 3 has 4 bytes of kind i, got int64"),
    (3, np.float32(-5), "argument 3 has 4 bytes of kind i, got float32"),
    (5, np.int32(-7), "argument 5 has 8 bytes of kind i, got int32"),
    (7, np.float64(0.5), "argument 7 has 4 bytes of kind f, got float64"),
    (8, np.int64(1), "argument 8 has 8 bytes of kind f, got int64"),
    (9, np.int32(1), "argument 9 has 1 bytes of kind u, got int32"),
]


@pytest.mark.parametrize(("position", "value", "says"), WRONG)
def test_a_wrong_argument_is_an_input_error(emulated: Bench, position: int, value: Any, says: str) -> None:
    arguments = good()
    arguments[position] = value
    module = emulated.load("arguments")
    with pytest.raises(InputError, match=f"arguments_all, {says}"):
        module.launch("arguments_all", 1, 1, arguments)


def test_what_is_no_array_of_the_device_is_refused_on_both(bench: Bench) -> None:
    module = bench.load("arguments")
    for value in (5, 5.0, None, "text", [1]):
        with pytest.raises(InputError, match=r"arguments_all, argument 0"):
            bench.do(lambda value=value: module.launch("arguments_all", 1, 1, [value, *good()[1:]]))


def test_a_wrong_number_of_arguments_is_an_input_error(emulated: Bench) -> None:
    module = emulated.load("arguments")
    for arguments in (good()[:-1], [*good(), np.int32(1)], []):
        with pytest.raises(InputError, match=f"arguments_all takes 11 arguments, got {len(arguments)}"):
            module.launch("arguments_all", 1, 1, arguments)


def test_an_unknown_kernel_is_refused_with_the_known_ones(bench: Bench) -> None:
    module = bench.load("arguments")
    with pytest.raises(InputError, match="arguments has the kernels arguments_all, arguments_none, not arguments_most"):
        bench.do(lambda: module.launch("arguments_most", 1, 1, []))


@pytest.mark.parametrize(
    ("grid", "block", "shared", "says"),
    [
        (0, 32, 0, r"the grid must have 1 to 2\^31 - 1 blocks, got 0"),
        (2**31, 32, 0, r"the grid must have 1 to 2\^31 - 1 blocks"),
        (1, 0, 0, "a block must have 1 to 1024 threads, got 0"),
        (1, 1025, 0, "a block must have 1 to 1024 threads, got 1025"),
        (1, 32, -1, "-1 bytes of shared memory asked"),
        (1, 32, 1 << 30, "1073741824 bytes of shared memory asked, .* there"),
    ],
)
def test_impossible_launches_are_input_errors(bench: Bench, grid: int, block: int, shared: int, says: str) -> None:
    module = bench.load("arguments")
    with pytest.raises(InputError, match=f"arguments_none: {says}"):
        bench.do(lambda: module.launch("arguments_none", grid, block, [], shared))


def test_all_shared_memory_of_the_device_can_be_used(bench: Bench) -> None:
    block = 1000
    values, turned, sums = np.ones(block, np.int32), np.zeros(block, np.int32), np.zeros(1, np.int64)
    most = (bench.device.max_shared_bytes - 4096) // 16 * 16  # the kernel has 4096 bytes of static memory, too
    bench.launch("barriers", "barrier_reverse_and_sum", 1, block, values, turned, sums, shared_bytes=most)
    assert sums[0] == block


def test_kernels_run_when_the_compiler_is_hardened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Some distributions switch these on for every program."""
    hardened = ("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3", "-fstack-protector-strong", "-D_GLIBCXX_ASSERTIONS")
    monkeypatch.setattr(build, "OPTIONS", (*build.OPTIONS, *hardened))
    fixed, dynamic = np.zeros(9 * 33, np.uint32), np.zeros(9 * 33, np.uint32)
    with gl.configure(cache=tmp_path):
        bench = Bench(EmulatedDevice())
        bench.launch("barriers", "barrier_unwritten", 9, 33, fixed, dynamic, shared_bytes=4 * 33)
    assert set(fixed.tolist()) == set(dynamic.tolist()) == {0xCDCDCDCD}


def test_many_launches_do_not_leak(emulated: Bench) -> None:
    """Mappings and threads of the process stay as they are, whether launches end well or with a fault."""

    def launches(times: int) -> None:
        out = np.zeros(4 * 1000, np.int32)
        for _ in range(times):
            emulated.launch("faults", "fault_none", 4, 1000, out)
            with pytest.raises(KernelFaultError):
                emulated.launch("faults", "fault_leaves_before_the_barrier", 4, 1000, np.int32(2), np.int32(999))

    def counts() -> tuple[int, int]:
        mappings = len(Path("/proc/self/maps").read_text().splitlines())
        return mappings, len(list(Path("/proc/self/task").iterdir()))

    launches(5)
    mappings, threads = counts()
    launches(10)
    after_mappings, after_threads = counts()
    assert after_mappings <= mappings + 300  # at most one more runner with its 256 stacks, never 10
    assert after_threads <= threads


def test_kernels_that_were_not_launched_for_a_while_give_their_stacks_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kernel keeps stacks for its next launch, and the mappings of a process are limited."""
    monkeypatch.setattr(module, "_MOST_KEPT", 2)
    monkeypatch.setattr(module, "_kept", OrderedDict())
    released = []
    for name in ("a", "b", "a", "c", "d"):
        module._keep_stacks(name, lambda name=name: released.append(name))  # type: ignore[misc]
    assert released == ["b", "a"] and list(module._kept) == ["c", "d"]
