"""Explicit settings. The environment is read once, here.

| variable | setting | meaning |
| --- | --- | --- |
| GRAPHLODE_THREADS | threads | CPU threads per CPU device (default: the cores this process may use) |
| GRAPHLODE_DEVICES | devices | what devices="auto" stands for, such as "cpu" or "cuda:0,cpu" |
| GRAPHLODE_MEMORY_LIMIT | memory_limit | bytes that an operation, or reading a file, may plan to use on any one device |
| GRAPHLODE_CACHE | cache | folder for kernels compiled by the emulation (CuPy has its own, CUPY_CACHE_DIR) |
"""

from __future__ import annotations

import operator
import os
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphlode.errors import InputError

# More than any machine runs at a time.
MOST_THREADS = 4096


@dataclass(frozen=True)
class Settings:
    threads: int
    devices: str
    memory_limit: int | None
    cache: Path

    def __post_init__(self) -> None:
        threads = _index("threads", self.threads)
        if not 1 <= threads <= MOST_THREADS:
            raise InputError(f"threads must be 1 .. {MOST_THREADS}, got {threads}")
        if self.memory_limit is not None and _index("memory_limit", self.memory_limit) < 0:
            raise InputError(f"memory_limit must not be negative, got {self.memory_limit}")
        if not isinstance(self.cache, str | os.PathLike):
            raise InputError(f"cache must be a path, got {self.cache!r}")
        object.__setattr__(self, "cache", Path(self.cache))


def _index(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be an integer, got {value!r}") from None


def _integer(name: str) -> int | None:
    text = os.environ.get(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise InputError(f"the environment variable {name} must be an integer, got {text!r}") from None


def usable_cores(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Number of cores this process may use: the smaller of its affinity and its container's quota (cgroup v2)."""
    cores = len(os.sched_getaffinity(0))
    try:
        allowed, period = quota.read_text("ascii").split()
        return cores if allowed == "max" else max(1, min(cores, int(allowed) // int(period)))
    except (OSError, ValueError, ZeroDivisionError):
        return cores


def _from_environment() -> Settings:
    threads = _integer("GRAPHLODE_THREADS")
    cache = os.environ.get("GRAPHLODE_CACHE")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Settings(
        threads=usable_cores() if threads is None else threads,
        devices=os.environ.get("GRAPHLODE_DEVICES", "auto"),
        memory_limit=_integer("GRAPHLODE_MEMORY_LIMIT"),
        cache=Path(cache) if cache else home / "graphlode",
    )


_settings: Settings | None = None


def settings() -> Settings:
    """The current settings.

    >>> import graphlode as gl
    >>> with gl.configure(threads=3):
    ...     gl.settings().threads
    3
    """
    global _settings
    if _settings is None:
        _settings = _from_environment()  # at first use: a bad variable must not break the import
    return _settings


class _Change(AbstractContextManager[Settings]):
    """A change of the settings that is already in force. Leaving a `with` block undoes it."""

    def __init__(self, before: Settings, now: Settings) -> None:
        self._before = before
        self._now = now

    def __enter__(self) -> Settings:
        return self._now

    def __exit__(self, *error: object) -> None:
        global _settings
        _settings = self._before


def configure(
    *,
    threads: int | None = None,
    devices: str | None = None,
    memory_limit: int | None = None,
    cache: Path | None = None,
) -> AbstractContextManager[Settings]:
    """Change settings for the whole process: until the end of a `with` block, otherwise from now on.

    Settings that are not named keep their values. Raises InputError for an invalid value.

    >>> import graphlode as gl
    >>> with gl.configure(threads=1):
    ...     gl.count_triangles(gl.complete(4)).total
    4
    """
    global _settings
    before = settings()
    given = {"threads": threads, "devices": devices, "memory_limit": memory_limit, "cache": cache}
    now = replace(before, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    _settings = now
    return _Change(before, now)
