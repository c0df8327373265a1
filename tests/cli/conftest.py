from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from graphlode.cli import run


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        assert self.status == 0, self.err
        assert self.out.endswith("\n") and self.out.count("\n") == 1
        assert self.err == ""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line on stderr of a command that failed."""
        assert self.status == 2
        assert self.out == ""
        assert self.err.startswith("graphlode: error: ") and self.err.endswith("\n") and self.err.count("\n") == 1
        return self.err.removeprefix("graphlode: error: ").rstrip("\n")


@pytest.fixture
def graphlode(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a command in this process, exactly as the program does."""

    def invoke(*arguments: Any) -> Ran:
        capsys.readouterr()
        status = run([str(each) for each in arguments])
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return invoke
