"""Tables for people, all in one style. Imported only when something is printed, because rich takes long to load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphlode.cli.numbers import duration
from graphlode.cli.report import BOLD
from graphlode.execute.provenance import Provenance

_NAMES = "cyan"


class Screen:
    """Standard output, for people. Output is plain text, not markup, because file names may contain brackets."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)

    def facts(self, title: str, rows: Iterable[tuple[str, ...]]) -> None:
        """Two columns, name and value; a third entry of a row is a style for the value."""
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(style=_NAMES, no_wrap=True)
        table.add_column(overflow="fold")
        for name, value, *style in rows:
            table.add_row(f"  {name}", Text(value, style[0] if style else ""))
        self._titled(title, table)

    def listing(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 0) -> None:
        """Rows of values; the first `words` columns are text, the others numbers."""
        table = Table(box=box.SIMPLE_HEAD, header_style=_NAMES, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
        for i, name in enumerate(columns):
            table.add_column(name, justify="left" if i < words else "right", no_wrap=i == 0, overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        self._titled(title, table)

    def line(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)

    def _titled(self, title: str, table: Table) -> None:
        self._console.print(Text(title, BOLD), soft_wrap=True)
        self._console.print(table)
        self._console.print()


def how(provenance: Provenance) -> str:
    """One line on where and how fast a result was computed."""
    where = " + ".join(provenance.devices)
    threads = f", {provenance.threads} thread{'s' * (provenance.threads != 1)}" if "cpu" in provenance.devices else ""
    notes = "".join(f"; {note}" for note in provenance.notes)
    return f"{duration(provenance.seconds)} on {where}{threads}{notes}"
