"""The lazily loaded public names, the imports that type checkers see and `__all__` say the same."""

from __future__ import annotations

import ast
from pathlib import Path

import graphlode

TREE = ast.parse(Path(graphlode.__file__).read_text("utf-8"))


def imported_for_type_checkers() -> dict[str, str]:
    blocks = [node for node in TREE.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {
        alias.name: node.module
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def test_type_checkers_see_every_public_name() -> None:
    assert sorted(imported_for_type_checkers()) == sorted(graphlode.__all__) == graphlode.__all__


def test_every_public_name_loads_and_is_what_type_checkers_see() -> None:
    for name, module in imported_for_type_checkers().items():
        value = getattr(graphlode, name)
        source = __import__(module, fromlist=[name])
        assert value is getattr(source, name), name


def test_dir_lists_the_public_names() -> None:
    assert set(graphlode.__all__) <= set(dir(graphlode))
