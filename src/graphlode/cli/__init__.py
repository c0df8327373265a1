"""The command line: parse, call the API, print. It computes nothing that the Python API does not offer."""

from graphlode.cli.main import main, run

__all__ = ["main", "run"]
