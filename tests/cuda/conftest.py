"""Devices that run kernels, and launch shapes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from driver_calls import CONTEXT, take

from graphlode.cuda import _driver
from graphlode.execute.devices import resolve
from kernel_bench import Bench


@pytest.fixture(scope="session", params=["cuda-emulated", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def bench(request: pytest.FixtureRequest) -> Bench:
    """The emulated device and, under the marker gpu, a real one."""
    return Bench(resolve(request.param)[0])


@pytest.fixture(scope="session")
def emulated() -> Bench:
    return Bench(resolve("cuda-emulated")[0])


_SHAPES = [(1, 1), (3, 31), (2, 32), (5, 33), (3, 96), (2, 1000), (3, 1024)]


@pytest.fixture(params=_SHAPES, ids=lambda shape: f"{shape[0]}x{shape[1]}")
def shape(request: pytest.FixtureRequest) -> tuple[int, int]:
    """Grid and block: less than a warp, whole warps, a last warp cut short."""
    grid, block = request.param
    return grid, block


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A library that answers like NVIDIA's driver."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    built = tmp_path_factory.mktemp("driver") / "libfake.so"
    source = Path(__file__).parent / "fake_driver.cpp"
    subprocess.run(["g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-o", built, source], check=True)
    return str(built)


@pytest.fixture
def fake(library: str) -> Iterator[ctypes.CDLL]:
    driver = ctypes.CDLL(library)
    driver.cuCtxSetCurrent(ctypes.c_void_p(CONTEXT))
    yield driver
    driver.fake_fail(b"", 0)
    driver.cuStreamSynchronize(None)
    while take(driver) is not None:
        pass
    driver.cuCtxSetCurrent(None)


@pytest.fixture
def queue(library: str, fake: ctypes.CDLL) -> _driver.Queue:
    return _driver.Queue("cuda:7", SimpleNamespace(ptr=17), library)
