"""Device mixes that a store is tested on."""

from __future__ import annotations

MIXES: dict[str, list[str]] = {
    "reference": ["reference"],
    "cpu": ["cpu"],
    "three cpu": ["cpu", "cpu", "cpu"],
    "reference + cpu": ["reference", "cpu"],
    "emulated": ["cuda-emulated"],
    "two emulated + cpu": ["cuda-emulated", "cuda-emulated:1", "cpu"],
}
