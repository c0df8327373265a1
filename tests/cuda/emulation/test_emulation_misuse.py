"""Misuse that hangs a GPU, or makes it answer anything, is reported: block, thread, what it did and where."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from graphlode.errors import KernelFaultError
from kernel_bench import KERNELS, Bench

# Kernel, the thread that misbehaves, the thread that the message names, what it says. Threads run in order, so a
# misbehaving first thread is found by those that come after it, and the last one by itself.
MISUSES = [
    ("leaves_before_the_vote", 31, 31, r"the thread left the kernel while thread \(0, 0, 0\) waits .* __ballot_sync"),
    ("leaves_before_the_vote", 0, 1, r"__ballot_sync\(0xffffffff\) at .*: the mask names lane 0, which has left"),
    ("does_not_name_itself", 7, 7, r"__syncwarp\(0xffffff7f\) at .*: the mask does not name the calling lane"),
    ("meets_in_another_collective", 5, 5, r"__all_sync\(0xffffffff\) at .*: other lanes .* wait in __any_sync at "),
    ("meets_on_another_line", 5, 5, r"__ballot_sync\(0xffffffff\) at .*: other lanes .* wait in __ballot_sync at "),
    ("masks_differ", 9, 9, r"lane 0 waits for this lane in __shfl_sync\(0xffffffff\) at .*: the masks differ"),
    ("never_arrives", 3, 0, r"deadlock: waits in __reduce_max_sync at .*, while thread \(3, 0, 0\) waits in __sync"),
    ("leaves_before_the_barrier", 95, 95, r"left the kernel while thread \(0, 0, 0\) waits for it in __syncthreads"),
    ("leaves_before_the_barrier", 0, 1, r"__syncthreads at .*: 1 of the block's 96 threads have left the kernel"),
    ("barrier_in_a_branch", 40, 40, r"__syncthreads at .*: other threads of the block wait in __syncthreads at "),
    ("another_barrier", 40, 40, r"__syncthreads_or at .*: other threads .* wait in __syncthreads_and at "),
]


@pytest.mark.parametrize(("kernel", "culprit", "named", "says"), MISUSES, ids=lambda value: str(value)[:28])
def test_misuse_is_reported_with_block_and_thread(
    emulated: Bench, kernel: str, culprit: int, named: int, says: str
) -> None:
    emulated.load("faults")
    begun = perf_counter()
    with pytest.raises(KernelFaultError) as caught:
        emulated.launch("faults", f"fault_{kernel}", 6, 96, np.int32(4), np.int32(culprit))
    assert perf_counter() - begun < 1
    message = str(caught.value)
    assert f"fault_{kernel}, block (4, 0, 0), thread ({named}, 0, 0): " in message
    assert re.search(says, message), message


def test_a_fault_names_the_line_of_the_kernel_source(emulated: Bench) -> None:
    lines = (KERNELS / "faults.cu").read_text("utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, start=1) if "__all_sync" in text)
    says = rf"__all_sync\(0xffffffff\) at faults\.cu:{line}: .* at faults\.cu:{line + 2}"
    with pytest.raises(KernelFaultError, match=says):
        emulated.launch("faults", "fault_meets_in_another_collective", 1, 32, np.int32(0), np.int32(31))


def test_the_module_works_after_every_fault(emulated: Bench) -> None:
    for kernel, culprit, _, _ in MISUSES:
        for grid in (1, 5):
            with pytest.raises(KernelFaultError):
                emulated.launch("faults", f"fault_{kernel}", grid, 96, np.int32(grid - 1), np.int32(culprit))
            out = np.zeros(66, np.int32)
            emulated.launch("faults", "fault_none", 2, 33, out)
            assert out.tolist() == ([32] * 32 + [1]) * 2


def in_a_process(body: str) -> subprocess.CompletedProcess[str]:
    """Runs a script that has a bench in a process of its own."""
    script = f"""
import resource, sys
from pathlib import Path
sys.path.insert(0, {str(KERNELS.parent)!r})
import numpy as np
import graphlode as gl
from graphlode.execute.devices import resolve
from kernel_bench import Bench
bench = Bench(resolve("cuda-emulated")[0])
bench.load("faults")
{body}
"""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)


def test_a_stack_overflow_stops_the_process_instead_of_spoiling_memory() -> None:
    """The guard page: a segmentation fault."""
    done = in_a_process("""
out = np.zeros(2, np.int32)
bench.launch("faults", "fault_stack", 1, 1, np.int32(20), out)
assert out.tolist() == [20, 210]
sys.stdout.write("shallow is fine")
sys.stdout.flush()
bench.launch("faults", "fault_stack", 1, 1, np.int32(1000), out)
""")
    assert done.stdout == "shallow is fine", done.stderr
    assert done.returncode == -signal.SIGSEGV


def test_no_memory_for_the_stacks_is_a_memory_error() -> None:
    """1024 stacks take 70 MB."""
    done = in_a_process("""
pages = int(Path("/proc/self/statm").read_text().split()[0])
out = np.zeros(100 * 1024, np.int32)
with gl.configure(threads=1):
    bench.launch("faults", "fault_none", 2, 32, out[:64])
    most = pages * resource.getpagesize() + (40 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    try:
        bench.launch("faults", "fault_none", 100, 1024, out)
    except gl.errors.DeviceMemoryError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    bench.launch("faults", "fault_none", 100, 1024, out)
assert (out == 32).all()
""")
    assert done.returncode == 0, done.stderr
    assert "no memory for the stacks of 1024 threads per block" in done.stdout


def test_an_os_thread_without_stacks_does_not_lose_its_block() -> None:
    """Room for the stacks of one OS thread: two mappings each, 2048 for a block of 1024. The others find none."""
    most = int(Path("/proc/sys/vm/max_map_count").read_text())
    if most > 300_000:
        pytest.skip("this process may have more memory mappings than a test should make")
    done = in_a_process(f"""
import mmap
out = np.zeros(200 * 1024, np.int32)
with gl.configure(threads=4):
    bench.launch("faults", "fault_none", 8, 32, out[:256])
    held = len(Path("/proc/self/maps").read_text().splitlines())
    # Neighbors of different protection stay mappings of their own.
    kinds = (mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE)
    maps = [mmap.mmap(-1, 4096, prot=kinds[i % 2]) for i in range({most} - held - 3000)]
    for _ in range(5):
        out[:] = 0
        try:
            bench.launch("faults", "fault_none", 200, 1024, out)
            assert (out == 32).all()
        except gl.errors.DeviceMemoryError as error:
            assert "no memory for the stacks" in str(error)
    del maps
    bench.launch("faults", "fault_none", 200, 1024, out)
assert (out == 32).all()
print("whole")
""")
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
