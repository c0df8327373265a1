"""Every example runs and prints the answer that is written here."""

from __future__ import annotations

import runpy
from pathlib import Path

import networkx as nx
import pytest

import graphlode as gl

FOLDER = Path(__file__).parent.parent.parent / "examples"

ANSWERS = {
    "inner_circle": [
        "79 of 986 people write with 34 or more of the others there",
        "61% of the pairs in that circle are in touch",
        "it holds 20% of all triangles",
    ],
    "growing_network": [
        "weeks  people  pairs  triangles",
        "    1     104    137          9",
        "    2     427   1286        349",
        "    4    1056   5583       3369",
        "    8    1668  11580      10984",
        "   28    1899  13838      14319",
    ],
    "other_libraries": [
        "45 triangles: networkx's own",
        "45 triangles: graphlode on the networkx graph",
        "45 triangles: graphlode on the scipy matrix",
        "45 triangles: graphlode on its own graph",
        "back in networkx: 34 nodes, 78 edges",
    ],
    "teams": [
        "1,076,597,590 groups have all played together, the largest has 30 musicians",
        "groups of ten: 30,456,581",
        "musician 131 is in 33% of them",
        "368 groups of ten or more are closed: no other musician has played with all of them",
        "the first 100 trios came as an array of shape (100, 3)",
    ],
    "files_and_devices": ["read back equal: True", "every device finds the same 137,313 triangles: True"],
}


def test_every_example_has_an_answer_here() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_example_prints_its_answer(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == ANSWERS[name]


@pytest.mark.peer
def test_the_answer_about_the_inner_circle_is_networkx_s_too() -> None:
    mail = gl.dataset("email-Eu-core").undirected().to_networkx()
    circle = nx.k_core(mail)
    assert circle.number_of_nodes() == 79
    assert round(100 * nx.density(circle)) == 61
    assert round(100 * sum(nx.triangles(circle).values()) / sum(nx.triangles(mail).values())) == 20
