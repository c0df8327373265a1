"""The list of commands. A command is a function in the file of the same name under `commands/`, listed here.

Only the file of the requested command is imported, so that commands start quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from shutil import get_terminal_size
from typing import Annotated, Literal

import typer

_TABLES_FIT = 80  # columns
COMMANDS = (
    "info",
    "triangles",
    "cliques",
    "motifs",
    "cores",
    "bfs",
    "paths",
    "pagerank",
    "components",
    "stream",
    "convert",
    "generate",
    "devices",
    "demo",
    "bench",
)


def build_app(arguments: Sequence[str] = ()) -> typer.Typer:
    """The program with the command that the arguments name, or with all commands if they name none."""
    app = typer.Typer(
        help="Mine graphs that keep changing, on the CPU cores and GPUs at hand.",
        pretty_exceptions_enable=False,
        rich_markup_mode=help_style(),
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    first = next((each for each in arguments if not each.startswith("-")), None)
    for name in COMMANDS if first not in COMMANDS else (first,):
        module = import_module(f"graphlode.cli.commands.{name}")
        app.command(name, **getattr(module, "SETTINGS", {}))(getattr(module, name))
    app.callback(invoke_without_command=True)(_start)
    return app


def help_style() -> Literal["rich"] | None:
    """Tables where they fit: in a narrow terminal they would cut off the names of options."""
    return "rich" if get_terminal_size().columns >= _TABLES_FIT else None


def _show_version(wanted: bool) -> None:
    if wanted:
        from graphlode import __version__

        typer.echo(f"graphlode {__version__}")
        raise typer.Exit


def _start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show the traceback of an error.")] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit
