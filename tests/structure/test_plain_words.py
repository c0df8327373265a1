"""Documents and sources use plain words, and the index leads to all documents.

`PHRASES` are expressions that a reader has to translate, each with its replacement. The test searches them in the files
that `CHECKED` names: in prose, comments, strings and names, but not in quoted code.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

CHECKED = (
    "*.md",
    "docs/**/*.md",
    "src/**/*.py",
    "src/**/*.pyi",
    "src/**/*.cu",
    "src/**/*.cuh",
    "src/**/*.hpp",
    "native/**/*.hpp",
    "native/**/*.cpp",
    "benchmarks/**/*.py",
    "benchmarks/**/*.toml",
    "tests/**/*.py",
    "tests/**/*.cu",
    "examples/**/*.py",
    "Makefile",
)

PHRASES = {
    r"so (?:many|much)": "the number of, or the number itself",
    r"whoever|whomever": "the subject: a caller that, a thread that",
    r"nobody|no one": "no caller, no thread; must not",
    r"everybody|everyone": "every vertex, every thread",
    r"that which|those that which": "the thing itself",
    r"told|(?<!\.)tells?(?!\()": "reported, says, records",
    r"hears?|heard|deaf": "receives, notices",
    r"for ever": "forever",
    r"by way of": "through",
    r"anew": "again",
    r"all together": "in total",
    r"be had": "be allocated, be obtained",
    r"thereof|whereof|whereby|hereby|wherein": "of it, by which, in which",
    r"a few more": "up to N more",
    r"lets? go of": "releases",
    r"he|him|his|himself": "the caller, you",
}


CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def awkward(text: str) -> list[str]:
    """Every phrase of the list in a text, outside of quoted code, with its line and its replacement."""
    prose = CODE.sub(lambda code: "\n" * code[0].count("\n"), text).replace("_", " ")
    found = [
        (prose.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), instead)
        for phrase, instead in PHRASES.items()
        for match in re.finditer(r"\b(?:" + phrase.replace(" ", r"\s+") + r")\b", prose, re.IGNORECASE)
    ]
    return [f"line {line}: {words!r}: write {instead}" for line, words, instead in sorted(found)]


@pytest.mark.parametrize("pattern", CHECKED)
def test_files_use_plain_words(pattern: str) -> None:
    files = [path for path in ROOT.glob(pattern) if path != Path(__file__)]
    assert files, "no file has this name"
    found = {path.relative_to(ROOT).as_posix(): awkward(path.read_text("utf-8")) for path in sorted(files)}
    assert {name: phrases for name, phrases in found.items() if phrases} == {}


def test_a_phrase_is_found_across_lines_and_in_names_but_not_in_quoted_code() -> None:
    assert awkward("def test_it_is_told() -> None:") == ["line 1: 'told': write reported, says, records"]
    assert awkward("It takes so\nmany steps.") == ["line 1: 'so many': write the number of, or the number itself"]
    assert awkward("```\nso many\n```\nRun `tell`.\n\nThe page tells why.") == [
        "line 6: 'tells': write reported, says, records"
    ]


def test_every_document_is_reached_from_the_index() -> None:
    reached, waiting = set(), [DOCS / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            links = re.findall(r"\]\((?!https?:)([^)#]+\.md)", page.read_text("utf-8"))
            waiting += [target for link in links if (target := (page.parent / link).resolve()).is_relative_to(DOCS)]
    assert sorted(set(DOCS.rglob("*.md")) - reached) == []
