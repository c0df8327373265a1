"""The emulation offers what CUDA offers: what is tried on it here compiles for a GPU as well."""

from __future__ import annotations

import pytest

from graphlode.cuda.nvrtc import compile_to_cubin
from kernel_bench import KERNELS, SOURCES


@pytest.mark.parametrize("stem", SOURCES)
def test_test_kernels_build_for_a_gpu(stem: str) -> None:
    for kernel in SOURCES[stem].specialisations():
        cubin = compile_to_cubin(kernel, "sm_80")
        assert all(b".text." + entry.encode() + b"\0" in cubin for entry in kernel.entries)


def test_every_test_kernel_is_listed() -> None:
    assert {path.stem for path in KERNELS.glob("*.cu")} == set(SOURCES)
