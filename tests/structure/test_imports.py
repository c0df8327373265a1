"""Allowed imports between layers, and modules that importing graphlode must not load."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "graphlode"
HEAVY = ("cupy", "scipy", "networkx", "pyarrow", "pandas", "matplotlib", "typer", "rich", "graphlode.cli")
STAGES = ("analytics", "datasets", "generate", "graph", "io", "mining")


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (PACKAGE / folder).rglob("*.py"))


def test_importing_graphlode_loads_nothing_heavy(run_python: Any) -> None:
    found = run_python(f"import sys, graphlode; print(*[name for name in {HEAVY!r} if name in sys.modules])")
    assert found.split() == []


def test_counting_triangles_on_the_cpu_loads_nothing_heavy(run_python: Any) -> None:
    script = f"""
import sys, graphlode as gl
assert gl.count_triangles(gl.from_edges([0, 1, 2], [1, 2, 0]), devices="cpu").total == 1
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""
    assert run_python(script).split() == []


def test_the_layers_hold() -> None:
    pytest.importorskip("importlinter")
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", script, "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def layers() -> list[set[str]]:
    """The layers of pyproject.toml, highest first, each a set of names below `graphlode`."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    found = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [{name.strip().removeprefix("graphlode.") for name in layer.split("|")} for layer in found]


def test_every_module_of_the_package_is_in_a_layer() -> None:
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found - {"__init__", "__main__"} == set().union(*layers())


def test_the_documented_layers_are_those_that_are_checked() -> None:
    text = " ".join((ROOT / "AGENTS.md").read_text("utf-8").split())
    documented = text.partition("left may import right: `")[2].partition("`")[0]
    assert [{name.strip() for name in layer.split("|")} for layer in documented.split(">")] == layers()


@pytest.mark.parametrize("path", sources("."), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nothing_prints_and_imports_are_in_their_place(path: Path) -> None:
    parts = path.relative_to(PACKAGE).parts
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "breakpoint", "exit"), f"line {node.lineno}"
        for name in _imported(node):
            assert not name.startswith("cupy") or parts[0] == "cuda", f"line {node.lineno}: {name}"
            assert not name.endswith("_native") or parts[0] == "cpu", f"line {node.lineno}: {name}"
            assert not name.endswith("_driver") or parts[0] == "cuda", f"line {node.lineno}: {name}"


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sources(*STAGES), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_the_stages_know_no_kind_of_device(path: Path) -> None:
    """Polymorphism lives in the device: no name and no string outside docstrings speaks of a GPU."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        words = {
            ast.Name: lambda n: n.id,
            ast.Attribute: lambda n: n.attr,
            ast.Constant: lambda n: n.value if isinstance(n.value, str) and id(n) not in docstrings else "",
        }.get(type(node))
        word = words(node).lower() if words else ""
        assert not any(kind in word for kind in ("gpu", "cuda", "cupy")), f"line {node.lineno}: {word}"  # type: ignore[attr-defined]
