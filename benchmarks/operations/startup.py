"""Wall time of a fresh process: an import, or a command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.inputs import Skipped
from benchmarks.setting import Setting


def contest(case: Case, setting: Setting) -> Contest:
    if "import" in case.options:
        ours = setting.ours(methods={"import": lambda: _import(case.options["import"])}, answer=_finished)
    else:
        words = [_command(), *case.options["command"]]
        ours = setting.ours(methods={"command line": lambda: _run(words)}, answer=_graph_size)
    return Contest([ours, *_peers(case, setting)], case.expected, "recorded")


def _peers(case: Case, setting: Setting) -> list[Contender]:
    contenders = []
    for name in case.peers:
        if name == "python":
            bare, number = "pass", sys.version.split()[0]
        elif find_spec(name) is None:
            setting.say(f"  {name} is not installed: left out of {case.name}")
            continue
        else:
            bare, number = f"import {name}", version(name)
        work: dict[str, Callable[[], object]] = {bare: partial(_run, [sys.executable, "-c", bare])}
        contenders.append(Contender(name, number, "fresh process", work, answer=_finished, expected="ok"))
    return contenders


def _command() -> str:
    command = Path(sys.executable).with_name("graphlode")
    if not command.exists():
        raise Skipped("the command graphlode is not installed beside this Python")
    return str(command)


def _import(name: str) -> subprocess.CompletedProcess[str]:
    return _run([sys.executable, "-c", f"import {name}"])


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def _finished(done: subprocess.CompletedProcess[str]) -> str:
    return "ok" if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[-200:]}"


def _graph_size(done: subprocess.CompletedProcess[str]) -> Any:
    if done.returncode:
        return _finished(done)
    graph = json.loads(done.stdout)["graph"]
    return {name: graph[name] for name in ("num_vertices", "num_edges")}
