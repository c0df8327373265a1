"""Shows progress on stderr, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from graphlode.common.wait import Progress


def _is_interactive(quiet: bool) -> bool:
    return not quiet and sys.stderr.isatty()


@contextmanager
def progress_bar(label: str, *, quiet: bool) -> Iterator[Progress | None]:
    """A callback for `progress=` that draws a bar; None if stderr is not watched. The bar is removed at the end."""
    if not _is_interactive(quiet):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(label, total=None)

        def report(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total or None)

        yield report


@contextmanager
def spinner(label: str, *, quiet: bool) -> Iterator[None]:
    """Shows activity for work that cannot report progress."""
    if not _is_interactive(quiet):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(label):
        yield
