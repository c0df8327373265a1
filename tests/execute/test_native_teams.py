"""Helper threads of parallel loops in the native core: they join if they can, and no caller waits for the others."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import pytest

import graphlode as gl
from graphlode.generate import erdos_renyi

pytestmark = pytest.mark.alone

ROOT = Path(__file__).parents[2]
WITHOUT_FORKS = ["many_callers", "nested", "more_callers_than_places", "exceptions", "late_helpers"]
CLAIMS = [
    *WITHOUT_FORKS,
    "refused_threads",
    "fork_while_others_work",
    "fork_inside_a_part",
    "exit_while_others_work",
]
BUSY_FACTOR = 4  # measured: 0.3 to 1.2, and 6 to 16 with OpenMP, whose threads spin

_SCRIPT = """
import os
import numpy as np
from graphlode.cpu import _native

def threads():
    return set(os.listdir("/proc/self/task"))

def call(threads):
    rows = np.zeros(threads * (2 << 14), np.int32)  # enough steps for this number of threads
    _native.packed_pair_keys(rows, rows, 1, False, threads)

known = threads()
"""


def build(folder: Path, *options: str) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    program = folder / "claims"
    native = ROOT / "native"
    sources = [Path(__file__).parent / "helpers_claims.cpp", native / "src" / "helpers.cpp"]
    command = [
        "g++",
        "-std=gnu++20",
        "-O1",
        "-g",
        "-pthread",
        *options,
        f"-I{native / 'include'}",
        *sources,
        "-o",
        program,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and options:
        pytest.skip(f"the compiler has no {options[0]}")
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def checked_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = build(tmp_path_factory.mktemp("checked"), "-fsanitize=thread")
    tried = run(program, "late_helpers")
    if "unexpected memory mapping" in tried.stderr:
        pytest.skip("the thread sanitizer does not run on this system")
    return program


def run(program: Path, claim: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, claim], capture_output=True, text=True, timeout=110, check=False)


@pytest.mark.parametrize("claim", CLAIMS)
def test_parallel_loops_keep_the_claim(program: Path, claim: str) -> None:
    done = run(program, claim)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("claim", WITHOUT_FORKS)
def test_parallel_loops_have_no_data_races(checked_program: Path, claim: str) -> None:
    done = run(checked_program, claim)
    assert done.returncode == 0, done.stderr


def test_helpers_stay_and_are_no_more_than_the_widest_call_wants(run_python: Callable[..., str]) -> None:
    run_python(
        _SCRIPT
        + """
wide = len(os.sched_getaffinity(0)) + 3
seen = []
for width in (wide, 2, wide, 3, wide):
    call(width)
    seen.append(threads() - known)
assert len(seen[0]) == wide - 1 and all(each == seen[0] for each in seen), seen
"""
    )


def test_helpers_of_a_caller_that_is_bound_for_a_while_run_on_all_cores(run_python: Callable[..., str]) -> None:
    """A benchmark binds its thread to one core; helpers that begin then would all share it for good."""
    run_python(
        _SCRIPT
        + """
cores = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(cores)})
call(4)
assert [os.sched_getaffinity(int(each)) for each in threads() - known] == [cores] * 3
"""
    )


def seconds(graph: gl.Graph, threads: int) -> float:
    with gl.configure(threads=threads):
        begin = perf_counter()
        gl.connected_components(graph, devices="cpu")
        return perf_counter() - begin


def test_on_a_busy_machine_a_team_takes_about_as_long_as_one_thread() -> None:
    """Threads that must all arrive, and spin until they do, lose the core to other programs again and again."""
    graph = erdos_renyi(20_000, p=0.001, seed=3)
    seconds(graph, 1), seconds(graph, 2)
    command = [sys.executable, "-S", "-c", "while True: pass"]
    burners: list[Any] = []
    try:
        burners += (subprocess.Popen(command) for _ in range(2 * len(os.sched_getaffinity(0))))
        pairs = [(seconds(graph, 1), seconds(graph, 2)) for _ in range(60)]
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    alone, team = (median(times) for times in zip(*pairs, strict=True))
    assert team < BUSY_FACTOR * alone
