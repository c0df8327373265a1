"""Cases: what is measured, as data. Each file in `cases/` but `graphs.toml` is a group."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parent / "cases"
GRAPHS = "graphs"
SMOKE = "smoke"


@dataclass(frozen=True)
class Case:
    """One measurement. `expected` is the answer, or the name of the independent method that computes it in the run."""

    name: str
    group: str
    operation: str
    what: Literal["kernel", "end_to_end"]
    expected: Any
    graph: str | None = None
    peers: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    repeats: int = 5
    warmup: int = 1
    settle: int = 0  # untimed calls directly before each timed one

    @property
    def file_name(self) -> str:
        return self.name.replace("/", "-") + ".json"


def load_cases(folder: Path = FOLDER) -> list[Case]:
    """All cases, in the order of their files."""
    cases = []
    for file in sorted(folder.glob("*.toml")):
        if file.stem != GRAPHS:
            for fields in tomllib.loads(file.read_text("utf-8"))["case"]:
                cases.append(Case(group=file.stem, **fields | {"peers": tuple(fields.get("peers", ()))}))
    return cases


def choose(cases: list[Case], groups: list[str], pattern: str | None) -> list[Case]:
    """The cases of the groups (none: all but smoke) whose names match the pattern."""
    chosen = [case for case in cases if (case.group in groups if groups else case.group != SMOKE or pattern)]
    return [case for case in chosen if pattern is None or fnmatch(case.name, pattern)]
