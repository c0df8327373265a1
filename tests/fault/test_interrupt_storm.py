"""Ctrl-C at any moment, once or twice in a row: every call happens whole or not at all, and every lock is free."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.alone

PROGRAM = Path(__file__).parent / "interrupt_storm.py"
SECONDS = float(os.environ.get("STORM_SECONDS", "12"))


@pytest.mark.parametrize("devices", ["cpu", "cpu+cpu", "reference+cpu"])
def test_a_storm_of_interrupts_loses_nothing(devices: str) -> None:
    rng = random.Random(3)
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(SECONDS), devices],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and process.poll() is None:
            for _ in range(rng.choice((1, 1, 2, 3))):
                process.send_signal(signal.SIGINT)
                time.sleep(rng.choice((0.0, 0.0005, 0.002)))
            time.sleep(rng.choice((0.001, 0.004, 0.01)))
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, errors[-2000:]
    interrupts, applied, refused = map(int, output.split())
    assert interrupts > 30 * SECONDS and applied > 20
    assert refused >= 0
