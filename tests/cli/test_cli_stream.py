"""`graphlode stream`: a window slides over the edges of a file."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

import pytest

import graphlode as gl
from graphlode.cli.commands import stream as command
from graphlode.cli.commands.stream import parse_shares
from graphlode.errors import InputError

# The path 0 - 1 - ... - 20, its last edge first. The times are nanoseconds: as floats they would all be equal.
BY_TIME = [(v, v + 1) for v in reversed(range(20))]
TIMED = "".join(f"{v} {v + 1} {1_700_000_000_000_000_000 + 19 - v}\n" for v in range(20))
ALL_COME = ("--load", 0.1, "--slide", 0.1, "--slides", 9, "--devices", "cpu", "--json")


@pytest.fixture
def arrivals(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The edges that a stream inserts, in their order, by the positions of their ends."""
    seen: list[tuple[int, int]] = []

    class Watched(gl.DynamicGraph):
        def apply(self, batch: Any) -> Any:
            gone = [False] * len(batch) if batch.delete is None else batch.delete.tolist()
            edges = zip(batch.src.tolist(), batch.dst.tolist(), gone, strict=True)
            seen.extend((u, v) for u, v, deleted in edges if not deleted)
            return super().apply(batch)

    monkeypatch.setattr(command, "DynamicGraph", Watched)
    return seen


def test_the_window_keeps_its_size_and_all_slides_are_reported(graphlode: Any) -> None:
    found = graphlode("stream", "jazz", "--load", 0.5, "--slide", 0.1, "--slides", 7, "--devices", "cpu", "--json").json
    edges = found["graph"]["num_edges"]
    assert found["command"] == "stream" and found["version"] == 8
    assert found["loaded"]["edges"] == round(edges / 2)
    assert [row["slide"] for row in found["slides"]] == list(range(1, 8))
    assert {row["edges"] for row in found["slides"]} == {round(edges / 2)}
    assert all(row["shares"] == {"cpu": 1024} and 0 < row["density"] <= 1 for row in found["slides"])


@pytest.mark.parametrize("devices", ["cpu,cpu", "cuda-emulated,cpu", "reference"])
def test_all_stores_reach_the_same(graphlode: Any, devices: str) -> None:
    options = ("--slide", 0.05, "--slides", 4, "--bfs", 0, "--json")
    alone = graphlode("stream", "email-Eu-core", "--devices", "cpu", *options).json["bfs"]
    found = graphlode("stream", "email-Eu-core", "--devices", devices, *options).json["bfs"]
    for when in ("before", "after"):
        assert found[when]["reached"] == alone[when]["reached"] > 100
        assert found[when]["depth"] == alone[when]["depth"]


def test_shares_of_the_user_are_kept(graphlode: Any) -> None:
    options = ("--devices", "cuda-emulated,cpu", "--shares", "cuda-emulated=1,cpu=3", "--slides", 1, "--json")
    (row,) = graphlode("stream", "karate", *options).json["slides"]
    assert row["shares"] == {"cuda-emulated": 256, "cpu": 768}


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_column_that_is_said_to_be_times_gives_the_order(
    graphlode: Any, tmp_path: Path, arrivals: list[tuple[int, int]], suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    file = tmp_path / f"timed.txt{suffix}"
    file.write_bytes(pack(TIMED.encode()))
    assert graphlode("stream", file, "--values", "times", *ALL_COME).json["order"] == "times"
    assert arrivals == BY_TIME


@pytest.mark.parametrize("name", ["timed.txt", "timed.csv", "timed.npz", "timed.parquet"])
def test_a_file_that_says_that_it_has_times_needs_no_option(
    graphlode: Any, tmp_path: Path, arrivals: list[tuple[int, int]], name: str
) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / "plain.txt").write_text(TIMED, "utf-8")
    gl.write(gl.read(tmp_path / "plain.txt", values="times"), tmp_path / name)
    assert graphlode("stream", tmp_path / name, *ALL_COME).json["order"] == "times"
    assert arrivals == BY_TIME


@pytest.mark.parametrize("options", [(), ("--values", "weights"), ("--values", "none")])
def test_without_times_edges_come_shuffled_and_all_of_them(
    graphlode: Any, tmp_path: Path, arrivals: list[tuple[int, int]], options: tuple[str, ...]
) -> None:
    file = tmp_path / "timed.txt"
    file.write_text(TIMED, "utf-8")
    assert graphlode("stream", file, *options, *ALL_COME).json["order"] == "shuffled"
    assert arrivals not in (BY_TIME, BY_TIME[::-1]) and sorted(arrivals) == sorted(BY_TIME)


def test_a_repeated_edge_comes_once_at_the_time_of_its_last_line(
    graphlode: Any, tmp_path: Path, arrivals: list[tuple[int, int]]
) -> None:
    file = tmp_path / "repeated.txt"
    file.write_text("1 2 100\n3 4 200\n2 1 300\n5 6 250\n", "utf-8")
    options = ("--values", "times", "--load", 1, "--slides", 0, "--json")
    assert graphlode("stream", file, *options).json["graph"]["num_edges"] == 3
    assert arrivals == [(2, 3), (4, 5), (0, 1)]


def test_a_search_sees_the_edges_of_its_time(graphlode: Any, tmp_path: Path) -> None:
    file = tmp_path / "timed.txt"
    file.write_text(TIMED, "utf-8")
    options = ("--values", "times", "--slide", 0.5, "--slides", 1, "--bfs", 20, "--json")
    found = graphlode("stream", file, *options).json["bfs"]
    # The first half is the path from 10 to 20.
    assert found["before"]["reached"] == 11 and found["after"]["reached"] == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 2\n2 3\n", "plain.txt: there are no times to stream by"),
        ("1 2 5\n2 3 0.5\n", 'plain.txt, line 2: expected an integer as time, found "0.5"'),
        ("1 1 5\n", "plain.txt: there are no edges to stream"),
    ],
)
def test_times_that_are_asked_for_must_be_there(graphlode: Any, tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "plain.txt"
    file.write_text(text, "utf-8")
    assert says in graphlode("stream", file, "--values", "times").error


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "shuffled; --values times if the third column is times"),
        (("--values", "weights"), "shuffled"),
        (("--values", "times"), "by time"),
    ],
)
def test_people_see_in_which_order_edges_came(
    graphlode: Any, tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    file = tmp_path / "timed.txt"
    file.write_text(TIMED, "utf-8")
    shown = graphlode("stream", file, *options, "--slides", 0).out
    (line,) = (line for line in shown.splitlines() if line.split()[:1] == ["order"])
    assert line.split(maxsplit=1)[1].strip() == says


def test_people_see_a_table(graphlode: Any) -> None:
    shown = graphlode("stream", "karate", "--slides", 3, "--bfs", 1)
    assert shown.status == 0
    for text in ("updates per second", "reached from 1", "density", "buckets of "):
        assert text in shown.out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--load", 0), "loaded must be above 0"),
        (("--slide", 0.7), "a slide must be above 0 and at most the part that is loaded"),
        (("--bfs", 99), "karate: there is no vertex 99 to search from"),
        (("--bfs", 2**80), f"karate: there is no vertex {2**80} to search from"),
        (("--shares", "cpu"), "--shares takes weights such as"),
        (("--shares", "reference=1"), "shares must name the devices"),
        (("--devices", "tpu"), "tpu"),
        (("--values", "times"), "--values is for files"),
        (("--values", "dates"), "'dates' is not one of 'auto', 'weights', 'times', 'none'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(graphlode: Any, options: tuple[Any, ...], says: str) -> None:
    assert says in graphlode("stream", "karate", *options).error


@pytest.mark.parametrize(("vertex", "reached"), [(10, 11), (0, 1)])
def test_a_search_may_begin_at_any_vertex_of_the_file(
    graphlode: Any, tmp_path: Path, vertex: int, reached: int
) -> None:
    """Only the path from 10 to 20 is loaded; ids are not positions."""
    file = tmp_path / "timed.txt"
    file.write_text("".join(f"{7 * v} {7 * v + 7} {19 - v}\n" for v in range(20)), "utf-8")
    options = ("--values", "times", "--slides", 0, "--bfs", 7 * vertex, "--json")
    found = graphlode("stream", file, *options).json["bfs"]
    assert found["source"] == 7 * vertex and found["before"]["reached"] == reached


def test_every_shard_is_reported_with_its_share(graphlode: Any) -> None:
    options = ("stream", "karate", "--devices", "cpu,cpu", "--shares", "cpu=1", "--slides", 1)
    (row,) = graphlode(*options, "--json").json["slides"]
    assert row["shares"] == {"cpu": 512, "cpu#2": 512}
    *_, header, _, line = graphlode(*options).out.rstrip().splitlines()
    assert "buckets of cpu " in header and "buckets of cpu#2" in header and line.split()[-2:] == ["512", "512"]


def test_the_rate_is_that_of_a_typical_slide(graphlode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first slide takes far longer than the others, as one does in which a store measures its devices."""

    class Slow(gl.DynamicGraph):
        def apply(self, batch: Any) -> Any:
            sleep(0.5 if self.version == 1 else 0.0)
            return super().apply(batch)

    monkeypatch.setattr(command, "DynamicGraph", Slow)
    options = ("stream", "jazz", "--devices", "cpu", "--slides", 5)
    found = graphlode(*options, "--json").json
    rows = found["slides"]
    assert found["updates_per_second"] == sorted(row["updates_per_second"] for row in rows)[2]
    mean = sum(row["updates_per_second"] * row["seconds"] for row in rows) / sum(row["seconds"] for row in rows)
    assert found["updates_per_second"] > 3 * mean
    (line,) = (line for line in graphlode(*options).out.splitlines() if "updates per second" in line)
    assert "(median)" in line and float(line.split()[3]) * 1e6 > 3 * mean


def test_a_stream_without_slides_has_no_rate(graphlode: Any) -> None:
    assert graphlode("stream", "karate", "--slides", 0, "--json").json["updates_per_second"] is None


@pytest.mark.parametrize("devices", ["cpu", "cpu,cpu", "cuda-emulated"])
def test_weights_come_with_their_edges(
    graphlode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: str
) -> None:
    file = tmp_path / "weighted.txt"
    file.write_text("".join(f"{v} {v + 1} {v}.5\n" for v in range(20)), "utf-8")
    left: list[dict[tuple[int, int], float]] = []

    class Watched(gl.DynamicGraph):
        def close(self) -> None:
            left.append({(u, v): self.weight(u, v) for u, v in self.snapshot().edges().tolist()})
            super().close()

    monkeypatch.setattr(command, "DynamicGraph", Watched)
    options = ("stream", file, "--slide", 0.1, "--slides", 3, "--devices", devices)
    assert graphlode(*options, "--json").json["weighted"] is True
    assert len(left[0]) == 10 and all(weight == min(edge) + 0.5 for edge, weight in left[0].items())
    assert "come with the edges" in graphlode(*options).out
    assert graphlode(*options, "--values", "none", "--json").json["weighted"] is False
    assert set(left[2].values()) == {1.0}


@pytest.mark.parametrize("devices", ["cpu", "cpu,cpu"])
def test_weights_do_not_change_what_comes_when(
    graphlode: Any, tmp_path: Path, arrivals: list[tuple[int, int]], devices: str
) -> None:
    file = tmp_path / "weighted.txt"
    file.write_text(TIMED, "utf-8")
    options = ("--load", 0.1, "--slide", 0.1, "--slides", 9, "--devices", devices, "--json")
    for values in ("weights", "none"):
        graphlode("stream", file, "--values", values, *options)
    assert arrivals[:20] == arrivals[20:]


def test_a_file_without_edges_is_refused(graphlode: Any, tmp_path: Path) -> None:
    file = tmp_path / "loop.txt"
    file.write_text("1 1\n", "utf-8")
    assert "no edges to stream" in graphlode("stream", file).error


def test_shares_are_read_as_weights() -> None:
    assert parse_shares(None) == "auto"
    assert parse_shares("cuda:0=7, cpu=1.5") == {"cuda:0": 7.0, "cpu": 1.5}
    for wrong in ("", "cpu=", "=3", "cpu=a", "cpu"):
        with pytest.raises(InputError, match="--shares takes weights"):
            parse_shares(wrong)
