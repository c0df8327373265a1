"""The memory that reading a file may take.

A small file may claim to be large, or unpack to something large. Readers ask before they allocate, so that such a file
is refused and does not take the memory of the machine.
"""

from __future__ import annotations

from graphlode.errors import DeviceMemoryError, InputError
from graphlode.execute.devices import cpu
from graphlode.execute.run import memory_free

_ROW_BYTES = 21  # per vertex while a graph is built, measured with weights
_ALWAYS_PLAUSIBLE = 1 << 24  # vertices: 128 MiB of offsets
_PER_EDGE, _PER_BYTE = 64, 8


class Budget:
    """Counts what is taken against `memory_limit`, or against what is free if that is less."""

    def __init__(self) -> None:
        self.left = memory_free(cpu())

    def require(self, needed: int, what: str) -> None:
        if needed > self.left:
            raise DeviceMemoryError(
                f"{what} needs {needed:,} bytes, {max(0, self.left):,} are free; free memory or raise memory_limit"
            )

    def take(self, needed: int, what: str) -> None:
        self.require(needed, what)
        self.left -= needed

    def require_rows(self, vertices: int) -> None:
        """The rows of a graph with this number of vertices."""
        self.require(_ROW_BYTES * vertices, f"a graph of {vertices:,} vertices")


def check_announced(vertices: int, edges: int, file_bytes: int) -> None:
    """Raise InputError if a header announces more vertices than are plausible for the rest of the file."""
    if vertices > max(_ALWAYS_PLAUSIBLE, _PER_EDGE * edges, _PER_BYTE * file_bytes):
        raise InputError(
            f"{vertices:,} vertices are announced, which is implausible for {edges:,} edges; "
            f"give num_vertices={vertices} if it is right"
        )
