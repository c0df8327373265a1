"""Examples in docstrings and in the documents are run."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
from pathlib import Path

import pytest

import graphlode

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _modules() -> list[str]:
    """Every module whose source holds an example; found without importing, since some need a GPU to import."""
    names = []
    for each in pkgutil.walk_packages(graphlode.__path__, "graphlode.", onerror=lambda _: None):
        source = getattr(each.module_finder.find_spec(each.name, None), "origin", None)
        if source and source.endswith(".py") and ">>> " in Path(source).read_text("utf-8"):
            names.append(each.name)
    return names


MODULES = _modules()


def test_examples_were_found() -> None:
    assert {"graphlode.analytics.triangles", "graphlode.io.read", "graphlode.generate.rmat"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


# A block of Python, and the block of text right after it that says what it prints, if there is one.
_BLOCKS = re.compile(r"^```python\n(.*?)^```\n(?:\n*```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def _blocks(path: Path) -> list[tuple[str, str]]:
    return _BLOCKS.findall(path.read_text("utf-8"))


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if any(text for _, text in _blocks(p))], ids=lambda p: p.name)
def test_python_in_a_document_prints_what_the_document_says(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of a document share their names. Documents that show no output only sketch, and are not run."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code, expected in _blocks(path):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, path.name, "exec"), names)
        assert printed.getvalue() == expected


def test_the_readme_answers_its_question_in_ten_lines() -> None:
    first, printed = _blocks(ROOT / "README.md")[0]
    assert printed
    assert len([line for line in first.splitlines() if line.strip()]) <= 10


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", path.read_text("utf-8"))
    missing = [target for target in targets if not os.path.exists(path.parent / target)]
    assert missing == []
