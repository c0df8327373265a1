"""Launches, and small arrays on their way, on the emulated and on a real GPU; some of it only where there is one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from graphlode.cuda import launcher
from graphlode.cuda.device import CudaDevice
from graphlode.cuda.interface import on_stream
from graphlode.cuda.sequence import Step, prepare_sequence
from graphlode.errors import InputError, KernelFaultError
from kernel_bench import KERNELS, SOURCES, Bench


def arguments(out: Any, asarray: Any) -> list[Any]:
    """One of every kind, for arguments_all."""
    arrays = [np.array([9], np.int32), np.array([1.5]), np.array([[1, 2], [3, 4]], np.int32).view(np.int64)]
    scalars = [
        np.int32(-5),
        np.uint32(6),
        np.int64(-7),
        np.uint64(8),
        np.float32(0.5),
        np.float64(0.25),
        np.bool_(True),
    ]
    return [*map(asarray, arrays), *scalars, out]


EXPECTED = [9, 1.5, 4, -5, 6, -7, 8, 0.5, 0.25, 1]


def test_a_prepared_launch_takes_new_values_for_what_changes(bench: Bench) -> None:
    device = bench.device

    def work() -> list[list[float]]:
        module = device.load(SOURCES["arguments"])
        first, second = device.zeros(10, np.float64), device.zeros(10, np.float64)
        prepared = module.prepare("arguments_all", arguments(first, device.asarray), (3, 6, 8, 10))
        prepared.launch(1, 32, -5, np.uint64(8), 0.25, first)
        prepared.launch(2, 64, 2**31 - 1, 2**40, 3, second)
        return [device.get(first).tolist(), device.get(second).tolist()]

    plain, changed = bench.do(work)
    assert plain == EXPECTED
    assert changed == [9, 1.5, 4, 2**31 - 1, 6, -7, 2**40, 0.5, 3, 1]


def test_a_prepared_launch_refuses_what_does_not_fit(bench: Bench) -> None:
    device = bench.device

    def work() -> None:
        module = device.load(SOURCES["arguments"])
        given = arguments(device.zeros(10, np.float64), device.asarray)
        prepared = module.prepare("arguments_all", given, (3, 4))
        for changed in [(2**31, 1), (1, -1), (1,), (1, 2, 3)]:
            with pytest.raises(InputError):
                prepared.launch(1, 32, *changed)
        with pytest.raises(InputError, match="a block must have 1 to 1024 threads, got 2000"):
            prepared.launch(1, 2000, 1, 1)
        with pytest.raises(InputError):
            module.prepare("arguments_all", given, (11,))

    bench.do(work)


def test_a_sequence_gives_its_values_to_every_launch_that_wants_them(bench: Bench) -> None:
    device = bench.device

    def work() -> list[list[float]]:
        module = device.load(SOURCES["arguments"])
        outs = [device.zeros(10, np.float64) for _ in range(3)]
        given = tuple(arguments(outs[0], device.asarray))
        grid, block, left_out, number, first, second = range(6)
        steps = [
            Step(module, "arguments_all", given, {3: number, 10: first}, grid, block),
            Step(module, "arguments_all", given, {5: number, 10: second}, grid, block),
            Step(module, "arguments_all", given, {}, left_out, block),
        ]
        sequence = prepare_sequence(device, steps)
        sequence.run((1, 32, 0, -3, outs[1], outs[2]))
        for wrong in [(1, 32, 0, 2**31, outs[1], outs[2]), (1, 32, 0, -3, 5, outs[2])]:
            with pytest.raises(InputError):
                sequence.run(wrong)
        return [device.get(out).tolist() for out in outs]

    unused, first, second = bench.do(work)
    assert unused == [0] * 10
    assert first == [*EXPECTED[:3], -3, *EXPECTED[4:]]
    assert second == [*EXPECTED[:5], -3, *EXPECTED[6:]]


def test_a_bound_sequence_changes_only_the_changing_values(bench: Bench) -> None:
    device = bench.device

    def work() -> tuple[list[int], list[list[float]]]:
        module = device.load(SOURCES["arguments"])
        outs = [device.zeros(10, np.float64) for _ in range(3)]
        given = tuple(arguments(outs[0], device.asarray))
        grid, block, number, out = range(4)
        sequence = prepare_sequence(device, [Step(module, "arguments_all", given, {3: number, 10: out}, grid, block)])
        words = np.array([4, 5], np.uint64) | np.uint64(5 << 32)
        bound = sequence.bind((1, 32, -3, outs[0]), (out,), words)
        report = bound.run((outs[1],), 5)
        with pytest.raises((InputError, ValueError)):
            bound.run((outs[1], 7), 5)
        device.synchronize()
        return report, [device.get(out).tolist() for out in outs]

    report, (unused, changed, other) = bench.do(work)
    assert report == [4, 5] and unused == other == [0] * 10
    assert changed == [*EXPECTED[:3], -3, *EXPECTED[4:]]


def test_launches_that_no_device_accepts(bench: Bench) -> None:
    module = bench.load("arguments")
    with pytest.raises(InputError, match="arguments has the kernels arguments_all, arguments_none, not other"):
        bench.do(lambda: module.launch("other", 1, 1, ()))
    for grid, block, shared_bytes, says in [
        (0, 1, 0, "the grid must have 1 to"),
        (1, 1025, 0, "a block must have 1 to 1024 threads, got 1025"),
        (1, 1, 1 << 30, "bytes of shared memory asked"),
    ]:
        with pytest.raises(InputError, match=f"arguments_none: .*{says}"):
            bench.do(lambda g=grid, b=block, s=shared_bytes: module.launch("arguments_none", g, b, (), s))


def test_a_driver_on_the_stream_gets_its_arguments_and_gives_its_result(bench: Bench) -> None:
    @on_stream
    def total(device: Any, values: Any, *, times: int) -> int:
        """Adds up."""
        return int(device.asarray(values).sum()) * times

    assert total.__name__ == "total" and total.__doc__ == "Adds up."
    assert bench.do(lambda: total(bench.device, np.arange(5), times=3)) == 30


def test_what_is_on_the_host_is_got_as_it_is(bench: Bench) -> None:
    """Views keep some arrays there, whatever their device."""
    there = np.arange(3)
    np.testing.assert_array_equal(bench.do(lambda: bench.device.get(there)), there)


class HiddenFunction:
    """A kernel of a CuPy that does not give the driver's handle."""

    def __init__(self) -> None:
        self.kernel = object()
        self.max_dynamic_shared_size_bytes = 48 * 1024
        self.calls: list[Any] = []

    def __call__(self, *args: Any, **options: Any) -> None:
        self.calls.append((args, options))


def test_where_cupy_hides_the_handle_it_launches_itself() -> None:
    function = HiddenFunction()
    device: Any = SimpleNamespace(xp=SimpleNamespace(ndarray=np.ndarray), current=nullcontext)
    kernel: Any = launcher._kernel(function, "walk", device)
    given = [np.arange(3), np.int32(5)]
    kernel.launch(7, 64, 100, given)
    kernel.launch(7, 64, 60_000, given)
    assert function.calls == [(((7,), (64,), tuple(given)), {"shared_mem": size}) for size in (100, 60_000)]
    assert function.max_dynamic_shared_size_bytes == 60_000
    with pytest.raises(
        InputError, match="walk, argument 1: expected an array of the device or a numpy scalar, got int"
    ):
        kernel.launch(1, 1, 0, (np.int32(1), 2))


@pytest.fixture(scope="module")
def gpu() -> CudaDevice:
    return CudaDevice(0)


@pytest.mark.gpu
def test_arguments_of_every_kind_arrive(gpu: CudaDevice) -> None:
    out = gpu.zeros(10, np.float64)
    gpu.load(SOURCES["arguments"]).launch("arguments_all", 2, 33, arguments(out, gpu.asarray))
    assert gpu.get(out).tolist() == EXPECTED


@pytest.mark.gpu
@pytest.mark.parametrize("value", [3, 2.5, None, np.arange(3)], ids=repr)
def test_a_wrong_argument_is_named(gpu: CudaDevice, value: Any) -> None:
    given = arguments(gpu.zeros(10, np.float64), gpu.asarray)
    given[4] = value
    with pytest.raises(
        InputError, match=r"arguments_all, argument 4: expected an array of the device or a numpy scalar"
    ):
        gpu.load(SOURCES["arguments"]).launch("arguments_all", 1, 1, given)


@pytest.mark.gpu
def test_an_argument_of_the_wrong_width_and_one_too_few(gpu: CudaDevice) -> None:
    module = gpu.load(SOURCES["arguments"])
    given = arguments(gpu.zeros(10, np.float64), gpu.asarray)
    with pytest.raises(InputError, match="arguments_all takes 11 arguments, got 10"):
        module.launch("arguments_all", 1, 1, given[:-1])
    given[3] = np.int64(-5)
    with pytest.raises(InputError, match="arguments_all, argument 3: the parameter has 4 bytes, got int64 with 8"):
        module.launch("arguments_all", 1, 1, given)


@pytest.mark.gpu
def test_all_of_the_shared_memory_can_be_asked_for(gpu: CudaDevice) -> None:
    module = gpu.load(SOURCES["arguments"])
    assert gpu.max_shared_bytes > 48 * 1024
    for shared_bytes in (0, 48 * 1024, 60_000, gpu.max_shared_bytes, 5):
        module.launch("arguments_none", 3, 64, (), shared_bytes)
    gpu.synchronize()


@pytest.mark.gpu
def test_uploads_in_a_row_arrive_unmixed(gpu: CudaDevice) -> None:
    rng = np.random.default_rng(3)
    sent = [rng.integers(0, 1 << 60, int(size)) for size in rng.integers(1, 60_000, 200)]
    there = []
    for array in sent:
        scratch = array.copy()
        there.append(gpu.asarray(scratch))
        scratch.fill(-1)
    for array, found in zip(sent, there, strict=True):
        np.testing.assert_array_equal(gpu.get(found), array)


@pytest.mark.gpu
def test_threads_upload_launch_and_read_at_once(gpu: CudaDevice) -> None:
    def work(number: int) -> bool:
        rng = np.random.default_rng(number)
        right = True
        for _ in range(100):
            sent = rng.integers(0, 1 << 60, int(rng.integers(1, 20_000)))
            there = gpu.asarray(sent)
            with gpu.current():
                doubled = there * 2
            right = right and bool((gpu.get(doubled) == sent * 2).all())
        return right

    assert gpu.for_brief_work() is gpu
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(work, number) for number in range(4)]
        mine = gpu.submit(lambda: work(9))
        assert work(10) and mine.result() and all(other.result() for other in others)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(0,), (3, 0), (1,), (1000,), (7, 11), (1 << 17,), ((1 << 17) + 1,), (5_000_001,)])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.bool_, np.uint8])
def test_arrays_of_all_shapes_go_there_and_come_back(gpu: CudaDevice, shape: tuple[int, ...], dtype: Any) -> None:
    array = np.random.default_rng(5).integers(0, 2, shape).astype(dtype)
    found = gpu.get(gpu.asarray(array))
    assert found.dtype == array.dtype and found.shape == array.shape and found.flags.writeable
    np.testing.assert_array_equal(found, array)


@pytest.mark.gpu
def test_arrays_without_a_dimension_or_with_gaps(gpu: CudaDevice) -> None:
    grid = np.arange(60).reshape(6, 10)
    for array in (grid[::2, 1::3], grid.T, np.asfortranarray(grid), grid.astype(">i8"), [1, 2, 3]):
        there = gpu.asarray(array)
        assert there.flags.c_contiguous
        np.testing.assert_array_equal(gpu.get(there), array)
    there = gpu.asarray(grid)
    with gpu.current():
        views = [there[::2, 1::3], there.T, there[2, 5], there.sum(), there[4:, :]]
    expected = [grid[::2, 1::3], grid.T, grid[2, 5], grid.sum(), grid[4:, :]]
    for view, wanted in zip(views, expected, strict=True):
        found = gpu.get(view)
        assert found.shape == wanted.shape
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.gpu
def test_the_device_is_current_only_inside(gpu: CudaDevice) -> None:
    stream = gpu.xp.cuda.get_current_stream
    before = stream().ptr
    with gpu.current(), gpu.current():
        assert stream().ptr == gpu.stream.ptr
    assert stream().ptr == before
    with pytest.raises(ZeroDivisionError), gpu.current():
        _ = 1 // 0
    assert stream().ptr == before


@pytest.mark.gpu
def test_a_kernel_that_breaks_the_rules_is_a_fault(run_python: Any) -> None:
    """In a process of its own: the GPU's context is lost with it."""
    script = f"""
import numpy as np
from pathlib import Path
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda import launcher
from graphlode.cuda.device import CudaDevice
from graphlode.errors import {KernelFaultError.__name__}
device = CudaDevice(0)
module = device.load(KernelSource("arguments", ("arguments_all",), root=Path({str(KERNELS)!r})))
nowhere = device.xp.ndarray(1, np.int32, device.xp.cuda.MemoryPointer(device.xp.cuda.UnownedMemory(64, 4, None, 0), 0))
scalars = [np.int32(1), np.uint32(1), np.int64(1), np.uint64(1), np.float32(1), np.float64(1), np.bool_(True)]
module.launch("arguments_all", 1, 1, [nowhere] * 3 + scalars + [nowhere])
try:
    device.synchronize()
except KernelFaultError as error:
    print(error)
"""
    assert "cuda:0: cuStreamSynchronize: an illegal memory access" in run_python(script)
