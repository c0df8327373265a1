"""The environment of a measurement: processor, devices, compiler, versions, commit. No host names, no paths."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from graphlode.config import settings
from graphlode.cpu.memory import compiler
from graphlode.execute.devices import Devices, cpu, resolve

_PACKAGES = ("graphlode", "numpy", "scipy")


@dataclass(frozen=True)
class Environment:
    """`gpu`, `driver` and `cuda` are None if no CUDA device was used."""

    cpu: str
    threads: int
    gpu: str | None
    driver: str | None
    cuda: str | None
    compiler: str
    python: str
    system: str
    packages: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Commit:
    """State of the source tree; `commit` is None outside a git tree."""

    commit: str | None
    dirty: bool


def environment(devices: Devices = "cpu", packages: Iterable[str] = ()) -> Environment:
    """The environment of a run on `devices`, with the versions of graphlode's dependencies and of `packages`."""
    processor = cpu().describe()
    gpus = [device.describe() for device in resolve(devices) if device.backend == "cuda"]
    gpu = gpus[0] if gpus else {}
    return Environment(
        cpu=str(processor["model"]),
        threads=settings().threads,
        gpu=_text(gpu.get("model")),
        driver=_text(gpu.get("driver")),
        cuda=_text(gpu.get("cuda")),
        compiler=compiler(),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        system=f"{platform.system()} {platform.machine()}",
        packages=_versions((*_PACKAGES, *packages)),
    )


def commit_of(folder: Path) -> Commit:
    """The commit of the git tree that contains `folder`, and whether tracked files have changed."""
    head = _git(folder, "rev-parse", "HEAD")
    if head is None:
        return Commit(None, False)
    return Commit(head, bool(_git(folder, "status", "--porcelain", "--untracked-files=no")))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _versions(packages: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in dict.fromkeys(packages):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
