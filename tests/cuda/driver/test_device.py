"""The emulated and the real CUDA device follow the same protocol; without a GPU the error says what was found."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.cuda import device as cuda_device
from graphlode.cuda.device import CudaDevice, available_cuda_devices
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.cuda.interface import KernelDevice, launch_shape, vertex_define
from graphlode.errors import DeviceMemoryError, DeviceUnavailableError
from graphlode.execute.device import Device
from graphlode.generate import kronecker
from kernel_bench import Bench


@pytest.mark.parametrize("protocol", [Device, KernelDevice])
def test_devices_have_everything_the_protocol_names(bench: Bench, protocol: Any) -> None:
    wanted = [name for name in vars(protocol) if not name.startswith("_")]
    assert len(wanted) > 8
    assert [name for name in wanted if not hasattr(bench.device, name)] == []


def test_devices_say_what_they_are(bench: Bench) -> None:
    device = bench.device
    assert device.backend == "cuda" and device.space.startswith(device.name)
    described = device.describe()
    assert described["name"] == device.name and described["multiprocessors"] == device.num_multiprocessors > 0
    assert described["memory"] == device.memory().total >= device.memory().free > 0
    assert device.speed > 0 and device.max_shared_bytes >= 48 * 1024


def test_arrays_go_there_and_come_back(bench: Bench) -> None:
    arrays = {"a": np.arange(7), "b": np.zeros((2, 3), np.int32), "c": np.arange(10, dtype=np.int16)[::2]}
    there = bench.do(lambda: bench.device.put(arrays))
    assert there.keys() == arrays.keys()
    for name, array in arrays.items():
        assert there[name].flags.c_contiguous
        back = bench.device.get(there[name])
        assert type(back) is np.ndarray and back.dtype == array.dtype
        np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_ids_go_there_in_32_bits_if_they_fit(bench: Bench, size: int) -> None:
    device = bench.device
    for most, given, narrow in ((2**31, np.int64, True), (2**40, np.int64, False), (2**31, np.int32, True)):
        tails, heads = np.random.default_rng(size).integers(0, most, (2, size)).astype(given)
        for there, ids in zip(device.ids(tails, heads), (tails, heads), strict=True):
            assert there.dtype == (np.int32 if narrow or not size else np.int64)
            np.testing.assert_array_equal(device.get(there), ids)
    below = np.array([3, -1])
    np.testing.assert_array_equal(device.get(device.ids(np.array([1, 2]), below)[1]), below)


def test_fresh_arrays(bench: Bench) -> None:
    zeros = bench.device.get(bench.device.zeros((3, 5), np.int32))
    assert zeros.shape == (3, 5) and zeros.dtype == np.int32 and not zeros.any()
    assert bench.device.empty(4, np.int64).shape == (4,)
    kept, begins = bench.do(lambda: bench.device.allocate(4096))
    assert kept is not None and begins % 8 == 0 and begins != bench.do(lambda: bench.device.allocate(4096))[1]
    status = bench.device.get(bench.device.status())
    assert status.dtype == np.int64 and status.tolist() == [0, 0]


def test_memory_is_reused_without_another_allocation(bench: Bench) -> None:
    device = bench.device

    def sizes() -> list[int]:
        pooled = []
        for _ in range(2):
            held = [device.allocate(1 << 20) for _ in range(3)]
            pooled.append(device.pooled_bytes())
            del held
        device.allocate(pooled[-1] + 1)
        return [*pooled, device.pooled_bytes()]

    first, again, more = bench.do(sizes)
    assert first == again < more


def test_work_runs_in_order_and_its_errors_come_back(bench: Bench) -> None:
    done: list[int] = []
    last = [bench.device.submit(lambda i=i: done.append(i)) for i in range(20)][-1]
    last.result()
    assert done == list(range(20))
    with pytest.raises(ZeroDivisionError):
        bench.do(lambda: 1 // 0)
    assert bench.do(lambda: 5) == 5


def test_more_memory_than_there_is_is_a_memory_error(bench: Bench) -> None:
    for make in (bench.device.zeros, bench.device.empty):
        with pytest.raises(DeviceMemoryError, match=rf"^{bench.device.name}: .* free"):
            make(1 << 50, np.int64)
    with pytest.raises(DeviceMemoryError, match=rf"^{bench.device.name}: .* free"):
        bench.do(lambda: bench.device.allocate(1 << 53))
    assert not bench.device.get(bench.device.zeros(5, np.int64)).any()


def test_a_kernel_is_loaded_once(bench: Bench) -> None:
    assert bench.load("headers") is bench.load("headers")


@pytest.mark.parametrize(
    ("items", "options", "shape"),
    [
        (0, {}, (1, 256)),
        (1, {}, (1, 256)),
        (256, {}, (1, 256)),
        (257, {}, (2, 256)),
        (10**9, {}, (3 * 8, 256)),
        (10**9, {"blocks_per_multiprocessor": 2}, (3 * 2, 256)),
        (100, {"per_block": 8}, (13, 256)),
        (100, {"threads": 32}, (4, 32)),
    ],
)
def test_launch_shapes_cover_the_work_and_fit_the_device(
    items: int, options: dict[str, int], shape: tuple[int, int]
) -> None:
    assert launch_shape(EmulatedDevice(num_multiprocessors=3), items, **options) == shape


def test_vertices_are_ints_or_long_longs() -> None:
    assert (vertex_define(np.int32), vertex_define(np.int64)) == ("int", "long long")


def test_emulated_devices_have_different_names() -> None:
    first, second = EmulatedDevice(), EmulatedDevice(1, num_multiprocessors=7, max_shared_bytes=1 << 20)
    assert (first.name, first.space) == ("cuda-emulated", "cuda-emulated:0")
    assert (second.name, second.space) == ("cuda-emulated:1", "cuda-emulated:1")
    assert (second.num_multiprocessors, second.max_shared_bytes) == (7, 1 << 20)


class Driver:
    """Answers like libcuda."""

    def __init__(self, code: int, count: int) -> None:
        self._code, self._count = code, count

    def cuInit(self, _: int) -> int:
        return self._code

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = self._count
        return 0


def absent(_: str) -> Any:
    raise OSError("no such library")


SETTINGS = {
    "no CuPy": (None, absent, "CuPy is not installed"),
    "no driver": (True, absent, "there is no NVIDIA driver"),
    "a driver that fails": (True, lambda _: Driver(100, 0), "the driver answers with error 100"),
    "no GPU": (True, lambda _: Driver(0, 0), r"the NVIDIA driver shows 0 device\(s\)"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_without_a_gpu_the_error_says_what_was_looked_for_and_found(
    monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    cupy, library, found = SETTINGS[setting]
    monkeypatch.setattr(cuda_device, "find_spec", lambda _: cupy)
    monkeypatch.setattr(cuda_device, "ctypes", SimpleNamespace(CDLL=library, c_int=ctypes.c_int, byref=ctypes.byref))
    assert available_cuda_devices() == []
    for ordinal in (0, 5):
        with pytest.raises(DeviceUnavailableError, match=rf"looked for the device cuda:{ordinal}; .*{found}"):
            CudaDevice(ordinal)


def test_devices_are_counted_by_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_device, "find_spec", lambda _: True)
    driver = SimpleNamespace(CDLL=lambda _: Driver(0, 3), c_int=ctypes.c_int, byref=ctypes.byref)
    monkeypatch.setattr(cuda_device, "ctypes", driver)
    assert available_cuda_devices() == ["cuda:0", "cuda:1", "cuda:2"]
    with pytest.raises(DeviceUnavailableError, match=r"looked for the device cuda:3; .* shows 3 device\(s\)"):
        CudaDevice(3)


@pytest.mark.gpu
def test_two_devices_of_one_gpu_have_streams_of_their_own_and_agree() -> None:
    first, second = CudaDevice(0), CudaDevice(0)
    assert first.space == second.space and first.name == second.name
    streams = [
        device.submit(lambda device=device: device.xp.cuda.get_current_stream().ptr) for device in (first, second)
    ]
    assert len({stream.result() for stream in streams} | {0}) == 3
    graph = kronecker(9, seed=3)
    expected = gl.count_triangles(graph, by="vertex", devices="cpu")
    found = gl.count_triangles(graph, by="vertex", devices=["cuda:0", "cuda:0"])
    assert found.total == expected.total
    np.testing.assert_array_equal(found.by_vertex, expected.by_vertex)


@pytest.mark.gpu
def test_what_one_device_of_a_gpu_made_another_can_use() -> None:
    first, second = CudaDevice(0), CudaDevice(0)
    made = first.submit(lambda: first.xp.arange(1 << 20) * 3)
    array = made.result()
    first.synchronize()
    doubled = second.submit(lambda: array * 2).result()
    np.testing.assert_array_equal(second.get(doubled), np.arange(1 << 20) * 6)
