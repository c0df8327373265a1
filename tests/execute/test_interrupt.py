"""Ctrl-C takes effect within a second in every kind of work, and the interpreter continues."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from graphlode.common.wait import Interrupts

pytestmark = pytest.mark.alone

SCRIPT = """
import sys, time
import numpy as np
import graphlode as gl
from graphlode.generate import complete, kronecker
{prepare}
print("ready", flush=True)
try:
    while True:
        {work}
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
    assert gl.count_triangles(complete(40), devices={devices}).total == 9880
    print("usable", flush=True)
"""

WORK = {
    "triangles": ("graph = complete(3000)", "gl.count_triangles(graph, by='vertex', devices='cpu')", "'cpu'"),
    "triangles-progress": (
        "graph = complete(3000)",
        "gl.count_triangles(graph, by='edge', devices='cpu', progress=lambda done, total: None)",
        "'cpu'",
    ),
    "shared": (
        "graph = complete(2000)",
        "gl.count_triangles(graph, by='edge', devices=['cpu', 'cpu'])",
        "['cpu', 'cpu']",
    ),
    "reference": ("graph = complete(200)", "gl.count_triangles(graph, devices='reference')", "'reference'"),
    "cores": ("graph = kronecker(17, 16)", "gl.core_numbers(graph, devices='cpu')", "'cpu'"),
    "pagerank": ("graph = kronecker(15, 16)", "gl.pagerank(graph, tol=0, max_iter=10**6, devices='cpu')", "'cpu'"),
    "build": (
        "src, dst = np.random.default_rng(0).integers(0, 2**62, (2, 2_000_000))",
        "gl.from_edges(src, dst)",
        "'cpu'",
    ),
}

DENSE = "graph = gl.erdos_renyi(600, p=0.7, seed=1)"
WORK |= {
    f"cliques-{method}-{by}": (
        DENSE,
        f"gl.count_cliques(graph, 12, by={by!r}, method={method!r}, devices='cpu')",
        "'cpu'",
    )
    for method, by in [("pivot", None), ("enumerate", "vertex"), ("set", None), ("pivot", "edge"), ("auto", None)]
}
WORK |= {
    "cliques-shared": (DENSE, "gl.count_cliques(graph, 12, method='pivot', devices=['cpu', 'cpu'])", "['cpu', 'cpu']"),
    "cliques-huge": ("graph = complete(3000)", "gl.count_cliques(graph, 1500, by='vertex', devices='cpu')", "'cpu'"),
    "all-cliques": (DENSE, "gl.count_all_cliques(graph, devices='cpu')", "'cpu'"),
    "all-cliques-huge": ("graph = complete(3000)", "gl.count_all_cliques(graph, devices='cpu')", "'cpu'"),
    "max-clique": (DENSE, "gl.max_clique(graph, devices='cpu')", "'cpu'"),
    "clique-lists": (DENSE, "sum(map(len, gl.list_cliques(graph, 12, devices='cpu')))", "'cpu'"),
    "motifs": (DENSE, "gl.count_motifs(graph, devices='cpu')", "'cpu'"),
    "orbits": (DENSE, "gl.count_orbits(graph, edges=True, devices='cpu')", "'cpu'"),
    "motif-profile": (DENSE, "gl.motif_profile(graph, 3, samples=1000, swaps=1000, devices='cpu')", "'cpu'"),
    "motif-estimates": (DENSE, "gl.estimate_motifs(graph, samples=10**7)", "'cpu'"),
    "maximal-cliques": (DENSE, "sum(map(len, gl.list_maximal_cliques(graph, devices='cpu')))", "'cpu'"),
}


@pytest.mark.parametrize("name", sorted(WORK))
def test_an_interrupt_takes_effect_within_a_second(name: str) -> None:
    prepare, work, devices = WORK[name]
    script = SCRIPT.format(prepare=prepare, work=work, devices=devices)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.4)
        sent = time.time()
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    words = output.split()
    assert words[0] == "interrupted" and words[2] == "usable"
    assert float(words[1]) - sent < 1


def test_an_interrupt_does_not_wait_for_the_work_of_others() -> None:
    """Work that waits in the queue of a busy device is taken back at once."""
    script = """
import os, signal, threading, time
import graphlode as gl
from graphlode.generate import complete
graph = complete(1300)
slow = threading.Thread(target=lambda: [gl.count_triangles(graph, by="edge", devices="cpu") for _ in range(2)])
gl.count_triangles(graph, devices="cpu")
slow.start()
time.sleep(0.05)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begun = time.perf_counter()
try:
    while True:
        gl.count_triangles(complete(3), devices="cpu")
except KeyboardInterrupt:
    print(time.perf_counter() - begun)
slow.join()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.2


def test_ctrl_c_in_a_guarded_block_is_raised_at_its_end() -> None:
    handler, steps = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with Interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("went on")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["went on"] and signal.getsignal(signal.SIGINT) is handler


def test_on_other_threads_nothing_interrupts() -> None:
    handler, found = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with Interrupts():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [handler] and signal.getsignal(signal.SIGINT) is handler
