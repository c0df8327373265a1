"""Damaged files of every format, in processes of their own. `make fuzz` runs a hundred times as many cases."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow.parquet")

from reader_fuzzer import run_apart

CASES = 10_000


def test_readers_answer_damaged_files_with_a_graph_or_an_error_of_ours(tmp_path: Path) -> None:
    found = run_apart(CASES, seed=1, folder=tmp_path, jobs=2)
    assert [each["bad"] for each in found] == [{}, {}]
    assert [each["cases"] for each in found] == [CASES // 2] * 2
    for each in found:
        # The corpus still consists of good files, and the damage matters.
        assert each["answers"]["ok"] > CASES // 20
        assert each["answers"]["InputError"] > CASES // 20
