"""The memory of the machine, or of the control group (container, batch job) if that has less."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from graphlode.types import Memory

# Names of the files of a group: its limit, its use, and the key of the page cache in memory.stat that can be dropped.
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_active_file", "total_inactive_file"))
_V2 = ("memory.max", "memory.current", ("active_file", "inactive_file"))


def host_memory(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> Memory:
    """Bytes in total, and bytes that can be taken without swapping; page cache counts as free.

    A group has what its own limit and those of the groups above it leave.
    """
    page = os.sysconf("SC_PAGE_SIZE")
    total = page * os.sysconf("SC_PHYS_PAGES")
    free = _available(proc) or page * os.sysconf("SC_AVPHYS_PAGES")
    for folder, (limit_file, usage_file, cache_keys) in _groups(proc, groups):
        limit, used = _number(folder / limit_file), _number(folder / usage_file)
        if limit is None or limit >= total:
            continue  # version 1 writes "no limit" as a number beyond any memory
        total = limit
        if used is not None:
            free = min(free, max(0, limit - used + _cache(folder, cache_keys)))
    return Memory(total=total, free=min(free, total))


def _groups(proc: Path, groups: Path) -> Iterator[tuple[Path, tuple[str, str, tuple[str, str]]]]:
    """The folders of the groups of this process, from the root down. In a container only some of them are visible."""
    for line in _text(proc / "self" / "cgroup").splitlines():
        number, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if number == "0" and not controllers:
            roots, names = [groups, groups / "unified"], _V2
        elif "memory" in controllers.split(","):
            roots, names = [groups / "memory"], _V1
        else:
            continue
        parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..")]
        for root in roots:
            for depth in range(len(parts) + 1):
                folder = root.joinpath(*parts[:depth])
                if (folder / names[0]).exists():
                    yield folder, names


def _available(proc: Path) -> int | None:
    for line in _text(proc / "meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            words = line.split()
            return int(words[1]) * 1024 if len(words) > 1 and words[1].isdecimal() else None
    return None


def _cache(folder: Path, keys: tuple[str, str]) -> int:
    counts = dict(line.split(" ", 1) for line in _text(folder / "memory.stat").splitlines() if " " in line)
    return sum(int(counts[key]) for key in keys if counts.get(key, "").strip().isdecimal())


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdecimal() else None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
