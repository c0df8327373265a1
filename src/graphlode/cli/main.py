"""Runs a command and returns its exit status: 0 success, 2 an error that the caller can fix, 130 interrupted.

Such an error is one line on stderr. Any other exception is a fault of graphlode and shows its traceback.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from graphlode.errors import GraphlodeError

_USER_ERROR = 2
_INTERRUPTED = 130


def main() -> None:
    """The `graphlode` program."""
    # If the reader goes away (`graphlode ... | head`), this program ends silently, as other programs do.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    status = run(sys.argv[1:])
    sys.stdout.flush()
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command in this process and return its exit status. With `--traceback` errors are not caught."""
    import typer

    from graphlode.cli.app import build_app

    command = typer.main.get_command(build_app(arguments))
    try:
        status = command.main(list(arguments), prog_name="graphlode", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = _INTERRUPTED
    except Exception as error:
        message = _message(error)
        if message is None or "--traceback" in arguments:
            raise
        return _fail(message)
    if status == _INTERRUPTED:
        sys.stderr.write("graphlode: interrupted\n")
    return int(status or 0)


def _message(error: Exception) -> str | None:
    """The message for the caller, or None if the caller cannot fix the error."""
    if hasattr(error, "format_message"):  # wrong use of the command line; works with every version of click
        return str(error.format_message())
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"{error.filename}: no such file or directory"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}"
    if isinstance(error, MemoryError) and not isinstance(error, GraphlodeError):
        return f"out of memory: {error}" if str(error) else "out of memory"
    if isinstance(error, GraphlodeError | OSError):
        return str(error) or type(error).__name__
    return None


def _fail(message: str) -> int:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    more = " (--traceback shows the rest)" if len(lines) > 1 else ""
    sys.stderr.write(f"graphlode: error: {lines[0] if lines else 'unknown'}{more}\n")
    return _USER_ERROR
