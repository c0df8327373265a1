"""What commands share: the same options with the same help, in any terminal, and what happens before a file is read."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from graphlode.cli import request as shared
from graphlode.cli.app import COMMANDS, build_app
from graphlode.cli.request import GRAPH, Request, takes
from graphlode.config import settings


def options_of(name: str) -> dict[str, Any]:
    """The parameters of a command by what they are called on the command line."""
    group: Any = typer.main.get_command(build_app())
    return {word: each for each in group.commands[name].params for word in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "bench"])
def test_every_command_has_the_shared_options_that_it_takes(name: str) -> None:
    found, info = options_of(name), options_of("info")
    assert "--json" in found
    for word in ("--threads", "--json", "--values"):
        if word in found:
            assert (found[word].help, found[word].default) == (info[word].help, info[word].default)


def test_a_command_is_a_function_of_its_request_and_its_own_options() -> None:
    seen: list[Any] = []

    @takes(*GRAPH, "top")
    def made(request: Request, size: int = 3) -> None:
        """Say something."""
        seen.extend([request, size, settings().threads])

    made(file="karate", device=["cpu,cpu"], directed=None, format=None, threads=1, top=None, as_json=True, size=4)
    request, size, threads = seen
    assert (size, threads, request.devices, request.most) == (4, 1, ["cpu", "cpu"], 10)
    assert request.graph.num_vertices == 34 and made.__doc__ == "Say something."


def test_a_wrong_output_is_reported_before_the_file_is_read(graphlode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: Any, **__: Any) -> None:
        raise AssertionError("the file was read")

    monkeypatch.setattr(shared, "load", load)
    assert "the suffix must be one of" in graphlode("cores", "karate", "--out", "cores.pdf").error
    with pytest.raises(AssertionError, match="the file was read"):
        graphlode("cores", "karate")


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_every_option_in_full_in_any_terminal(
    graphlode: Any, monkeypatch: pytest.MonkeyPatch, name: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = graphlode(name, "--help")
    assert shown.status == 0 and "…" not in shown.out
    assert all(len(line) <= columns for line in shown.out.splitlines())
    if name != "bench":
        assert [word for word in options_of(name) if word.startswith("--") and word not in shown.out] == []
