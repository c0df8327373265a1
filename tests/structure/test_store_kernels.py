"""The kernel module of a shard is the same on every backend."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from graphlode.execute.operation import BACKENDS

FUNCTIONS = """create prepare commit resize fork csr degrees contains row rows_in num_entries nbytes statistics check"""


@pytest.mark.parametrize("function", FUNCTIONS.split())
def test_shards_are_handled_alike_on_every_backend(function: str) -> None:
    """The same number of arguments by place, and the same options."""
    shapes = [_shape(f"graphlode.{backend}.store.shard", function) for backend in BACKENDS]
    assert shapes == shapes[:1] * len(BACKENDS)


def _shape(module: str, function: str) -> tuple[int, set[str]]:
    parameters = inspect.signature(getattr(import_module(module), function)).parameters.values()
    options = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    return len(parameters) - len(options), options
