"""What the caller can fix is one line on stderr and exit status 2."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import graphlode as gl


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nosuch"], "No such command"),
        (["info"], "Missing argument 'FILE'"),
        (["info", "karate", "--nosuch"], "No such option"),
        (["info", "nosuch.txt"], "nosuch.txt: no such file; bundled graphs are karate, "),
        (["info", "karate", "--threads", "0"], "--threads"),
        (["info", "karate", "--threads", "99999999999"], "--threads"),
        (["info", "."], ".: this is a directory, not a file"),
        (["info", "karate", "--values", "colors"], "'colors' is not one of 'auto', 'weights', 'times', 'none'"),
        (["info", "karate", "--values", "times"], "--values is for files"),
        (["triangles", "karate", "--by", "face"], "'face' is not one of 'vertex', 'edge'"),
        (["triangles", "karate", "--top", "3"], "--top and --out need --by"),
        (["triangles", "karate", "--device", "abacus"], "unknown device 'abacus'; devices are auto, cpu, "),
        (["triangles", "karate", "--device", "cuda:99"], "cuda:99"),
        (["cores", "karate", "--device", "cpu,cpu"], "runs on one device"),
        (["cores", "karate", "--out", "cores.xls"], "cores.xls: the suffix must be one of .csv"),
        (["cores", "karate", "--out", "no/such/cores.csv"], "there is no folder no/such"),
        (["convert", "karate", "out.xyz"], "the suffix does not name the format"),
        (["convert", "karate", "no/such/out.txt"], "there is no folder no/such"),
        (["convert", "karate", "out.txt", "--out-format", "xyz"], "unknown format 'xyz'"),
        (["generate", "moebius", "out.txt"], "'moebius' is not one of"),
        (["generate", "rmat", "out.txt"], "rmat needs --scale"),
        (["generate", "cycle", "out.txt", "-n", "4", "--scale", "3"], "cycle does not take --scale; it takes -n"),
        (["generate", "rmat", "out.txt", "--scale", "70"], "scale must be at most"),
        (["generate", "cycle", "out.txt", "-n", "four"], "four"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    graphlode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert says in graphlode(*arguments).error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flags", [[], ["--json"]])
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("bad.txt", b"1 2\n2 x\n", "bad.txt, line 2: "),
        ("bad.mtx", b"hello\n", "bad.mtx"),
        ("cut.txt.gz", gzip.compress(b"1 2\n" * 1000, mtime=0)[:-20], "damaged or truncated gzip data"),
        ("not.npz", b"PK nothing", "not.npz"),
        ("not.parquet", b"PAR1", "not.parquet"),
        ("unknown.xyz", b"1 2\n", "the suffix does not name the format"),
    ],
)
def test_a_broken_file_is_named(
    graphlode: Any, tmp_path: Path, name: str, content: bytes, says: str, flags: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    message = graphlode("triangles", path, *flags).error
    assert says in message and str(path) in message


def test_a_folder_is_not_a_graph(graphlode: Any, tmp_path: Path) -> None:
    folder = tmp_path / "folder.txt"
    folder.mkdir()
    assert "folder.txt: this is a directory" in graphlode("info", folder).error


def test_lack_of_memory_is_reported_before_the_operation_starts(graphlode: Any) -> None:
    with gl.configure(memory_limit=10):
        assert "are free" in graphlode("triangles", "jazz", "--device", "cpu").error


def test_running_out_of_memory_is_one_line(graphlode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError("could not allocate 1 TB")

    monkeypatch.setattr("graphlode.cli.commands.triangles.count_triangles", fail)
    assert graphlode("triangles", "karate").error == "out of memory: could not allocate 1 TB"


def test_a_long_message_is_cut_to_its_first_line(graphlode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphlode.errors import KernelBuildError

    def fail(*_: Any, **__: Any) -> None:
        raise KernelBuildError("it did not compile\nline 1 of the log\nline 2")

    monkeypatch.setattr("graphlode.cli.commands.triangles.count_triangles", fail)
    assert graphlode("triangles", "karate").error == "it did not compile (--traceback shows the rest)"
    with pytest.raises(KernelBuildError):
        graphlode("--traceback", "triangles", "karate")


def test_a_fault_of_the_program_itself_is_not_hidden(graphlode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("graphlode.cli.commands.triangles.count_triangles", fail)
    with pytest.raises(ZeroDivisionError):
        graphlode("triangles", "karate")
