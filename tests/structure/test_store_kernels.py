"""Every backend keeps shards by the same protocol, and `graph/` neither probes for abilities nor knows a device."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from graphlode.common.shard_kernels import ShardKernels
from graphlode.execute.device import shard_kernels
from graphlode.execute.devices import resolve
from graphlode.execute.operation import BACKENDS

PACKAGE = Path(__file__).parents[2] / "src" / "graphlode"
MEMBERS = [
    name for name, value in vars(ShardKernels).items() if inspect.isfunction(value) or isinstance(value, property)
]
MEMBERS = [name for name in MEMBERS if not name.startswith("_")]
DEVICES = {"cpu": "cpu", "reference": "reference", "cuda": "cuda-emulated"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_offers_all_that_the_protocol_names(backend: str) -> None:
    (device,) = resolve(DEVICES[backend])
    kernels = shard_kernels(device)
    assert device.backend == backend
    assert [name for name in MEMBERS if not hasattr(kernels, name)] == []


@pytest.mark.parametrize("function", [name for name in MEMBERS if name.islower()])
def test_shards_are_handled_alike_on_every_backend(function: str) -> None:
    """The same number of arguments by place, and the same options."""
    shapes = [_shape(getattr(shard_kernels(resolve(DEVICES[backend])[0]), function)) for backend in BACKENDS]
    assert shapes == shapes[:1] * len(BACKENDS)


def _shape(function: object) -> tuple[int, set[str]]:
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    options = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    return len(parameters) - len(options), options


@pytest.mark.parametrize("path", sorted((PACKAGE / "graph").rglob("*.py")), ids=lambda path: path.name)
def test_nothing_in_graph_probes_for_abilities_or_writes_past_frozen(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "getattr", f"line {node.lineno}"
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            assert not ast.unparse(node.value).endswith(".__dict__"), f"line {node.lineno}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "graph").rglob("*.py")), ids=lambda path: path.name)
def test_graph_imports_nothing_of_a_gpu(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not any("cuda" in name.split(".") for name in names), names
