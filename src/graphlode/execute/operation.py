"""The declaration of an operation: the view it needs, the unit of its tasks, and how partials combine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal

from graphlode.execute.device import View
from graphlode.types import AnyArray, Int64Array

OPERATIONS: dict[str, Operation] = {}  # operations of the modules loaded so far; `operations` loads all
BACKENDS = ("reference", "cpu", "cuda")
COMPILED = ("cpu", "cuda")
"""The backends whose kernels are compiled."""
_STAGES = ("analytics", "mining")


@dataclass(frozen=True)
class Operation:
    """One operation. Every backend listed in `kernels` has a kernel module of the same name."""

    name: str
    view: View
    unit: Literal["vertex", "edge"]
    combine: Callable[[Sequence[Any]], Any]
    finish: Callable[..., Any] | None = None  # finish(value, fetch, **parameters): converts to the graph's order
    splits: bool = True  # whether several devices may share the work
    work: Callable[[Mapping[str, AnyArray]], Int64Array] | None = None  # cumulative work per unit, to cut evenly
    kernels: tuple[str, ...] = BACKENDS
    on_pages: tuple[str, ...] = ()  # backends whose kernels also read the pages of a store
    check: Callable[..., None] | None = None  # check(**parameters): InputError for a value that is not accepted

    def __post_init__(self) -> None:
        OPERATIONS.setdefault(self.name, self)  # a copy with another view is still the same operation

    def num_units(self, view: Mapping[str, Any]) -> int:
        if "num_rows" in view:  # pages of a store, which have no offsets
            return int(view["num_rows"])
        return int(view["offsets"].size - 1 if self.unit == "vertex" else view["neighbors"].size)


def operations() -> dict[str, Operation]:
    """Every operation of the package, by name."""
    for stage in _STAGES:
        package = import_module(f"graphlode.{stage}")
        for module in iter_modules(package.__path__):
            import_module(f"graphlode.{stage}.{module.name}")
    return OPERATIONS
