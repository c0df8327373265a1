"""A forked child runs operations though the parent has run some before."""

from __future__ import annotations

import multiprocessing
import warnings
from typing import Any

import graphlode as gl
from graphlode.generate import complete, erdos_renyi


def child(answers: Any, graph: gl.Graph) -> None:
    answers.put(gl.count_triangles(graph, devices="cpu").total)
    answers.put(gl.count_triangles(graph, devices=["cpu", "cpu"]).total)
    answers.put(gl.count_triangles(complete(20), devices="reference").total)


def test_a_forked_child_runs_operations() -> None:
    graph = erdos_renyi(2000, p=0.05, seed=9)
    expected = gl.count_triangles(graph, devices="cpu").total
    assert gl.count_triangles(graph, devices=["cpu", "cpu"]).total == expected
    gl.count_triangles(complete(5), devices="reference")
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    processes = [context.Process(target=child, args=(answers, graph)) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of any fork of a process with threads
        for process in processes:
            process.start()
    found = [answers.get(timeout=60) for _ in range(6)]
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    assert sorted(found) == sorted([expected] * 4 + [1140] * 2)
    assert gl.count_triangles(graph, devices="cpu").total == expected


def test_a_spawned_child_gets_the_graph_by_pickle() -> None:
    graph = erdos_renyi(200, p=0.1, seed=9)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(total, (graph,)) == total(graph)


def total(graph: gl.Graph) -> int:
    return gl.count_triangles(graph, devices="cpu").total
