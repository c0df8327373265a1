"""NVRTC, NVIDIA's run-time compiler, loaded from its wheel: compiles for any architecture without a GPU or a driver.

On a GPU, CuPy compiles kernels and caches them on disk. This module is for the compile test, which builds every
specialization on machines without GPU and CuPy.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from graphlode.cuda.compiler import NVRTC_OPTIONS, Specialisation
from graphlode.errors import DeviceUnavailableError, KernelBuildError


def compile_to_cubin(kernel: Specialisation, architecture: str) -> bytes:
    """The machine code of a specialization for an architecture such as "sm_90"."""
    try:
        return compile_text(kernel.text, f"{kernel.stem}.cu", (f"-arch={architecture}", *NVRTC_OPTIONS))
    except KernelBuildError as error:
        raise kernel.build_error(architecture, str(error)) from None


def compile_text(text: str, name: str, options: Sequence[str]) -> bytes:
    """The machine code of a source text; raises KernelBuildError with the compiler's log."""
    nvrtc = _library()
    program = ctypes.c_void_p()
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None))
    try:
        encoded = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if nvrtc.nvrtcCompileProgram(program, len(options), encoded) != 0:
            raise KernelBuildError(_read(nvrtc, program, "ProgramLog").rstrip(b"\0").decode(errors="replace"))
        return _read(nvrtc, program, "CUBIN")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _read(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw


def _check(code: int) -> None:
    if code != 0:
        raise KernelBuildError(f"NVRTC failed: {_library().nvrtcGetErrorString(code).decode()}")


@cache
def _library() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"{path}: {error}")
            continue
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        return library
    raise DeviceUnavailableError(
        "NVRTC was looked for in the wheel nvidia-cuda-nvrtc and among the system's libraries; found: "
        + ("; ".join(tried) or "nothing")
    )


def _candidates() -> Iterator[str]:
    spec = find_spec("nvidia")
    for folder in () if spec is None else spec.submodule_search_locations or ():
        found = (path for path in Path(folder).glob("**/libnvrtc.so*") if "alt" not in path.name)
        yield from (str(path) for path in sorted(found, reverse=True))
    system = ctypes.util.find_library("nvrtc")
    if system is not None:
        yield system
