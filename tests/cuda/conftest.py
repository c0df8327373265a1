"""Devices that run kernels, and the launch shapes at which they are tried."""

from __future__ import annotations

import pytest

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
