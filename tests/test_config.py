"""Settings: changed for a block or from now on, checked when they are given."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import graphlode as gl
from graphlode import config
from graphlode.config import usable_cores
from graphlode.errors import InputError


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(config, "_settings", gl.settings())
    yield


def test_a_block_changes_what_it_names_and_puts_it_back() -> None:
    before = gl.settings()
    with gl.configure(threads=before.threads + 1) as inside:
        assert inside is gl.settings() and inside.threads == before.threads + 1
        assert inside.devices == before.devices
    assert gl.settings() == before


def test_a_block_puts_back_after_an_error() -> None:
    before = gl.settings()
    with pytest.raises(ZeroDivisionError), gl.configure(threads=7):
        raise ZeroDivisionError
    assert gl.settings() == before


def test_without_a_block_a_change_holds_from_now_on() -> None:
    gl.configure(threads=5)
    assert gl.settings().threads == 5
    with gl.configure(threads=6):
        assert gl.settings().threads == 6
    assert gl.settings().threads == 5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"threads": 0}, "threads must be 1 .. 4096, got 0"),
        ({"threads": 2**40}, "threads must be 1 .. 4096, got 1099511627776"),
        ({"threads": "4"}, "threads must be an integer, got '4'"),
        ({"threads": 2.5}, "threads must be an integer, got 2.5"),
        ({"memory_limit": -1}, "memory_limit must not be negative, got -1"),
        ({"memory_limit": "1GB"}, "memory_limit must be an integer, got '1GB'"),
        ({"cache": 7}, "cache must be a path, got 7"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_and_changes_nothing(given: Any, says: str) -> None:
    before = gl.settings()
    with pytest.raises(InputError, match=says):
        gl.configure(**given)
    assert gl.settings() == before


def test_the_cache_may_be_given_as_text(tmp_path: Path) -> None:
    cache: Any = str(tmp_path)
    with gl.configure(cache=cache) as inside:
        assert inside.cache == tmp_path


@pytest.mark.parametrize("name", ["GRAPHLODE_THREADS", "GRAPHLODE_MEMORY_LIMIT"])
def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(config, "_settings", None)
    monkeypatch.setenv(name, "many")
    with pytest.raises(InputError, match=f"{name} must be an integer, got 'many'"):
        gl.settings()


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("max 100000", None), ("100000 100000", 1), ("50000 100000", 1), ("900000000 100000", None), ("nonsense", None)],
)
def test_a_quota_of_the_container_bounds_the_threads(tmp_path: Path, quota: str, cores: int | None) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    assert usable_cores(file) == (cores or len(os.sched_getaffinity(0)))


def test_without_a_quota_the_affinity_counts(tmp_path: Path) -> None:
    assert usable_cores(tmp_path / "absent") == len(os.sched_getaffinity(0))
