"""Every error that graphlode raises on purpose.

A message says what was given, what is accepted and what to do. Each class also derives from the built-in exception that
a caller who does not know graphlode would catch.
"""

from __future__ import annotations


class GraphlodeError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(GraphlodeError, ValueError):
    """The caller can fix it: a bad argument, a vertex out of range, a malformed line (with file and line)."""


class UnsupportedError(GraphlodeError, NotImplementedError):
    """A combination that is not offered; the message says which ones are."""


class StateError(GraphlodeError, RuntimeError):
    """An object is used in a state that does not allow it, such as a closed store."""


class CountOverflowError(GraphlodeError, OverflowError):
    """An exact answer left the range of its integers; it is raised, never wrapped around."""


class DeviceError(GraphlodeError, RuntimeError):
    """Something about a device went wrong."""


class DeviceUnavailableError(DeviceError):
    """The device asked for is not there; the message says what was looked for and what was found."""


class DeviceMemoryError(DeviceError, MemoryError):
    """The work does not fit: bytes needed, bytes free, and the option that would need less."""


class KernelBuildError(DeviceError):
    """A device kernel did not compile: stem, defines, architecture and the compiler's log."""


class KernelFaultError(DeviceError):
    """A kernel reported a fault through its status word, or broke a rule of the programming model."""
