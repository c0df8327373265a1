"""The files of the repository: no machine paths, no stray files, readable sizes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = {".py", ".pyi", ".cpp", ".hpp", ".cu", ".cuh", ".md", ".toml", ".txt", ".json", ".yml", ".yaml", ".cfg", ""}
MACHINE_PATH = re.compile(r"(?<![\w.)/-])/(?:home|root|Users|work|mnt|media|scratch)/\w")


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0 or not listed.stdout:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_path_of_any_machine_is_in_a_file() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in tracked()
        if path.suffix in TEXT and path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


def test_no_built_files_are_tracked() -> None:
    built = {".so", ".o", ".a", ".pyc", ".whl", ".ptx", ".cubin"}
    assert [path.name for path in tracked() if path.suffix in built] == []


def test_code_files_stay_short() -> None:
    """Past 500 lines a file holds more than one idea."""
    code = [path for path in tracked() if path.suffix in (".py", ".cpp", ".hpp", ".cu", ".cuh")]
    long = {
        path.relative_to(ROOT).as_posix(): n for path in code if (n := len(path.read_text("utf-8").splitlines())) > 500
    }
    assert long == {}


def test_no_unfinished_notes_are_left() -> None:
    marks = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
    code = [
        path for path in tracked() if path.suffix in (".py", ".cpp", ".hpp", ".cu", ".cuh") and path != Path(__file__)
    ]
    assert [path.relative_to(ROOT).as_posix() for path in code if marks.search(path.read_text("utf-8"))] == []


def test_test_modules_have_names_of_their_own() -> None:
    """Two test modules of one name would shadow each other."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_locks_that_live_longer_than_a_call_are_new_in_a_forked_child() -> None:
    """Those of one call are listed here; all others are in files that register with graphlode.common.fork."""
    of_one_call = {"execute/tasks.py", "execute/stream.py", "execute/held.py"}
    source = ROOT / "src" / "graphlode"
    found = set()
    for path in source.rglob("*.py"):
        text = path.read_text("utf-8")
        if re.search(r"\b(R?Lock|Condition|Semaphore|Event)\(\)", text) and "after_fork" not in text:
            found.add(path.relative_to(source).as_posix())
        assert "import cached_property" not in text or "graphlode.common.cached import cached_property" in text, path
    assert found - of_one_call == set()
