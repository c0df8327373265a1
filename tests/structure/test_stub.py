"""The extension's committed type stub is what the extension says of itself."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

STUB = Path(__file__).parents[2] / "src/graphlode/cpu/_native.pyi"
WRITTEN_WITH = "3.1.0"


def nanobind_version() -> str:
    try:
        return version("nanobind")
    except PackageNotFoundError:
        return "not installed"


@pytest.mark.skipif(nanobind_version() != WRITTEN_WITH, reason=f"the stub is written by nanobind {WRITTEN_WITH}")
def test_the_stub_matches_the_binary(tmp_path: Path) -> None:
    fresh = tmp_path / "_native.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "--exclude-values", "-m", "graphlode.cpu._native"]
    subprocess.run([*command, "-o", str(fresh)], check=True, capture_output=True, timeout=120)
    assert fresh.read_text("utf-8") == STUB.read_text("utf-8"), "run `make stub`"
