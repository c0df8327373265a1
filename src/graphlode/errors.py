"""Every error that graphlode raises on purpose.

A message says what was given, what is accepted and what to do. Each class also derives from the built-in exception of
the same kind, so callers can catch either.
"""

from __future__ import annotations


class GraphlodeError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(GraphlodeError, ValueError):
    """The input is wrong and the caller can fix it: a bad argument, an unknown vertex, a malformed line."""


class UnsupportedError(GraphlodeError, NotImplementedError):
    """A combination that is not offered; the message lists those that are."""


class StateError(GraphlodeError, RuntimeError):
    """An object is in a state that does not allow the call, such as a closed store."""


class CountOverflowError(GraphlodeError, OverflowError):
    """An exact answer does not fit its integer type. Counts never wrap around."""


class DeviceError(GraphlodeError, RuntimeError):
    """Base of the errors of a device."""


class DeviceUnavailableError(DeviceError):
    """The requested device does not exist; the message says what was looked for and what was found."""


class DeviceMemoryError(DeviceError, MemoryError):
    """Not enough memory; the message gives bytes needed, bytes free, and an option that needs less."""


class KernelBuildError(DeviceError):
    """A device kernel did not compile; the message gives stem, defines, architecture and the compiler's log."""


class KernelFaultError(DeviceError):
    """A kernel reported a fault through its status word, or broke a rule of the programming model."""
