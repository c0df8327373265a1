"""One cell of an experiment: a count with a time limit, all its samples, and an answer that others must agree with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.contest import WrongAnswerError
from benchmarks.experiments.setting import Setting
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import time_text
from benchmarks.record import Cell, Record
from graphlode.common.wait import Progress
from graphlode.errors import DeviceMemoryError, GraphlodeError, UnsupportedError
from graphlode.execute import call
from graphlode.execute.device import View, hold
from graphlode.execute.devices import resolve
from graphlode.graph.views import Roots
from graphlode.measure import Timer, sample
from graphlode.mining.cliques import count_cliques

# The first call of a kernel on a CUDA device may compile it.
COMPILING = 10.0


class FailedCellError(GraphlodeError):
    """A cell failed for another reason than a wrong answer. The files contain all other cells."""


class OverTimeError(Exception):
    """A count was stopped because it took longer than its limit."""


def time_limit(seconds: float, units: str = "edges") -> Progress:
    """A callback for `progress=` that stops the operation when its time has run out.

    It is called on the waiting thread several times a second, and an error that it raises stops the kernels.
    """
    started = perf_counter()

    def look(done: int, total: int) -> None:
        if perf_counter() - started > seconds:
            raise OverTimeError(f"stopped after {seconds:g} s at {done:,} of {total:,} {units}")

    return look


def prepare(subject: Subject, device: str, view: View | None = None) -> float:
    """Build a view on the device, by default that of cliques, so no cell pays for it. Returns the seconds it took."""
    chosen = view or Roots()
    with Timer() as timer:
        for each in resolve(device):
            call(lambda control, each=each: hold(each, subject.graph, chosen, control), each)  # type: ignore[misc]
    return timer.seconds


def count_cell(subject: Subject, k: int, method: str, device: str, *, limit: float, repeats: int) -> Cell:
    """Count k-cliques by a method and keep the seconds of every call (`seconds`: on the device, launch and
    read-back)."""

    def once(seconds: float) -> tuple[int, float | None]:
        result = count_cliques(subject.graph, k, method=method, devices=device, progress=time_limit(seconds))  # type: ignore[arg-type]
        return result.total, result.provenance.steps.get("kernel")  # a very small graph needs no kernel

    cell = {"graph": subject.name, "k": k, "method": method, "device": device}
    return cell | sampled(once, device, limit=limit, repeats=repeats)


def sampled(
    once: Callable[[float], tuple[Any, float | None]], device: str, *, limit: float, repeats: int
) -> dict[str, Any]:
    """Status, answer and samples of `once(seconds it may take)`.

    `once` returns the answer, which must be the same every time, and the seconds on the device, or None if these are
    the whole call. The first call is not timed and may compile. Then `once` is called the requested number of times,
    but only as often as the limit allows, and at least once.
    """
    kernel: list[float] = []
    whole: list[float] = []
    try:
        compiles = any(each.backend == "cuda" for each in resolve(device))
        answers = [once(limit + COMPILING if compiles else limit)[0]]
        while len(kernel) < repeats and (sum(whole) < limit or not kernel):
            timed = sample(partial(once, limit), repeats=1, warmup=0)
            answer, on_device = timed.answer
            answers.append(answer)
            whole += timed.seconds
            kernel.append(whole[-1] if on_device is None else on_device)
    except OverTimeError as over:
        return {"status": "stopped", "reason": str(over)}
    except UnsupportedError as error:
        return {"status": "unsupported", "reason": str(error)}
    except DeviceMemoryError as error:
        return {"status": "too large", "reason": str(error)}
    except Exception as error:  # whatever the error is, the other cells are still measured
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}
    if len(set(answers)) != 1:
        return {"status": "wrong", "reason": f"answers differ from call to call: {sorted(set(answers))}"}
    return {"status": "done", "answer": answers[0], "seconds": kernel, "call_seconds": whole}


def count_up(
    subject: Subject, method: str, device: str, counts: dict[int, int], setting: Setting, record: Record
) -> list[Cell]:
    """A cell for every size, from the smallest up; one that is expected to take longer than the limit is left out.

    `counts` are the numbers of cliques known so far; what is found is added.
    """
    cells: list[Cell] = []
    for k in sorted(setting.sizes):
        ahead = expected_seconds(cells, k, counts, visits_all=method != "pivot")
        if ahead > setting.limit:
            reason = f"expected to take over {setting.limit:g} s, from k = {cells[-1]['k']}"
            cell: Cell = {"graph": subject.name, "k": k, "method": method, "device": device}
            cell |= {"status": "skipped", "reason": reason}
        else:
            cell = count_cell(subject, k, method, device, limit=setting.limit, repeats=setting.repeats)
        if cell["status"] == "done":
            counts.setdefault(k, cell["answer"])
        record.add(cell)
        cells.append(cell)
    return cells


def expected_seconds(before: Sequence[Cell], k: int, counts: Mapping[int, int], *, visits_all: bool) -> float:
    """The expected seconds of size k, from the sizes measured before; 0 if they are not enough."""
    if not before:
        return 0.0
    last = before[-1]
    if last["status"] in ("stopped", "skipped"):
        return float("inf")  # larger sizes of a graph with such counts only take longer
    if last["status"] != "done":
        return 0.0
    seconds = fastest(last)
    if visits_all and counts.get(last["k"]) and k in counts:
        return seconds * counts[k] / counts[last["k"]]
    if len(before) > 1 and before[-2]["status"] == "done":
        growth = max(1.0, seconds / max(fastest(before[-2]), 1e-9))
        return float(seconds * growth ** (k - last["k"]))
    return seconds


def fastest(cell: Mapping[str, Any]) -> float:
    return float(min(cell["seconds"]))


def typical(cell: Mapping[str, Any]) -> float:
    return float(median(cell["seconds"]))


def time_or_status(cell: Mapping[str, Any] | None) -> str:
    """The text of a cell in a table: its median time, or the reason why there is none."""
    if cell is None:
        return ""
    return time_text(typical(cell)) if cell["status"] == "done" else str(cell["status"])


def verify(cells: Iterable[Cell], subject: Subject) -> None:
    """Mark every measured cell of the subject with the results that agree with its answer, or as wrong.

    A known number verifies an answer, or another computation of it: a different method, or the same method on a
    different kind of device. A single cell keeps an empty `verified_by`.
    """
    mine = [cell for cell in cells if cell["graph"] == subject.name and cell["status"] == "done"]
    for k in sorted({cell["k"] for cell in mine}):
        of_size = [cell for cell in mine if cell["k"] == k]
        known = subject.expected.get(k)
        agreed = {cell["answer"] for cell in of_size}
        for cell in of_size:
            others = sorted({_way(other) for other in of_size if _way(other) != _way(cell)})
            if known is not None and cell["answer"] != known:
                cell |= {"status": "wrong", "reason": f"answered {cell['answer']}, known is {known}"}
            elif known is None and len(agreed) > 1:
                cell |= {"status": "wrong", "reason": f"answers differ: {sorted(agreed)}"}
            else:
                cell["verified_by"] = [*(["known count"] if known is not None else []), *others]


def check_all(cells: Sequence[Cell]) -> None:
    """Raise WrongAnswerError if any cell is wrong, FailedCellError if any failed."""
    wrong = [cell for cell in cells if cell["status"] == "wrong"]
    if wrong:
        raise WrongAnswerError(f"{len(wrong)} cells have a wrong answer; the first: {_first(wrong)}")
    failed = [cell for cell in cells if cell["status"] == "failed"]
    if failed:
        raise FailedCellError(f"{len(failed)} of {len(cells)} cells failed; the first: {_first(failed)}")


def _first(cells: Sequence[Cell]) -> str:
    cell = cells[0]
    size = f", k = {cell['k']}" if "k" in cell else ""
    return f"{cell['graph']}{size}, {_way(cell)}: {cell['reason']}"


def _way(cell: Mapping[str, Any]) -> str:
    if "method" in cell and "variant" in cell:
        return str(cell["variant"])  # its name has the method and all else
    where = f" on {cell['device']}" if "device" in cell else ""
    return f"{cell.get('method') or cell.get('variant')}{where}"
