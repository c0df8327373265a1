"""CUDA sources as package data, and the closed list of specializations of each.

A kernel is a `.cu` file beside its driver. Includes are flattened here, and the defines are written on top, so the text
alone determines what is compiled. The disk caches of CuPy and of the emulation use it as the key, so an edited header
always causes a new build. `#line` directives keep the file and line of the source in every diagnostic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from pkgutil import walk_packages

from graphlode.common.cached import cached_property
from graphlode.errors import InputError, KernelBuildError

ROOT = Path(__file__).parent
INCLUDE = ROOT / "include"

# The emulation needs C++20. The real device uses the newest standard that every supported NVRTC knows.
NVRTC_OPTIONS = ("-std=c++17", "-default-device")

_INCLUDE_LINE = re.compile(r'\s*#\s*include\s+"([^"]+)"\s*(//.*)?')
_PRAGMA_ONCE = re.compile(r"\s*#\s*pragma\s+once\b.*")


@dataclass(frozen=True)
class KernelSource:
    """One `.cu` file: where it is, the kernels in it, and each define it needs with its legal values.

    `stem` is the path below `root` without the suffix. Every combination of values is a specialization. The compile
    test builds all of them, so a driver cannot request one that was never compiled.
    """

    stem: str
    entries: tuple[str, ...]
    defines: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    root: Path = ROOT
    include: Path = INCLUDE

    def specialisations(self) -> Iterator[Specialisation]:
        """Every legal combination of the defines."""
        for values in product(*self.defines.values()):
            yield Specialisation(self, tuple(zip(self.defines, values, strict=True)))

    def specialise(self, **defines: str) -> Specialisation:
        """The specialization with these values. InputError if it was not declared."""
        if set(defines) != set(self.defines):
            raise InputError(
                f"{self.stem} is compiled with the defines {_listed(self.defines)}, got {_listed(defines)}"
            )
        for name, value in defines.items():
            if value not in self.defines[name]:
                raise InputError(
                    f"{self.stem} has no specialisation {name}={value}; {name} is one of {_listed(self.defines[name])}"
                )
        return Specialisation(self, tuple((name, defines[name]) for name in self.defines))


@dataclass(frozen=True)
class Specialisation:
    """A kernel source with a value for each of its defines."""

    source: KernelSource
    values: tuple[tuple[str, str], ...]

    @property
    def stem(self) -> str:
        return self.source.stem

    @property
    def entries(self) -> tuple[str, ...]:
        return self.source.entries

    def __str__(self) -> str:
        return f"{self.stem}[{', '.join(f'{name}={value}' for name, value in self.values)}]"

    @cached_property
    def text(self) -> str:
        """The flattened source with its defines on top: everything that a compiler needs."""
        defines = "".join(f"#define {name} {value}\n" for name, value in self.values)
        return defines + flatten(f"{self.stem}.cu", self.source.root, self.source.include)

    def build_error(self, architecture: str, log: str) -> KernelBuildError:
        return KernelBuildError(f"{self} did not compile for {architecture}:\n{log.strip()}")


def flatten(name: str, root: Path = ROOT, include: Path = INCLUDE) -> str:
    """The text of `root / name`, in which the first `#include` of each header is replaced by that header.

    Headers that several parts share are in `include`. `"part/header.cuh"` is a header of one part of this package.
    """
    seen: set[str] = set()

    def expand(path: Path, shown: str) -> Iterator[str]:
        yield f'#line 1 "{shown}"'
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            found = _INCLUDE_LINE.fullmatch(line)
            if found is None:
                # Each header is included only once anyway, and compilers warn about the pragma outside of a header.
                yield "" if _PRAGMA_ONCE.fullmatch(line) else line
            elif found[1] in seen:
                yield ""
            else:
                seen.add(found[1])
                header, named = include / found[1], f"{include.name}/{found[1]}"
                if "/" in found[1]:
                    header, named = ROOT / found[1], found[1]
                if not header.is_file():
                    folder = named.rpartition("/")[0]
                    raise KernelBuildError(f"{shown}:{number}: there is no header {header.name!r} in {folder}/")
                yield from expand(header, named)
                yield f'#line {number + 1} "{shown}"'

    path = root / name
    if not path.is_file():
        raise KernelBuildError(f"there is no kernel source {name!r} in {root.name}/")
    return "\n".join(expand(path, name)) + "\n"


@cache
def kernel_sources() -> tuple[KernelSource, ...]:
    """Every kernel source that a driver of this package declares."""
    found: dict[str, KernelSource] = {}
    for module in walk_packages([str(ROOT)], "graphlode.cuda."):
        if not module.name.startswith("graphlode.cuda.emulation"):
            for value in vars(import_module(module.name)).values():
                if isinstance(value, KernelSource):
                    found[value.stem] = value
    return tuple(found[stem] for stem in sorted(found))


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"
