"""The list of commands. A new one is a function in its own file under `commands/` and an entry here."""

from __future__ import annotations

from typing import Annotated

import typer

from graphlode.cli.commands.convert import convert
from graphlode.cli.commands.cores import cores
from graphlode.cli.commands.demo import demo
from graphlode.cli.commands.devices import devices
from graphlode.cli.commands.generate import generate
from graphlode.cli.commands.info import info
from graphlode.cli.commands.triangles import triangles

COMMANDS = (info, triangles, cores, convert, generate, devices, demo)

app = typer.Typer(
    help="Mine graphs that keep changing, on the CPU cores and GPUs at hand.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in COMMANDS:
    app.command()(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        from graphlode import __version__

        typer.echo(f"graphlode {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where in the program an error came from.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit
