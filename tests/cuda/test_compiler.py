"""From `.cu` files to compiled kernels: flattened includes, honest line numbers, closed defines, no stale cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.cuda import nvrtc
from graphlode.cuda.compiler import ROOT, KernelSource, flatten, kernel_sources
from graphlode.cuda.emulation import build as emulation_build
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.errors import InputError, KernelBuildError

KERNEL = """\
#include "outer.cuh"
#include "inner.cuh"  // again: outer.cuh has it already

extern "C" __global__ void probe(int* out) { out[threadIdx.x] = outer() + VALUE; }
"""
OUTER = '#pragma once\n#include "inner.cuh"\n__device__ inline int outer() { return 10 * inner(); }\n'
INNER = "#pragma once\n__device__ inline int inner() { return 4; }\n"


def write(folder: Path, **files: str) -> KernelSource:
    """A kernel source `probe` in a folder of its own; the files replace those above."""
    texts = {"probe.cu": KERNEL, "include/outer.cuh": OUTER, "include/inner.cuh": INNER}
    texts |= {{"probe": "probe.cu"}.get(name, f"include/{name}.cuh"): text for name, text in files.items()}
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return source_in(folder)


def source_in(folder: Path) -> KernelSource:
    return KernelSource("probe", ("probe",), {"VALUE": ("1", "2")}, root=folder, include=folder / "include")


def run(source: KernelSource, value: str = "1") -> int:
    """What the kernel writes, on a device that has not loaded it before."""
    out = np.zeros(1, np.int32)
    EmulatedDevice().load(source, VALUE=value).launch("probe", 1, 1, (out,))
    return int(out[0])


def test_each_header_is_pasted_once_and_nested_ones_first(tmp_path: Path) -> None:
    write(tmp_path)
    text = flatten("probe.cu", tmp_path, tmp_path / "include")
    assert text.count("int inner()") == text.count("int outer()") == 1
    assert text.index("int inner()") < text.index("int outer()") < text.index("void probe")
    assert "#include" not in text and "#pragma once" not in text


def test_flattened_lines_keep_their_file_and_number(tmp_path: Path) -> None:
    """Checks the #line directives: every line of the text comes from the file and line that they name."""
    write(tmp_path)
    shown, number, seen = "", 0, 0
    for line in flatten("probe.cu", tmp_path, tmp_path / "include").splitlines():
        if line.startswith("#line "):
            _, at, name = line.split()
            shown, number = name.strip('"'), int(at)
            continue
        original = (tmp_path / shown).read_text("utf-8").splitlines()[number - 1]
        assert line == original or (line == "" and original.startswith(("#pragma once", "#include")))
        seen += line != ""
        number += 1
    assert seen == 3


def test_a_missing_header_is_named_with_the_line_that_wants_it(tmp_path: Path) -> None:
    source = write(tmp_path, outer='#pragma once\n\n#include "absent.cuh"\n')
    with pytest.raises(KernelBuildError, match=r"include/outer\.cuh:3: there is no header 'absent\.cuh'"):
        _ = source.specialise(VALUE="1").text


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(KernelBuildError, match=r"there is no kernel source 'absent\.cu'"):
        flatten("absent.cu", tmp_path)


def compiled_by_nvrtc(source: KernelSource) -> Any:
    return nvrtc.compile_to_cubin(source.specialise(VALUE="2"), "sm_80")


def compiled_by_gcc(source: KernelSource) -> Any:
    return EmulatedDevice().load(source, VALUE="2")


BROKEN_LINE = "__device__ inline int broken() { return not_declared; }\n"
BROKEN = {
    "in a nested header": ({"inner": f"{INNER}{BROKEN_LINE}"}, "include/inner.cuh", 3),
    "after an include of a header": ({"outer": f"{OUTER}\n{BROKEN_LINE}"}, "include/outer.cuh", 5),
    "before the include of a header": ({"outer": f"#pragma once\n{BROKEN_LINE}{OUTER}"}, "include/outer.cuh", 2),
    "after the includes of a kernel": ({"probe": f"{KERNEL}{BROKEN_LINE}"}, "probe.cu", 5),
    "after an include that is skipped": ({"probe": KERNEL.replace("\n\n", f"\n{BROKEN_LINE}\n")}, "probe.cu", 3),
}


@pytest.mark.parametrize(
    ("compiled", "architecture"), [(compiled_by_nvrtc, "sm_80"), (compiled_by_gcc, r"the emulation \(g\+\+\)")]
)
@pytest.mark.parametrize("where", BROKEN)
def test_errors_are_reported_at_their_own_file_and_line(
    tmp_path: Path, compiled: Any, architecture: str, where: str
) -> None:
    files, name, line = BROKEN[where]
    source = write(tmp_path, **files)
    with gl.configure(cache=tmp_path / "cache"), pytest.raises(KernelBuildError) as caught:
        compiled(source)
    assert caught.match(rf"^probe\[VALUE=2\] did not compile for {architecture}:\n")
    message = str(caught.value)
    assert f"{name}({line})" in message or f"{name}:{line}:" in message
    assert "not_declared" in message
    others = {"probe.cu", "include/inner.cuh", "include/outer.cuh"} - {name}
    assert not any(f"{other}(" in message or f"{other}:{line}:" in message for other in others)


def test_a_failed_build_leaves_nothing_behind(tmp_path: Path) -> None:
    source = write(tmp_path, probe=KERNEL + BROKEN_LINE)
    with gl.configure(cache=tmp_path / "cache"), pytest.raises(KernelBuildError):
        run(source)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("defines", "says"),
    [
        ({}, "probe is compiled with the defines VALUE, got none"),
        ({"OTHER": "1"}, "probe is compiled with the defines VALUE, got OTHER"),
        ({"VALUE": "1", "OTHER": "1"}, "probe is compiled with the defines VALUE, got VALUE, OTHER"),
        ({"VALUE": "3"}, "probe has no specialisation VALUE=3; VALUE is one of 1, 2"),
        ({"VALUE": ""}, "probe has no specialisation VALUE=; VALUE is one of 1, 2"),
    ],
)
def test_only_declared_specialisations_can_be_loaded(tmp_path: Path, defines: dict[str, str], says: str) -> None:
    source = write(tmp_path)
    with pytest.raises(InputError, match=f"^{says}$"):
        EmulatedDevice().load(source, **defines)


def test_specialisations_are_all_combinations() -> None:
    source = KernelSource("probe", ("probe",), {"A": ("1", "2"), "B": ("x", "y", "z")})
    found = list(source.specialisations())
    assert [str(kernel) for kernel in found] == [f"probe[A={a}, B={b}]" for a in "12" for b in "xyz"]
    assert [str(kernel) for kernel in KernelSource("probe", ("probe",)).specialisations()] == ["probe[]"]
    # Equal for all orders of the defines, because devices find a loaded module by this key.
    assert source.specialise(B="y", A="2") == found[4] and hash(source.specialise(B="y", A="2")) == hash(found[4])


def test_defines_reach_the_kernel(tmp_path: Path) -> None:
    source = write(tmp_path)
    with gl.configure(cache=tmp_path / "cache"):
        assert (run(source, "1"), run(source, "2")) == (41, 42)


def test_the_cache_compiles_once_and_again_after_an_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_unit = emulation_build._compile

    def counted(kernel: Any, text: str, target: Path) -> None:
        compiled.append(target.name)
        compile_unit(kernel, text, target)

    monkeypatch.setattr(emulation_build, "_compile", counted)
    with gl.configure(cache=tmp_path / "cache"):
        assert run(write(tmp_path)) == 41
        assert run(write(tmp_path)) == 41
        assert len(compiled) == 1
        assert run(write(tmp_path, inner=INNER.replace("4", "5"))) == 51  # a header of a header
        assert len(compiled) == 2
        assert run(write(tmp_path)) == 41  # and back: both are kept
        assert len(compiled) == 2
    assert sorted(path.name for path in (tmp_path / "cache").rglob("*.so")) == sorted(compiled)


def test_processes_that_build_the_same_kernel_do_not_collide(tmp_path: Path) -> None:
    write(tmp_path)
    script = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
import graphlode as gl
from test_compiler import run, source_in
folder = Path({str(tmp_path)!r})
with gl.configure(cache=folder / "cache"):
    print(run(source_in(folder)))
"""
    command = [sys.executable, "-c", script]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=100) for process in started] == [("41\n", "")] * 2
    assert len(list((tmp_path / "cache" / "emulated").iterdir())) == 1


def test_every_cuda_file_of_the_package_is_a_declared_source() -> None:
    files = {path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.rglob("*.cu")}
    assert files and {source.stem for source in kernel_sources()} == files


def test_every_kernel_of_a_source_is_declared() -> None:
    for source in kernel_sources():
        text = (ROOT / f"{source.stem}.cu").read_text("utf-8")
        assert text.count("__global__") == len(source.entries)


def test_every_header_is_used() -> None:
    used = "".join(path.read_text("utf-8") for path in [*ROOT.rglob("*.cu"), *ROOT.rglob("*.cuh")])
    assert [path.name for path in (ROOT / "include").glob("*.cuh") if f'#include "{path.name}"' not in used] == []


def test_without_gcc_the_error_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    emulation_build._compiler.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        with pytest.raises(gl.errors.DeviceUnavailableError, match=r"looked for g\+\+ in PATH, found none"):
            run(write(tmp_path))
    finally:
        monkeypatch.undo()
        emulation_build._compiler.cache_clear()


def test_without_nvrtc_the_error_says_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    nvrtc._library.cache_clear()
    monkeypatch.setattr(nvrtc, "_candidates", lambda: iter(["libabsent-nvrtc.so.1"]))
    try:
        with pytest.raises(gl.errors.DeviceUnavailableError, match=r"NVRTC was looked for .*found: libabsent-nvrtc"):
            nvrtc.compile_text("", "empty.cu", ())
    finally:
        monkeypatch.undo()
        nvrtc._library.cache_clear()
