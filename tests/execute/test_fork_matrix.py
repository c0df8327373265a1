"""A child that is forked while another thread of its parent works runs operations and ends.

Each case forks many times from a process of its own in which a thread repeats one piece of work. Locks that the thread
held and views that it was building must not reach the children.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

# The parent: `work` is repeated by a thread, `FORKS` children are forked meanwhile, `child` says whether all is well.
_PARENT = """
import os, sys, threading, time, signal, faulthandler
import numpy as np
import graphlode as gl

FORKS, SECONDS_OF_A_CHILD = 12, 20
graph = gl.erdos_renyi(800, m=8000, seed=1)
wanted = gl.count_triangles(graph, devices="cpu").total
store = gl.DynamicGraph(devices=DEVICES)
edges = graph.edges()
store.insert(edges[:, 0], edges[:, 1])
snapshot = store.snapshot()
rng = np.random.default_rng(2)

WORK

def child():
    assert gl.count_triangles(graph, devices="cpu").total == wanted
    assert gl.count_triangles(snapshot, devices="cpu").total == wanted
    u, v = map(int, edges[0])
    assert snapshot.has_edge(u, v) and v in snapshot.neighbors(u)
    assert int(snapshot.degrees().sum()) == 2 * snapshot.num_edges
    for use in (store.snapshot, lambda: store.insert([1], [2])):
        try:
            use()
        except RuntimeError as error:
            assert "fork" in str(error), error
        else:
            raise AssertionError("the child used its parent's store")
    own = gl.DynamicGraph(devices="cpu")
    own.insert([1, 2, 3], [2, 3, 1])
    assert gl.count_triangles(own).total == 1
    assert sum(map(len, gl.list_cliques(gl.complete(6), 3, devices="cpu"))) == 20

def run_child(leave):
    faulthandler.dump_traceback_later(SECONDS_OF_A_CHILD - 2)
    signal.alarm(SECONDS_OF_A_CHILD)
    try:
        child()
        faulthandler.cancel_dump_traceback_later()  # its lock is held until its thread ends
        leave()
    except SystemExit:
        raise
    except BaseException:
        import traceback
        traceback.print_exc()
        os._exit(9)

def fork(leave=lambda: os._exit(0)):
    process = os.fork()
    if not process:
        run_child(leave)
    _, status = os.waitpid(process, 0)
    assert status == 0, status

failures = []

def repeat():
    try:
        while not failures:
            work()
    except BaseException as error:
        failures.append(error)
        raise

worker = threading.Thread(target=repeat, daemon=True)
worker.start()
time.sleep(0.05)
for number in range(FORKS):
    time.sleep(0.003 * number)
    FORK
    assert not failures, failures
print("done")
sys.stdout.flush()
os._exit(0)
"""

WORK = {
    "an operation": "def work(): gl.connected_components(graph, devices='cpu')",
    "a view": "def work():\n    graph.held.clear()\n    gl.count_triangles(graph, devices='cpu')",
    "the rows of a snapshot": (
        "def work():\n"
        "    store.insert([7, 9], [9, 7])\n"
        "    store.delete([7], [9])\n"
        "    gl.count_triangles(store, devices='cpu')"
    ),
    "a batch": (
        "def work():\n"
        "    size = int(rng.choice([1, 300, 30_000]))\n"
        "    store.apply(gl.Batch(rng.integers(0, 5000, size), rng.integers(0, 5000, size), delete=bool(size % 2)))"
    ),
    "a snapshot": "def work():\n    store.insert([5], [6])\n    store.snapshot().has_edge(5, 6)\n    store.delete([5], [6])",
    "a read of a file": (
        "import tempfile\npath = tempfile.mkdtemp() + '/graph.txt'\ngl.write(graph, path)\ndef work(): gl.read(path)"
    ),
    "a stream": "def work(): sum(map(len, gl.list_cliques(gl.complete(40), 4, batch_size=500, devices='cpu')))",
    "a property": "def work(): gl.erdos_renyi(3000, m=90_000, seed=1).edges()",
    "a load of modules": (
        "import graphlode\n"
        "def work():\n"
        "    for name in [name for name in sys.modules if name.startswith('graphlode.cpu.analytics.')]:\n"
        "        del sys.modules[name]\n"
        "    gl.count_triangles(gl.complete(5), devices='cpu')\n"
        "    gl.core_numbers(gl.complete(5), devices='cpu')"
    ),
}

FORK = {
    "fork": "fork()",
    "fork that exits": "fork(lambda: sys.exit(0))",
    "fork in a thread": "thread = threading.Thread(target=fork); thread.start(); thread.join()",
    "fork of a fork": "fork(lambda: (fork(), os._exit(0)))",
    "multiprocessing": (
        "import multiprocessing; process = multiprocessing.get_context('fork').Process(target=child);"
        "process.start(); process.join(SECONDS_OF_A_CHILD); assert process.exitcode == 0, process.exitcode"
    ),
}


def script(work: str, fork: str, devices: object = "cpu") -> str:
    text = _PARENT.replace("WORK", WORK[work]).replace("    FORK\n", f"    {FORK[fork]}\n")
    return "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n" + text.replace(
        "DEVICES", repr(devices)
    )


@pytest.mark.parametrize("work", WORK)
def test_children_forked_during_work_run_operations_and_end(run_python: Callable[..., str], work: str) -> None:
    assert "done" in run_python(script(work, "fork"))


@pytest.mark.parametrize("fork", list(FORK)[1:])
@pytest.mark.parametrize("work", ["a view", "a batch"])
def test_every_way_to_fork_gives_a_child_that_works(run_python: Callable[..., str], work: str, fork: str) -> None:
    assert "done" in run_python(script(work, fork))


def test_children_forked_during_batches_of_two_shards_run_operations(run_python: Callable[..., str]) -> None:
    assert "done" in run_python(script("a batch", "fork", ["cpu", "cpu"]))
