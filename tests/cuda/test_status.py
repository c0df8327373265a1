"""The status word: the first fault wins and is raised with operation, device, meaning, code and index."""

from __future__ import annotations

import re

import numpy as np
import pytest

from graphlode.cuda.compiler import INCLUDE
from graphlode.cuda.interface import FAULTS, raise_fault
from graphlode.errors import KernelFaultError
from kernel_bench import SOURCES, Bench


def test_without_a_fault_nothing_is_raised(bench: Bench) -> None:
    def work() -> None:
        status = bench.device.status()
        module = bench.device.load(SOURCES["headers"])
        module.launch("headers_raise", 2, 33, (np.uint64(1), np.int64(66), status))
        bench.device.raise_status(status, "some.operation")

    bench.do(work)


def test_one_of_many_faults_is_kept(bench: Bench) -> None:
    for code in (1, 2, 77):
        status = np.zeros(2, np.int64)
        bench.launch("headers", "headers_raise", 5, 96, np.uint64(code), np.int64(100), status)
        assert status[0] == code and 100 <= status[1] < 480


def test_the_first_fault_wins(bench: Bench) -> None:
    status = np.zeros(2, np.int64)
    bench.launch("headers", "headers_raise", 1, 32, np.uint64(2), np.int64(31), status)
    bench.launch("headers", "headers_raise", 4, 96, np.uint64(1), np.int64(0), status)
    assert status.tolist() == [2, 31]


def test_the_error_names_operation_device_code_and_index(bench: Bench) -> None:
    def work() -> None:
        status = bench.device.asarray(np.array([2, 31], np.int64))
        bench.device.raise_status(status, "some.operation")

    says = rf"^some\.operation on {bench.device.name}: a work queue is full \(code 2, index 31\)$"
    with pytest.raises(KernelFaultError, match=says):
        bench.do(work)


def test_a_code_without_a_name_is_a_fault_too() -> None:
    with pytest.raises(KernelFaultError, match=r"a fault without a name \(code 99, index -1\)"):
        raise_fault([99, -1], "some.operation", "cuda:7")


def test_every_code_of_the_kernels_has_a_meaning() -> None:
    text = (INCLUDE / "status.cuh").read_text("utf-8")
    assert {int(code) for code in re.findall(r"fault_\w+ = (\d+);", text)} == set(FAULTS)
