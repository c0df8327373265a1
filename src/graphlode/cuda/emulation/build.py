"""Compiles a CUDA source with g++ to a shared object that runs it on the CPU.

The object is cached under a hash of all its inputs, so it is never stale. Several processes may build the same object:
each writes its own file, in a new folder with a random name that no other user can enter, and moves it into place. An
object is only loaded if it is the user's own; see cache.py.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from graphlode.config import settings
from graphlode.cuda.compiler import Specialisation
from graphlode.cuda.emulation.cache import is_own_file, private_folder, publish
from graphlode.errors import DeviceUnavailableError

SIMT = Path(__file__).parent / "simt"

# -fno-gnu-unique: each kernel has its own copy of the emulation's variables, even when several are loaded.
# -mno-red-zone: see simt/fiber.hpp.
OPTIONS = (
    *("-std=c++20", "-O2", "-g1", "-shared", "-fPIC", "-pthread", "-fvisibility=hidden", "-fno-gnu-unique"),
    *(("-mno-red-zone",) if platform.machine() == "x86_64" else ()),
    "-Wno-unknown-pragmas",
)


def build(kernel: Specialisation) -> Path:
    """The shared object of a specialization, compiled unless it is cached."""
    text = _unit(kernel)
    folder = private_folder(settings().cache / "emulated")
    digest = hashlib.sha256("\0".join((text, _headers(), *OPTIONS, _compiler_version())).encode()).hexdigest()
    target = folder / f"{kernel.stem.replace('/', '-')}-{digest[:32]}.so"
    if not is_own_file(target):
        _compile(kernel, text, target)
    return target


def _unit(kernel: Specialisation) -> str:
    entries = "".join(f"SIMT_ENTRY({entry})\n" for entry in kernel.entries)
    return f'#include "simt.hpp"\n{kernel.text}#line 1 "entries of {kernel.stem}"\n{entries}'


def _compile(kernel: Specialisation, text: str, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="building-") as folder:
        built = Path(folder) / target.name
        command = (_compiler(), *OPTIONS, "-I", str(SIMT), "-x", "c++", "-", "-o", str(built))
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode != 0:
            raise kernel.build_error("the emulation (g++)", done.stderr)
        publish(built, target)


@cache
def _headers() -> str:
    return "\0".join(path.read_text("utf-8") for path in sorted(SIMT.glob("*.hpp")))


@cache
def _compiler() -> str:
    found = shutil.which("g++")
    if found is None:
        raise DeviceUnavailableError(
            "the device cuda-emulated compiles kernels with g++: looked for g++ in PATH, found none"
        )
    return found


@cache
def _compiler_version() -> str:
    return subprocess.run((_compiler(), "--version"), capture_output=True, text=True, check=True).stdout
