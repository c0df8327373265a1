"""Shared by all tests: devices as parameters, the rule about missing GPUs, Hypothesis profiles, larger graphs.

A test that takes `device` runs once on every kind of device, one that takes `devices` also on mixtures of them. The cases
that need a GPU carry the marker `gpu` and are skipped without one, unless GRAPHLODE_TEST_GPU=1 makes that an error.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import graphlode as gl
from graphlode.cuda.device import available_cuda_devices

_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("ci", deadline=None, max_examples=50, suppress_health_check=_SLOW_IS_FINE, print_blob=True)
settings.register_profile("quick", parent=settings.get_profile("ci"), max_examples=10)
settings.register_profile("thorough", parent=settings.get_profile("ci"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_ONE = ["reference", "cpu", "cuda-emulated", pytest.param("cuda:0", marks=pytest.mark.gpu)]
_SEVERAL = [
    ["cpu", "cpu"],
    ["cpu", "reference"],
    ["cuda-emulated", "cuda-emulated:1", "cpu"],
    pytest.param(["cuda:0", "cpu"], marks=pytest.mark.gpu),
    pytest.param(["cuda:0", "cuda:0"], marks=pytest.mark.gpu),
]


@pytest.fixture(scope="session", params=_ONE)
def device(request: pytest.FixtureRequest) -> str:
    """The name of one device of each kind."""
    name: str = request.param
    return name


@pytest.fixture(
    scope="session", params=[*_ONE, *_SEVERAL], ids=lambda names: "+".join(names) if isinstance(names, list) else names
)
def devices(request: pytest.FixtureRequest) -> str | list[str]:
    """What a user may write for `devices`: one of each kind, and mixtures."""
    names: str | list[str] = request.param
    return names


@pytest.fixture(scope="module", autouse=True)
def _earlier_objects_are_no_garbage() -> None:
    """What is left of collection and of earlier modules stays: looking through it took most of the time of tests that
    collect garbage often."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") is None or available_cuda_devices():
        return
    if os.environ.get("GRAPHLODE_TEST_GPU") == "1":
        pytest.fail("GRAPHLODE_TEST_GPU=1, but there is no CUDA device", pytrace=False)
    pytest.skip("needs a CUDA device")


@pytest.fixture(scope="session")
def real_graph() -> Callable[..., gl.Graph]:
    """Reads a larger graph by name from the folder GRAPHLODE_DATA; skips the test if there is none."""

    def read(name: str, **options: object) -> gl.Graph:
        folder = os.environ.get("GRAPHLODE_DATA")
        if not folder:
            pytest.skip("larger graphs are looked for in the folder that GRAPHLODE_DATA names")
        path = Path(folder) / f"{name}.txt.gz"
        if not path.exists():
            pytest.skip(f"GRAPHLODE_DATA has no {path.name}")
        return gl.read(path, **options)

    return read


@pytest.fixture(params=[1, 2, 5], ids=lambda threads: f"threads{threads}")
def threads(request: pytest.FixtureRequest) -> int:
    count: int = request.param
    return count


@pytest.fixture(scope="session")
def run_python() -> Callable[..., str]:
    """Runs a script in a fresh interpreter with a changed environment; returns its output or fails with it."""

    def run(script: str, **environment: str) -> str:
        command = [sys.executable, "-W", "error", "-c", script]
        done = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
