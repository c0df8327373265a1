"""Where the system refuses a thread, a call fails as a whole: nothing of it happens later, and the next one works."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

from graphlode.common.worker import Worker, _NewThreads
from graphlode.errors import DeviceError


def refuse(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize("make", [Worker, _NewThreads])
def test_refused_work_is_an_error_and_is_not_done_later(
    make: Callable[[str], Worker | _NewThreads], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    worker = make("cpu")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(DeviceError, match="refused a thread for the device cpu"):
            worker.submit(lambda: done.append("refused"))
    worker.submit(lambda: done.append("allowed")).result()
    assert done == ["allowed"]


_SCRIPT = """
import os, resource
import graphlode as gl
import graphlode.graph.build, graphlode.generate, graphlode.graph.store.dynamic
os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
for call in (lambda: gl.complete(5), lambda: gl.DynamicGraph(devices="cpu").insert([1], [2])):
    try:
        call()
    except gl.GraphlodeError as error:
        print(type(error).__name__)
print("alive")
"""


def test_a_process_without_threads_gets_errors_and_lives(run_python: Callable[..., str]) -> None:
    if os.geteuid() != 0:
        pytest.skip("only the administrator can become a user without processes")
    assert run_python(_SCRIPT).split() == ["DeviceError", "DeviceError", "alive"]
