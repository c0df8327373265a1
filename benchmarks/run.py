"""The runner: measures cases and records them, one file for each group, never with an answer that was not verified.

python -m benchmarks.run --all
python -m benchmarks.run --group triangles --devices cuda:0 --label "H200, 16 cores"
python -m benchmarks.run experiment cliques-runtime jazz -k 4-8
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import graphlode as gl
from benchmarks.case import FOLDER, Case, choose, load_cases
from benchmarks.contest import OURS, Contest, Measured, WrongAnswerError, measure
from benchmarks.inputs import Inputs, Skipped
from benchmarks.operations import OPERATIONS
from benchmarks.record import Cell, Record, folder_name, machine_label, present_run
from benchmarks.setting import Setting
from graphlode.errors import UnsupportedError
from graphlode.measure import PeakMemory

RESULTS = Path(__file__).parent / "results"
_EXPERIMENT = "experiment"
_EPILOG = (
    f"python -m benchmarks.run {_EXPERIMENT} NAME [GRAPHS]... runs a published experiment, as `graphlode bench` does; "
    f"its options: python -m benchmarks.run {_EXPERIMENT} --help"
)


def main(words: Sequence[str] | None = None) -> int:
    """0 if every chosen case was written or skipped, 1 if one failed, 2 if no case was chosen."""
    words = sys.argv[1:] if words is None else words
    if words[:1] == [_EXPERIMENT]:
        from graphlode.cli import run

        return run(["bench", *words[1:]])
    given = _parser().parse_args(words)
    cases = choose(load_cases(given.cases), given.group, given.case)
    if given.list:
        for case in cases:
            print(case.name)
        return 0
    if not cases or not (given.all or given.group or given.case):
        print("no case chosen: use --all, --group or --case (--list shows them)", file=sys.stderr)
        return 2
    with gl.configure(threads=given.threads) as settings, tempfile.TemporaryDirectory() as scratch:
        setting = Setting(settings.threads, given.devices, Inputs(given.cases), Path(scratch), print)
        this = present_run(given.devices, given.commit)
        label = given.label or machine_label(this)
        records: dict[str, Record] = {}
        failed = []
        for case in cases:
            if case.group not in records:
                file = given.out / folder_name(label) / f"{case.group}.json"
                records[case.group] = Record.resume(file, {"group": case.group, "label": label}, this)
            if not _run(case, setting, records[case.group], given.repeats):
                failed.append(case.name)
    for name in failed:
        print(f"FAILED {name}", file=sys.stderr)
    return 1 if failed else 0


def _run(case: Case, setting: Setting, record: Record, repeats: int | None) -> bool:
    setting.say(f"{case.name} ...")
    try:
        setting.check(case)
        done = _measure(case, setting, repeats or case.repeats)
    except (Skipped, UnsupportedError) as reason:
        setting.say(f"  skipped: {reason}")
        return True
    except WrongAnswerError as error:
        print(f"{case.name}: {error}", file=sys.stderr)
        return False
    except Exception:
        traceback.print_exc()  # the other cases are still measured
        return False
    if case.graph is not None:
        record.add_graph(setting.input(case).facts)
    record.put_case(case.name, _cell(case, setting, done))
    for name, one in done.measured.items():
        seconds = done.seconds(name)
        setting.say(f"  {name:<10} {median(seconds):10.4f} s  ({min(seconds):.4f} to {max(seconds):.4f})  {one.method}")
    return True


class _Done(NamedTuple):
    """Run all rounds of a case. Returns the result of the last, and by contender the samples of each round."""

    contest: Contest
    measured: dict[str, Measured]
    peak: PeakMemory
    rounds: dict[str, list[tuple[float, ...]]]

    def seconds(self, name: str) -> list[float]:
        """For every sample the median of its times in all rounds. Every round does the same from the beginning."""
        return list(map(median, zip(*self.rounds[name], strict=True)))

    def samples(self, name: str) -> dict[str, Any]:
        """The same for a record, with all rounds if there are several."""
        several = {"rounds": [list(taken) for taken in self.rounds[name]]} if len(self.rounds[name]) > 1 else {}
        return {"seconds": self.seconds(name), **several}


def _measure(case: Case, setting: Setting, repeats: int) -> _Done:
    rounds: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
    for _ in range(case.rounds):
        contest = OPERATIONS[case.operation](case, setting)
        measured, peak = measure(contest, repeats, case.warmup, case.settle, quiet=case.quiet, stays=case.stays)
        for name, one in measured.items():
            rounds[name].append(one.samples.seconds)
    return _Done(contest, measured, peak, rounds)


def _cell(case: Case, setting: Setting, done: _Done) -> Cell:
    contest, measured, peak, _ = done
    return {
        "graph": case.graph,
        "operation": case.operation,
        "what": case.what,
        "devices": setting.devices,
        "method": measured[OURS].method,
        "status": "done",
        "answer": contest.expected,
        "verified_by": [contest.expected_from],
        "warmup": case.warmup,
        "settle": case.settle,
        **({"quiet": True} if case.quiet else {}),
        **({"stays": case.stays} if case.stays else {}),
        **done.samples(OURS),
        "bytes_peak": peak.core,
        "bytes_resident": peak.resident,
        "bytes": contest.sizes,
        "peers": {name: one.to_dict() | done.samples(name) for name, one in measured.items() if name != OURS},
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run", description=__doc__.split("\n\n")[0], epilog=_EPILOG
    )
    parser.add_argument("--all", action="store_true", help="every case but those of the group smoke")
    parser.add_argument(
        "--group", action="append", default=[], metavar="NAME", help="the cases of a group (repeatable)"
    )
    parser.add_argument("--case", metavar="PATTERN", help="the cases whose names match, such as 'triangles/*'")
    parser.add_argument("--threads", type=int, metavar="N", help="threads of every library (default: the cores here)")
    parser.add_argument("--devices", default="cpu", help="where our operations run (default: cpu)")
    parser.add_argument("--repeats", type=int, metavar="N", help="samples per case (default: as the case says)")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="where the results go")
    parser.add_argument("--cases", type=Path, default=FOLDER, metavar="DIR", help="where the cases are")
    parser.add_argument("--label", metavar="NAME", help='the class of machine (default: such as "2 cores")')
    parser.add_argument("--commit", metavar="HASH", help="the commit that this unchanged copy without git is of")
    parser.add_argument("--list", action="store_true", help="print the names of the chosen cases and end")
    return parser


if __name__ == "__main__":
    sys.exit(main())
