"""From names to devices: explicit names are taken as they are, nothing falls back."""

from __future__ import annotations

from typing import Any

import pytest

import graphlode as gl
from graphlode.cuda.device import available_cuda_devices
from graphlode.errors import DeviceUnavailableError, InputError
from graphlode.execute.devices import available, canonical, cpu, resolve
from graphlode.generate import complete


def names(devices: Any) -> list[str]:
    return [device.name for device in resolve(devices)]


def test_names_lists_and_commas() -> None:
    assert names("cpu") == names(["cpu"]) == names(("cpu",)) == ["cpu"]
    assert names("cpu, reference") == names(["cpu", "reference"]) == ["cpu", "reference"]


def test_a_name_may_come_twice() -> None:
    first, second = resolve(["cpu", "cpu"])
    assert first is not second and first.space == second.space
    with gl.configure(threads=6):
        assert [device.describe()["threads"] for device in resolve(["cpu"] * 3)] == [2, 2, 2]
        assert resolve("cpu")[0].describe()["threads"] == 6
    with gl.configure(threads=1):
        assert resolve(["cpu", "cpu"])[0].describe()["threads"] == 1


def test_a_device_is_made_once() -> None:
    assert resolve("cpu")[0] is resolve(["cpu"])[0] is cpu()
    assert resolve(["cpu", "cpu"])[1] is resolve(["cpu", "cpu"])[1]
    assert resolve("cuda-emulated")[0] is resolve("cuda-emulated:0")[0] is not resolve("cuda-emulated:1")[0]


def test_auto_is_what_is_there_or_what_the_settings_say() -> None:
    assert names("auto") == names(["auto"]) == (available_cuda_devices() or ["cpu"])
    with gl.configure(devices="reference"):
        assert names("auto") == names(("auto",)) == ["reference"]
        assert names("cpu") == ["cpu"]


def test_auto_stands_alone() -> None:
    with pytest.raises(InputError, match='"auto" stands alone'):
        resolve(["auto", "cpu"])


@pytest.mark.parametrize(
    "devices", ["gpu", "cuda:x", "cuda:-1", "cuda:", "cpu:0", "reference:1", "CPU", "cuda-emulated:a"]
)
def test_unknown_names_are_refused_with_the_known_ones(devices: str) -> None:
    with pytest.raises(InputError, match=r"unknown device .*; devices are auto, cpu, cuda"):
        resolve(devices)


@pytest.mark.parametrize("devices", ["", [], [""], [None], None, 3, {"cpu"}, "cpu,,cpu"])
def test_what_names_no_device_is_refused(devices: Any) -> None:
    with pytest.raises(InputError, match="devices must be names out of"):
        resolve(devices)


def test_an_explicit_device_never_falls_back() -> None:
    absent = f"cuda:{len(available_cuda_devices()) + 7}"
    for devices in (absent, ["cpu", absent], [absent, "cpu"]):
        with pytest.raises(DeviceUnavailableError, match=f"looked for the device {absent}"):
            gl.count_triangles(complete(3), devices=devices)


def test_every_device_describes_itself(device: str) -> None:
    made = resolve(device)[0]
    assert canonical(made.name) == canonical(device)
    described = made.describe()
    assert described["name"] == made.name and described["kind"]
    assert 0 < made.memory().free <= made.memory().total
    assert made.speed > 0


def test_the_cpu_is_always_available() -> None:
    assert available()[-1] is cpu()
