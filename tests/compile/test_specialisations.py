"""Every specialisation of every kernel builds for every supported architecture; NVRTC needs no GPU for that."""

from __future__ import annotations

import pytest

from graphlode.cuda.compiler import KernelSource, kernel_sources
from graphlode.cuda.nvrtc import compile_to_cubin


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("source", kernel_sources(), ids=lambda source: source.stem)
def test_every_specialisation_builds(source: KernelSource, architecture: str) -> None:
    for kernel in source.specialisations():
        cubin = compile_to_cubin(kernel, architecture)
        assert cubin.startswith(b"\x7fELF"), kernel
        missing = [entry for entry in source.entries if b".text." + entry.encode() + b"\0" not in cubin]
        assert missing == [], kernel
