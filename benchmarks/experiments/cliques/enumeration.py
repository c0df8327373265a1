"""Runs CUDA enumeration with its parts switched one by one, for the experiments that look inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.experiments.counting import sampled, time_limit
from benchmarks.experiments.setting import Setting
from benchmarks.experiments.subjects import Subject
from benchmarks.record import Cell
from graphlode.common.control import Control
from graphlode.common.wait import run_all
from graphlode.cuda.cliques.enumerate import Counted, EnumerateOptions, count_tasks
from graphlode.errors import UnsupportedError
from graphlode.execute.device import hold
from graphlode.execute.devices import resolve
from graphlode.graph.views import Roots
from graphlode.measure import Timer
from graphlode.types import Task


def cuda_device(name: str) -> Any:
    """The device, which must run CUDA kernels."""
    device = resolve(name)[0]
    if device.backend != "cuda":
        raise UnsupportedError(
            f"this experiment looks inside CUDA kernels and cannot run on {name!r}; use cuda:0 or cuda-emulated"
        )
    return device


def variant_cells(
    subject: Subject, k: int, variants: Mapping[str, EnumerateOptions], setting: Setting
) -> Iterator[tuple[Cell, list[Counted]]]:
    """A cell for every variant. All are compared with the first: if that is stopped, the others are left out."""
    stopped = False
    for name, options in variants.items():
        if stopped:
            reason = f"the variant {next(iter(variants))} took over {setting.limit:g} s: nothing to compare with"
            cell: Cell = {"graph": subject.name, "k": k, "variant": name, "device": setting.device}
            yield cell | {"status": "skipped", "reason": reason}, []
            continue
        cell, found = _variant_cell(subject, k, name, options, setting)
        stopped = cell["status"] == "stopped" and name == next(iter(variants))
        yield cell, found


def _variant_cell(
    subject: Subject, k: int, variant: str, options: EnumerateOptions, setting: Setting
) -> tuple[Cell, list[Counted]]:
    """Count k-cliques with these options. Returns the cell, and the additional results of each timed call."""
    device = cuda_device(setting.device)
    found: list[Counted] = []

    def work(control: Control) -> tuple[Counted, float]:
        view = hold(device, subject.graph, Roots(), control)
        with Timer() as timer:
            counted = count_tasks(device, view, Task(0, len(view["neighbors"])), control=control, k=k, options=options)
        return counted, timer.seconds

    def once(seconds: float) -> tuple[int, float | None]:
        control = Control()
        working = [(device, lambda: work(control))]
        counted, on_device = run_all(working, control, time_limit(seconds), subject.graph.num_edges)[0]
        found.append(counted)
        return counted.total, on_device

    cell = {"graph": subject.name, "k": k, "variant": variant, "device": setting.device}
    samples = sampled(once, setting.device, limit=setting.limit, repeats=setting.repeats)
    return cell | samples, found[1:]
