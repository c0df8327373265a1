"""The settings of an experiment, and the tables that it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """The settings of an experiment. `limit` is the time in seconds that one cell may take."""

    device: str
    sizes: Sequence[int]
    limit: float = 60.0
    repeats: int = 5
    say: Callable[[str], None] = lambda text: None
    commit: str | None = None


@dataclass(frozen=True)
class Table:
    """A table as text. The first `words` columns are text, the others numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
