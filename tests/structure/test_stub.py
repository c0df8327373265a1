"""The committed type stub of an extension equals the generated one."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
WRITTEN_WITH = "3.1.0"


def nanobind_version() -> str:
    try:
        return version("nanobind")
    except PackageNotFoundError:
        return "not installed"


@pytest.mark.skipif(nanobind_version() != WRITTEN_WITH, reason=f"the stubs are written by nanobind {WRITTEN_WITH}")
@pytest.mark.parametrize("module", ["graphlode.cpu._native", "graphlode.cuda._driver"])
def test_the_stub_matches_the_binary(module: str, tmp_path: Path) -> None:
    fresh, stub = tmp_path / "fresh.pyi", SOURCES / f"{module.replace('.', '/')}.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "--exclude-values", "-m", module]
    subprocess.run([*command, "-o", str(fresh)], check=True, capture_output=True, timeout=120)
    assert fresh.read_text("utf-8") == stub.read_text("utf-8"), "run `make stub`"
