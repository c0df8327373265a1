"""What a process may take is what its container leaves, not what the machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphlode.cpu.host_memory import host_memory

GIB = 1 << 30
MIB = 1 << 20


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    folder = tmp_path / "proc"
    (folder / "self").mkdir(parents=True)
    (folder / "meminfo").write_text("MemTotal: 4194304 kB\nMemAvailable: 1048576 kB\n")
    return folder


def group(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"memory.{name}").write_text(f"{content}\n")


def test_without_groups_the_machine_counts(proc: Path, tmp_path: Path) -> None:
    memory = host_memory(proc, tmp_path / "none")
    assert memory.free == GIB
    assert memory.total > memory.free


def test_a_limit_of_version_2_counts(proc: Path, tmp_path: Path) -> None:
    (proc / "self" / "cgroup").write_text("0::/job/step\n")
    group(tmp_path / "cg" / "job" / "step", max=100 * MIB, current=40 * MIB, stat="anon 1\ninactive_file 0")
    assert host_memory(proc, tmp_path / "cg") == type(host_memory())(total=100 * MIB, free=60 * MIB)


def test_the_page_cache_of_a_group_counts_as_free(proc: Path, tmp_path: Path) -> None:
    (proc / "self" / "cgroup").write_text("0::/job\n")
    stat = f"active_file {5 * MIB}\ninactive_file {20 * MIB}\nfile {90 * MIB}"
    group(tmp_path / "cg" / "job", max=100 * MIB, current=40 * MIB, stat=stat)
    assert host_memory(proc, tmp_path / "cg").free == 85 * MIB


def test_the_limit_of_a_group_above_counts_too(proc: Path, tmp_path: Path) -> None:
    (proc / "self" / "cgroup").write_text("0::/job/step\n")
    group(tmp_path / "cg" / "job", max=80 * MIB, current=70 * MIB)
    group(tmp_path / "cg" / "job" / "step", max="max", current=MIB)
    memory = host_memory(proc, tmp_path / "cg")
    assert (memory.total, memory.free) == (80 * MIB, 10 * MIB)


def test_the_largest_limit_hides_no_fuller_group(proc: Path, tmp_path: Path) -> None:
    (proc / "self" / "cgroup").write_text("0::/job/step\n")
    group(tmp_path / "cg" / "job", max=80 * MIB, current=79 * MIB)
    group(tmp_path / "cg" / "job" / "step", max=90 * MIB, current=MIB)
    memory = host_memory(proc, tmp_path / "cg")
    assert (memory.total, memory.free) == (80 * MIB, MIB)


@pytest.mark.parametrize("unlimited", ["max", "9223372036854771712", "", "unknown"])
def test_a_group_without_a_limit_changes_nothing(proc: Path, tmp_path: Path, unlimited: str) -> None:
    (proc / "self" / "cgroup").write_text("0::/job\n4:memory:/job\n")
    group(tmp_path / "cg" / "job", max=unlimited, current=5)
    group(tmp_path / "cg" / "memory" / "job", limit_in_bytes=unlimited, usage_in_bytes=5)
    assert host_memory(proc, tmp_path / "cg") == host_memory(proc, tmp_path / "none")


def test_a_limit_of_version_1_counts(proc: Path, tmp_path: Path) -> None:
    (proc / "self" / "cgroup").write_text("9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n")
    stat = f"total_inactive_file {MIB}\ntotal_active_file {MIB}"
    group(tmp_path / "cg" / "memory" / "a", limit_in_bytes=50 * MIB, usage_in_bytes=30 * MIB, stat=stat)
    memory = host_memory(proc, tmp_path / "cg")
    assert (memory.total, memory.free) == (50 * MIB, 22 * MIB)


def test_inside_a_container_the_root_is_the_group(proc: Path, tmp_path: Path) -> None:
    """The path is that of the host, where the container's folder has another place."""
    (proc / "self" / "cgroup").write_text("4:memory:/docker/0123\n")
    group(tmp_path / "cg" / "memory", limit_in_bytes=50 * MIB, usage_in_bytes=60 * MIB)
    memory = host_memory(proc, tmp_path / "cg")
    assert (memory.total, memory.free) == (50 * MIB, 0)
