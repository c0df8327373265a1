"""What is new in a forked child.

A fork copies the memory of the parent but only the thread that forks. In the child, a lock that another thread held is
held forever, and work of another thread never ends. So everything that lives longer than a call and has a lock, a
thread or unfinished work registers here what makes it new in the child. Locks of native code do the same
(`native/include/graphlode/fork_mutex.hpp`).

A module that another thread was importing stays half imported in the child, and its lock stays held. So a fork waits
until no module is being loaded.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any, TypeVar
from weakref import ref

T = TypeVar("T")

_loading = RLock()  # reentrant: a module may load others


class _Owner(ref):  # type: ignore[type-arg]
    __slots__ = ("renew",)

    renew: Callable[[Any], None]


_functions: list[Callable[[], None]] = []
_owners: dict[int, _Owner] = {}


def after_fork(renew: Callable[[], None]) -> Callable[[], None]:
    """A decorator: call the function in every forked child. For what a module keeps."""
    _functions.append(renew)
    return renew


def renew_after_fork(owner: T, renew: Callable[[T], None]) -> None:
    """Call `renew(owner)` in every forked child, as long as the owner exists. `renew` must not refer to the owner."""
    entry = _Owner(owner, _forget)
    entry.renew = renew
    _owners[id(entry)] = entry


def load(name: str) -> ModuleType:
    """Import a module. No process is forked before it is complete."""
    with _loading:
        return import_module(name)


def _forget(entry: Any) -> None:
    _owners.pop(id(entry), None)


def _before() -> None:
    _loading.acquire()


def _in_parent() -> None:
    _loading.release()


def _in_child() -> None:
    global _loading
    _loading = RLock()
    for renew in _functions:
        renew()
    for entry in list(_owners.values()):
        owner = entry()
        if owner is not None:
            entry.renew(owner)


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
