"""`graphlode bench`: the door to the experiments, which are part of the repository and not of the package."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

import graphlode
from graphlode.errors import UnsupportedError

COMMANDS = "benchmarks.experiments.command"
# All words belong to the command behind the door, `--help` too.
SETTINGS: dict[str, Any] = {
    "context_settings": {"allow_extra_args": True, "ignore_unknown_options": True},
    "add_help_option": False,
}


def bench(context: typer.Context) -> None:
    """Run a published experiment: a table, a JSON file and a picture."""
    _find_repository()
    try:
        from benchmarks.experiments.command import main
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != "benchmarks":
            raise
        raise UnsupportedError(
            "benchmarks are part of the repository, not of the package: run this in the folder of a checkout"
        ) from None
    main(context.args)


def _find_repository() -> None:
    """Have `benchmarks` found below the working folder, or beside the sources of an editable installation."""
    for folder in (Path.cwd(), Path(graphlode.__file__).parents[2]):
        if find_spec("benchmarks") is None and (folder / "benchmarks" / "experiments" / "command.py").exists():
            sys.path.insert(0, str(folder))
