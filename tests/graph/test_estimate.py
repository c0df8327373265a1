"""estimate: the bytes that a run would need, without running it."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest

import graphlode as gl
from graphlode.cpu import _native
from graphlode.errors import DeviceMemoryError, InputError
from graphlode.generate import complete, kronecker
from graphlode.graph.estimate import estimate


@pytest.mark.parametrize("operation", ["triangles", "count_triangles", "analytics.triangles", gl.count_triangles])
def test_an_operation_is_named_or_given(operation: Any) -> None:
    found = estimate(operation, complete(50), devices="cpu", by="edge")
    assert found.operation == "analytics.triangles"
    assert found.needed == estimate(gl.count_triangles, complete(50), devices="cpu", by="edge").needed


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (gl.count_triangles, {}),
        (gl.count_triangles, {"by": "vertex"}),
        (gl.count_triangles, {"by": "edge"}),
        (gl.core_numbers, {}),
    ],
)
def test_the_estimate_is_what_a_run_checks(function: Any, parameters: dict[str, Any]) -> None:
    graph = complete(60)
    needed = estimate(function, graph, devices="cpu", **parameters).needed
    assert needed > 0
    with gl.configure(memory_limit=needed - 1):
        assert not estimate(function, graph, devices="cpu", **parameters).fits
        with pytest.raises(DeviceMemoryError):
            function(graph, devices="cpu", **parameters)
    with gl.configure(memory_limit=needed):
        found = estimate(function, graph, devices="cpu", **parameters)
        assert found.fits and found.devices[0].free == needed
        function(graph, devices="cpu", **parameters)


WALKS: dict[str, tuple[Any, dict[str, Any]]] = {
    "cores": (gl.core_numbers, {}),
    "bfs": (gl.bfs, {"source": 0}),
    "components": (gl.connected_components, {}),
    "pagerank": (gl.pagerank, {}),
}


@pytest.mark.parametrize("by", [None, "vertex", "edge", *WALKS])
@pytest.mark.parametrize("base", [complete(40), kronecker(10, 16), kronecker(14, 16)], ids=repr)
def test_the_core_takes_no_more_than_estimated(base: gl.Graph, by: Any) -> None:
    graph = gl.Graph(*base.csr, directed=False)  # without views
    function, parameters = WALKS.get(by, (gl.count_triangles, {"by": by}))
    needed = estimate(function, graph, devices="cpu", **parameters).needed
    gc.collect()
    before = _native.live_bytes()
    _native.reset_peak_bytes()
    function(graph, devices="cpu", **parameters)
    assert _native.peak_bytes() - before <= 1.1 * needed
    assert needed <= 4 * (_native.peak_bytes() - before) + 8 * graph.num_edges


def test_each_device_has_its_own_line() -> None:
    found = estimate("triangles", complete(60), devices=["cpu", "reference", "cuda-emulated"])
    assert [line.device for line in found.devices] == ["cpu", "reference", "cuda-emulated"]
    assert found.needed == sum(line.needed for line in found.devices)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["fits"] is True and plain["devices"][0]["needed"] == found.devices[0].needed


def test_parameters_of_the_function_that_cost_nothing_are_taken() -> None:
    assert estimate("triangles", complete(9), devices="cpu", shares="auto", progress=None).fits


@pytest.mark.parametrize(
    ("operation", "parameters", "message"),
    [
        (
            "quadrangles",
            {},
            "unknown operation 'quadrangles'; operations are bfs, connected_components, core_numbers, count_all_cliques",
        ),
        (print, {}, "is not an operation"),
        (None, {}, "is not an operation"),
        ("triangles", {"k": 3}, "analytics.triangles does not take k; it takes graph, by"),
    ],
)
def test_what_is_unknown_is_refused(operation: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        estimate(operation, complete(3), **parameters)


def test_a_value_that_the_operation_refuses_is_refused() -> None:
    with pytest.raises(InputError, match='by must be None, "vertex" or "edge", got \'node\''):
        estimate("triangles", complete(5), devices="cpu", by="node")
