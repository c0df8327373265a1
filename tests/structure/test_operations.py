"""Every operation has all its files, and its kernels have the same signatures on every backend."""

from __future__ import annotations

import inspect
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from graphlode.cuda.compiler import kernel_sources
from graphlode.execute.operation import BACKENDS, operations
from graphlode.graph.views import Oriented, Roots, Transposed, Weighted
from graphlode.mining.supports import Supported

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "graphlode"
OPERATIONS = operations()
NAMES = sorted(OPERATIONS)
VIEWS = [Oriented.name, Roots.name, Supported.name, Transposed.name, Weighted.name]


def backends(name: str) -> tuple[str, ...]:
    return OPERATIONS[name].kernels if name in OPERATIONS else BACKENDS


def kernel(backend: str, name: str) -> Any:
    return import_module(f"graphlode.{backend}.{name}")


def shape(function: Any) -> list[tuple[str, Any]]:
    return [(p.name, p.kind) for p in inspect.signature(function).parameters.values()]


def test_operations_are_declared() -> None:
    assert {"analytics.cores", "analytics.triangles"} <= set(OPERATIONS)


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_has_every_sibling(name: str) -> None:
    stage, stem = name.split(".")
    wanted = {
        "meaning": PACKAGE / stage / f"{stem}.py",
        "tests": ROOT / "tests" / stage / f"test_{stem}.py",
        "documentation": ROOT / "docs" / "operations" / f"{stem}.md",
    }
    for backend in backends(name):
        wanted[f"{backend} kernel"] = PACKAGE / backend / stage / f"{stem}.py"
    if "cpu" in backends(name):
        wanted["C++ source"] = ROOT / "native" / "src" / stage / f"{stem}.cpp"
        wanted["C++ header"] = ROOT / "native" / "include" / "graphlode" / stage / f"{stem}.hpp"
    if "cuda" in backends(name):
        wanted["CUDA source"] = PACKAGE / "cuda" / stage / f"{stem}.cu"
    missing = [f"{what}: {path.relative_to(ROOT)}" for what, path in wanted.items() if not path.exists()]
    assert not missing


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_has_a_benchmark_case(name: str) -> None:
    stem = name.split(".")[1]
    cases = [
        case
        for file in (ROOT / "benchmarks" / "cases").glob("*.toml")
        for case in tomllib.loads(file.read_text("utf-8")).get("case", [])
    ]
    assert any(case["operation"] == stem and "expected" in case for case in cases)


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_keeps_the_reference(name: str) -> None:
    assert "reference" in backends(name) and set(backends(name)) <= set(BACKENDS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("function", ["launch", "memory"])
def test_kernels_take_the_same_arguments_on_every_backend(name: str, function: str) -> None:
    expected = shape(getattr(kernel("reference", name), function))
    assert expected[0][0] == "device"
    for backend in backends(name):
        assert shape(getattr(kernel(backend, name), function)) == expected, backend


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_built_with_the_same_arguments_on_every_backend(name: str) -> None:
    for backend in backends(name):
        assert [p for p, _ in shape(kernel(backend, name).build)] == ["device", "base", "view", "control"], backend
        assert [p for p, _ in shape(kernel(backend, name).memory)] == ["device", "shape"], backend


def test_every_cuda_source_is_declared_by_a_driver() -> None:
    files = {path.relative_to(PACKAGE / "cuda").with_suffix("").as_posix() for path in (PACKAGE / "cuda").rglob("*.cu")}
    assert files == {source.stem for source in kernel_sources()}
    for stem in files:
        assert (PACKAGE / "cuda" / f"{stem}.py").exists(), f"{stem}.cu has no driver beside it"


def test_reference_and_cpu_build_graphs_with_the_same_arguments() -> None:
    assert shape(kernel("cpu", "graph.build").build) == shape(kernel("reference", "graph.build").build)
