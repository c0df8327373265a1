"""Kernels of a GPU: CuPy compiles them and caches the result on disk, the driver starts them.

CuPy takes 10 to 40 microseconds for a launch with ten arguments, most of them in Python. The extension `_driver` takes
a few microseconds, nearly all of them in NVIDIA's driver. A launch always uses the stream of its device, whichever
stream is current.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphlode.cuda import _driver
from graphlode.cuda.compiler import NVRTC_OPTIONS, Specialisation
from graphlode.cuda.interface import PlainPreparedLaunch, PreparedLaunch, check_launch
from graphlode.errors import InputError

if TYPE_CHECKING:
    from graphlode.cuda.device import CudaDevice
    from graphlode.cuda.sequence import LaunchSequence, Step

# Above this, a kernel must request dynamic shared memory.
PLAIN_SHARED_BYTES = 48 * 1024


class CudaModule:
    """A specialisation on a GPU."""

    def __init__(self, kernel: Specialisation, device: CudaDevice) -> None:
        self.device = device
        self._stem = kernel.stem
        module = device.xp.RawModule(code=kernel.text, options=NVRTC_OPTIONS, backend="nvrtc")
        try:
            self._kernels = {entry: _kernel(module.get_function(entry), entry, device) for entry in kernel.entries}
        except device.xp.cuda.compiler.CompileException as error:
            raise kernel.build_error(device.architecture, str(error)) from None

    def launch(self, entry: str, grid: int, block: int, args: Sequence[Any], shared_bytes: int = 0) -> None:
        check_launch(self.device, entry, grid, block, shared_bytes)
        self._kernel(entry).launch(grid, block, shared_bytes, args)

    def prepare(self, entry: str, args: Sequence[Any], changing: Sequence[int] = ()) -> PreparedLaunch:
        kernel = self._kernel(entry)
        if isinstance(kernel, _CupyKernel):
            return PlainPreparedLaunch(self, entry, args, changing)
        return CudaPreparedLaunch(self.device, entry, _driver.PreparedLaunch(kernel, tuple(args), tuple(changing)))

    def sequence(self, steps: Sequence[Step]) -> LaunchSequence | None:
        """A sequence of launches of this and of other modules of the device. None if CuPy has to start them."""
        given = []
        for step in steps:
            kernel = step.module._kernel(step.entry) if isinstance(step.module, CudaModule) else None
            if not isinstance(kernel, _driver.Kernel):
                return None
            given.append((kernel, step.args, list(step.changing.items()), step.grid, step.block, step.shared_bytes))
        return _driver.LaunchSequence(self.device.queue, given)

    def _kernel(self, entry: str) -> _driver.Kernel | _CupyKernel:
        try:
            return self._kernels[entry]
        except KeyError:
            raise InputError(f"{self._stem} has the kernels {', '.join(self._kernels)}, not {entry}") from None


class CudaPreparedLaunch:
    """A launch whose arguments are stored as words."""

    def __init__(self, device: CudaDevice, entry: str, prepared: _driver.PreparedLaunch) -> None:
        self.device = device
        self._entry = entry
        self._prepared = prepared

    def launch(self, grid: int, block: int, *changed: Any, shared_bytes: int = 0) -> None:
        check_launch(self.device, self._entry, grid, block, shared_bytes)
        self._prepared.launch(grid, block, shared_bytes, changed)


def _kernel(function: Any, entry: str, device: CudaDevice) -> _driver.Kernel | _CupyKernel:
    """The kernel, started by the driver; or by CuPy, if that does not give the driver's handle."""
    handle = getattr(function.kernel, "ptr", None)
    if handle is None:
        return _CupyKernel(function, entry, device)
    return _driver.Kernel(device.queue, handle, entry, device.xp.ndarray)


class _CupyKernel:
    def __init__(self, function: Any, entry: str, device: CudaDevice) -> None:
        self._function = function
        self._entry = entry
        self._device = device

    def launch(self, grid: int, block: int, shared_bytes: int, args: Sequence[Any]) -> None:
        function = self._function
        for position, value in enumerate(args):
            if not isinstance(value, (self._device.xp.ndarray, np.generic)):
                raise InputError(
                    f"{self._entry}, argument {position}: expected an array of the device or a numpy scalar, "
                    f"got {type(value).__name__}"
                )
        with self._device.current():
            if shared_bytes > PLAIN_SHARED_BYTES and function.max_dynamic_shared_size_bytes < shared_bytes:
                function.max_dynamic_shared_size_bytes = shared_bytes
            function((grid,), (block,), tuple(args), shared_mem=shared_bytes)
