"""`graphlode stream`: a window slides over the edges of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphlode as gl
from graphlode.cli.commands.stream import parse_shares
from graphlode.errors import InputError


def test_the_window_keeps_its_size_and_all_slides_are_told(graphlode: Any) -> None:
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


def test_edges_with_times_come_in_their_order(graphlode: Any, tmp_path: Path) -> None:
    file = tmp_path / "timed.txt"
    file.write_text("".join(f"{v} {v + 1} {100 - v}\n" for v in range(20)), "utf-8")
    graph = gl.read(file, values="times")
    gl.write(graph, tmp_path / "timed.npz")
    found = graphlode("stream", tmp_path / "timed.npz", "--slide", 0.5, "--slides", 1, "--bfs", 20, "--json").json
    # The latest times are those of the lowest vertices: the first half is the path from 10 to 20.
    assert found["bfs"]["before"]["reached"] == 11 and found["bfs"]["after"]["reached"] == 1


def test_people_see_a_table(graphlode: Any) -> None:
    shown = graphlode("stream", "karate", "--slides", 3, "--bfs", 1)
    assert shown.status == 0
    for text in ("updates per second", "reached from 1", "density", "slots of "):
        assert text in shown.out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--load", 0), "loaded must be above 0"),
        (("--slide", 0.7), "a slide must be above 0 and at most the part that is loaded"),
        (("--bfs", 99), "vertex 99 is not among the edges"),
        (("--shares", "cpu"), "--shares takes weights such as"),
        (("--shares", "reference=1"), "shares must name the devices"),
        (("--devices", "tpu"), "tpu"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(graphlode: Any, options: tuple[Any, ...], says: str) -> None:
    assert says in graphlode("stream", "karate", *options).error


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
