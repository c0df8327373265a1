"""Shared parts of all commands: shared options, loading FILE, running an operation with a bar, and the answer as JSON.

A command is a function of a `Request` and of the options that are its own. `@takes("file", "device", ..)` adds the shared
ones that it names, so that an option has one spelling, one help text and one meaning everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Literal, TypeVar

from graphlode.cli import options
from graphlode.cli.load import Loaded, load
from graphlode.cli.output import check_out, write_json, write_table
from graphlode.cli.progress import progress_bar
from graphlode.common.cached import cached_property
from graphlode.config import configure
from graphlode.execute.devices import Devices
from graphlode.graph.graph import Graph
from graphlode.types import AnyArray

Answer = TypeVar("Answer")
Shared = Literal["file", "top", "out", "device", "directed", "format", "values", "threads"]

GRAPH: tuple[Shared, ...] = ("file", "device", "directed", "format", "threads")
"""The options of commands that compute something about a graph."""

# In the order of `--help`, the annotation and the default of every shared parameter; without a default it is required.
_SHARED: dict[str, tuple[Any, Any]] = {
    "file": (options.File, Parameter.empty),
    "top": (options.Top, None),
    "out": (options.Out, None),
    "device": (options.Device, None),
    "directed": (options.Directed, None),
    "format": (options.Format, None),
    "values": (options.Values, "auto"),
    "threads": (options.Threads, None),
    "as_json": (options.AsJson, False),
}


@dataclass
class Request:
    """The shared options of one call. What a command does not take is as if it had not been given."""

    file: str = ""
    top: int | None = None
    out: Path | None = None
    device: list[str] | None = None
    directed: bool | None = None
    format: str | None = None
    values: str = "auto"
    threads: int | None = None
    as_json: bool = False

    @cached_property
    def loaded(self) -> Loaded:
        """FILE, read when first asked for: a wrong option is said before a large file is read."""
        return load(self.file, format=self.format, directed=self.directed, values=self.values, quiet=self.as_json)

    @property
    def graph(self) -> Graph:
        return self.loaded.graph

    @property
    def devices(self) -> Devices:
        """The value for `devices=`."""
        return options.devices_of(self.device)

    @property
    def most(self) -> int:
        """The number of the largest values that are shown."""
        return options.DEFAULT_TOP if self.top is None else self.top

    def run(self, label: str, operation: Callable[..., Answer], *arguments: Any, **keywords: Any) -> Answer:
        """The operation on the graph and the devices, with a bar of this name."""
        graph = self.graph
        with progress_bar(label, quiet=self.as_json) as progress:
            return operation(graph, *arguments, **keywords, devices=self.devices, progress=progress)

    def write_out(self, columns: Mapping[str, AnyArray]) -> dict[str, str]:
        """The columns to the file of `--out`, if there is one; what the JSON object says of it."""
        if self.out is None:
            return {}
        write_table(self.out, columns)
        return {"out": str(self.out)}

    def answer(self, document: Mapping[str, Any], show: Callable[[], None]) -> None:
        """One JSON object for programs, or what `show` prints for people."""
        if self.as_json:
            write_json(document)
        else:
            show()


def takes(*names: Shared) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a command of a function: its first parameter is the request, the others are its own options.

    Shared options come after its own; `--json` is always one of them. All of the command runs with `--threads`.
    """

    def make(body: Callable[..., None]) -> Callable[..., None]:
        shared = [name for name in _SHARED if name in names or name == "as_json"]
        first, *own = signature(body, eval_str=True).parameters.values()
        added = [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=_SHARED[name][0], default=_SHARED[name][1])
            for name in shared
        ]
        places = 1 if "file" in names else 0  # FILE is the first of the arguments
        parameters = [*added[:places], *(each.replace(kind=Parameter.KEYWORD_ONLY) for each in own), *added[places:]]

        @wraps(body)
        def command(**given: Any) -> None:
            request = Request(**{name: given.pop(name) for name in shared})
            check_out(request.out)
            with configure(threads=request.threads):
                body(request, **given)

        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return make
