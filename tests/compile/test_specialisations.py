"""Every kernel builds for every supported architecture; NVRTC needs no GPU for that.

The oldest architecture has the fewest instructions, so what builds for it in every specialisation is built for newer
ones in one of them only: compiling takes most of the time of the whole suite.
"""

from __future__ import annotations

import pytest

from graphlode.cuda.compiler import KernelSource, kernel_sources
from graphlode.cuda.nvrtc import compile_to_cubin

OLDEST, NEWER = "sm_80", ["sm_90"]


@pytest.mark.parametrize("source", kernel_sources(), ids=lambda source: source.stem)
def test_every_specialisation_builds(source: KernelSource) -> None:
    for kernel in source.specialisations():
        _check(source, compile_to_cubin(kernel, OLDEST))


@pytest.mark.parametrize("architecture", NEWER)
@pytest.mark.parametrize("source", kernel_sources(), ids=lambda source: source.stem)
def test_newer_architectures_build_it_too(source: KernelSource, architecture: str) -> None:
    *_, last = source.specialisations()
    _check(source, compile_to_cubin(last, architecture))


def _check(source: KernelSource, cubin: bytes) -> None:
    assert cubin.startswith(b"\x7fELF")
    assert [entry for entry in source.entries if b".text." + entry.encode() + b"\0" not in cubin] == []
