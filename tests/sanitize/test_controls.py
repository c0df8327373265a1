"""The sanitizers find errors that are planted, so that their silence about other tests means something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KIND = os.environ.get("GRAPHLODE_SANITIZED", "")

# Rows that name vertices far outside. Public functions refuse such rows; the kernel trusts them.
OVERFLOW = """
import numpy as np
from graphlode.common.control import Control
from graphlode.cpu import _native
offsets = np.array([0, 1, 2], np.int64)
neighbors = np.array([1_000_000, 2_000_000], np.int32)
_native.analytics_cores(offsets, neighbors, 1, Control().words)
"""

# Two threads commit to one store at a time. The locks of `DynamicGraph` rule that out.
RACE = """
import threading
import numpy as np
from graphlode.common.control import Control
from graphlode.cpu import _native
rows = _native.PackedRows(1000, False)
start = threading.Barrier(2)
def write(seed):
    rng = np.random.default_rng(seed)
    start.wait()
    for _ in range(5):
        tails, heads = rng.integers(0, 1000, (2, 3000)).astype(np.uint64)
        try:
            _native.packed_prepare(rows, tails << np.uint64(32) | heads, None, None, "in place", 1, Control().words).commit()
        except Exception:
            pass
threads = [threading.Thread(target=write, args=(seed,)) for seed in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

# A kernel of the emulation that writes behind its array.
KERNEL = """
import sys
from pathlib import Path
import numpy as np
from graphlode.cuda.compiler import KernelSource
from graphlode.execute.devices import resolve
folder = Path(sys.argv[1])
(folder / "planted.cu").write_text('extern "C" __global__ void planted(int* out) { out[4] = 1; }')
device = resolve("cuda-emulated")[0]
device.load(KernelSource("planted", ("planted",), root=folder)).launch("planted", 1, 1, [np.zeros(4, np.int32)])
"""


def report(script: str, *arguments: str) -> str:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0, done.stderr
    return done.stderr


@pytest.mark.skipif(KIND != "address", reason="for a build with the address sanitizer: make sanitize")
def test_the_address_sanitizer_finds_a_read_outside_an_array() -> None:
    assert "AddressSanitizer" in report(OVERFLOW)


@pytest.mark.skipif(KIND != "address", reason="for a build with the address sanitizer: make sanitize")
def test_the_address_sanitizer_finds_a_write_of_an_emulated_kernel_behind_its_array(tmp_path: Path) -> None:
    assert "AddressSanitizer" in report(KERNEL, str(tmp_path))


@pytest.mark.skipif(KIND != "thread", reason="for a build with the thread sanitizer: make sanitize")
def test_the_thread_sanitizer_finds_two_writers_of_one_store() -> None:
    assert "ThreadSanitizer: data race" in report(RACE)
