"""Numbers that make no sense, given for every number that a public function takes.

The functions and their arguments come from the signatures, so a new argument is tested without a line here. A call may
answer, or raise a GraphlodeError that names the argument. It may not raise anything else, wrap or end the process.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.errors import GraphlodeError, InputError

NUMBER = re.compile(r"\b(int|float)\b|^Literal\[\d")
NONSENSE: list[Any] = [
    *(2**63, 2**64, 2**64 + 1, 2**70, -(2**31) - 1, -(2**63), -(2**63) - 1, -(2**70)),
    *(float("nan"), float("inf"), -float("inf"), 1e400, -1.5, 1.5, 10**400, np.longdouble("1e4000"), 1j),
    *("1", b"1", "", [1], (), {}, object(), type, np.array([1, 2]), np.array(1), np.array([]), np.str_("1")),
    *(
        True,
        False,
        np.True_,
        np.int8(-1),
        np.uint64(2**64 - 1),
        np.float64(2),
        np.float32("nan"),
        np.datetime64(1, "s"),
    ),
]
NOT_NUMBERS = ("1", b"1", "", [1], (), {}, object(), type, np.array([1, 2]), np.array([]), 1j, np.str_("1"))


def store() -> gl.DynamicGraph:
    made = gl.DynamicGraph(weighted=True, devices="cpu")
    made.insert([0, 1, 2, 0], [1, 2, 0, 3], [1.0, 2.0, 3.0, 4.0])
    return made


def edge_order() -> gl.locality.EdgeOrder:
    return gl.locality.EdgeOrder([0, 1, 2, 0], [1, 2, 0, 3])


GRAPH = gl.from_edges([0, 1, 2, 0, 4], [1, 2, 0, 3, 0], weights=[1.0, 2.0, 3.0, 4.0, 5.0])
# What a call needs besides the argument under test. Values keep a call short that takes the nonsense for what it is.
BASE: dict[str, dict[str, Any]] = {
    "barabasi_albert": {"n": 9, "m": 2},
    "erdos_renyi": {"n": 9, "m": 4},
    "planted_clique": {"n": 9, "k": 3, "p": 0.1},
    "planted_members": {"n": 9, "k": 3},
    "grid": {"rows": 2, "columns": 2},
    "bfs": {"graph": GRAPH, "source": 0},
    "shortest_paths": {"graph": GRAPH, "source": 0},
    "count_cliques": {"graph": GRAPH, "k": 3},
    "list_cliques": {"graph": GRAPH, "k": 3},
    "estimate_motifs": {"graph": GRAPH, "samples": 50},
    "motif_profile": {"graph": GRAPH, "samples": 2},
    "from_edges": {"src": [0, 1], "dst": [1, 2]},
    "DynamicGraph": {"devices": "cpu"},
    "simulate_caches": {"passes": 1},
    "CacheLevel": {"size": 1024, "ways": 4, "line": 64},
    "EdgeOrder": {"src": [0, 1, 2, 0], "dst": [1, 2, 0, 3]},
}
ONE_NUMBER = {
    "complete": "n",
    "cycle": "n",
    "path": "n",
    "star": "n",
    "rmat": "scale",
    "kronecker": "scale",
    "web": "scale",
}
# Not numbers for kernels: results, which the library makes, and clocks that call a function again and again.
LEFT_OUT = {"sample", "sample_in_turn", "PeakMemory", "CacheSimulation", "EdgeRank", "TileRank", "Samples", "Commit"}
LEFT_OUT |= {"Environment", "Work", "Timer", "Graph", "BatchResult", "EdgeList", "read", "Snapshot", "Estimate"}


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in (gl, gl.generate, gl.locality, gl.measure):
        for name in module.__all__:
            function = getattr(module, name)
            if name in LEFT_OUT or not callable(function) or hasattr(function, "to_dict") or name[0] == "_":
                continue
            if isinstance(function, type) and issubclass(function, BaseException):
                continue
            if isinstance(function, type) or inspect.isfunction(function):
                yield name, function
    for name in ("neighbors", "has_edge", "weight"):
        yield f"DynamicGraph.{name}", getattr(gl.DynamicGraph, name)
    for name in ("neighbors", "has_edge"):
        yield f"Graph.{name}", getattr(gl.Graph, name)


def base_of(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    given = dict(BASE.get(name, {}))
    stem = name.removesuffix("_edges")
    given = given or dict(BASE.get(stem, {}))
    if stem in ONE_NUMBER:
        given = {ONE_NUMBER[stem]: 3}
    values = {"graph": GRAPH, "store": store, "order": edge_order, "u": 0, "v": 1, "vertex": 0}
    for argument, parameter in inspect.signature(function).parameters.items():
        if argument == "self":
            given[argument] = store if name.startswith("DynamicGraph.") else GRAPH
        elif parameter.default is parameter.empty and argument not in given and argument in values:
            given[argument] = values[argument]
    if "_edges" in name and "m" in given and "erdos" not in name:
        given["m"] = 2
    return {argument: value() if inspect.isfunction(value) else value for argument, value in given.items()}


def cases() -> Iterator[Any]:
    seen = set()
    for name, function in functions():
        for argument, parameter in inspect.signature(function).parameters.items():
            if NUMBER.search(str(parameter.annotation)) and (name, argument) not in seen:
                seen.add((name, argument))
                yield pytest.param(name, function, argument, id=f"{name}-{argument}")


@pytest.mark.parametrize(("name", "function", "argument"), list(cases()))
def test_nonsense_is_answered_or_refused_by_name(name: str, function: Callable[..., Any], argument: str) -> None:
    wrong = []
    for value in NONSENSE:
        given = base_of(name, function) | {argument: value}
        if name.startswith("erdos_renyi") and argument == "p":
            del given["m"]
        try:
            answer = function(**given)
            if hasattr(answer, "__next__"):
                with answer:
                    list(answer)
            elif hasattr(answer, "__exit__"):
                answer.__exit__(None, None, None)
        except GraphlodeError as error:
            names = "|".join((argument, "edge", "vertex", "vertices", "position", "columns", "cache", *given))
            if not re.search(rf"\b({names})\b", str(error)):
                wrong.append(f"{value!r}: does not name it: {error}")
        except BaseException as error:
            wrong.append(f"{value!r}: {type(error).__name__}: {error}")
        else:
            takes_many = argument in ("columns", "personalization")
            if not takes_many and any(value is each for each in NOT_NUMBERS):
                wrong.append(f"{value!r} is taken: {answer!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("function", [gl.star, gl.path, gl.cycle, gl.complete])
def test_small_integers_of_numpy_do_not_wrap(function: Callable[[Any], gl.Graph]) -> None:
    assert function(np.int8(127)) == function(127)
    assert gl.grid(np.int8(100), np.int8(100)) == gl.grid(100, 100)  # type: ignore[arg-type]


@pytest.mark.parametrize("vertex", [1.5, "1", None, 2**63])
def test_a_restart_at_what_is_no_vertex_is_refused(vertex: Any) -> None:
    with pytest.raises(InputError, match="personalization|not in the graph"):
        gl.pagerank(GRAPH, personalization={vertex: 1.0})


@pytest.mark.parametrize("argument", ["damping", "tol", "max_iter"])
@pytest.mark.parametrize("value", [float("nan"), "1", None, 2**70, -1])
def test_pagerank_on_tiles_refuses_nonsense_by_name(argument: str, value: Any) -> None:
    tiles = gl.locality.TiledEdges(store())
    if argument == "tol" and value == 2**70:
        assert tiles.pagerank(tol=value).converged
        return
    with pytest.raises(InputError, match=argument):
        tiles.pagerank(**{argument: value})
