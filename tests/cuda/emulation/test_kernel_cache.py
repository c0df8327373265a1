"""The folder of compiled kernels runs no other user's code."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from graphlode.cuda.emulation.cache import is_own_file, private_folder, publish
from graphlode.errors import DeviceUnavailableError


def test_the_folder_and_its_files_are_the_users_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = private_folder(tmp_path / "emulated")
        built = tmp_path / "built"
        built.write_text("")
        publish(built, folder / "k.so")
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "k.so").stat().st_mode) == 0o500 and is_own_file(folder / "k.so")


def test_a_folder_that_others_could_enter_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "emulated"
    folder.mkdir()
    folder.chmod(0o777)
    assert stat.S_IMODE(private_folder(folder).stat().st_mode) == 0o700


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = private_folder(tmp_path / "emulated")
    me = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: me + 1)
    with pytest.raises(DeviceUnavailableError, match=f"belongs to the user {me}; set GRAPHLODE_CACHE"):
        private_folder(folder)


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "emulated").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DeviceUnavailableError, match="is a link"):
        private_folder(tmp_path / "emulated")


def test_a_folder_below_one_that_every_user_may_write_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(DeviceUnavailableError, match="where every user may write"):
        private_folder(shared / "emulated")
    shared.chmod(0o1777)  # as /tmp: a user cannot rename what others own
    assert private_folder(shared / "emulated").is_dir()


def plant_link(target: Path) -> None:
    target.with_name("other").write_text("planted")
    target.symlink_to("other")


def plant_hard_link(target: Path) -> None:
    target.with_name("other").write_text("planted")
    target.hardlink_to(target.with_name("other"))


def plant_writable(target: Path) -> None:
    target.write_text("planted")
    target.chmod(0o666)


@pytest.mark.parametrize("plant", [plant_link, plant_hard_link, plant_writable, lambda target: target.mkdir()])
def test_what_others_may_have_made_is_not_the_users_own(tmp_path: Path, plant: Callable[[Path], None]) -> None:
    plant(tmp_path / "k.so")
    assert not is_own_file(tmp_path / "k.so")


def test_a_file_of_another_user_is_not_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.so").write_text("")
    (tmp_path / "k.so").chmod(0o500)
    assert is_own_file(tmp_path / "k.so")
    me = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: me + 1)
    assert not is_own_file(tmp_path / "k.so")


def test_a_planted_kernel_is_built_again_and_not_loaded(tmp_path: Path, run_python: Callable[..., str]) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    call = "import graphlode as gl; print(gl.count_triangles(gl.complete(5), devices='cuda-emulated').total)"
    assert run_python(call, GRAPHLODE_CACHE=str(tmp_path)) == "10\n"
    kernels = list((tmp_path / "emulated").glob("*.so"))
    source = b"__attribute__((constructor)) static void run(void) { __builtin_abort(); }"
    for kernel in kernels:
        kernel.unlink()
        subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", kernel], input=source, check=True)
        kernel.chmod(0o777)
    assert kernels and run_python(call, GRAPHLODE_CACHE=str(tmp_path)) == "10\n"
    assert all(is_own_file(kernel) for kernel in kernels)
