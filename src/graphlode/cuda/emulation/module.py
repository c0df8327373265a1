"""A compiled kernel source in the emulation: checks the arguments of a launch and calls the kernel.

The shared object describes the parameters of its kernels. So a wrong number of arguments, a scalar of the wrong width
or an array of the wrong item size is an error here. A GPU would give a wrong answer.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from graphlode.common.fork import after_fork
from graphlode.config import settings
from graphlode.cuda.compiler import Specialisation
from graphlode.cuda.interface import KernelDevice, PlainPreparedLaunch, PreparedLaunch, check_launch
from graphlode.errors import DeviceMemoryError, InputError, KernelFaultError

# Each thread may need two memory mappings per CUDA thread of a block. Linux allows a process about 65,000.
_MOST_THREADS = 8

# The number of recently launched kernels that keep their stacks, with about a thousand mappings each.
_MOST_KEPT = 16
_kept: OrderedDict[str, Callable[[], Any]] = OrderedDict()
_keeping = Lock()


@after_fork
def _renew() -> None:
    global _keeping
    _keeping = Lock()


class _Request(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_ulonglong),
        ("threads", ctypes.c_uint),
    ]


class _Parameter(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char), ("size", ctypes.c_uint), ("pointee", ctypes.c_uint)]


class _Report(ctypes.Structure):
    _fields_ = [
        ("happened", ctypes.c_int),
        ("block", ctypes.c_uint * 3),
        ("thread", ctypes.c_uint * 3),
        ("text", ctypes.c_char * 500),
    ]


class EmulatedModule:
    def __init__(self, kernel: Specialisation, path: Path, device: KernelDevice) -> None:
        self._kernel = kernel
        self._device = device
        library = ctypes.CDLL(str(path))
        self._path = str(path)
        self._release = library.simt_release_stacks
        self._launchers = {entry: getattr(library, f"simt_launch_{entry}") for entry in kernel.entries}
        self._parameters = {entry: _parameters(library, entry) for entry in kernel.entries}

    def launch(self, entry: str, grid: int, block: int, args: Sequence[Any], shared_bytes: int = 0) -> None:
        self._launch(entry, (grid, 1, 1), (block, 1, 1), args, shared_bytes)

    def prepare(self, entry: str, args: Sequence[Any], changing: Sequence[int] = ()) -> PreparedLaunch:
        return PlainPreparedLaunch(self, entry, args, changing)

    def launch_3d(
        self,
        entry: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        args: Sequence[Any],
        shared_bytes: int = 0,
    ) -> None:
        """A launch with two- or three-dimensional blocks, for tests; drivers use only one dimension."""
        self._launch(entry, grid, block, args, shared_bytes)

    def _launch(
        self,
        entry: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        args: Sequence[Any],
        shared_bytes: int,
    ) -> None:
        check_launch(self._device, entry, int(np.prod(grid)), int(np.prod(block)), shared_bytes)
        keep = self._arguments(entry, args)
        pointers = (ctypes.c_void_p * len(keep))(*(ctypes.addressof(value) for value in keep))
        threads = min(settings().threads, _MOST_THREADS, int(np.prod(grid)))
        request = _Request((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block), shared_bytes, threads)
        report = _Report()
        code = self._launchers[entry](ctypes.byref(request), pointers, ctypes.byref(report))
        _keep_stacks(self._path, self._release)
        if code < 0:
            raise DeviceMemoryError(f"{self._kernel}: no memory for the stacks of {np.prod(block)} threads per block")
        if code:
            raise KernelFaultError(
                f"{self._kernel}: {entry}, block {tuple(report.block)}, thread {tuple(report.thread)}: "
                f"{report.text.decode(errors='replace')}"
            )

    def _arguments(self, entry: str, args: Sequence[Any]) -> list[Any]:
        if entry not in self._parameters:
            raise InputError(f"{self._kernel.stem} has the kernels {', '.join(self._parameters)}, not {entry}")
        parameters = self._parameters[entry]
        if len(args) != len(parameters):
            raise InputError(f"{entry} takes {len(parameters)} arguments, got {len(args)}")
        return [
            _argument(f"{entry}, argument {position}", parameter, value)
            for position, (parameter, value) in enumerate(zip(parameters, args, strict=True))
        ]


def _keep_stacks(path: str, release: Callable[[], Any]) -> None:
    """Keep the stacks of this kernel and release those of the least recently launched ones beyond _MOST_KEPT."""
    with _keeping:
        _kept[path] = release
        _kept.move_to_end(path)
        left = [_kept.popitem(last=False)[1] for _ in range(len(_kept) - _MOST_KEPT)]
    for release_old in left:
        release_old()


def _parameters(library: ctypes.CDLL, entry: str) -> list[_Parameter]:
    describe = getattr(library, f"simt_parameters_{entry}")
    found = (_Parameter * describe(None, 0))()
    describe(found, len(found))
    return list(found)


def _argument(where: str, parameter: _Parameter, value: Any) -> Any:
    """A ctypes object with the bytes of the argument."""
    if parameter.kind == b"p":
        if not isinstance(value, np.ndarray) or not value.flags.c_contiguous:
            raise InputError(f"{where} is a pointer: expected a contiguous array, got {type(value).__name__}")
        if parameter.pointee and value.dtype.itemsize != parameter.pointee:
            raise InputError(f"{where} points to items of {parameter.pointee} bytes, got an array of {value.dtype}")
        return ctypes.c_void_p(value.ctypes.data)
    if not isinstance(value, np.generic):
        raise InputError(f"{where} is a scalar: expected a numpy scalar, got {type(value).__name__}")
    if value.dtype.itemsize != parameter.size or value.dtype.kind not in {b"f": "f", b"i": "iu", b"u": "iub"}.get(
        parameter.kind, "V"
    ):
        raise InputError(f"{where} has {parameter.size} bytes of kind {parameter.kind.decode()}, got {value.dtype}")
    return ctypes.create_string_buffer(value.tobytes(), value.dtype.itemsize)
