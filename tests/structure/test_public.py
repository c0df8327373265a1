"""Public names: listed, documented, with examples, fully typed."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import pytest

import graphlode as gl
from graphlode import errors

FUNCTIONS = sorted(name for name in gl.__all__ if inspect.isfunction(getattr(gl, name)))
CLASSES = sorted(name for name in gl.__all__ if inspect.isclass(getattr(gl, name)))


def test_all_is_sorted_and_true() -> None:
    assert gl.__all__ == sorted(gl.__all__) and len(set(gl.__all__)) == len(gl.__all__)
    for name in gl.__all__:
        assert hasattr(gl, name)


def test_every_function_is_a_verb_with_an_example() -> None:
    without = [name for name in FUNCTIONS if ">>>" not in (inspect.getdoc(getattr(gl, name)) or "")]
    assert without == []


@pytest.mark.parametrize("name", CLASSES)
def test_classes_and_their_methods_are_documented(name: str) -> None:
    made = getattr(gl, name)
    assert inspect.getdoc(made)
    for member, value in vars(made).items():
        if member.startswith("_") or not (inspect.isfunction(value) or isinstance(value, property)):
            continue
        function = value.fget if isinstance(value, property) else value
        obvious = isinstance(value, property) and member in ("num_vertices", "directed", "provenance", "fits")
        assert inspect.getdoc(function) or obvious, f"{name}.{member}"


def test_functions_are_fully_annotated() -> None:
    for name in FUNCTIONS:
        signature = inspect.signature(getattr(gl, name))
        assert signature.return_annotation is not inspect.Signature.empty, name
        for parameter in signature.parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty, f"{name}({parameter.name})"


def test_options_are_keywords() -> None:
    """At most three positional arguments, and never a positional boolean."""
    for name in FUNCTIONS:
        positional = [
            p for p in inspect.signature(getattr(gl, name)).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD
        ]
        assert len(positional) <= 3, name
        assert not any(isinstance(p.default, bool) for p in positional), name


def test_every_error_can_be_caught_by_its_built_in_kind() -> None:
    kinds: dict[str, Any] = {
        "InputError": ValueError,
        "UnsupportedError": NotImplementedError,
        "StateError": RuntimeError,
        "CountOverflowError": OverflowError,
        "DeviceError": RuntimeError,
        "DeviceMemoryError": MemoryError,
    }
    for name, kind in kinds.items():
        assert issubclass(getattr(errors, name), kind) and issubclass(getattr(errors, name), errors.GraphlodeError)
    for name, value in vars(errors).items():
        if inspect.isclass(value):
            assert issubclass(value, errors.GraphlodeError) and value.__doc__, name


def test_every_module_can_be_imported_without_a_gpu_and_says_what_it_is() -> None:
    undocumented = []
    for found in pkgutil.walk_packages(gl.__path__, "graphlode."):
        if found.name.endswith(("_native", "__main__")):
            continue
        module = importlib.import_module(found.name)
        if not module.__doc__ and not found.ispkg:
            undocumented.append(found.name)
    assert undocumented == []
