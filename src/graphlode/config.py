"""Explicit settings. The environment is read once, here.

| variable | setting | meaning |
| --- | --- | --- |
| GRAPHLODE_THREADS | threads | CPU threads per CPU device (default: the cores this process may use) |
| GRAPHLODE_DEVICES | devices | what devices="auto" stands for, such as "cpu" or "cuda:0,cpu" |
| GRAPHLODE_MEMORY_LIMIT | memory_limit | bytes an operation may plan to use on any one device |
| GRAPHLODE_CACHE | cache | folder for compiled kernels |
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from graphlode.errors import InputError


@dataclass(frozen=True)
class Settings:
    threads: int
    devices: str
    memory_limit: int | None
    cache: Path

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise InputError(f"threads must be at least 1, got {self.threads}")
        if self.memory_limit is not None and self.memory_limit < 0:
            raise InputError(f"memory_limit must not be negative, got {self.memory_limit}")


def _integer(name: str) -> int | None:
    text = os.environ.get(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise InputError(f"the environment variable {name} must be an integer, got {text!r}") from None


def _from_environment() -> Settings:
    threads = _integer("GRAPHLODE_THREADS")
    cache = os.environ.get("GRAPHLODE_CACHE")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Settings(
        threads=len(os.sched_getaffinity(0)) if threads is None else threads,
        devices=os.environ.get("GRAPHLODE_DEVICES", "auto"),
        memory_limit=_integer("GRAPHLODE_MEMORY_LIMIT"),
        cache=Path(cache) if cache else home / "graphlode",
    )


_settings: Settings | None = None


def settings() -> Settings:
    """The settings in force.

    >>> import graphlode as gl
    >>> with gl.configure(threads=3):
    ...     gl.settings().threads
    3
    """
    global _settings
    if _settings is None:
        _settings = _from_environment()  # at first use: a bad variable must not break the import
    return _settings


@contextmanager
def configure(
    *,
    threads: int | None = None,
    devices: str | None = None,
    memory_limit: int | None = None,
    cache: Path | None = None,
) -> Iterator[Settings]:
    """Change settings inside a `with` block, for the whole process; what is not named stays as it is.

    >>> import graphlode as gl
    >>> with gl.configure(threads=1):
    ...     gl.count_triangles(gl.complete(4)).total
    4
    """
    global _settings
    before = settings()
    given = {"threads": threads, "devices": devices, "memory_limit": memory_limit, "cache": cache}
    _settings = replace(before, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    try:
        yield _settings
    finally:
        _settings = before
