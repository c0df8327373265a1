"""The command line: parse, call the API, print. Nothing is computed here that Python code could not ask for."""

from graphlode.cli.main import main, run

__all__ = ["main", "run"]
