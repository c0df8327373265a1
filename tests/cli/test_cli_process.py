"""What only a real process shows: exit statuses, signals, pipes, what is imported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphlode.generate import complete
from graphlode.io import write

pytestmark = pytest.mark.alone

PROGRAM = [sys.executable, "-m", "graphlode"]


def finish(*arguments: str, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments], input=stdin, capture_output=True, text=True, timeout=120, env=os.environ | environment
    )


def test_json_is_all_there_is_on_stdout() -> None:
    done = finish("triangles", "karate", "--json")
    assert done.returncode == 0 and done.stderr == ""
    assert json.loads(done.stdout)["total"] == 45


def test_standard_input_is_a_file_named_minus() -> None:
    done = finish("triangles", "-", "--json", stdin="1 2\n2 3\n3 1\n")
    assert json.loads(done.stdout)["total"] == 1


def test_an_error_exits_with_two_and_one_line() -> None:
    done = finish("info", "nosuch.txt")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("graphlode: error: nosuch.txt: no such file") and done.stderr.count("\n") == 1


def test_a_bad_environment_variable_is_one_line() -> None:
    done = finish("info", "karate", GRAPHLODE_THREADS="many")
    assert done.returncode == 2
    assert (
        done.stderr == "graphlode: error: the environment variable GRAPHLODE_THREADS must be an integer, got 'many'\n"
    )


def test_a_reader_that_leaves_ends_the_program_silently() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PROGRAM, "info", "karate"], stdout=writer, stderr=subprocess.PIPE, timeout=120)
    os.close(writer)
    assert done.returncode == -signal.SIGPIPE
    assert done.stderr == b""


def test_no_bar_or_color_without_a_terminal() -> None:
    done = finish("triangles", "karate", "--by", "vertex", FORCE_COLOR="")
    assert done.returncode == 0 and done.stderr == "" and "\x1b" not in done.stdout


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph whose triangles at each edge take one thread many seconds."""
    path = tmp_path_factory.mktemp("long") / "complete.npz"
    write(complete(4500), path)
    return path


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_ctrl_c_ends_a_long_count_within_a_second_or_so(long_run: Path, flags: list[str]) -> None:
    command = [*PROGRAM, "triangles", str(long_run), "--by", "edge", "--threads", "1", "--device", "cpu", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            _wait_for_cpu_seconds(process.pid, 3.0)  # importing and reading take about half of that
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
            waited = time.monotonic() - sent
        finally:
            process.kill()
    assert process.returncode == 130
    assert (out, err) == ("", "graphlode: interrupted\n")
    assert waited < 3


def _wait_for_cpu_seconds(pid: int, seconds: float) -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / ticks >= seconds:
            return
        time.sleep(0.05)
    raise AssertionError("the process did not get to work")


def _loaded_by(code: str) -> set[str]:
    report = f"import sys\n{code}\nsys.stderr.write(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_importing_the_package_loads_nothing_that_it_may_not_need() -> None:
    loaded = _loaded_by("import graphlode; graphlode.read")
    assert "numpy" in loaded
    assert not loaded & {"typer", "click", "rich", "scipy", "networkx", "pyarrow", "matplotlib", "cupy", "pandas"}


def test_importing_the_package_alone_loads_not_even_numpy() -> None:
    assert "numpy" not in _loaded_by("import graphlode")


def test_a_command_with_json_loads_no_tables_and_no_plots() -> None:
    loaded = _loaded_by("from graphlode.cli import run; run(['info', 'karate', '--json'])")
    assert "typer" in loaded
    assert not loaded & {"rich", "scipy", "networkx", "pyarrow", "matplotlib", "cupy", "pandas"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown_and_knows_commands(shell: str) -> None:
    program = Path(sys.executable).parent / "graphlode"
    if not program.exists():
        pytest.skip("the program is not installed beside this interpreter")
    environment = os.environ | {"_GRAPHLODE_COMPLETE": f"complete_{shell}"}
    environment |= {"COMP_WORDS": "graphlode tri", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "graphlode tri"}
    environment |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=120)
    assert "triangles" in done.stdout and "cores" not in done.stdout
