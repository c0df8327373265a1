"""The environment describes what a measurement depends on, without identifying the machine."""

from __future__ import annotations

import json
import mmap
import os
import platform
import socket
import subprocess
from pathlib import Path

import numpy as np
import pytest

from graphlode.config import configure
from graphlode.measure import Commit, PeakMemory, commit_of, environment


def test_the_environment_names_processor_compiler_and_versions():
    with configure(threads=3):
        found = environment(packages=["hypothesis", "no-such-package"])
    assert found.threads == 3
    assert found.cpu
    assert found.python == f"CPython {platform.python_version()}"
    assert found.packages["numpy"] == np.__version__
    assert "hypothesis" in found.packages and "no-such-package" not in found.packages
    assert (found.gpu, found.driver, found.cuda) == (None, None, None)
    assert any(char.isdigit() for char in found.compiler)


def test_the_environment_is_json_without_host_or_paths():
    text = json.dumps(environment().to_dict())
    assert socket.gethostname() not in text
    assert str(Path.home()) not in text or str(Path.home()) == "/"
    assert str(Path.cwd()) not in text


def test_a_commit_is_found_and_changes_make_it_dirty(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    assert commit_of(tmp_path) == Commit(None, False)

    def git(*words: str) -> None:
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True)

    try:
        git("init")
    except FileNotFoundError:
        pytest.skip("git is not installed")
    file = tmp_path / "file"
    file.write_text("one")
    git("add", "file")
    git("commit", "-m", "first")
    clean = commit_of(tmp_path)
    assert clean.commit is not None and len(clean.commit) >= 40 and not clean.dirty
    file.write_text("two")
    assert commit_of(tmp_path) == Commit(clean.commit, True)


def test_peak_memory_sees_what_the_core_takes():
    from graphlode.generate import rmat_edges

    with PeakMemory() as peak:
        src, dst = rmat_edges(16, 16)
    assert src.nbytes + dst.nbytes <= peak.core < 2 * (src.nbytes + dst.nbytes)
    with PeakMemory() as peak:
        pass
    assert peak.core == 0


def test_peak_memory_sees_the_whole_process():
    with PeakMemory() as peak, mmap.mmap(-1, 32 << 20) as taken:  # new pages, not memory that the heap has kept
        for page in range(0, len(taken), mmap.PAGESIZE):
            taken[page] = 1
    if peak.resident is None:
        pytest.skip("this system does not report the peak of a process")
    assert peak.resident >= 30 << 20
