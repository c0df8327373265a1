"""`graphlode devices`: where operations can run."""

from __future__ import annotations

import os
from typing import Any

from graphlode.cli.numbers import size
from graphlode.cli.request import Request, takes
from graphlode.errors import DeviceError
from graphlode.execute.devices import available, resolve


@takes()
def devices(request: Request) -> None:
    """List the devices of this machine."""
    found = [_describe(device) for device in available()]
    document = {
        "command": "devices",
        "devices": found,
        "default": [device.name for device in resolve("auto")],
        "cores": len(os.sched_getaffinity(0)),
        "no_cuda": None if any(each["kind"] == "cuda" for each in found) else _why_no_cuda(),
    }
    request.answer(document, lambda: _show(document))


def _describe(device: Any) -> dict[str, Any]:
    return {**device.describe(), "memory_free": device.memory().free}


def _why_no_cuda() -> str:
    """The reason why there is no CUDA device: the error for a request of one."""
    try:
        resolve("cuda:0")
    except DeviceError as error:
        return str(error).splitlines()[0]
    return "none was found"


def _show(document: dict[str, Any]) -> None:
    from graphlode.cli.screen import Screen

    screen = Screen()
    rows = []
    for each in document["devices"]:
        units = (
            f"{each['threads']} threads" if "threads" in each else f"{each.get('multiprocessors', '?')} multiprocessors"
        )
        memory = f"{size(each['memory'])}, {size(each['memory_free'])} free"
        rows.append([each["name"], str(each.get("model", "")), units, memory])
    screen.listing("devices", ["name", "model", "units", "memory"], rows, words=4)
    if document["no_cuda"] is not None:
        screen.line(f"no CUDA device: {document['no_cuda']}")
    screen.line(f'devices="auto" is {", ".join(document["default"])}')
