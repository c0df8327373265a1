"""Every kernel builds for every supported architecture; NVRTC needs no GPU for that.

The oldest architecture has the fewest instructions, so what builds for it in every specialisation is built for newer
ones in one of them only: compiling takes most of the time of the whole suite. What a source needs is therefore also
compiled on all cores at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphlode.cuda.compiler import KernelSource, kernel_sources
from graphlode.cuda.nvrtc import compile_to_cubin

OLDEST, NEWER = "sm_80", ["sm_90"]


@pytest.fixture(scope="module")
def cores() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield pool


@pytest.mark.parametrize("source", kernel_sources(), ids=lambda source: source.stem)
def test_every_specialisation_builds_and_one_for_newer_architectures_too(
    source: KernelSource, cores: ThreadPoolExecutor
) -> None:
    kernels = list(source.specialisations())
    wanted = [(kernels[-1], architecture) for architecture in NEWER] + [(kernel, OLDEST) for kernel in kernels]
    for cubin in cores.map(lambda each: compile_to_cubin(*each), wanted):
        assert cubin.startswith(b"\x7fELF")
        assert [entry for entry in source.entries if b".text." + entry.encode() + b"\0" not in cubin] == []
