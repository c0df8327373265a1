"""Outputs are complete or unchanged, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphlode as gl
from graphlode.cli.output import write_table
from graphlode.io.cliques import write_cliques
from graphlode.io.replace import replacing

pytest.importorskip("pyarrow.parquet")

GRAPH = gl.erdos_renyi(2000, m=8000, seed=3)
COLUMNS = {"vertex": np.arange(20_000), "count": np.arange(20_000)}


def _figure(path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    from graphlode.cli.output import save_figure

    figure, axis = pyplot.subplots()
    axis.plot(np.random.default_rng(1).random(500))
    try:
        save_figure(figure, path, 150)
    finally:
        pyplot.close(figure)


def _cliques(path: Path) -> None:
    write_cliques([np.arange(30_000).reshape(-1, 3)], 3, path)


def _table(path: Path) -> None:
    write_table(path, COLUMNS)


def _graph(path: Path) -> None:
    gl.write(GRAPH, path)


OUTPUTS: list[tuple[Callable[[Path], None], str]] = [
    *((_graph, f"g{suffix}") for suffix in (".txt", ".csv", ".mtx", ".metis", ".gr", ".npz", ".parquet")),
    *((_graph, f"g.txt{suffix}") for suffix in (".gz", ".bz2", ".xz", ".zst")),
    *((_cliques, f"c{suffix}") for suffix in (".csv", ".npz", ".parquet")),
    *((_table, f"t{suffix}") for suffix in (".csv", ".tsv", ".npz", ".parquet")),
    *((_figure, f"p{suffix}") for suffix in (".png", ".svg", ".pdf")),
]
every_output = pytest.mark.parametrize(("write", "name"), OUTPUTS, ids=[f"{w.__name__}-{n}" for w, n in OUTPUTS])


def _full_after(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the disk is full when a file has this size."""
    real, written = os.write, {}

    def limited(descriptor: int, data: bytes) -> int:
        written[descriptor] = written.get(descriptor, 0) + len(data)
        if written[descriptor] > limit:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data)

    monkeypatch.setattr("graphlode.io.replace.os.write", limited)


@every_output
@pytest.mark.parametrize("limit", [0, 3000])
def test_a_full_disk_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None], name: str, limit: int
) -> None:
    path = tmp_path / name
    path.write_bytes(b"precious")
    _full_after(limit, monkeypatch)
    with pytest.raises(OSError, match="No space left") as caught:
        write(path)
    monkeypatch.undo()
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [path]


@every_output
def test_the_permissions_of_an_existing_file_are_kept(tmp_path: Path, write: Callable[[Path], None], name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    path.chmod(0o640)
    write(path)
    assert path.stat().st_size > 3
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


@every_output
def test_a_link_is_replaced_and_not_followed(tmp_path: Path, write: Callable[[Path], None], name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    path = tmp_path / name
    path.symlink_to(victim)
    write(path)
    assert victim.read_bytes() == b"precious"
    assert not path.is_symlink() and path.stat().st_size > 8


def test_a_real_full_disk(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("mounting is not permitted")
    try:
        for write, name in OUTPUTS:
            path = folder / name
            path.write_bytes(b"precious")
            try:
                write(path)  # some outputs are small enough
            except OSError as error:
                assert error.errno == errno.ENOSPC and error.filename == str(path)
                assert path.read_bytes() == b"precious"
            assert list(folder.iterdir()) == [path]
            path.unlink()
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_new_file_has_the_permissions_of_the_process(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        _graph(tmp_path / "g.txt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "g.txt").stat().st_mode) == 0o640


def test_a_name_that_is_taken_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    monkeypatch.setattr("graphlode.io.replace.secrets.token_hex", lambda _: "guessed")
    (tmp_path / ".graphlode-guessed.part").symlink_to(victim)
    with pytest.raises(FileExistsError):
        _graph(tmp_path / "g.txt")
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize("suffix", [".txt", ".npz", ".parquet"])
def test_threads_that_write_one_file_leave_one_of_the_graphs(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"g{suffix}"
    graphs = [gl.erdos_renyi(2000, m=8000 + 2000 * i, seed=i) for i in range(3)]
    for _ in range(5):
        writers = [threading.Thread(target=gl.write, args=(graph, path)) for graph in graphs]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert gl.read(path) in graphs
    assert list(tmp_path.iterdir()) == [path]


def test_threads_that_fill_parts_at_the_same_time_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    with replacing(path) as first, replacing(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"  # the outer block ends last
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("format", ["text", "npz", "parquet"])
def test_a_device_that_fails_is_still_there(tmp_path: Path, format: str) -> None:
    node = tmp_path / "full"
    try:
        os.mknod(node, 0o20666, os.makedev(1, 7))
    except PermissionError:
        pytest.skip("device nodes may not be made")
    with pytest.raises(OSError, match="No space left|not permitted|denied") as caught:
        gl.write(GRAPH, node, format=format)
    assert caught.value.filename == str(node)
    assert node.is_char_device()


@pytest.mark.parametrize("format", ["text", "npz", "parquet"])
def test_a_device_is_written_directly(format: str) -> None:
    gl.write(GRAPH, "/dev/null", format=format)
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("format", ["text", "npz", "parquet"])
def test_a_pipe_is_written_directly(tmp_path: Path, format: str) -> None:
    pipe, copy = tmp_path / "pipe", tmp_path / "copy"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()))
    reader.start()
    gl.write(GRAPH, pipe, format=format)
    reader.join()
    assert pipe.is_fifo()
    assert gl.read(copy, format=format) == GRAPH


def test_an_open_descriptor_is_written_where_it_stands(tmp_path: Path) -> None:
    with open(tmp_path / "log", "ab") as log:
        log.write(b"# before\n")
        log.flush()
        gl.write(gl.path(3), f"/dev/fd/{log.fileno()}", format="text")
        log.write(b"2 3\n")
    assert gl.read_edges(tmp_path / "log", format="text").dst.tolist() == [1, 2, 3]
    assert list(tmp_path.iterdir()) == [tmp_path / "log"]


def test_standard_output_is_not_replaced(tmp_path: Path) -> None:
    before = os.readlink("/dev/stdout")
    script = "import graphlode as gl; gl.write(gl.path(3), '/dev/stdout', format='text')"
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)
    assert gl.read(tmp_path / "out", format="text") == gl.path(3)
    assert os.readlink("/dev/stdout") == before


INTERRUPTED = """
import signal, sys, threading, time
import numpy as np
import graphlode as gl
{setup}
sys.stdout.write("ready\\n"); sys.stdout.flush()
try:
    {work}
except KeyboardInterrupt:
    sys.exit(7)
"""
BIG = "r = np.random.default_rng(1); g = gl.from_edges(*r.integers(0, 400_000, (2, 3_000_000)), weights=r.random(3_000_000))"


def interrupt(setup: str, work: str, folder: Path, after: float) -> tuple[int, float]:
    """Status of the process, and seconds between Ctrl-C and its end."""
    script = INTERRUPTED.format(setup=setup, work=work)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=folder)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    status = process.wait(60)
    process.stdout.close()
    return status, time.monotonic() - start


@pytest.mark.parametrize(("name", "after"), [("g.metis", 0.2), ("g.metis", 0.6), ("g.txt.xz", 0.6), ("g.txt.bz2", 0.4)])
def test_ctrl_c_while_a_graph_is_written(tmp_path: Path, name: str, after: float) -> None:
    (tmp_path / name).write_bytes(b"precious")
    work = f"[gl.write(g, {name!r}) for _ in range(100)]"
    status, seconds = interrupt(BIG, work, tmp_path, after)
    assert status == 7
    assert seconds < 2  # a second for Ctrl-C, and another because this machine may be busy
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("suffix", [".txt", ".txt.bz2", ".txt.xz", ".metis", ".npz", ".parquet"])
def test_ctrl_c_while_a_graph_is_read(tmp_path: Path, suffix: str) -> None:
    gl.write(gl.erdos_renyi(100_000, m=500_000, seed=2), tmp_path / f"g{suffix}")
    status, seconds = interrupt("", f"[gl.read('g{suffix}') for _ in range(1000)]", tmp_path, 0.5)
    assert status == 7
    assert seconds < 2


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_ctrl_c_while_a_table_is_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"precious")
    setup = "from pathlib import Path; from graphlode.cli.output import write_table; c = np.arange(20_000_000) * 7919"
    status, seconds = interrupt(setup, f"write_table(Path({str(path)!r}), {{'a': c, 'b': c, 'c': c}})", tmp_path, 0.3)
    assert status == 7
    assert seconds < 2
    assert path.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("work", ["gl.write(gl.path(3), 'p', format='text')", "gl.read('p', format='text')"])
def test_ctrl_c_while_a_pipe_has_no_other_end(tmp_path: Path, work: str) -> None:
    os.mkfifo(tmp_path / "p")
    status, seconds = interrupt("", work, tmp_path, 0.5)
    assert status == 7
    assert seconds < 2
    assert (tmp_path / "p").is_fifo()
